"""Nibbler without Electron: its own renderer in a browser, with `shim.js` in front of it.

Nibbler is fetched beside the repository (`git clone https://github.com/rooklift/nibbler`). Only files of its own folder and
of the folder of its settings are read and written, and only the one engine is started.
"""

import json
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from urllib.parse import unquote

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".png": "image/png"}


class Handler(BaseHTTPRequestHandler):
    """One request of the page. The server has the folders, the engine's path and the running engines."""

    def log_message(self, *_):
        pass

    def file(self, name):
        path = (self.server.source / name).resolve()
        inside = any(path.is_relative_to(folder) for folder in (self.server.source, self.server.settings))
        return path if inside or path == self.server.engine else None

    def answer(self, data, kind="text/plain", status=200):
        data = data.encode() if isinstance(data, str) else data
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        call, _, argument = self.path.partition("?")
        path = self.file(unquote(argument))
        if call == "/exists":
            self.answer("yes" if path and path.exists() else "no")
        elif call == "/read":
            self.answer(path.read_bytes())
        elif call == "/output":
            self.output(int(argument))
        elif call == "/shim.js":
            self.answer((Path(__file__).parent / "shim.js").read_bytes(), TYPES[".js"])
        elif call == "/nibbler.html":
            page = (self.server.source / "nibbler.html").read_text()
            page = re.sub(r"<meta http-equiv=\"Content-Security-Policy\".*?>", "", page)  # it forbids `new Function`
            first = '<script src="renderer/10_globals.js">'
            self.answer(page.replace(first, f'<script src="shim.js"></script>{first}'), TYPES[".html"])
        elif (path := self.file(call[1:])) and path.is_file():
            self.answer(path.read_bytes(), TYPES.get(path.suffix, "text/plain"))
        else:
            self.answer("not found", status=404)

    def do_POST(self):
        call, _, argument = self.path.partition("?")
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if call == "/write":
            self.file(unquote(argument)).write_text(body)
        elif call == "/alert":
            print(f"Nibbler says: {body}")
        elif call == "/stdin":
            engine = self.server.engines[int(argument)]
            engine.stdin.write(body)
            engine.stdin.flush()
        elif call == "/spawn":
            program, *arguments = json.loads(body)
            if Path(program) != self.server.engine:
                return self.answer("only the engine is started", status=403)
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            self.server.engines.append(subprocess.Popen([program, *arguments], text=True, **pipes))
            return self.answer(str(len(self.server.engines) - 1))
        self.answer("")

    def output(self, number):
        """The lines of an engine, as they come, as server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        lines, engine = Queue(), self.server.engines[number]
        for name in ("stdout", "stderr"):
            stream = getattr(engine, name)
            threading.Thread(target=lambda n=name, s=stream: [lines.put((n, line)) for line in s], daemon=True).start()
        try:
            while True:
                name, line = lines.get()
                self.wfile.write(f"event: {name}\ndata: {line.rstrip()}\n\n".encode())
        except OSError:
            engine.kill()  # the page is closed


def serve(source, settings, engine):
    """A running server for Nibbler's folder `files/src`; `settings` is the folder of its config.json and engines.json."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.source, server.settings = Path(source).resolve(), Path(settings).resolve()
    server.engine, server.engines = Path(engine), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
