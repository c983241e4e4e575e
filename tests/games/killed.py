#!/usr/bin/env python3
"""Kills commands that write files (SIGKILL, at random moments) and checks that nothing finished is lost.

Each round starts one of the commands, lets it work for a while, and kills it with all it started. After that every finished part of its file
(game, position, iteration, shard, network) that was there before must still be there and readable, and the same command must go on
from it. Exit code: 1 where something was lost, or where a command would not go on.
"""

import argparse
import gzip
import hashlib
import http.server
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import chess

from play import REPOSITORY, ended, runnable

NETWORK = REPOSITORY / "crates/zeitnot-network/networks/zeitnot-small.pb.gz"
FAST = ["--backend", "random", "--threads", "1"]
VIRTUAL = ["--clock", "virtual", "--tc", "0.5+0.01", "--nps", "200", "--concurrency", "2"]
RESULT = re.compile(r"(1-0|0-1|1/2-1/2|\*)\s*$")


class Slow(http.server.BaseHTTPRequestHandler):
    """Serves the network in small pieces, from where the client asks for."""

    def do_GET(self):
        body, begin = NETWORK.read_bytes(), 0
        if found := re.match(r"bytes=(\d+)-", self.headers.get("Range", "")):
            begin = int(found[1])
        self.send_response(206 if begin else 200)
        self.send_header("ETag", '"one"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        try:
            for at in range(begin, len(body), 32768):
                self.wfile.write(body[at : at + 32768])
                time.sleep(0.01)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def lines_of_json(path: Path) -> list[str]:
    """The complete lines of a journal. The last one may be cut by the kill; any other has to be JSON."""
    if not path.exists():
        return []
    whole = path.read_bytes().decode(errors="replace").split("\n")[:-1]
    for number, line in enumerate(whole):
        try:
            json.loads(line)
        except ValueError:
            raise SystemExit(f"{path}: line {number + 1} is no JSON: {line[:80]}") from None
    return whole


class Match:
    """A match on the machine's clock appends games to a PGN."""

    def command(self, folder: Path):
        journal = folder / "match.pgn.jsonl"
        return ["match", "--tc", "0.1+0.01", "--games", "10000", "--concurrency", "2", "--pgn", str(folder / "match.pgn"), *FAST,
                *(["--resume"] if journal.exists() else [])]

    def finished(self, folder: Path):
        path = folder / "match.pgn"
        games = path.read_text().split("[Event ")[1:] if path.exists() else []
        torn = [game for game in games[:-1] if not RESULT.search(game.strip())]
        if torn:
            raise SystemExit(f"{path}: a game before the last has no result: {torn[0][:80]}")
        return [game.strip() for game in games if RESULT.search(game.strip())] + lines_of_json(folder / "match.pgn.jsonl")


class Compare:
    """A comparison on the virtual clock keeps a journal of its games for each cell, and resumes."""

    def command(self, folder: Path):
        return ["time", "compare", "smooth", "legacy", "--games", "4000", *VIRTUAL, *FAST, "--openings", str(folder / "book.epd"),
                "--out", str(folder / "compare")]

    def finished(self, folder: Path):
        return [line for journal in sorted((folder / "compare").glob("*.jsonl")) for line in lines_of_json(journal)]


class Record:
    """A recording appends searches to a file, and resumes."""

    def command(self, folder: Path):
        return ["time", "record", "--positions", str(folder / "book.epd"), "--nodes", "200", "--factor", "8", "--concurrency", "1",
                "--out", str(folder / "traces.zt"), *FAST]

    def finished(self, folder: Path):
        """The complete blocks of the searches: after a header line each has its length (four bytes, little end first) and its bytes."""
        path = folder / "traces.zt"
        _, _, rest = path.read_bytes().partition(b"\n") if path.exists() else (b"", b"", b"")
        blocks, at = [], 0
        while at + 4 <= len(rest) and at + 4 + (length := int.from_bytes(rest[at : at + 4], "little")) <= len(rest):
            blocks.append(hashlib.sha256(rest[at + 4 : at + 4 + length]).hexdigest())
            at += 4 + length
        return blocks


class Label:
    """A labelling writes shards of training data, each whole or not at all, and resumes. The labeller is a program of its own."""

    def __init__(self, program: str):
        self.program = str(Path(program).resolve())

    def command(self, folder: Path):
        return ["--out", str(folder / "labels"), "--shards", "100000", "--shard-labels", "300", "--option", "Backend=random",
                "--option", "Threads=1"]

    def finished(self, folder: Path):
        shards = sorted((folder / "labels").glob("*.bin.gz"))
        return [f"{shard.name} {hashlib.sha256(gzip.decompress(shard.read_bytes())).hexdigest()}" for shard in shards]


class Fetch:
    """A download goes on where it ended, and has its name only when it is whole."""

    longest = 0.8

    def __init__(self, port: int):
        self.url = f"http://127.0.0.1:{port}/fetched.pb.gz"

    def command(self, folder: Path):
        # What was fetched is removed now and then, so that there is something to fetch.
        if (folder / "networks/fetched.pb.gz").exists():
            shutil.rmtree(folder / "networks")
        return ["net", "fetch", "--folder", str(folder / "networks"), self.url]

    def finished(self, folder: Path):
        path = folder / "networks/fetched.pb.gz"
        if path.exists() and path.read_bytes() != NETWORK.read_bytes():
            raise SystemExit(f"{path} has its name, and is not whole")
        return []


class Convert:
    """A conversion writes its model whole or not at all: the same bytes each time."""

    longest = 0.1

    def command(self, folder: Path):
        return ["net", "convert", "--force", "-o", str(folder / "model.onnx"), str(NETWORK)]

    def finished(self, folder: Path):
        path = folder / "model.onnx"
        return [hashlib.sha256(path.read_bytes()).hexdigest()] if path.exists() else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--zeitnot-label", metavar="PATH", help="the labeller, which is killed where it is named")
    parser.add_argument("--kills", type=int, default=70, help="of each command [%(default)s]")
    parser.add_argument("--longest", type=float, default=2.0, help="seconds until a kill, at the most [%(default)s]")
    parser.add_argument("--only", action="append", help="only these commands; may be given again")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runnable(options.zeitnot)
    zeitnot, chance = str(Path(options.zeitnot).resolve()), random.Random(options.seed)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    commands = {"match": Match(), "compare": Compare(), "record": Record(), "fetch": Fetch(server.server_port),
                "convert": Convert()}
    if options.zeitnot_label:
        runnable(options.zeitnot_label)
        commands["label"] = Label(options.zeitnot_label)
    failures, rows = 0, []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_book(folder / "book.epd")
        environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
        for name, command in commands.items():
            if options.only and name not in options.only:
                continue
            killed = refused = 0
            for _ in range(options.kills):
                before = command.finished(folder)
                program = getattr(command, "program", zeitnot)
                started = subprocess.Popen([program, *command.command(folder)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
                try:
                    _, complaint = started.communicate(timeout=chance.uniform(0.01, getattr(command, "longest", options.longest)))
                except subprocess.TimeoutExpired:
                    os.killpg(started.pid, signal.SIGKILL)
                    started.communicate()
                    killed += 1
                else:
                    if started.returncode:
                        refused += 1
                        print(f"{name}: {(complaint.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
                after = command.finished(folder)
                if not set(before) <= set(after):
                    failures += 1
                    print(f"{name}: something finished was lost", file=sys.stderr)
            failures += refused
            rows.append((name, killed, refused, len(command.finished(folder))))
            print(f"{name}: killed {killed} times, refused to go on {refused} times, {rows[-1][3]} parts finished",
                  flush=True)
    print(f"{sum(row[1] for row in rows)} kills, {failures} failures")
    return 1 if failures else 0


def write_book(path: Path):
    """Start positions of our own: after three plies, as FEN."""
    with path.open("w") as book:
        start = chess.Board()
        for first in start.legal_moves:
            start.push(first)
            for second in start.legal_moves:
                start.push(second)
                for third in list(start.legal_moves)[:6]:
                    start.push(third)
                    book.write(start.fen() + "\n")
                    start.pop()
                start.pop()
            start.pop()


if __name__ == "__main__":
    sys.exit(ended(main))
