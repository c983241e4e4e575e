"""Tests of what evaluate.py measures: agreement with labels and its error, and puzzles."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import chess
import numpy as np
import torch

import evaluate
from encoding import CONV_SLOTS, policy_index
from losses import agreement, log_policy

#: Of three legal moves; the last position has but two.
LABELS = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.9, 0.1, 0.0]])
MATES_IN_TWO_WAYS = "7k/p5pp/8/8/8/8/8/1R2R1K1 b - - 0 1"


class Labelled:
    """Stands for data.Positions: four positions in two shards, both of which call their games 0 and 1. The planes of a
    position are its number."""

    lengths = {Path("a.npz"): 3, Path("b.npz"): 1}
    arrays = {"game": np.array([0, 1, 1, 1], np.int32)}

    def __len__(self) -> int:
        return len(LABELS)

    def batch(self, chosen: np.ndarray) -> dict[str, torch.Tensor]:
        return {
            "planes": torch.from_numpy(chosen), "slots": torch.tensor([[7, 70, 700]]).expand(len(chosen), 3),
            "legal": LABELS[chosen] > 0, "policy": LABELS[chosen], "left": torch.full((len(chosen),), 40.0),
            "wdl": torch.tensor([[0.5, 0.25, 0.25]]).expand(len(chosen), 3),
        }


class ByLabels:
    """A network that says what the labels say; of moves that they like alike it likes the last best."""

    has_wdl = True

    def __call__(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch = Labelled().batch(planes.numpy())
        # What is not legal here would be the first choice if it counted.
        policy = torch.full((len(planes), 80 * 64), 9.0)
        logits = (batch["policy"] + torch.tensor([0, 1e-6, 2e-6])).log()
        policy.scatter_(1, batch["slots"], torch.where(batch["legal"], logits, 9.0))
        return policy, batch["wdl"].log(), batch["left"] - 2


class ByHand(unittest.TestCase):
    def test_a_network_of_the_labels_agrees_with_them(self):
        (found,) = evaluate.measured([ByLabels()], Labelled(), np.arange(4))
        self.assertEqual(found["agreement"].tolist(), [1, 1, 0.5, 1])
        for name, expected in (("policy_kl", 0), ("wdl_kl", 0), ("q_error", 0), ("left_error", 2)):
            np.testing.assert_allclose(found[name], expected, atol=1e-4, err_msg=name)
        entropy = -(LABELS * LABELS.clamp_min(1e-9).log()).sum(1)
        np.testing.assert_allclose(found["policy_ce"], entropy, atol=1e-4)

    def test_of_labels_that_are_tied_each_counts_its_share(self):
        labels = torch.tensor([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [1, 1, 1], [0.6, 0.4, 0]])
        choices = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0]])
        torch.testing.assert_close(agreement(choices, labels), torch.tensor([1 / 2, 1 / 2, 0, 1 / 3, 0]))

    def test_only_legal_moves_have_probability(self):
        batch = Labelled().batch(np.array([3]))
        logs = log_policy(torch.zeros(1, 80 * 64), batch)
        torch.testing.assert_close(logs.exp(), torch.tensor([[0.5, 0.5, 0.0]]))

    def test_positions_of_a_game_are_one_observation(self):
        game = evaluate.games(Labelled(), np.array([1, 2, 3]))
        self.assertEqual((game[0] == game[1], game[1] == game[2]), (True, False), "shards count their games anew")
        # The mean is 3/4: the first game is 1/4 + 1/4 above it, the second 3/4 below and 1/4 above, together 1/2 below.
        hits, game = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1])
        self.assertAlmostEqual(evaluate.error_by_game(hits, game), (1 / 4 + 1 / 4) ** 0.5 / 4)
        # Each for itself: three times 1/4 above it and once 3/4 below.
        self.assertAlmostEqual(evaluate.error_by_game(hits, np.arange(4)), (3 / 16 + 9 / 16) ** 0.5 / 4)
        self.assertTrue(np.isnan(evaluate.error_by_game(hits, np.zeros(4, int))))

    def test_a_difference_has_an_error_of_its_own(self):
        first, second, game = np.array([1.0, 1, 0, 1]), np.array([1.0, 0, 0, 0]), np.array([0, 0, 1, 1])
        self.assertEqual(evaluate.with_error(first, game, None, True), "75.00 % (± 17.68)")
        self.assertEqual(evaluate.with_error(first, 0 * game, None, True), "75.00 % (± unknown)")
        # It is 0, 1, 0 and 1: in both games 1/2 on average, so that games do not differ.
        expected = "75.00 % (± 17.68), +50.00 (± 0.00) against the other"
        self.assertEqual(evaluate.with_error(first, game, second, True), expected)
        # As single observations they do, by 1/2 each: 4 ** 0.5 / 2 / 4.
        expected = "0.2500 (± 0.2165), -0.5000 (± 0.2500) against the other"
        self.assertEqual(evaluate.with_error(second, np.arange(4), first, False), expected)


class ByHabit:
    """A network without WDL and moves left, to which the move in slot 7 is the best."""

    has_wdl = False

    def __call__(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        policy = torch.zeros(len(planes), 80 * 64)
        policy[:, 7] = 1
        return policy, torch.zeros(len(planes), 1), None


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "puzzles.tsv"

    def puzzles(self, *lines: str, limit: int = 9) -> list[evaluate.Puzzle]:
        self.path.write_text("\n".join(("id\trating\tfen\tmoves", *lines)) + "\n", encoding="utf-8")
        return evaluate.read_puzzles(self.path, limit)

    def test_puzzles_are_found_strictly_or_by_another_mate(self):
        lines = [f"1\t900\t{MATES_IN_TWO_WAYS}\ta7a6 {mate}" for mate in ("b1b8", "e1e8")]
        cases = self.puzzles(*lines)
        board = cases[0][0]
        self.assertEqual(board.peek().uci(), "a7a6")

        def network(planes: torch.Tensor) -> tuple[torch.Tensor, None, None]:
            policy = torch.zeros(len(planes), 80 * 64)
            policy[:, CONV_SLOTS[policy_index(board, chess.Move.from_uci("e1e8"))]] = 1
            return policy, None, None

        for _ in range(2):
            solved = evaluate.puzzles(network, cases)
            self.assertEqual((solved["strict"].tolist(), solved["found"].tolist()), ([0, 1], [1, 1]))
        self.assertEqual(len(self.puzzles(*lines, limit=1)), 1)

    def test_another_network_is_measured_on_the_same(self):
        names = {Path("one.pb.gz"): ByLabels(), Path("two.pb.gz"): ByHabit()}
        labelled = Labelled()
        labelled.held_out = np.arange(4)
        self.puzzles(f"1\t900\t{MATES_IN_TWO_WAYS}\ta7a6 b1b8")
        solved = {ByLabels: 1.0, ByHabit: 0.0}

        def puzzles(network: object, cases: list[evaluate.Puzzle]) -> dict[str, np.ndarray]:
            return {"strict": np.full(len(cases), solved[type(network)]), "found": np.ones(len(cases))}

        def said(*arguments: str) -> list[str]:
            with (
                mock.patch("sys.argv", ["evaluate.py", *arguments, "--puzzles", str(self.path)]),
                mock.patch.multiple(evaluate, read_or_exit=names.get, Positions=lambda *_: labelled, puzzles=puzzles),
                contextlib.redirect_stdout(io.StringIO()) as output,
            ):
                evaluate.main()
            return output.getvalue().splitlines()

        alone, both = said("one.pb.gz"), said("one.pb.gz", "--against", "two.pb.gz")
        swapped = said("two.pb.gz", "--against", "one.pb.gz")
        self.assertEqual(both[0], "one.pb.gz: 4 held-out positions; the other: two.pb.gz")
        # The labels agree with themselves in 1, 1, 1/2 and 1 of the positions, habit in 1, 0, 1/2 and 1.
        self.assertRegex(both[1], r"agreement .* 87.50 % \(.*\), \+25.00 \(.*\) against the other$")
        self.assertRegex(swapped[1], r"agreement .* 62.50 % \(.*\), -25.00 \(.*\) against the other$")
        self.assertRegex(both[-2], r"puzzles 100.00 % .*, \+100.00 .* against the other \(of 1\)$")
        self.assertRegex(both[-1], r"puzzles, or another mate at once 100.00 % .*, \+0.00 .* against the other$")
        for line in both[1:]:
            name = line.split()[0]
            self.assertEqual("against" in line, name not in ("wdl_ce", "wdl_kl", "left_error"), line)
        self.assertFalse([line for line in alone if "other:" in line or "against" in line])

    def test_what_is_no_puzzle_is_named(self):
        sound = f"1\t900\t{MATES_IN_TWO_WAYS}\ta7a6 b1b8"
        for lines, expected in (
            ((), "puzzles.tsv: no puzzles"),
            ((sound, f"2\t900\t{MATES_IN_TWO_WAYS}\ta7a6"), "puzzles.tsv, line 3: "),
            ((sound, f"2\t900\t{MATES_IN_TWO_WAYS}\ta7a6 a6a5"), "puzzles.tsv, line 3: illegal"),
            ((sound, "2\t900\tnonsense\ta7a6 b1b8"), "puzzles.tsv, line 3: "),
            ((sound, "2"), "puzzles.tsv, line 3: "),
        ):
            with self.subTest(lines), self.assertRaisesRegex(SystemExit, f"^--puzzles .*{expected}"):
                self.puzzles(*lines)
        for data in (b"", b"fen;moves\n", b"\x1f\x8b\x08\xff\x00\x91"):
            self.path.write_bytes(data)
            with self.subTest(data), self.assertRaisesRegex(SystemExit, "^--puzzles .*puzzles.tsv, line 1: "):
                evaluate.read_puzzles(self.path, 9)
        with self.assertRaisesRegex(SystemExit, "^--puzzles: .*No such file.*nowhere"):
            evaluate.read_puzzles(Path("/nowhere"), 9)

    def test_bad_arguments_end_in_one_line(self):
        for more, expected in (
            (("--all",), "--all needs --only"),
            (("--limit", "0"), "'0' is no whole number greater than zero"),
            (("--threads", "many"), "'many' is no whole number greater than zero"),
        ):
            with self.subTest(more), contextlib.redirect_stderr(io.StringIO()) as said:
                with mock.patch("sys.argv", ["evaluate.py", "none.pb.gz", *more]), self.assertRaises(SystemExit) as end:
                    evaluate.main()
            self.assertIn(expected, f"{said.getvalue()} {end.exception}")


if __name__ == "__main__":
    unittest.main()
