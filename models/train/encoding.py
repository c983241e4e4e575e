"""Lc0's classical input planes and policy index, packed small and unpacked fast.

A *frame* is one position of a game as twelve bitboards from White's side (P N B R Q K of White, then of Black;
bit 0 = a1, bit 63 = h8) and a flag "this position has occurred before". Eight frames of history and four small
numbers (castling rights, fifty-move counter, side to move) make the 112 planes of format INPUT_CLASSICAL_112_PLANE.
"""

from __future__ import annotations

import chess
import numpy as np

HISTORY = 8
PLANES = 112
POLICY_SIZE = 1858
#: The fifty-move counter's plane holds plies; training sees plies / RULE50_SCALE and export folds the factor back.
RULE50_SCALE = 99.0
RULE50_PLANE = 109

# Bits of a sample's castling byte, from White's side; shifting the pairs gives Black's view.
WHITE_LONG, WHITE_SHORT, BLACK_LONG, BLACK_SHORT = 1, 2, 4, 8


def _policy_moves() -> list[tuple[int, int, str]]:
    """(from, to, promotion) of the 1858 policy entries, seen from the mover's side, in Lc0's order."""
    moves = []
    for start in range(64):
        for end in range(64):
            files, ranks = abs((start & 7) - (end & 7)), abs((start >> 3) - (end >> 3))
            straight = files == 0 or ranks == 0 or files == ranks
            if start != end and (straight or {files, ranks} == {1, 2}):
                moves.append((start, end, ""))
    for file in range(8):
        for target in (file - 1, file, file + 1):
            if 0 <= target < 8:
                moves += [(48 + file, 56 + target, piece) for piece in "qrb"]
    assert len(moves) == POLICY_SIZE
    return moves


POLICY_MOVES = _policy_moves()
_INDEX = {move: index for index, move in enumerate(POLICY_MOVES)}
_PROMOTION = {None: "", chess.KNIGHT: "", chess.BISHOP: "b", chess.ROOK: "r", chess.QUEEN: "q"}


def policy_index(board: chess.Board, move: chess.Move) -> int:
    """Index of a legal move; castling is the king taking its own rook, a knight's promotion has no letter."""
    start, end = move.from_square, move.to_square
    if board.is_castling(move):
        side = board.castling_rights & chess.BB_RANKS[start >> 3]
        rooks = [square for square in chess.scan_forward(side) if (square > start) == (end > start)]
        end = max(rooks) if end > start else min(rooks)
    if board.turn == chess.BLACK:
        start, end = start ^ 56, end ^ 56
    return _INDEX[start, end, _PROMOTION[move.promotion]]


def _conv_slots() -> np.ndarray:
    """For each policy index its place in the flat 80x8x8 output of the convolutional head (plane * 64 + from)."""
    rays = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    slots = []
    for start, end, promotion in POLICY_MOVES:
        step = (end & 7) - (start & 7), (end >> 3) - (start >> 3)
        distance = max(abs(step[0]), abs(step[1]))
        if promotion:
            plane = 64 + 3 * (step[0] + 1) + "rbq".index(promotion)
        elif step in knight:
            plane = 56 + knight.index(step)
        else:
            plane = 7 * rays.index((step[0] // distance, step[1] // distance)) + distance - 1
        slots.append(plane * 64 + start)
    return np.array(slots, np.int64)


CONV_SLOTS = _conv_slots()
#: Policy index of the same move on the board mirrored left to right.
MIRRORED = np.array([_INDEX[start ^ 7, end ^ 7, promotion] for start, end, promotion in POLICY_MOVES], np.int64)
#: Each byte with its bits reversed: one rank mirrored left to right.
_REVERSED = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)


def bitboards(board: chess.Board) -> list[int]:
    """The twelve bitboards of a frame."""
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    return [kind & white for kind in kinds] + [kind & black for kind in kinds]


def castling_byte(board: chess.Board) -> int:
    """Castling rights as the four bits named above."""
    rights = 0
    for colour, long, short in ((chess.WHITE, WHITE_LONG, WHITE_SHORT), (chess.BLACK, BLACK_LONG, BLACK_SHORT)):
        rights |= long * board.has_queenside_castling_rights(colour)
        rights |= short * board.has_kingside_castling_rights(colour)
    return rights


class History:
    """The frames of one game, growing move by move, with Lc0's rule (`HistoryFill=fen_only`) for what came before.

    A game from the standard start position has empty planes before it. Any other start is repeated backwards; if its
    last move was a double push that allows en passant, the copies show the pawn still at home.
    """

    def __init__(self, board: chess.Board):
        self.frames: list[list[int]] = []
        self.repeated: list[bool] = []
        self._seen: set = set()
        self.fill = board.board_fen() != chess.STARTING_BOARD_FEN
        if self.fill and board.ep_square is not None:
            before = bitboards(board)
            file = chess.square_file(board.ep_square)
            pawns, home, pushed = (6, 6, 4) if board.turn == chess.WHITE else (0, 1, 3)
            before[pawns] += (1 << chess.square(file, home)) - (1 << chess.square(file, pushed))
            self.frames.append(before)
            self.repeated.append(False)
        self.add(board)

    def add(self, board: chess.Board) -> None:
        """Takes in the position after a move (or the first one)."""
        if board.halfmove_clock == 0:
            self._seen.clear()
        key = board._transposition_key()
        self.frames.append(bitboards(board))
        self.repeated.append(key in self._seen)
        self._seen.add(key)

    def window(self) -> tuple[np.ndarray, np.ndarray]:
        """The last eight frames, newest first, and their repetition flags; missing ones are empty."""
        pieces, repeated = np.zeros((HISTORY, 12), np.uint64), np.zeros(HISTORY, np.uint8)
        for slot in range(HISTORY):
            at = len(self.frames) - 1 - slot
            if at < 0 and not self.fill:
                break
            pieces[slot], repeated[slot] = self.frames[max(at, 0)], self.repeated[max(at, 0)]
        return pieces, repeated


def planes(
    pieces: np.ndarray, repeated: np.ndarray, castling: np.ndarray, rule50: np.ndarray, black: np.ndarray,
    mirror: np.ndarray | None = None,
) -> np.ndarray:
    """Input planes as bytes, [n, 112, 8, 8] (rank, file), from the mover's side.

    pieces: [n, 8, 12] bitboards, newest first; repeated: [n, 8]; castling, rule50 (plies), black (bool): [n].
    mirror, if given, says which boards to mirror left to right (only sensible without castling rights).
    """
    count = len(pieces)
    flip = black.astype(bool)
    pieces = np.ascontiguousarray(pieces)
    theirs = pieces[flip]
    pieces[flip] = np.concatenate([theirs[:, :, 6:], theirs[:, :, :6]], axis=2).byteswap()
    ranks = pieces.view(np.uint8).reshape(count, HISTORY, 12, 8)
    if mirror is not None and mirror.any():
        ranks[mirror] = _REVERSED[ranks[mirror]]
    out = np.zeros((count, PLANES, 64), np.uint8)
    history = out[:, : HISTORY * 13].reshape(count, HISTORY, 13, 64)
    history[:, :, :12] = np.unpackbits(ranks, axis=3, bitorder="little").reshape(count, HISTORY, 12, 64)
    history[:, :, 12] = repeated[:, :, None]
    rights = np.where(flip, (castling >> 2) | ((castling & 3) << 2), castling)
    for bit in range(4):
        out[:, 104 + bit] = ((rights >> bit) & 1)[:, None]
    out[:, 108] = flip[:, None]
    out[:, RULE50_PLANE] = rule50[:, None]
    out[:, 111] = 1
    return out.reshape(count, PLANES, 8, 8)


def position_planes(board: chess.Board, history: History, mirror: bool = False) -> np.ndarray:
    """Input planes of one position, [112, 8, 8], as `planes` makes them; history ends with it."""
    pieces, repeated = history.window()
    return planes(
        pieces[None], repeated[None], np.array([castling_byte(board)]), np.array([board.halfmove_clock]),
        np.array([board.turn == chess.BLACK]), np.array([mirror]),
    )[0]
