"""Tests of labelled games as samples, of what is measured on them, and of batches."""

import gzip
import itertools
import struct
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import chess
import numpy as np
import torch

from data import Positions, batches, how_often, surprise_path
from encoding import CONV_SLOTS, policy_index
from prepare import convert
from surprise import divergences
from teacher import OUTPUTS, Teacher


class ByLabels:
    """A network that answers with the labels."""

    def __init__(self, positions: Positions):
        batch = positions.batch(np.arange(len(positions)))
        self.logits = torch.zeros(len(positions), 80 * 64)
        for logits, slots, legal, policy in zip(self.logits, batch["slots"], batch["legal"], batch["policy"]):
            logits[slots[legal]] = policy[legal].log()

    def __call__(self, planes: torch.Tensor) -> tuple[torch.Tensor]:
        return (self.logits,)


class Session:
    """Stands for ONNX Runtime: the logit of a move is its policy index / 100; there are as many plies left as men on the board."""

    def __init__(self, outputs=OUTPUTS, notes={}):
        self.outputs, self.notes = outputs, notes

    def get_inputs(self):
        return [SimpleNamespace(name="/input/planes")]

    def get_outputs(self):
        return [SimpleNamespace(name=name) for name in self.outputs]

    def get_modelmeta(self):
        return SimpleNamespace(custom_metadata_map=self.notes)

    def run(self, outputs, inputs):
        planes = inputs["/input/planes"]
        policy = np.tile(np.arange(1858, dtype=np.float32) / 100, (len(planes), 1))
        answers = policy, np.full((len(planes), 3), 1 / 3), planes[:, :12].sum((1, 2, 3))[:, None]
        return [dict(zip(OUTPUTS, answers))[output] for output in outputs]


class Games(unittest.TestCase):
    """A Chess960 game of three plies, the second without a label, as `zeitnot label` writes it."""

    FEN = "1k6/8/8/8/8/8/8/4KR2 w F - 0 1"

    def setUp(self):
        board = chess.Board(self.FEN, chess960=True)
        data = struct.pack("<BBH", len(self.FEN), 0, 3) + self.FEN.encode()
        self.labelled = []
        for ply, uci in enumerate(("e1f1", "b8b7", "g1g2")):
            move = chess.Move.from_uci(uci)
            self.assertIn(move, board.legal_moves)
            count = 0 if ply == 1 else board.legal_moves.count()
            numbers = (40000, 20000, 160) if count else ()
            played = policy_index(board, move)
            data += struct.pack(f"<B{count}B{len(numbers)}HH", count, *range(1, count + 1), *numbers, played)
            self.labelled += [sorted(policy_index(board, legal) for legal in board.legal_moves)] if count else []
            board.push(move)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with gzip.open(Path(folder.name) / "a.bin.gz", "wb") as file:
            file.write(data)
        convert(Path(folder.name) / "a.bin.gz", Path(folder.name) / "a.npz")
        self.folder = Path(folder.name)
        self.positions = Positions(self.folder)

    def test_what_was_measured_belongs_to_its_shard(self):
        with self.assertRaisesRegex(SystemExit, "a.npz has not been measured"):
            self.positions.surprise()
        teacher = ByLabels(self.positions)
        found = divergences(teacher, self.positions)
        np.testing.assert_allclose(found, 0, atol=1e-3)
        teacher.logits[0] *= 0
        even = divergences(teacher, self.positions)
        self.assertGreater(even[0], 0.01)
        self.assertAlmostEqual(even[1], 0, delta=1e-3)
        np.save(surprise_path(self.folder / "a.npz"), even)
        np.testing.assert_allclose(self.positions.surprise(), even.clip(0))
        np.save(surprise_path(self.folder / "a.npz"), even[:1])
        with self.assertRaisesRegex(SystemExit, "another shard"):
            self.positions.surprise()

    def test_the_teacher_s_own_outputs_stand_for_the_labels(self):
        teacher = Teacher.__new__(Teacher)
        for wrong, expected in ((Session(OUTPUTS[:2]), "no output /output/mlh"), (Session(notes={"lc0_input_format": "5"}), "number 5")):
            teacher.session = wrong
            with self.assertRaisesRegex(SystemExit, f"--teacher net.onnx: .*{expected}"):
                teacher.check("net.onnx")
        teacher.session = Session()
        teacher.check("net.onnx")
        batch = teacher.relabelled(self.positions.batch(np.arange(2)))
        for policy, moves in zip(batch["policy"].numpy(), self.labelled):
            odds = np.exp(np.array(moves) / 100)
            np.testing.assert_allclose(policy[: len(moves)], odds / odds.sum(), rtol=1e-4)
            self.assertEqual(policy[len(moves) :].sum(), 0)
        np.testing.assert_allclose(batch["wdl"], 1 / 3)
        men = self.positions.batch(np.arange(2))["planes"][:, :12].sum((1, 2, 3))
        self.assertGreater(men.min().item(), 2)
        self.assertEqual(batch["left"].tolist(), men.tolist())

    def test_kinds_are_told_by_the_names_of_shards(self):
        (self.folder / "b.npz").write_bytes((self.folder / "a.npz").read_bytes())
        both = Positions(self.folder)
        self.assertEqual(both.factors({"b": 3.0}).tolist(), [1.0, 1.0, 3.0, 3.0])
        self.assertEqual(both.factors({}).tolist(), [1.0] * 4)
        with self.assertRaisesRegex(SystemExit, r"no shard is called c\*"):
            both.factors({"b": 3.0, "c": 2.0})

    def test_only_what_has_a_label_is_a_sample(self):
        self.assertEqual(len(self.positions), 2)
        batch = self.positions.batch(np.array([0, 1]))
        for row, indices in enumerate(self.labelled):
            legal = batch["legal"][row]
            self.assertEqual(batch["slots"][row][legal].tolist(), CONV_SLOTS[indices].tolist())
            expected = np.square(np.arange(1, len(indices) + 1))
            np.testing.assert_allclose(batch["policy"][row][legal], expected / expected.sum(), rtol=1e-4)
        self.assertEqual(batch["left"].tolist(), [10.0, 10.0])
        # The king has castled: on g1, the rook beside it, both in the position two plies before on their old squares.
        self.assertEqual(batch["planes"][1, 5, 0, 6].item(), 1)
        self.assertEqual(batch["planes"][1, 26 + 5, 0, 4].item(), 1)

    def test_a_history_cut_short_repeats_its_first_position(self):
        chosen = np.array([1, 1])
        whole, cut = self.positions.batch(chosen, forget=np.array([-1, 1]))["planes"]
        self.assertTrue((whole[:26] == cut[:26]).all())
        self.assertFalse((whole[26:39] == cut[26:39]).all())
        self.assertTrue((cut[26:39] == cut[13:26]).all())
        self.assertTrue((whole[104:] == cut[104:]).all())


class Toy:
    """Stands for data.Positions: of 96 positions, 5 to 100, one in eight is a surprise; a batch is who is in it."""

    training = np.arange(5, 101)

    @staticmethod
    def surprise() -> np.ndarray:
        return np.where(np.arange(101) % 8 == 0, 3.0, 0.2)

    @staticmethod
    def factors(of_names: dict[str, float]) -> np.ndarray:
        return np.where(np.arange(101) < 53, of_names["first"], 1.0)

    @staticmethod
    def batch(chosen: np.ndarray, mirror: np.ndarray, forget: np.ndarray) -> tuple:
        return chosen.tolist(), mirror.tolist(), forget.tolist()


class Batches(unittest.TestCase):
    SIZE = 32

    def some(self, count: int, surprise: float = 0.0, step: int = 0, rank: int = 0, gang: int = 1) -> list:
        often = how_often(Toy(), surprise, {})
        return list(itertools.islice(batches(Toy(), often, self.SIZE, 1, step, rank, gang), count))

    def test_an_epoch_has_every_position_once(self):
        first, second = (sum((chosen for chosen, _, _ in self.some(3, step=step)), []) for step in (0, 3))
        self.assertEqual(sorted(first), Toy.training.tolist())
        self.assertEqual(sorted(second), Toy.training.tolist())
        self.assertNotEqual(first, second)

    def test_a_run_that_goes_on_has_the_same_batches(self):
        for surprise in (0.0, 0.5):
            self.assertEqual(self.some(7, surprise)[4:], self.some(3, surprise, step=4))

    def test_processes_share_each_batch(self):
        whole = self.some(4, 0.5)
        parts = zip(self.some(4, 0.5, rank=0, gang=2), self.some(4, 0.5, rank=1, gang=2))
        for (chosen, _, _), ((first, _, _), (second, _, _)) in zip(whole, parts):
            self.assertEqual(sorted(first + second), chosen)

    def test_surprises_come_more_often_and_the_size_of_an_epoch_stays(self):
        often = how_often(Toy(), 0.5, {})
        self.assertAlmostEqual(often.sum(), 96)
        # Half a sample for all, and half of them by 3.0 to 0.2: the mean is 0.55.
        self.assertAlmostEqual(often[Toy.training == 8].item(), 0.5 + 0.5 * 3.0 / 0.55)
        self.assertAlmostEqual(often[Toy.training == 9].item(), 0.5 + 0.5 * 0.2 / 0.55)
        epochs = 400
        drawn = np.concatenate([chosen for chosen, _, _ in self.some(3 * epochs, 0.5)])
        self.assertAlmostEqual((drawn % 8 == 0).sum() / epochs / 12, often[Toy.training == 8].item(), delta=0.05)
        np.testing.assert_array_equal(how_often(Toy(), 0.0, {}), np.ones(96))

    def test_a_kind_comes_more_often(self):
        # Half of the 96 positions, 5 to 52, three times as often as the others.
        often = how_often(Toy(), 0.0, {"first": 3.0})
        np.testing.assert_allclose(often, [1.5] * 48 + [0.5] * 48)
        both = how_often(Toy(), 0.5, {"first": 3.0})
        self.assertAlmostEqual(both.sum(), 96)
        ratio = how_often(Toy(), 0.5, {})[Toy.training == 8] / how_often(Toy(), 0.5, {})[Toy.training == 96]
        np.testing.assert_allclose(both[Toy.training == 8] / both[Toy.training == 96], 3 * ratio)
