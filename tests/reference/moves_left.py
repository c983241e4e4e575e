#!/usr/bin/env python3
"""How far the estimators of moves left are from the games of TCEC.

    python tests/reference/moves_left.py positions ../shared/data/tcec/*.pgn > positions.jsonl
    zeitnot eval --weights NETWORK --positions positions.jsonl > evaluated.jsonl      (a network with a moves-left head)
    python tests/reference/moves_left.py errors ../shared/data/tcec/*.pgn --evaluated evaluated.jsonl

prints the table in src/time_manager/estimators/moves_left/mod.rs and the fits behind the defaults. Needs python-chess and
numpy. A position counts with the moves of one side that its game still had.
"""

import argparse
import json
import sys

import chess
import chess.pgn
import numpy as np

# Games with fewer plies are no games.
SHORTEST = 20
# Default of mle-mlh's `scale`.
MLH_SCALE = 0.75
BANDS = [(0, 20), (20, 40), (40, 60), (60, 80), (80, 100), (100, 140), (140, 200), (200, 1000)]


def games(paths):
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            while game := chess.pgn.read_game(file):
                moves = list(game.mainline_moves())
                if len(moves) >= SHORTEST and game.board().fen() == chess.STARTING_FEN:
                    yield moves


def print_positions(paths, stride):
    for number, moves in enumerate(games(paths)):
        # Games start at different offsets, so that all plies are met.
        for ply in range(number % stride, len(moves), stride):
            print(json.dumps({"id": [number, ply], "fen": None, "moves": [m.uci() for m in moves[:ply]]}))


def samples(paths):
    """Rows of (game, ply, pieces, moves left)."""
    rows = []
    for number, moves in enumerate(games(paths)):
        board = chess.Board()
        for ply, move in enumerate(moves):
            rows.append((number, ply, chess.popcount(board.occupied), (len(moves) - ply + 1) // 2))
            board.push(move)
    return np.array(rows)


def legacy(ply, midpoint=51.5, steepness=7.0):
    played = ply / 2
    return midpoint * (1 + 2 * (played / midpoint) ** steepness) ** (1 / steepness) - played


def pieces_line(pieces, base=-8.7, per_piece=2.31, floor=7.0):
    return np.maximum(base + per_piece * pieces, floor)


def least_absolute(columns, target, rounds=80):
    """Coefficients of the least absolute deviation, by reweighted least squares."""
    weights = np.ones(len(target))
    for _ in range(rounds):
        root = np.sqrt(weights)
        fit = np.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0]
        weights = 1 / np.maximum(np.abs(columns @ fit - target), 0.5)
    return fit


def row(name, ply, error):
    cells = []
    for low, high in BANDS + [(0, 100_000)]:
        here = np.abs(error[(ply >= low) & (ply < high)])
        cells.append(f"{np.median(here):.0f} / {np.mean(here):.0f}" if len(here) else "-")
    print(f"| {name} | " + " | ".join(cells) + " |")


def print_errors(paths, evaluated):
    data = samples(paths)
    _, ply, pieces, left = data.T
    ply, pieces, left = ply.astype(float), pieces.astype(float), left.astype(float)
    line = least_absolute(np.c_[np.ones_like(pieces), pieces], left)
    print(f"{len(set(data[:, 0]))} games, {len(data)} positions; pieces: base {line[0]:.2f}, per piece {line[1]:.3f}")
    chosen = np.ones(len(data), bool)
    plies_left = None
    if evaluated:
        said = {}
        with open(evaluated, encoding="utf-8") as file:
            for text in file:
                answer = json.loads(text)
                if answer["m"] is not None:
                    said[tuple(answer["id"])] = answer["m"]
        chosen = np.array([(game, p) in said for game, p in data[:, :2]])
        plies_left = np.array([said[(game, p)] for game, p in data[chosen, :2]])
        print(f"moves-left head on {chosen.sum()} of them")
    print("| estimator | " + " | ".join(f"{low} to {high}" for low, high in BANDS) + " | all |")
    print("|---|" + "---|" * (len(BANDS) + 1))
    ply, pieces, left = ply[chosen], pieces[chosen], left[chosen]
    # Fits are over the evaluated positions where there are any.
    estimates = {"`mle-legacy`": legacy(ply), "`mle-pieces`": pieces_line(pieces)}
    if plies_left is not None:
        fit = least_absolute(np.c_[np.ones_like(plies_left), plies_left / 2], left)
        scale = least_absolute((plies_left / 2)[:, None], left)
        print(f"fits: scale {scale[0]:.3f}; or offset {fit[0]:.2f}, scale {fit[1]:.3f}")
        mlh = MLH_SCALE * plies_left / 2
        estimates["`mle-mlh`"] = mlh
        estimates["the head as it is"] = plies_left / 2
        estimates["`mle-mlh,mle-pieces`"] = (mlh + pieces_line(pieces)) / 2
        estimates["`mle-mlh,mle-legacy`"] = (mlh + legacy(ply)) / 2
    for name, estimate in estimates.items():
        row(name, ply, estimate - left)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["positions", "errors"])
    parser.add_argument("pgn", nargs="+")
    parser.add_argument("--evaluated", help="what `zeitnot eval` said of the positions")
    arguments = parser.parse_args()
    if arguments.what == "positions":
        print_positions(arguments.pgn)
    else:
        print_errors(arguments.pgn, arguments.evaluated)


if __name__ == "__main__":
    sys.exit(main())
