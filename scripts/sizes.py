"""Refuse modules over 600 lines, functions over 60 and test files over 900 (one noun per file, readable functions)."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE, FUNCTION, TEST = 600, 60, 900


def problems(path: Path, limit: int) -> list[str]:
    """What is too long in one file."""
    text = path.read_text(encoding="utf-8")
    name, lines = path.relative_to(ROOT), text.count("\n") + 1
    found = [f"{name}: {lines} lines, at most {limit}"] if lines > limit else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION:
                found.append(f"{name}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION}")
    return found


if __name__ == "__main__":
    too_long = [p for path in sorted((ROOT / "src").rglob("*.py")) for p in problems(path, MODULE)]
    too_long += [p for path in sorted((ROOT / "tests").rglob("*.py")) for p in problems(path, TEST)]
    print("\n".join(too_long) or "sizes: every module and function is within its limit")
    sys.exit(1 if too_long else 0)
