"""A small MCP server without any SDK, so that it can do what no SDK lets a server do. Run: `raw_mcp_server.py PLAN [--http PORT]`.

PLAN is a JSON file, read again for every request: `tools` (raw tool objects), `refuse_start` (exit at once with a message),
`http_faults` (how many `tools/call` requests get a plain 404). It notes every call's arguments in `PLAN.calls`.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

PLAN = Path(sys.argv[1])
Message = dict[str, Any]


def plan() -> Message:
    held: Message = json.loads(PLAN.read_text("utf-8"))
    return held


def called(params: Message) -> Message:
    arguments: Message = params.get("arguments") or {}
    with PLAN.with_suffix(".calls").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": params["name"], "arguments": arguments}) + "\n")
    if params["name"] == "die":
        sys.stderr.write("out of memory\n")
        sys.stderr.flush()
        os._exit(3)
    if params["name"] == "hang":
        threading.Event().wait()
    if params["name"] == "fail":
        return {"content": [{"type": "text", "text": "no such barcode"}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(arguments)}], "structuredContent": arguments}


def answer(request: Message) -> Message | None:
    match request.get("method"):
        case "initialize":
            server = {"name": "raw", "version": "1"}
            version = request["params"]["protocolVersion"]
            result: Message = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            result = {"tools": plan()["tools"]}
        case "tools/call":
            result = called(request["params"])
        case _ if "id" not in request:
            return None
        case method:
            error = {"code": -32601, "message": f"no method {method}"}
            return {"jsonrpc": "2.0", "id": request["id"], "error": error}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def serve_stdio() -> None:
    for line in sys.stdin:
        reply = answer(json.loads(line))
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


class Handler(BaseHTTPRequestHandler):
    faults = 0

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request.get("method") == "tools/call" and Handler.faults < plan().get("http_faults", 0):
            Handler.faults += 1
            self.reply(404, b"gone")
            return
        reply = answer(request)
        self.reply(202 if reply is None else 200, b"" if reply is None else json.dumps(reply).encode())

    def do_GET(self) -> None:
        self.reply(405, b"")

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        return


if __name__ == "__main__":
    if plan().get("refuse_start"):
        sys.exit("the licence has expired")
    if "--http" in sys.argv:
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
    else:
        serve_stdio()
