#!/usr/bin/env python3
"""A UCI engine that plays the first legal move, and on its third move does what its option `Fault` says.

It is the opponent of the harness's own tests.
"""

import sys
import time

import chess

FAULTY_MOVE = 3
FAULTS = ("none", "late", "illegal", "castling", "crash", "hang", "garbage", "plan", "error", "stubborn", "early")


def say(line: str) -> None:
    print(line, flush=True)


def move(board: chess.Board) -> str:
    return min(board.legal_moves, key=lambda move: move.uci()).uci()


def go(board: chess.Board, words: list[str], faulty: bool, fault: str) -> None:
    clock = int(words[words.index("wtime" if board.turn else "btime") + 1]) if "wtime" in words else None
    plan = f"info string time fake: clock={clock}ms budget=5ms hard_limit=5ms!"
    best = move(board)
    if clock is None and words[1:] != ["nodes", "100"]:
        sys.exit(102)
    if not faulty or fault in ("none", "stubborn"):
        say(plan if clock is not None else f"info depth 1 nodes 100 pv {best}")
    elif fault == "late":
        time.sleep(clock / 1e3 + 0.05)
    elif fault == "illegal":
        best = "e1e8"
    elif fault == "castling":
        best = "e1h1"
    elif fault == "crash":
        print("panicked", file=sys.stderr, flush=True)
        sys.exit(101)
    elif fault == "hang":
        time.sleep(3600)
    elif fault == "garbage":
        say("bestmove")
        return
    elif fault == "plan":
        say(plan)
        time.sleep(0.105)
    elif fault == "error":
        say("info string ERROR: something went wrong")
        say(f"info depth 1 time 1 pv {best} a1a8")
    say(f"bestmove {best}")
    if faulty and fault == "error":
        say(plan)


def main() -> None:
    fault, board, moves, accounts, waiting = "none", chess.Board(), 0, False, ""
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            say("id name Fake")
            say("option name Fault type combo default none" + "".join(f" var {fault}" for fault in FAULTS))
            say("option name Check type check default true")
            say("option name TimeManagerLog type check default false")
            say("option name RamLimitMb type spin default 0 min 0 max 100000")
            say("option name MultiPV type spin default 1 min 1 max 500")
            for name in ("WeightsFile", "Threads", "Move Overhead", "TimeManager"):
                say(f"option name {name} type string default")
            say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["setoption"] and words[2] == "Fault":
            fault = words[-1]
        elif words[:1] == ["setoption"] and words[2] == "TimeManagerLog":
            accounts = words[-1] == "true"
        elif words[:1] == ["ucinewgame"]:
            moves = 0
        elif words[:1] == ["position"]:
            fen = " ".join(words[2:8]) if words[1] == "fen" else chess.STARTING_FEN
            board = chess.Board(fen)
            for text in words[words.index("moves") + 1 :] if "moves" in words else []:
                board.push_uci(text)
        elif words[:2] == ["go", "infinite"]:
            moves += 1
            best = move(board)
            say(f"info depth 1 nodes 100 pv {best}")
            if moves != FAULTY_MOVE or fault == "none":
                waiting = best
            elif fault == "early":
                say(f"bestmove {best}")
            elif fault == "crash":
                sys.exit(101)
            elif fault == "illegal":
                waiting = "e1e8"
        elif words[:1] == ["stop"] and waiting:
            say(f"bestmove {waiting}")
            waiting = ""
        elif words[:1] == ["go"]:
            moves += 1
            if accounts:
                say("info string time fake: used=3ms budget=5ms hard_limit=5ms nodes=90 stopped by time")
                say("info string Time Stats: Total=1, Success=1, Rate=100.0%, Avg=3ms, Phase=Opening, Control=Blitz, Emergency=false")
            go(board, words, moves == FAULTY_MOVE, fault)
        elif words[:1] == ["quit"] and fault != "stubborn":
            break


if __name__ == "__main__":
    main()
