"""Makes the built-in book of start positions, openings.txt:

    pip install chess
    python make_book.py --zeitnot PATH/TO/zeitnot --weights t1-256x10.pb.gz > openings.txt

Each line is an opening, its moves in UCI notation without spaces. Games of 6 to 10 plies are drawn from the policy of
the network, flattened by a temperature; of those with different ends the first are taken whose last position a search
of the same network finds balanced. (A search in two threads is never quite the same: another run has some other lines.)
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile

import chess
import chess.engine

PLIES = range(6, 11)
#: Openings drawn for each that is wanted: some end alike, some are not balanced.
DRAWN = 3
TEMPERATURE = 1.6
#: Moves with a smaller prior are not drawn.
LEAST_PRIOR = 0.02
#: Nodes of the search of a last position, and the largest value that is balanced, in centipawns.
NODES = 40
BALANCED = 40
SEED = 2026


def policies(command: list[str], lines: list[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, float]]:
    """The priors of the moves after each line of moves."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for line in lines:
            file.write(json.dumps({"id": " ".join(line), "fen": "startpos", "moves": list(line)}) + "\n")
        file.flush()
        answer = subprocess.run([*command[:1], "eval", *command[1:], "--positions", file.name],
                                check=True, capture_output=True, text=True)
    read = (json.loads(line) for line in answer.stdout.splitlines())
    return {tuple(entry["id"].split()): {move["move"]: move["p"] for move in entry["policy"]} for entry in read}


def drawn(command: list[str], count: int) -> list[tuple[str, ...]]:
    """Lines of moves drawn from the policy, as many of each length."""
    chance = random.Random(SEED)
    lines: list[tuple[str, ...]] = [()] * count
    for ply in range(max(PLIES)):
        grows = [index for index in range(count) if PLIES[index % len(PLIES)] > ply]
        known = policies(command, sorted({lines[index] for index in grows}))
        for index in grows:
            priors = {move: prior for move, prior in known[lines[index]].items() if prior >= LEAST_PRIOR}
            weights = [prior ** (1 / TEMPERATURE) for prior in priors.values()]
            lines[index] += tuple(chance.choices(list(priors), weights))
        print(f"{ply + 1} plies", file=sys.stderr)
    return lines


def board_after(line: tuple[str, ...]) -> chess.Board:
    board = chess.Board()
    for move in line:
        board.push_uci(move)
    return board


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", required=True, help="the program")
    parser.add_argument("--weights", required=True, help="the network, T1-256x10 for the book in this folder")
    parser.add_argument("--count", type=int, default=1000, help="openings (default 1000)")
    args = parser.parse_args()
    command = [args.zeitnot, "--weights", args.weights]
    ends: dict[str, tuple[str, ...]] = {}
    for line in drawn(command, DRAWN * args.count):
        board = board_after(line)
        if not board.is_check():
            ends.setdefault(board.epd(), line)
    book: list[str] = []
    with chess.engine.SimpleEngine.popen_uci(command) as engine:
        for line in ends.values():
            found = engine.analyse(board_after(line), chess.engine.Limit(nodes=NODES), game=line)
            score = found["score"].relative.score(mate_score=10_000)
            if abs(score) <= BALANCED:
                book.append("".join(line))
            if len(book) % 100 == 0:
                print(f"{len(book)} openings", file=sys.stderr)
            if len(book) == args.count:
                break
    print("\n".join(sorted(book)))


if __name__ == "__main__":
    main()
