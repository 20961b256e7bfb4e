"""The page's pure modules, run by Node (R-UI-01, R-EVT-01, R-EVT-03)."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "js"
INSTALL = "Node is missing; install it with: apt-get install -y nodejs (version 20 or later)"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_R_UI_01_the_pure_modules_of_the_page_pass_their_own_tests(name: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip(INSTALL)
    done = subprocess.run([node, "--test", str(FOLDER / name)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout
    assert "# tests 0" not in done.stdout
