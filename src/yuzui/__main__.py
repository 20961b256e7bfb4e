"""`python -m yuzui`: the console script."""

import sys

from yuzui.bootstrap import main

if __name__ == "__main__":
    sys.exit(main())
