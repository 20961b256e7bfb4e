"""Renew the universal, host-free, hash-pinned locks from `pyproject.toml`."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMON = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-emit-index-url", "--no-header", "-q"]
DEV = ["dev", "bench", "redis", "otel"]

if __name__ == "__main__":
    uv = [str(ROOT / ".venv" / "bin" / "uv"), "pip", "compile", "pyproject.toml", *COMMON]
    extras = [part for extra in DEV for part in ("--extra", extra)]
    subprocess.run([*uv, "-o", "requirements.lock"], cwd=ROOT, check=True)
    subprocess.run([*uv, *extras, "-c", "requirements.lock", "-o", "requirements-dev.lock"], cwd=ROOT, check=True)
