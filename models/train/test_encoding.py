"""Tests of the input planes and the policy index."""

import unittest

import chess
import numpy as np

from encoding import CONV_SLOTS, MIRRORED, POLICY_MOVES, History, policy_index
from examples import inputs


class Encoding(unittest.TestCase):
    def test_policy_entries_that_lc0_documents(self):
        for fen in ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1"):
            board = chess.Board(fen)
            castling = {POLICY_MOVES[policy_index(board, move)][:2] for move in board.generate_castling_moves()}
            self.assertEqual(castling, {(chess.E1, chess.H1), (chess.E1, chess.A1)})
        promotions = chess.Board("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1")
        moves = "a7a8q", "a7a8b", "a7b8q", "a7b8n"
        indices = {uci: policy_index(promotions, chess.Move.from_uci(uci)) for uci in moves}
        self.assertEqual((indices["a7a8q"], indices["a7a8b"], indices["a7b8q"]), (1792, 1794, 1795))
        self.assertEqual(POLICY_MOVES[indices["a7b8n"]], (chess.A7, chess.B8, ""))
        self.assertEqual(policy_index(chess.Board(), chess.Move.from_uci("e2e4")), 322)
        after = chess.Board()
        after.push_uci("e2e4")
        self.assertEqual(policy_index(after, chess.Move.from_uci("e7e5")), 322)

    def test_conv_slots_are_distinct_and_start_at_the_from_square(self):
        self.assertEqual(len(set(CONV_SLOTS)), len(POLICY_MOVES))
        self.assertTrue(all(slot % 64 == start for slot, (start, _, _) in zip(CONV_SLOTS, POLICY_MOVES)))
        self.assertLess(CONV_SLOTS.max(), 73 * 64)

    def test_mirrored_planes_are_the_planes_of_the_mirrored_board(self):
        for fen in ("8/2k2P2/3p4/p2P1p2/P2P1P2/8/8/4K3 w - - 12 50", "r1n3k1/1P4pp/8/8/8/8/p1p1p2P/1N1R3K b - - 7 40"):
            board = chess.Board(fen)
            other = board.transform(chess.flip_horizontal)
            np.testing.assert_array_equal(inputs(board, mirror=True), inputs(other))
            moves = sorted(MIRRORED[policy_index(board, move)] for move in board.legal_moves)
            self.assertEqual(moves, sorted(policy_index(other, move) for move in other.legal_moves))

    def test_repetition_and_history(self):
        board = chess.Board()
        history = History(board)
        for uci in "g1f3 g8f6 f3g1 f6g8".split():
            board.push_uci(uci)
            history.add(board)
        pieces, repeated = history.window()
        self.assertEqual(repeated.tolist(), [1, 0, 0, 0, 0, 0, 0, 0])
        self.assertTrue((pieces[0] == pieces[4]).all() and not pieces[5:].any())
