#!/usr/bin/env python3
"""Plays a short test of one time manager against another on an instance of OpenBench, with one worker, on this machine.

Give it checkouts of https://github.com/AndyGrant/OpenBench and of https://github.com/AndyGrant/fastchess. Server (Django, SQLite) and worker
are OpenBench's own and run unchanged, on copies of the checkout. What they fetch from GitHub (this repository's committed state, fastchess,
the book) is served on the loopback instead. Exit code: 0 the test was played to its end without a crash, an illegal move or a loss on
time, 1 it was not.
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/OWNER/zeitnot"
ACCOUNT = {"username": "zeitnot", "password": "an-account-of-one-test"}

# Python runs a sitecustomize of its path first: the addresses of GitHub become those of this script's server.
REWRITE = """
import requests
request = requests.sessions.Session.request
def rewritten(self, method, url, *rest, **named):
    for host in ("https://api.github.com", "https://github.com"):
        if url.startswith(host):
            url = "{address}" + url[len(host):]
    return request(self, method, url, *rest, **named)
requests.sessions.Session.request = rewritten
"""

# A profile has to be enabled by an administrator, and its tests approved.
ENABLE = """
from OpenBench.models import Profile
Profile.objects.update(enabled=True, approver=True)
"""


def git(*arguments, cwd=HERE):
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class GitHub(http.server.BaseHTTPRequestHandler):
    """Answers what OpenBench asks of GitHub, from files and objects named by their paths."""

    files = {}
    objects = {}

    def do_GET(self):
        path = self.path.rstrip("/")
        if path in self.objects:
            body = json.dumps(self.objects[path]).encode()
        elif path in self.files:
            body = self.files[path].read_bytes()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_github(folder, options):
    """Serves the committed states of engine and match runner, and the book; returns the address and the book's hash."""
    sha, message = git("rev-parse", "HEAD"), git("log", "-1", "--format=%B")
    engine, runner, book = folder / "engine.zip", folder / "fastchess.zip", folder / "book.zip"
    git("archive", "--format=zip", "--prefix=zeitnot/", f"--output={engine}", "HEAD")
    git("archive", "--format=zip", "--prefix=fastchess/", f"--output={runner}", "HEAD", cwd=options.fastchess)
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(options.openings, "openings.epd")
    GitHub.files = {
        f"/repos/OWNER/zeitnot/zipball/{sha}": engine,
        "/AndyGrant/fastchess/archive/master.zip": runner,
        "/openings.epd.zip": book,
    }
    GitHub.objects = {
        "/repos/OWNER/zeitnot/branches/main": {"commit": {"sha": sha, "commit": {"message": message}}},
        f"/repos/OWNER/zeitnot/compare/{sha}...{sha}": {"ahead_by": 0},
    }
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # OpenBench hashes the text of the book with its ends of line as Python reads them.
    return f"http://127.0.0.1:{server.server_port}", hashlib.sha256(options.openings.read_text().encode()).hexdigest()


def configure(site, book_sha, nps):
    """Leaves one engine and one book in the instance."""
    engine = json.loads((HERE / "docs/openbench/Zeitnot.json").read_text())
    engine.update(source=REPOSITORY, nps=nps)
    (site / "Engines/Zeitnot.json").write_text(json.dumps(engine))
    (site / "Books/openings.epd.json").write_text(json.dumps({"sha": book_sha, "source": "https://github.com/openings.epd.zip"}))
    config = json.loads((site / "Config/config.json").read_text())
    config.update(engines=["Zeitnot"], books=["openings.epd"])
    (site / "Config/config.json").write_text(json.dumps(config))


def create_test(server, options):
    """Asks the server for a test of a fixed number of games."""
    import requests

    test = {
        "action": "CREATE_TEST", "info": "", **ACCOUNT,
        "test_mode": "GAMES", "test_max_games": options.games, "test_bounds": "N/A", "test_confidence": "N/A",
        "book_name": "openings.epd", "upload_pgns": "COMPACT", "priority": 0, "throughput": 1000, "workload_size": 8,
        "syzygy_wdl": "DISABLED", "syzygy_adj": "DISABLED", "win_adj": "movecount=5 score=800", "draw_adj": "movenumber=50 movecount=8 score=10",
        "scale_method": "BASE", "scale_nps": options.nps,
    }
    for side, manager in ("dev", options.managers[0]), ("base", options.managers[1]):
        test |= {
            f"{side}_engine": "Zeitnot", f"{side}_repo": REPOSITORY, f"{side}_branch": "main", f"{side}_bench": options.bench,
            f"{side}_network": "", f"{side}_options": f"Threads=1 Hash=64 TimeManager={manager}", f"{side}_time_control": options.tc,
        }
    requests.post(f"{server}/scripts/", data=test, timeout=60).raise_for_status()


def state(site):
    """The test as the instance's database has it."""
    import sqlite3

    with sqlite3.connect(f"file:{site / 'db.sqlite3'}?mode=ro", uri=True) as base:
        base.row_factory = sqlite3.Row
        test = base.execute("select * from OpenBench_test order by id desc limit 1").fetchone()
        faults = base.execute("select sum(crashes) as crashes, sum(timeloss) as timeloss from OpenBench_result").fetchone()
        errors = [row["summary"] for row in base.execute("select summary from OpenBench_logevent where log_file != ''")]
    return test, faults, errors


def picture(server, path):
    """Takes a picture of the test's page with Chromium."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        print("no picture: Chromium is not in the path (CHROMIUM names it)", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--hide-scrollbars",
            f"--user-data-dir={profile}", "--window-size=1300,900", f"--screenshot={path.resolve()}", "--virtual-time-budget=10000", f"{server}/test/1/",
        ], check=True, capture_output=True, timeout=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("openbench", type=pathlib.Path, help="a checkout of OpenBench")
    parser.add_argument("fastchess", type=pathlib.Path, help="a checkout of OpenBench's fork of fastchess")
    parser.add_argument("openings", type=pathlib.Path, help="a book of openings, EPD")
    parser.add_argument("--bench", type=int, required=True, help="what `zeitnot bench` counts here")
    parser.add_argument("--nps", type=int, default=9000, help="the speed by which time controls are scaled [9000]")
    parser.add_argument("--managers", nargs=2, default=["smooth", "legacy"], help="time managers [smooth legacy]")
    parser.add_argument("--games", type=int, default=32, help="games of the test [32]")
    parser.add_argument("--tc", default="2.0+0.02", help="time control, scaled by the worker's speed [2.0+0.02]")
    parser.add_argument("--threads", type=int, default=2, help="games at once [2]")
    parser.add_argument("--minutes", type=float, default=60, help="give up after so long [60]")
    parser.add_argument("--picture", type=pathlib.Path, help="write a picture of the test's page here (PNG)")
    options = parser.parse_args()
    for path in options.openbench / "manage.py", options.fastchess / "Makefile", options.openings:
        if not path.is_file():
            parser.error(f"there is no {path}")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Without the history and whatever an instance has written there before.
        for copy in "site", "worker":
            shutil.copytree(options.openbench, folder / copy, ignore=shutil.ignore_patterns(".git", "db.sqlite3", "fastchess-ob", "PGNs"))
        site, client = folder / "site", folder / "worker/Client"
        address, book_sha = serve_github(folder, options)
        configure(site, book_sha, options.nps)
        (folder / "path").mkdir()
        (folder / "path/sitecustomize.py").write_text(REWRITE.format(address=address))
        environment = {**os.environ, "PYTHONPATH": str(folder / "path"), "PYTHONUNBUFFERED": "1"}

        manage = [sys.executable, "manage.py"]
        for media in "PGNs", "Networks":
            (site / "Media" / media).mkdir(parents=True, exist_ok=True)
        with open(folder / "migrate.log", "w") as log:
            subprocess.run([*manage, "migrate"], cwd=site, env=environment, check=True, stdout=log, stderr=log)
        port = free_port()
        server, processes = f"http://127.0.0.1:{port}", []

        def start(command, **where):
            """Starts a process with a group of its own, with which what it starts ends, too."""
            processes.append(subprocess.Popen(command, env=environment, start_new_session=True, **where))

        try:
            with open(folder / "server.log", "w") as log:
                start([*manage, "runserver", "--noreload", str(port)], cwd=site, stdout=log, stderr=log)
            register(server)
            subprocess.run([*manage, "shell", "-c", ENABLE], cwd=site, env=environment, check=True)
            create_test(server, options)
            test, _, _ = state(site)
            if test is None:
                print("the server did not create the test", file=sys.stderr)
                return 1
            began = time.monotonic()
            worker = [sys.executable, "client.py", "-U", ACCOUNT["username"], "-P", ACCOUNT["password"], "-S", server]
            worker += ["-T", str(options.threads), "-N", "1", "-I", "one", "--no-client-downloads"]
            start(worker, cwd=client)
            while time.monotonic() - began < 60 * options.minutes and processes[-1].poll() is None:
                time.sleep(5)
                test, faults, errors = state(site)
                if test["finished"] or errors:
                    break
            print(f"{options.managers[0]} against {options.managers[1]} at {options.tc}: {test['games']} games, "
                  f"+{test['wins']} ={test['draws']} -{test['losses']}, crashes {faults['crashes']}, losses on time {faults['timeloss']}, "
                  f"in {(time.monotonic() - began) / 60:.1f} min with the builds")
            for error in errors:
                print(f"error: {error}", file=sys.stderr)
            if options.picture:
                picture(server, options.picture)
            return 0 if test["finished"] and not errors and not faults["crashes"] and not faults["timeloss"] else 1
        finally:
            for process in reversed(processes):
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def register(server):
    """Makes an account, once the server answers."""
    import requests

    for _ in range(60):
        try:
            session = requests.Session()
            session.get(f"{server}/register/", timeout=10)
            form = {
                "username": ACCOUNT["username"], "password1": ACCOUNT["password"], "password2": ACCOUNT["password"],
                "email": "", "csrfmiddlewaretoken": session.cookies.get("csrftoken", ""),
            }
            session.post(f"{server}/register/", data=form, timeout=60).raise_for_status()
            return
        except requests.ConnectionError:
            time.sleep(1)
    raise SystemExit("the server of OpenBench does not answer")


if __name__ == "__main__":
    sys.exit(main())
