"""Tests of growing and averaging networks, and of starting a run and going on."""

import contextlib
import io
import random
import tempfile
import unittest
from pathlib import Path

import chess
import numpy as np
import torch

from common import digest
from data import Positions, batches
from examples import some_network, some_planes
from export import load
from gang import Gang
from grow import beginning, grown
from losses import held_out
from model import Network, Shape
from soup import soup
from test_data import game, pack_games
from train import arguments, average, rate, work


def checkpoint(path: Path, network: Network, **more) -> Path:
    """Writes of a checkpoint what its averaged network is read from."""
    state = {"shape": network.shape.as_dict(), "averaged": network.state_dict(), "sharpen": 1.0, "samples": 7}
    torch.save(state | more, path)
    return path


def pack_some(shard: Path, games: int = 5, plies: int = 8) -> None:
    """Makes a packed shard of random games; the first one is held out."""
    choice, written = random.Random(1), []
    for _ in range(games):
        board, moves = chess.Board(), []
        for _ in range(plies):
            moves.append(choice.choice([move.uci() for move in board.legal_moves]))
            board.push_uci(moves[-1])
        written.append(game(chess.STARTING_FEN, moves)[0])
    pack_games(shard, *written)


class Growth(unittest.TestCase):
    def test_a_larger_network_computes_the_same_and_its_copies_learn_apart(self):
        small = some_network(Shape(2, 16, 8))
        for shape in (Shape(2, 16, 8), Shape(4, 32, 8), Shape(3, 24, 12)):
            large = grown(small, shape).eval()
            for expected, actual in zip(small(some_planes()), large(some_planes())):
                torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-4)
            sum(output.square().mean() for output in large(some_planes())).backward()
            if shape.channels == 2 * small.shape.channels:
                first, second = large.blocks[0].first.conv.weight.grad.split(small.shape.channels)
                self.assertFalse(torch.allclose(first, second))
                self.assertGreater(large.blocks[-1].second.norm.weight.grad.abs().max(), 0)
        with self.assertRaises(ValueError):
            grown(small, Shape(2, 8, 8))

    def test_a_run_begins_with_another_ones_average(self):
        small, shape = some_network(Shape(2, 16, 8)), Shape(2, 32, 8)
        with tempfile.TemporaryDirectory() as folder:
            path = checkpoint(Path(folder) / "checkpoint.pt", small)
            large, origin = beginning(path, shape, 2.0, None)
            self.assertEqual(origin, "2x16 after 7 samples")
            for wrong in (Shape(1, 16, 8), shape):
                with self.assertRaisesRegex(SystemExit, "checkpoint.pt"):
                    beginning(path, wrong, 2.0, None)
                path.write_bytes(b"nonsense")
        policy, value, _ = large.eval()(some_planes())
        torch.testing.assert_close(policy, 2 * small(some_planes())[0], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(value, small(some_planes())[1], atol=1e-4, rtol=1e-4)

    def test_new_blocks_are_drawn_alike_and_leave_other_draws_alone(self):
        small, networks, draws = some_network(Shape(2, 16, 8)), [], []
        for seed in (1, 2):
            torch.manual_seed(seed)
            expected = torch.rand(3)
            torch.manual_seed(seed)
            networks.append(grown(small, Shape(4, 16, 8)).state_dict())
            draws.append((torch.rand(3), expected))
        for actual, expected in draws:
            torch.testing.assert_close(actual, expected)
        torch.testing.assert_close(*networks)


class Soup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.start = checkpoint(self.folder / "start.pt", some_network(Shape(2, 16, 8)))

    def test_it_lies_between_the_ends_of_a_run(self):
        before, end = some_network(Shape(2, 16, 8)).state_dict(), some_network(Shape(2, 16, 8))
        with torch.no_grad():
            for weights in end.state_dict().values():
                weights.add_(1)
        path = checkpoint(self.folder / "end.pt", end, origin="something")
        for share in (0.0, 0.25, 1.0):
            state = soup(path, self.start, share, self.folder)
            said = f"something; {share:g} of this run and the rest of (2x16 after 7 samples)"
            self.assertEqual(state["origin"], said)
            for name, weights in state["averaged"].items():
                if weights.is_floating_point():
                    torch.testing.assert_close(weights, before[name] + share)
        torch.save(state, self.folder / "soup.pt")
        twice = soup(path, self.folder / "soup.pt", 0.5, self.folder)["origin"]
        rest = f"2x16 after 7 samples, begun as {state['origin']}"
        self.assertEqual(twice, f"something; 0.5 of this run and the rest of ({rest})")
        usual = checkpoint(self.folder / "end.pt", end, origin=rest)
        again = soup(usual, self.folder / "soup.pt", 0.5, self.folder)["origin"]
        self.assertEqual(again, f"{rest}; 0.5 of this run and the rest of that")
        # Another network that is described alike is another.
        for start, expected in ((digest(self.folder / "soup.pt"), "that"), ("another", f"({rest})")):
            usual = checkpoint(self.folder / "end.pt", end, origin=rest, start=start)
            again = soup(usual, self.folder / "soup.pt", 0.5, self.folder)["origin"]
            self.assertEqual(again, f"{rest}; 0.5 of this run and the rest of {expected}")
        new = checkpoint(self.folder / "end.pt", end)
        again = soup(new, self.start, 0.5, self.folder)["origin"]
        self.assertEqual(again, "new; 0.5 of this run and the rest of (2x16 after 7 samples)")

    def test_that_of_a_run_that_never_moved_is_the_run(self):
        torch.manual_seed(1)
        end = beginning(self.start, Shape(4, 16, 8), 1.0, None)[0]
        path = checkpoint(self.folder / "end.pt", end)
        torch.manual_seed(2)
        torch.testing.assert_close(soup(path, self.start, 0.5, self.folder)["averaged"], end.state_dict())

    def test_statistics_are_those_of_the_run_s_positions(self):
        pack_some(self.folder / "a.npz")
        positions = Positions(self.folder)
        path = checkpoint(self.folder / "end.pt", some_network(Shape(2, 16, 8)), shards=positions.shards())
        # It came when the run was over.
        pack_some(self.folder / "b.npz", games=2)
        state = soup(path, self.start, 0.5, self.folder, 30)
        self.assertRegex(state["origin"], "batch norm by 30 positions$")
        network = Network(Shape(2, 16, 8))
        network.load_state_dict(state["averaged"])
        planes = next(batches(positions, np.ones(len(positions.training)), 30, 1, 0, 0, 1))["planes"]
        for expected, actual in zip(network.train()(planes), network.eval()(planes)):
            torch.testing.assert_close(actual, expected, atol=2e-2, rtol=2e-2)
        for name, weights in some_network(Shape(2, 16, 8)).named_parameters():
            torch.testing.assert_close(state["averaged"][name], weights)
        (self.folder / "a.npz").unlink()
        with self.assertRaisesRegex(SystemExit, "no shard in .* is called a.npz"):
            soup(path, self.start, 0.5, self.folder, 30)


class Training(unittest.TestCase):
    BATCH = 4

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "packed").mkdir()
        pack_some(self.folder / "packed" / "a-1.npz")

    def train(self, name: str, steps: int, *more: str) -> Path:
        """Trains a tiny network, at the peak learning rate until the last third of the steps."""
        (self.folder / name).mkdir(exist_ok=True)
        args = arguments([
            "--work", str(self.folder), "--name", name, "--blocks", "1", "--channels", "16", "--se", "4",
            "--batch", str(self.BATCH), "--samples", str(self.BATCH * steps), "--warmup", "1", "--decay", "0.3",
            "--processes", "1", "--backend", "torch", *more,
        ])
        with contextlib.redirect_stdout(io.StringIO()):
            work(0, Gang(1, 0), args)
        return self.folder / name / "checkpoint.pt"

    def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(self):
        once, twice = self.train("once", 6), self.train("twice", 3)
        halfway = load(twice)[1]["network"]
        self.train("twice", 6)
        (_, expected), (_, actual) = load(once), load(twice)
        self.assertFalse(torch.equal(halfway["input.conv.weight"], actual["network"]["input.conv.weight"]))
        for part in ("network", "averaged", "optimisers", "samples", "shards", "lr"):
            torch.testing.assert_close(actual[part], expected[part], atol=0, rtol=0)

    def test_a_run_goes_on_as_it_began_or_says_why_not(self):
        pack_some(self.folder / "packed" / "kept-1.npz")
        path = self.train("run", 1, "--without", "kept")
        self.assertEqual(load(path)[1]["shards"], {"a-1.npz": 40})
        wrong = (
            ([], "--without .'kept'.: say so"), (["--without", "kept", "--often", "a=2"], "--often left out"),
            (["--without", "kept", "--optimiser", "adamw"], "another --optimiser"),
            (["--without", "kept", "--channels", "8"], "shape"), (["--without", "kep"], "is called kep"),
            (["--without", "kept", "--batch", "64"], "32 positions .* a batch of 64"),
            (["--without", "kept", "--start", __file__], "did not begin with .*test_network"),
            (["--without", "kept", "--start", "none.pb.gz"], "--start: .*none.pb.gz"),
        )
        for more, expected in wrong:
            with self.assertRaisesRegex(SystemExit, expected):
                self.train("run", 2, *more)
        pack_some(self.folder / "packed" / "b-1.npz")
        with self.assertRaisesRegex(SystemExit, "b-1.npz is new"):
            self.train("run", 2, "--without", "kept")
        path.write_bytes(path.read_bytes()[:1000])
        with self.assertRaisesRegex(SystemExit, f"{path}: no checkpoint"):
            self.train("run", 2, "--without", "kept")

    def test_numbers_that_cannot_be_are_refused(self):
        for option, value in (
            ("--warmup", "0"), ("--decay", "0"), ("--decay", "nan"), ("--check-samples", "0"), ("--check-size", "-1"),
            ("--samples", "0"), ("--batch", "-4"), ("--batch", "4.5"), ("--lr", "inf"), ("--sharpen", "0"),
            ("--surprise", "1.5"), ("--average", "nan"), ("--seed", "-1"), ("--seed", str(2**64)),
            ("--seed", "9" * 400), ("--save-minutes", "inf"),
        ):
            said = io.StringIO()
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
                arguments([option, value])
            self.assertIn(f"argument {option}: '{value}' is no", said.getvalue())

    def test_where_nothing_is_held_out_nothing_is_measured(self):
        positions = Positions(self.folder / "packed")
        network = some_network(Shape(1, 16, 4))
        self.assertRegex(held_out(network, positions, 100, 1.0), "^held out 8: policy [0-9.]+ wdl ")
        positions.held_out = positions.held_out[:0]
        self.assertEqual(held_out(network, positions, 100, 1.0), "held out 0")

    def test_the_learning_rate_rises_stays_and_falls(self):
        actual = [rate(samples, 1000, 100, 0.5) for samples in (0, 49, 99, 300, 500, 750, 1000, 1100)]
        np.testing.assert_allclose(actual, [0.01, 0.5, 1, 1, 1, 0.5, 0, 0])

    def test_an_average_has_the_statistics_and_counts_too(self):
        old, new = some_network(Shape(1, 16, 4)), some_network(Shape(1, 16, 4))
        before = {name: weights.clone() for name, weights in old.state_dict().items()}
        with torch.no_grad():
            for weights in new.state_dict().values():
                weights.add_(4)
        average(old, new, 0.75)
        for name, weights in old.state_dict().items():
            torch.testing.assert_close(weights, before[name] + (1 if weights.is_floating_point() else 4))
