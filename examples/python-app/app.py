"""A web application without a framework, behind the platform: `nn-dev -- python3 app.py`."""

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from identity import NotReady, Refused, query, read_identity

LOGIN_PATH = "/.nnumbers/auth/login"


class Application(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        lines = self.headers.get_all("X-NNumbers-Identity", [])
        try:
            person = read_identity(lines)
        except Refused:
            return self.answer(
                401,
                {"code": "IDENTITY_ASSERTION_INVALID", "message": "The identity of this request does not check out."},
                {"WWW-Authenticate": "NNumbers-Identity"},
            )
        except NotReady:
            return self.answer(
                503,
                {"code": "APPLICATION_IDENTITY_NOT_READY", "message": "The identity cannot be checked right now."},
                {"Retry-After": "5"},
            )
        path = self.path.split("?", 1)[0]
        if path == "/":
            return self.answer(200, {"hello": person.get("name", person["sub"]) if person else "whoever you are"})
        if path == "/api/me":
            return self.answer(200, {"person": person})
        if path == "/api/nations":
            if person is None:
                return self.answer(
                    401, {"code": "USER_SESSION_REQUIRED", "message": "Sign in to continue.", "login_path": LOGIN_PATH}
                )
            return self.answer(*query(lines[0], "SELECT name, regionkey FROM tpch.tiny.nation ORDER BY name"))
        return self.answer(404, {"code": "NOT_FOUND", "message": "There is no such page."})

    def answer(self, status, content, headers=()):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """nn-dev says who asked for what; a query string is in no log."""


def main():
    port = int(os.environ.get("PORT", "3000"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Application)
    server.daemon_threads = True
    # shutdown() waits for serve_forever(), which the handler interrupts: so not in the handler itself.
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"the Python application listens on port {port}", flush=True)
    server.serve_forever()
    print("the Python application ended", flush=True)


if __name__ == "__main__":
    main()
