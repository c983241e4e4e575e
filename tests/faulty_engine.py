"""A UCI engine that plays one line of moves and has one fault, its first argument, for `tests/program/external_engine.rs`.

What it is told goes to the file that the second argument names, if there is one.
"""

import itertools
import os
import subprocess
import sys
import time

MOVES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7".split()
FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
DECLARED = {
    "endless-options": b"option name A type check default true\n",
    "endless-names": b"id name A\n",
    "endless-values": b"option name A type combo default a" + b" var a" * 5000 + b"\n",
}
INFO = b"info depth 9 nodes 5 score cp 1 pv e2e4 e7e5\n"


def say(line: str) -> None:
    print(line, flush=True)


def sleep() -> None:
    time.sleep(3600)


def write(stream: int, text: bytes) -> None:
    while text:
        text = text[os.write(stream, text) :]


def go(best: str) -> None:
    if FAULT == "crash":
        print("\x1b[31mpanicked at the\tfork", file=sys.stderr, flush=True)
        os._exit(101)
    elif FAULT == "orphan":
        subprocess.Popen(["sleep", "3600"])
        os._exit(3)
    elif FAULT == "hang":
        sleep()
    elif FAULT == "close":
        os.close(1)
        sleep()
    elif FAULT == "endless-lines":
        while True:
            write(1, INFO * 1000)
    elif FAULT == "endless-nodes":
        for nodes in itertools.count(0, 1000):
            write(1, b"info time 5 nodes %d\n" % nodes)
    elif FAULT == "endless-line":
        while True:
            write(1, b"x" * 100_000)
    elif FAULT == "flood":
        for _ in range(300):
            write(1, INFO * 2000)
            write(2, b"warning\n" * 10_000)
    elif FAULT == "long-line":
        for _ in range(300):
            write(1, b"info depth 77 string " + b"x" * 100_000)
        write(1, b"\n")
    say("info depth 3 nodes 120 score cp 25 multipv 1 pv " + best)
    say({
        "illegal": "bestmove e1e8",
        "nonsense": "bestmove \x1b[31mbanana",
        "empty": "bestmove",
        "none-move": "bestmove (none)",
    }.get(FAULT, f"bestmove {best} ponder a7a6"))
    if FAULT == "one-move":
        os._exit(0)


def main() -> None:
    log = open(sys.argv[2], "a") if len(sys.argv) > 2 else None
    if FAULT == "exit":
        print("cannot load libfaulty.so", file=sys.stderr, flush=True)
        sys.exit(3)
    children = f" {os.getpid()} {subprocess.Popen(['sleep', '3600']).pid}" if FAULT == "stubborn" else ""
    played, is_asked, is_pondering = 0, False, False
    for line in sys.stdin:
        if log:
            print(line, end="", file=log, flush=True)
        words = line.split()
        if words[:1] == ["uci"]:
            if FAULT == "mute":
                sleep()
            while FAULT in DECLARED:
                write(1, DECLARED[FAULT] * 1000)
            say("Faulty, a program without a welcome")
            say(f"id name Faulty{children}")
            say("option name Hash type spin default 16 min 1 max 64")
            say("option name Play Style type combo default Solid var Solid var Very Risky")
            say("option name Clear Hash type button")
            if FAULT == "ponders":
                say("option name Ponder type check default false")
            if FAULT != "standard":
                say("option name UCI_Chess960 type check default false")
            say("uciok")
            if FAULT == "slow-reader":
                time.sleep(1)
        elif words[:1] == ["isready"]:
            if FAULT == "deaf" or FAULT == "deaf-in-game" and is_asked:
                sleep()
            say("readyok")
        elif words[:1] == ["position"]:
            is_asked = True
            played = len(words) - words.index("moves") - 1 if "moves" in words else 0
            if FAULT == "stale":
                write(1, b"bestmove a2a3\n" * 500)
        elif words[:2] == ["go", "ponder"]:
            is_pondering = True
        elif words[:1] == ["go"] or is_pondering and words[:1] in (["ponderhit"], ["stop"]):
            is_pondering = False
            go(MOVES[played])
        elif words[:1] == ["quit"] and FAULT != "stubborn":
            return
    while FAULT == "stubborn":
        sleep()


main()
