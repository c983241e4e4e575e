#!/usr/bin/env python3
"""How far the estimators of moves left are from the games of TCEC.

    python tests/reference/moves_left.py positions ../shared/data/tcec/*.pgn > positions.jsonl
    zeitnot eval --weights NETWORK --positions positions.jsonl > evaluated.jsonl      (a network with a moves-left head)
    python tests/reference/moves_left.py errors ../shared/data/tcec/*.pgn --evaluated evaluated.jsonl

prints the figures in crates/zeitnot-time/docs/moves-left.md and docs/results/2026-11-moves-left.md, and the fits behind
the defaults. Needs python-chess and numpy. A position counts with the moves of one side that its game still had. `--stride 10` takes every tenth position of a
game. All 31,875 of them take t1-256x10 a few minutes with `--backend onnxruntime`.
"""

import argparse
import json
import sys

import chess
import chess.pgn
import numpy as np

# Games with fewer plies are no games.
SHORTEST = 20
# The best fits: mle-mlh's `scale`, mle-legacy, and a line over the pieces on the board.
MLH_SCALE = 0.7
LEGACY = {"midpoint": 70, "steepness": 4.5}
PIECES = {"base": -8.7, "per_piece": 2.31, "floor": 7}
# No estimate is below this.
LEAST_MOVES = 2
# What Lc0's managers have.
LC0_LEGACY = {"midpoint": 51.5, "steepness": 7}
LC0_SMOOTH = {"midpoint": 45.2, "steepness": 5.93}
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


def legacy(ply, midpoint, steepness):
    played = ply / 2
    return midpoint * (1 + 2 * (played / midpoint) ** steepness) ** (1 / steepness) - played


def pieces_line(pieces, base, per_piece, floor):
    return np.maximum(base + per_piece * pieces, floor)


def least_absolute(columns, target, rounds=80):
    """Coefficients of the least absolute deviation, by reweighted least squares."""
    weights = np.ones(len(target))
    for _ in range(rounds):
        root = np.sqrt(weights)
        fit = np.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0]
        weights = 1 / np.maximum(np.abs(columns @ fit - target), 0.5)
    return fit


def fit_legacy(ply, left):
    """Midpoint and steepness with the least mean deviation, to 2.5 moves and 0.5."""
    shapes = [(midpoint, steepness) for midpoint in np.arange(40, 100, 2.5) for steepness in np.arange(2, 10, 0.5)]
    return min(shapes, key=lambda shape: np.abs(legacy(ply, *shape) - left).mean())


def bands(ply, pieces):
    """The columns of the tables: by game ply, and by the phases that Time Stats names."""
    endgame = (ply > 40) | (pieces <= 12)
    by_ply = {f"{low} to {high}": (ply >= low) & (ply < high) for low, high in BANDS}
    by_phase = {
        "Opening": ~endgame & (ply <= 20),
        "EarlyMiddlegame": ~endgame & (ply > 20) & (ply <= 30),
        "LateMiddlegame": ~endgame & (ply > 30),
        "Endgame": endgame,
    }
    return by_ply | {"all": ply >= 0}, by_phase


def row(name, columns, error):
    cells = []
    for chosen in columns:
        here = np.abs(error[chosen])
        cells.append(f"{np.median(here):.0f} / {np.mean(here):.0f}" if len(here) else "-")
    print(f"| {name} | " + " | ".join(cells) + " |")


def deviation(estimate, left):
    return np.abs(estimate - left).mean()


def smoothed(game, ply, reading, trust):
    """What mle-mlh makes of the readings of a game: each side's moves follow one another two plies apart."""
    expected = np.empty(len(reading))
    last = {}
    for row, key in enumerate(zip(game, ply % 2)):
        then = last.get(key)
        moves = reading[row]
        if then is not None:
            before = max(expected[then] - (ply[row] - ply[then]) / 2, LEAST_MOVES)
            moves = before + trust * (moves - before)
        expected[row], last[key] = moves, row
    return expected


def print_choices(game, ply, pieces, left, plies_left, mlh, by_pieces, by_ply):
    """The mean deviations behind the sentences about fits, blends and trust, in moves."""
    half = game % 2 == 0
    for name, here in (("even", half), ("odd", ~half)):
        scale = least_absolute((plies_left[here] / 2)[:, None], left[here])
        line = least_absolute(np.c_[np.ones(here.sum()), pieces[here]], left[here])
        other = deviation(pieces_line(pieces[~here], *line, PIECES["floor"]), left[~here])
        print(f"{name} games: scale {scale[0]:.2f}; their line over the pieces is off by {other:.1f} on the others")
    table = {count: np.median(left[pieces == count]) for count in np.unique(pieces)}
    by_table = np.array([table[count] for count in pieces])
    print(f"pieces: line {deviation(by_pieces, left):.1f}, table {deviation(by_table, left):.1f}")
    for share in (0.25, 0.5):
        print(f"head with {share:.2f}, pieces: {deviation(share * mlh + (1 - share) * by_pieces, left):.1f}")
    shares = [(a / 10, b / 10) for a in range(11) for b in range(11 - a)]
    blends = [(deviation(a * mlh + b * by_pieces + (1 - a - b) * by_ply, left), a, b) for a, b in shares]
    print("best of all three: {:.1f} with {:.1f} for the head, {:.1f} for the pieces".format(*min(blends)))
    for trust in (0.1, 0.25, 0.5, 0.75, 1):
        print(f"trust {trust}: {deviation(smoothed(game, ply, mlh, trust), left):.1f}")


def print_errors(paths, evaluated):
    data = samples(paths)
    _, ply, pieces, left = data.T
    ply, pieces, left = ply.astype(float), pieces.astype(float), left.astype(float)
    line = least_absolute(np.c_[np.ones_like(pieces), pieces], left)
    print(f"{len(set(data[:, 0]))} games, {len(data)} positions; pieces: base {line[0]:.2f}, per piece {line[1]:.3f}")
    print("legacy: midpoint {:.1f}, steepness {:.1f}".format(*fit_legacy(ply, left)))
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
    ply, pieces, left = ply[chosen], pieces[chosen], left[chosen]
    # Fits are over the evaluated positions where there are any.
    by_ply, by_pieces = legacy(ply, **LEGACY), pieces_line(pieces, **PIECES)
    estimates = {
        "`mle-legacy`": by_ply,
        "Lc0's `legacy`": legacy(ply, **LC0_LEGACY),
        "Lc0's `smooth`": legacy(ply, **LC0_SMOOTH),
        "pieces": by_pieces,
    }
    if plies_left is not None:
        fit = least_absolute(np.c_[np.ones_like(plies_left), plies_left / 2], left)
        scale = least_absolute((plies_left / 2)[:, None], left)
        print(f"fits: scale {scale[0]:.3f}; or offset {fit[0]:.2f}, scale {fit[1]:.3f}")
        mlh = MLH_SCALE * plies_left / 2
        estimates["`mle-mlh`"] = mlh
        estimates["the head as it is"] = plies_left / 2
        estimates["`mle-mlh`, pieces"] = (mlh + by_pieces) / 2
        estimates["`mle-mlh,mle-legacy`"] = (mlh + by_ply) / 2
        estimates["all three"] = (mlh + by_pieces + by_ply) / 3
        print_choices(data[chosen, 0], ply, pieces, left, plies_left, mlh, by_pieces, by_ply)
    for columns in bands(ply, pieces):
        print("| estimator | " + " | ".join(columns) + " |")
        print("|---|" + "---|" * len(columns))
        for name, estimate in estimates.items():
            row(name, columns.values(), estimate - left)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["positions", "errors"])
    parser.add_argument("pgn", nargs="+")
    parser.add_argument("--stride", type=int, default=1, metavar="N", help="plies from one position to the next")
    parser.add_argument("--evaluated", help="what `zeitnot eval` said of the positions")
    arguments = parser.parse_args()
    if arguments.what == "positions":
        print_positions(arguments.pgn, arguments.stride)
    else:
        print_errors(arguments.pgn, arguments.evaluated)


if __name__ == "__main__":
    sys.exit(main())
