"""Set up `.venv` in the checkout from a hash-pinned lock: `python scripts/setup.py run|dev`.

Needs only Python ≥ 3.11. A second run ends in a moment: a stamp holds the hash of what was installed. uv is used where it
is available (seconds), pip where it is not (minutes); a mirror configured for pip is used by both.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}
PYTHON = VENV / "bin" / "python"
IMPORTS = {
    "run": "fastapi httpx2 json_repair langchain langgraph limits markdown_it mcp nh3 orjson procrastinate psycopg psycopg_pool"
    " pydantic_settings rich structlog typer uvicorn uvloop prometheus_client yuzui yuzui_apps",
    "dev": "hypothesis importlinter mypy playwright psutil pytest pytest_asyncio",
}


def main(kind: str) -> int:
    """Install what `kind` needs; 0 when `.venv` is ready."""
    if sys.version_info < (3, 11):
        return fail(
            f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: make PYTHON=/path/to/python3.11 …"
        )
    stamp, wanted = VENV / f".ready-{kind}", digest(kind)
    if stamp.exists() and stamp.read_text() == wanted and PYTHON.exists():
        return 0
    print(f"Setting up .venv ({kind}); once, or after a change of the lock …", flush=True)
    if not PYTHON.exists():
        create()
    env = os.environ | mirror()
    if not install(ROOT / LOCKS[kind], env):
        return fail("the packages could not be installed; the lines above say why (network, mirror, disk?)")
    modules = IMPORTS["run"] + (" " + IMPORTS["dev"] if kind == "dev" else "")
    if subprocess.run([PYTHON, "-W", "ignore", "-c", f"import {', '.join(modules.split())}"], check=False).returncode:
        return fail("an installed package does not import; remove .venv and try again")
    if kind == "dev":
        (VENV / ".ready-run").write_text(digest("run"))
    stamp.write_text(wanted)
    return 0


def digest(kind: str) -> str:
    """What the environment is made from: interpreter, lock and project file."""
    content = sys.version.encode() + (ROOT / LOCKS[kind]).read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(content).hexdigest()


def create() -> None:
    """Make the environment; a Python without `ensurepip` (Debian without python3-venv) gets one without pip."""
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        venv.EnvBuilder(with_pip=True, symlinks=True).create(VENV)
    except (subprocess.CalledProcessError, SystemExit, ImportError):
        shutil.rmtree(VENV, ignore_errors=True)
        venv.EnvBuilder(with_pip=False, symlinks=True).create(VENV)


def mirror() -> dict[str, str]:
    """uv's variables for the index that pip is configured with, so that a local mirror serves both."""
    found: dict[str, str] = {}
    for key, name in (("index-url", "UV_DEFAULT_INDEX"), ("extra-index-url", "UV_INDEX")):
        value = os.environ.get("PIP_" + key.replace("-", "_").upper(), "")
        if not value:
            asked = subprocess.run(
                [*pip(), "config", "get", f"global.{key}"], capture_output=True, text=True, check=False
            )
            value = asked.stdout.strip() if asked.returncode == 0 else ""
        if value and name not in os.environ and "file://" not in value:
            found[name] = value
    return found


def pip() -> list[str]:
    """pip for `.venv`: its own, or the running interpreter's."""
    own = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False)
    return [str(PYTHON), "-m", "pip"] if own.returncode == 0 else [sys.executable, "-m", "pip", "--python", str(PYTHON)]


def install(lock: Path, env: dict[str, str]) -> bool:
    """Install the lock with hashes, then the project itself, editable."""
    uv = shutil.which("uv", path=f"{VENV / 'bin'}{os.pathsep}{env.get('PATH', '')}")
    if uv is None:
        got = subprocess.run(
            [
                *pip(),
                "install",
                "-q",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
                ROOT / "scripts" / "uv.lock.txt",
            ],
            env=env,
            check=False,
        )
        uv = str(VENV / "bin" / "uv") if got.returncode == 0 else None
    tool = [uv, "pip", "install", "-q", "--python", str(PYTHON)] if uv else [*pip(), "install", "-q"]
    steps = ([*tool, "--require-hashes", "-r", lock], [*tool, "--no-deps", "-e", ROOT])
    return all(subprocess.run(step, env=env, check=False, cwd=ROOT).returncode == 0 for step in steps)


def fail(reason: str) -> int:
    """Say why, and end with status 1."""
    print(f"setup: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] and sys.argv[1] in LOCKS else "run"))
