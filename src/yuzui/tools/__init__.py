"""Tools: what exists, what a request may use, and the one place where they are called."""
