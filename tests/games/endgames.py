#!/usr/bin/env python3
"""Endgames against a perfect opponent: does Zeitnot keep what the tables say?

Random positions with three or more pieces are played out from the side to move. The opponent takes its moves from the
same Syzygy tables through python-chess's own reader: it wins the shortest way, loses the longest, and holds a draw with
the move after which the most replies lose. A won position must be won, a drawn one drawn, a lost one lost. Positions in
which no move could spoil the result are left out, except lost ones.

Results go to a file as they come: started again with the same file, the script goes on where it stopped.
"""

import argparse
import collections
import itertools
import json
import pathlib
import random
import sys
import time

import chess
import chess.engine
import chess.syzygy

KINDS = {1: "won", 0: "drawn", -1: "lost"}
"""Results for the side to move; what the fifty-move rule saves is drawn."""

LONGEST = 600
"""Plies after which a game counts as drawn. The fifty-move rule ends every ending of these tables long before."""


def theory(tables: chess.syzygy.Tablebase, board: chess.Board) -> int:
    """The result for the side to move right after a capture or pawn move."""
    wdl = tables.probe_wdl(board)
    return (wdl > 1) - (wdl < -1)


def after(tables: chess.syzygy.Tablebase, board: chess.Board, move: chess.Move) -> tuple[int, int]:
    """The result of a move for who plays it, and the plies to the next capture or pawn move."""
    zeroing = board.is_zeroing(move)
    board.push(move)
    try:
        if board.is_checkmate():
            return 1, 1
        if ended(board) not in (None, "too long"):
            return 0, 0
        dtz = -tables.probe_dtz(board)
        if zeroing:
            return -theory(tables, board), 1
        # One ply more, and within what the fifty-move rule leaves.
        distance = abs(dtz) + 1
        if dtz == 0 or distance + board.halfmove_clock - 1 > 100:
            return 0, distance
        return (1 if dtz > 0 else -1), distance
    finally:
        board.pop()


def perfect(tables: chess.syzygy.Tablebase, board: chess.Board, rng: random.Random) -> chess.Move:
    """The best move by the tables."""
    moves = [(move, *after(tables, board, move)) for move in board.legal_moves]
    best = max(result for _, result, _ in moves)
    candidates = [(move, distance) for move, result, distance in moves if result == best]
    rng.shuffle(candidates)
    if best > 0:
        return min(candidates, key=lambda pair: pair[1])[0]
    if best < 0:
        return max(candidates, key=lambda pair: pair[1])[0]
    return max(candidates, key=lambda pair: traps(tables, board, pair[0]))[0]


def traps(tables: chess.syzygy.Tablebase, board: chess.Board, move: chess.Move) -> float:
    """The share of replies to a move that lose."""
    board.push(move)
    replies = list(board.legal_moves)
    losing = sum(after(tables, board, reply)[0] < 0 for reply in replies)
    board.pop()
    return losing / max(1, len(replies))


def positions(tables: chess.syzygy.Tablebase, folder: pathlib.Path, seed: int):
    """Endless: a kind and a position of that kind, the same for the same seed. Every table is drawn as often."""
    rng = random.Random(seed)
    materials = sorted(path.stem for path in folder.glob("*.rtbw"))
    for kind in itertools.cycle(KINDS):
        while True:
            board = placed(rng.choice(materials), rng)
            if board is None or theory(tables, board) != kind:
                continue
            if kind < 0 or any(after(tables, board, move)[0] < kind for move in board.legal_moves):
                yield kind, board
                break


def placed(material: str, rng: random.Random) -> chess.Board | None:
    """The pieces of a table on random squares, either side having either army; `None` if that is no position."""
    board = chess.Board(None)
    armies = material.split("v")
    rng.shuffle(armies)
    for color, army in zip(chess.COLORS, armies):
        for symbol in army:
            square = rng.randrange(64)
            if board.piece_at(square):
                return None
            board.set_piece_at(square, chess.Piece(chess.Piece.from_symbol(symbol).piece_type, color))
    board.turn = rng.choice(chess.COLORS)
    if not board.is_valid() or board.is_game_over():
        return None
    return board


def ended(board: chess.Board) -> str | None:
    """Why the game is over: draws count without a claim, and only once they are there."""
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.is_repetition(3):
        return "threefold repetition"
    if board.halfmove_clock > 99:
        return "fifty-move rule"
    return "too long" if len(board.move_stack) >= LONGEST else None


def played_out(engine, limit, tables, start: chess.Board, rng: random.Random) -> dict:
    """Plays a position out; the engine has the move."""
    board, hero = start.copy(), start.turn
    while (end := ended(board)) is None:
        if board.turn == hero:
            move = engine.play(board, limit, game=id(start)).move
        else:
            move = perfect(tables, board, rng)
        board.push(move)
    result = 0 if end != "checkmate" else (-1 if board.turn == hero else 1)
    moves = " ".join(move.uci() for move in board.move_stack)
    return {"result": result, "end": end, "moves": moves}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="target/release/zeitnot")
    parser.add_argument("--tables", required=True, type=pathlib.Path, help="folder of Syzygy files, WDL and DTZ")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=100, help="nodes a move")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--blind", action="store_true", help="keep the tables from the engine, to see what they are worth")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("endgames.jsonl"))
    args = parser.parse_args()
    if not args.tables.is_dir():
        parser.error(f"{args.tables} is no folder")
    if wrong := [option for option in args.option if "=" not in option]:
        parser.error(f"{wrong[0]!r} is not NAME=VALUE")
    return args


def main() -> int:
    args = arguments()
    setting = {"seed": args.seed, "nodes": args.nodes, "options": args.option, "blind": args.blind}
    done = {}
    if args.results.exists():
        rows = [json.loads(line) for line in args.results.read_text().splitlines()]
        done = {row["index"]: row for row in rows if row["setting"] == setting}
        print(f"{len(done)} of {args.positions} are played already")
    options = dict(option.split("=", 1) for option in args.option)
    if not args.blind:
        options["SyzygyPath"] = str(args.tables)
    limit = chess.engine.Limit(nodes=args.nodes)
    began = time.monotonic()
    with chess.syzygy.open_tablebase(str(args.tables)) as tables, args.results.open("a") as results:
        engine = chess.engine.SimpleEngine.popen_uci(args.engine, timeout=120)
        try:
            engine.configure(options)
            games = itertools.islice(enumerate(positions(tables, args.tables, args.seed)), args.positions)
            for index, (kind, board) in games:
                if index in done:
                    continue
                row = {"index": index, "fen": board.fen(), "theory": kind}
                row |= played_out(engine, limit, tables, board, random.Random(index))
                row["setting"] = setting
                done[index] = row
                results.write(json.dumps(row) + "\n")
                results.flush()
                if row["result"] != kind:
                    print(f"{index}: {KINDS[kind]} in theory, {KINDS[row['result']]} in play ({row['end']}): {row['fen']}")
                if len(done) % 50 == 0:
                    print(f"{len(done)} games, {time.monotonic() - began:.0f} s", flush=True)
        finally:
            engine.close()
    return tally([done[index] for index in sorted(done) if index < args.positions])


def tally(rows: list[dict]) -> int:
    """Prints what became of each kind. Exit code: 0 when every result was kept."""
    counts = collections.Counter((row["theory"], row["result"]) for row in rows)
    for kind, name in KINDS.items():
        total = sum(count for (theory, _), count in counts.items() if theory == kind)
        plies = [len(row["moves"].split()) for row in rows if row["theory"] == kind]
        outcome = ", ".join(f"{counts[kind, result]} {KINDS[result]}" for result in KINDS if counts[kind, result])
        print(f"{name:>5} in theory: {total:>4} played, {outcome}; {sum(plies) / max(1, len(plies)):.0f} plies on average")
    kept = sum(count for (theory, result), count in counts.items() if theory == result)
    print(f"{kept} of {len(rows)} kept their result")
    return 0 if kept == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
