"""Starting points of the games."""

import random
from pathlib import Path

import chess
import chess.pgn

BUILT_IN = """
e4 e5
e4 c5
e4 e6
e4 c6
e4 d6 d4 Nf6
e4 g6 d4 Bg7
e4 d5 exd5 Qxd5
e4 Nf6 e5 Nd5
e4 b6 d4 Bb7
e4 Nc6 d4 d5
e4 e5 Nf3 Nc6 Bb5 a6
e4 e5 Nf3 Nc6 Bc4 Bc5
e4 e5 Nf3 Nf6 Nxe5 d6
e4 e5 f4 exf4
e4 e5 Nc3 Nf6
e4 c5 Nf3 d6 d4 cxd4
e4 c5 c3 d5
e4 c5 Nc3 Nc6 g3 g6
e4 e6 d4 d5 e5 c5
e4 c6 d4 d5 e5 Bf5
d4 d5
d4 Nf6
d4 f5 g3 Nf6
d4 e6 c4 b6
d4 d5 c4 e6 Nc3 Nf6
d4 d5 c4 c6 Nf3 Nf6
d4 d5 c4 dxc4
d4 d5 Nf3 Nf6 Bf4
d4 Nf6 c4 g6 Nc3 d5
d4 Nf6 c4 g6 Nc3 Bg7
d4 Nf6 c4 e6 Nc3 Bb4
d4 Nf6 c4 c5 d5 b5
d4 Nf6 Bg5 Ne4
c4 e5 Nc3 Nf6
c4 c5 Nf3 Nf6
c4 Nf6 g3 e6
Nf3 d5 g3 Nf6
Nf3 c5 c4 Nc6
b3 e5 Bb2 Nc6
f4 d5 Nf3 g6
"""
"""Main lines of two to six plies, in SAN."""


def built_in() -> list[chess.Board]:
    return [_from_san(line) for line in BUILT_IN.strip().splitlines()]


def _from_san(line: str) -> chess.Board:
    board = chess.Board()
    for san in line.split():
        board.push_san(san)
    return board


def read(path: Path) -> list[chess.Board]:
    """The games of a PGN file, or the positions of an EPD file, one a line, with or without the counters of a FEN."""
    try:
        boards = _read_pgn(path) if path.suffix == ".pgn" else _read_epd(path)
    except OSError as error:
        raise ValueError(f"openings {path}: {error.strerror}") from error
    boards = [board for board in boards if not board.is_game_over()]
    if not boards:
        raise ValueError(f"openings {path}: no position to play from")
    return boards


def _read_pgn(path: Path) -> list[chess.Board]:
    boards = []
    with path.open(encoding="utf-8", errors="replace") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            if game.errors:
                raise ValueError(f"openings {path}: game {len(boards) + 1}: {game.errors[0]}")
            boards.append(game.end().board())
    return boards


def _read_epd(path: Path) -> list[chess.Board]:
    boards = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        counters = line.split()[4:6]
        try:
            # The books of official-stockfish/books are called EPD and hold FENs.
            is_fen = len(counters) == 2 and all(counter.isdecimal() for counter in counters)
            board = chess.Board(line.strip()) if is_fen else chess.Board.from_epd(line)[0]
        except ValueError as error:
            raise ValueError(f"openings {path}, line {number}: {error}") from error
        if not board.is_valid():
            raise ValueError(f"openings {path}, line {number}: no legal position")
        boards.append(board)
    return boards


def schedule(boards: list[chess.Board], games: int, seed: int) -> list[tuple[chess.Board, chess.Color]]:
    """An opening and Zeitnot's colour for each game: every opening twice in a row, colours reversed."""
    shuffled: list[chess.Board] = []
    rng = random.Random(seed)
    while 2 * len(shuffled) < games:
        shuffled += rng.sample(boards, len(boards))
    return [(shuffled[index // 2], index % 2 == 0) for index in range(games)]
