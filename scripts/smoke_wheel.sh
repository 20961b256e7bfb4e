#!/usr/bin/env bash
# Build the wheel, install it in a clean environment, start the server from it and ask it one question.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
python="$root/.venv/bin/python"
work="$(mktemp -d)"
server=""
finish() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT

uv="$root/.venv/bin/uv"
[ -x "$uv" ] || uv="$(command -v uv)"
"$uv" build -q --wheel --out-dir "$work/dist" "$root"
"$python" -m venv --without-pip "$work/venv"
"$uv" pip install -q --python "$work/venv/bin/python" --require-hashes -r "$root/requirements.lock"
"$uv" pip install -q --python "$work/venv/bin/python" --no-deps "$work"/dist/*.whl
cd "$work"
venv/bin/yuzui --help >/dev/null
port="$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
venv/bin/yuzui serve --port "$port" --data-dir "$work/data" >"$work/server.log" 2>&1 &
server=$!
"$python" - "$port" <<'PY' || { tail -n 40 "$work/server.log"; exit 1; }
import json, sys, time, urllib.request

base = f"http://127.0.0.1:{sys.argv[1]}"


def call(path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers |= {"Authorization": "Bearer dev-alice", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=60) as answer:
        return json.load(answer)


for _ in range(600):
    try:
        call("/readyz")
        break
    except OSError:
        time.sleep(0.1)
session = call("/v1/sessions", {"app": "home-menu"})
run = call(f"/v1/sessions/{session['id']}/runs", {"message": "冰箱里有什么"}, Prefer="wait=30")
assert run["status"] == "succeeded" and run["message"]["source"] == "direct", run
assert run["usage"]["model_calls"] == 0, run["usage"]
with urllib.request.urlopen(base + "/", timeout=10) as page:
    assert page.status == 200
print("the wheel serves the page and answers:", run["message"]["text"].splitlines()[0])
PY
