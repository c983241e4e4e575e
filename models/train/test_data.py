"""Tests of labelled games as samples, of what is measured on them, and of batches."""

import contextlib
import gzip
import io
import itertools
import os
import struct
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import chess
import numpy as np
import torch

import lc0_file
import prepare
import surprise
from common import digest, is_made
from data import Positions, batches, how_often, surprise_path
from encoding import CONV_SLOTS, policy_index
from examples import some_network
from export import message
from model import Shape
from prepare import convert
from surprise import divergences, is_measured, measure
from teacher import OUTPUTS, Teacher


def game(fen: str, moves: list[str], unlabelled: tuple[int, ...] = ()) -> tuple[bytes, list[list[int]]]:
    """A Chess960 game as `zeitnot-label` writes it, labels being mere numbers, and each label's policy indices."""
    board = chess.Board(fen, chess960=True)
    data, labelled = struct.pack("<BBH", len(fen), 0, len(moves)) + fen.encode(), []
    for ply, uci in enumerate(moves):
        indices = sorted(policy_index(board, legal) for legal in board.legal_moves)
        move = chess.Move.from_uci(uci)
        played = policy_index(board, move)
        if played not in indices:
            raise ValueError(uci)
        count = 0 if ply in unlabelled else len(indices)
        numbers = (40000, 20000, 160) if count else ()
        data += struct.pack(f"<B{count}B{len(numbers)}HH", count, *range(1, count + 1), *numbers, played)
        labelled += [indices] if count else []
        board.push(move)
    return data, labelled


def pack_games(shard: Path, *games: bytes) -> None:
    """Makes a packed shard of games."""
    source = shard.with_suffix(".bin.gz")
    source.write_bytes(gzip.compress(b"".join(games)))
    convert(source, shard)


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
    """Stands for ONNX Runtime: a move's logit is its policy index / 100; there are as many plies left as men."""

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


def die(*_) -> None:
    os._exit(1)


class Games(unittest.TestCase):
    """A Chess960 game of three plies, the second without a label, as `zeitnot-label` writes it."""

    FEN = "1k6/8/8/8/8/8/8/4KR2 w F - 0 1"

    def setUp(self):
        data, self.labelled = game(self.FEN, ["e1f1", "b8b7", "g1g2"], unlabelled=(1,))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        pack_games(self.folder / "a.npz", data)
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

        def write(nats: np.ndarray) -> None:
            with open(surprise_path(self.folder / "a.npz"), "wb") as file:
                np.savez(file, nats=nats, network="0")

        write(even)
        np.testing.assert_allclose(self.positions.surprise(), even.clip(0))
        write(even[:1])
        with self.assertRaisesRegex(SystemExit, "another shard"):
            self.positions.surprise()

    def test_what_networks_measured_is_not_mixed(self):
        shards = [self.folder / name for name in ("a.npz", "b.npz")]
        shards[1].write_bytes(shards[0].read_bytes())
        networks = [self.folder / name for name in ("first.pb.gz", "second.pb.gz")]
        for network, samples in zip(networks, (1, 2)):
            lc0_file.write(network, message(some_network(Shape(1, 8, 4)), samples, 1, 0.0))
            self.assertFalse(is_measured(shards[0], digest(network)))
        for shard, network in zip(shards, networks):
            self.assertEqual(measure(network, shard)[:2], (shard.name, 2))
        self.assertEqual([is_measured(shards[0], digest(network)) for network in networks], [True, False])
        with self.assertRaisesRegex(SystemExit, "b.npz has been measured by another network"):
            Positions(self.folder).surprise()
        np.testing.assert_array_equal(Positions(self.folder, "b").surprise(), Positions(self.folder, "a").surprise())
        measure(networks[1], shards[0])
        self.assertEqual(len(Positions(self.folder).surprise()), 4)

    def test_a_process_that_is_killed_is_one_line(self):
        network = self.folder / "net.pb.gz"
        lc0_file.write(network, message(some_network(Shape(1, 8, 4)), 1, 1, 0.0))
        (self.folder / "a.bin.gz").touch()
        (self.folder / "packed").mkdir()
        (self.folder / "packed" / "b.npz").write_bytes((self.folder / "a.npz").read_bytes())
        work = "--work", str(self.folder)
        for module, task, words in (
            (surprise, "measure", [str(network)]), (prepare, "convert", ["--games", str(self.folder)]),
        ):
            with (mock.patch.object(module, task, die), mock.patch("sys.argv", ["", *words, *work]),
                  contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(SystemExit, "^.*abruptly.*$")):
                module.main()

    def test_the_teacher_s_own_outputs_stand_for_the_labels(self):
        teacher = Teacher.__new__(Teacher)
        cases = (Session(OUTPUTS[:2]), "no output /output/mlh"), (Session(notes={"lc0_input_format": "5"}), "number 5")
        for wrong, expected in cases:
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
        with self.assertRaisesRegex(SystemExit, "no shard in .* is called c$"):
            both.factors({"b": 3.0, "c": 2.0})

    def test_a_kind_ends_where_a_part_of_the_name_ends(self):
        names = ["a.npz", "maia-1-0000.npz", "maia-16-0000.npz"]
        for name in names[1:]:
            (self.folder / name).write_bytes((self.folder / "a.npz").read_bytes())
        cases = (
            ("", names), ([], names), ("maia", names[1:]), ("maia-1", names[1:2]), (["maia-16-0000.npz"], names[2:]),
            (["maia-16", "a"], names[::2]),
        )
        for only, expected in cases:
            self.assertEqual(list(Positions(self.folder, only).shards()), expected)
        self.assertEqual(list(Positions(self.folder, without=["maia-1", "a"]).shards()), names[2:])
        self.assertEqual(list(Positions(self.folder, "maia", ["maia-1"]).shards()), names[2:])
        self.assertEqual(Positions(self.folder).factors({"maia-1": 2.0}).tolist(), [1.0, 1.0, 2.0, 2.0, 1.0, 1.0])
        for factors in ({"maia": 3.0, "maia-16": 2.0}, {"maia-16": 2.0, "maia": 3.0}):
            self.assertEqual(Positions(self.folder).factors(factors).tolist(), [1.0, 1.0, 3.0, 3.0, 2.0, 2.0])
        for wrong in (("maia-1*",), (["a", "mai"],), ((), ["maia-"]), ("a", ["a"])):
            with self.assertRaisesRegex(SystemExit, str(self.folder)):
                Positions(self.folder, *wrong)

    def test_other_shards_than_a_run_s_are_named(self):
        run = Path("run/checkpoint.pt")
        self.positions.must_be({"a.npz": 2}, run)
        cases = {"is new": {}, "is missing": {"a.npz": 2, "b.npz": 1}, "has changed": {"a.npz": 3}}
        for wrong, shards in cases.items():
            with self.assertRaisesRegex(SystemExit, f"{run} .*{wrong}"):
                self.positions.must_be(shards, run)

    def test_what_is_made_of_an_older_file_is_made_anew(self):
        source, product = self.folder / "a.bin.gz", self.folder / "a.npz"
        source.touch()
        for age, made in (10, True), (-10, False):
            written = product.stat().st_mtime - age
            os.utime(source, (written, written))
            self.assertEqual(is_made(product, source), made)
        self.assertFalse(is_made(self.folder / "none.npz", source))

    def test_damaged_files_are_named(self):
        for suffix, load in ((".bin.gz", lambda path: convert(path, self.folder / "new.npz")), (".npz", Positions)):
            whole = (self.folder / f"a{suffix}").read_bytes()
            torn = self.folder / f"torn{suffix}"
            for data in (b"", b"nonsense", whole[: len(whole) // 2]):
                torn.write_bytes(data)
                with self.assertRaisesRegex((SystemExit, ValueError), f"{torn.name} "):
                    load(torn)
        torn = self.folder / "torn.bin.gz"
        torn.write_bytes(gzip.compress(gzip.decompress((self.folder / "a.bin.gz").read_bytes())[:-1]))
        with self.assertRaisesRegex(ValueError, "torn.bin.gz is damaged"):
            convert(torn, self.folder / "new.npz")
        self.assertFalse((self.folder / "new.npz").exists())

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

    def test_a_history_cut_short_has_no_repetitions(self):
        shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
        pack_games(self.folder / "b.npz", game(chess.STARTING_FEN, [*shuffle, *shuffle])[0])
        # After six plies the position is the one after two, and those after four and five were there before, too.
        batch = Positions(self.folder / "b.npz").batch(np.full(3, 6), forget=np.array([-1, 6, 5]))
        repeated = batch["planes"][:, 12:104:13, 0, 0].tolist()
        self.assertEqual(repeated, [[1, 1, 1, 0, 0, 0, 0, 0]] * 2 + [[0] * 8])


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
        for share in (0.0, 0.5):
            self.assertEqual(self.some(7, share)[4:], self.some(3, share, step=4))

    def test_there_must_be_a_whole_batch(self):
        with self.assertRaisesRegex(SystemExit, "96 positions .* a batch of 97"):
            batches(Toy(), np.ones(96), 97, 1, 0, 0, 1)

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
