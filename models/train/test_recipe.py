"""Tests of the recipe that need no data: python -m unittest (in this folder)."""

import contextlib
import copy
import gzip
import io
import itertools
import struct
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import chess
import numpy as np
import torch

import kernels
import lc0_file
from backend import choose
from data import Positions, batches, how_often, surprise_path
from encoding import CONV_SLOTS, MIRRORED, PLANES, POLICY_MOVES, RULE50_PLANE, History, castling_byte, planes, policy_index
from export import message
from grow import grown
from lc0_network import Lc0Network
from model import Network, Shape
from optimiser import Muon, orthogonalise
from prepare import convert
from restore import described, restored
from surprise import divergences
from teacher import OUTPUTS, Teacher
from train import beginning


def inputs(board: chess.Board, mirror: bool = False) -> np.ndarray:
    pieces, repeated = History(board).window()
    return planes(
        pieces[None], repeated[None], np.array([castling_byte(board)]), np.array([board.halfmove_clock]),
        np.array([board.turn == chess.BLACK]), np.array([mirror]),
    )[0]


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


def some_network(shape: Shape) -> Network:
    """A network none of whose parts is without effect."""
    torch.manual_seed(0)
    network = Network(shape).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.3)
            torch.nn.init.normal_(module.running_mean, std=0.3)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.bias, std=0.1)
    return network


def some_planes() -> torch.Tensor:
    boards = [
        "8/2k2P2/3p4/p2P1p2/P2P1P2/8/8/4K3 w - - 73 50", chess.STARTING_FEN, "4k3/8/8/8/8/8/8/R3K2R b KQ - 9 9",
    ]
    return torch.from_numpy(np.stack([inputs(chess.Board(fen)) for fen in boards]))


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
            path = Path(folder) / "checkpoint.pt"
            state = {"shape": small.shape.as_dict(), "averaged": small.state_dict(), "sharpen": 1.0, "samples": 7}
            torch.save(state, path)
            large, origin = beginning(path, shape, 2.0, None)
            self.assertEqual(origin, "2x16 after 7 samples")
            for wrong in (Shape(1, 16, 8), shape):
                with self.assertRaisesRegex(SystemExit, "checkpoint.pt"):
                    beginning(path, wrong, 2.0, None)
                path.write_bytes(b"nonsense")
        policy, value, _ = large.eval()(some_planes())
        torch.testing.assert_close(policy, 2 * small(some_planes())[0], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(value, small(some_planes())[1], atol=1e-4, rtol=1e-4)


class SomePositions:
    """Stands for data.Positions where only planes are asked for."""

    training = np.arange(4)

    @staticmethod
    def batch(chosen: np.ndarray) -> dict[str, torch.Tensor]:
        return {"planes": some_planes()}


class Export(unittest.TestCase):
    def test_file_computes_what_the_trained_network_computes(self):
        network, batch = some_network(Shape(2, 16, 8)), some_planes()
        self.assertEqual(batch[0, RULE50_PLANE, 0, 0].item(), 73)
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path = Path(folder) / "net.pb.gz"
            lc0_file.write(path, message(network, 1024, 512, 0.0, sharpen=2.0))
            expected, actual = network(batch), Lc0Network(path)(batch)
        torch.testing.assert_close(actual[0], expected[0] / 2, atol=2e-3, rtol=1e-3)
        torch.testing.assert_close(actual[1], expected[1], atol=2e-3, rtol=1e-3)
        torch.testing.assert_close(actual[2], expected[2].relu(), atol=2e-2, rtol=1e-3)

    def test_a_file_can_be_trained_on(self):
        network, batch = some_network(Shape(2, 16, 8)), some_planes()
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path = Path(folder) / "net.pb.gz"
            lc0_file.write(path, message(network, 1024, 512, 0.0))
            again = restored(path, batch)
            self.assertEqual(described(path), "zeitnot 2x16 se 8, 1024 samples in batches of 512")
            (Path(folder) / "cut.pb.gz").write_bytes(path.read_bytes()[:1000])
            for wrong in ("cut.pb.gz", "none.pb.gz"):
                with self.assertRaisesRegex(SystemExit, f"--start.*{wrong}"):
                    beginning(Path(folder) / wrong, Shape(2, 16, 8), 1.0, SomePositions())
            started, origin = beginning(path, Shape(2, 16, 8), 2.0, SomePositions())
            self.assertEqual(origin, described(path))
        self.assertEqual(again.shape, network.shape)
        expected = network(batch)
        # The norms' statistics are those of this batch, so that training begins where the file ended.
        for training in (False, True):
            for old, new in zip(expected, again.train(training)(batch)):
                torch.testing.assert_close(new, old, atol=1e-2, rtol=1e-2)
        torch.testing.assert_close(started.eval()(batch)[0], 2 * expected[0], atol=1e-2, rtol=1e-2)
        sizes = again.blocks[0].first.conv.weight.square().mean((1, 2, 3))
        torch.testing.assert_close(sizes, torch.full_like(sizes, 2 / (16 * 9)))

    def test_layers_survive_sixteen_bits(self):
        values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
        stored = lc0_file.layer_values(lc0_file.encode(lc0_file.layer(values)))
        self.assertLess(np.abs(stored - values).max(), np.ptp(values) / 65535)
        constant = lc0_file.layer_values(lc0_file.encode(lc0_file.layer(np.full(4, 0.25))))
        np.testing.assert_allclose(constant, 0.25)

    def test_truncated_files_are_refused(self):
        with self.assertRaises(ValueError):
            lc0_file.decode(lc0_file.encode({3: b"12345678"})[:-3])


class Optimiser(unittest.TestCase):
    def test_orthogonalise_evens_out_singular_values(self):
        torch.manual_seed(0)
        for shape in ((2, 16, 64), (2, 64, 16)):
            values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)).float())
            self.assertTrue(((values > 0.6) & (values < 1.3)).all())

    def test_a_step_goes_against_the_gradient_however_weights_lie(self):
        torch.manual_seed(0)
        for shape in ((16, 8, 3, 3), (80, 4, 3, 3), (8, 40)):
            gradient = torch.randn(shape)
            for memory in (torch.contiguous_format, torch.channels_last):
                if len(shape) == 2 and memory == torch.channels_last:
                    continue
                weight = torch.zeros(shape).to(memory_format=memory).requires_grad_()
                weight.grad = gradient.clone(memory_format=memory)
                Muon([weight], lr=1.0).step()
                # The nearest semi-orthogonal matrix, times a positive number: that is U V of the decomposition U S V.
                left, _, right = torch.linalg.svd(gradient.flatten(1), full_matrices=False)
                expected, actual = -(left @ right).flatten(), weight.detach().flatten(1).flatten()
                self.assertGreater(torch.cosine_similarity(actual, expected, 0).item(), 0.97, (shape, memory))


def by_definition() -> SimpleNamespace:
    """The operations of kernels.py in a few lines of PyTorch each."""

    def scale_relu(z, scale, shift, residual):
        x = scale[:, :, None, None] * z.float() + shift[:, :, None, None]
        return torch.relu(x if residual is None else x + residual.float()).bfloat16()

    def sums(one, two):
        return torch.stack([one.float().sum((2, 3)), two.float().sum((2, 3))])

    def gradients(g, out, z, scale, by_sum, by_square, residual):
        masked = g * (out > 0)
        scale, by_sum, by_square = (part[:, :, None, None] for part in (scale, by_sum, by_square))
        return (scale * masked + by_sum + by_square * z.float()).bfloat16(), masked if residual else None

    return SimpleNamespace(
        weight_gradient=lambda x, g: torch.nn.grad.conv2d_weight(x.float(), (g.shape[1], x.shape[1], 3, 3), g.float(), padding=1),
        board_sums=lambda z: sums(z, z.float() ** 2), scale_relu=scale_relu,
        scale_relu_sums=lambda g, out, z: sums(g * (out > 0), (g * (out > 0)).float() * z.float()),
        scale_relu_gradients=gradients,
    )


class Kernels(unittest.TestCase):
    def test_pass_is_as_near_to_float32_as_autocast(self):
        network = some_network(Shape(2, 64, 16)).train()
        batch = (torch.rand(64, PLANES, 8, 8) < 0.2).to(torch.uint8)
        batch[:, RULE50_PLANE] = torch.randint(100, (64, 1, 1))

        def computed(forward) -> dict[str, torch.Tensor]:
            """Outputs, gradients and statistics."""
            trained = copy.deepcopy(network)
            outputs = forward(trained)
            random = torch.Generator().manual_seed(1)
            sum((output.float() * torch.randn(output.shape, generator=random)).sum() for output in outputs).backward()
            gradients = {f"gradient of {name}": weight.grad for name, weight in trained.named_parameters()}
            outputs = {f"output {i}": output.detach() for i, output in enumerate(outputs)}
            return {**outputs, **gradients, **dict(trained.named_buffers())}

        def autocast(trained):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return trained(batch)

        exact, usual = computed(lambda trained: trained(batch)), computed(autocast)
        with mock.patch.object(kernels, "ops", by_definition()):
            ours = computed(lambda trained: kernels.forward(trained, batch))
        for name, actual in ours.items():
            with self.subTest(name):
                size = exact[name].float().norm()
                error, usual_error = ((other - exact[name]).float().norm() for other in (actual, usual[name]))
                self.assertLess(error, 2 * usual_error + 0.03 * size + 1e-9)

    def test_a_channel_that_is_constant_is_normalised(self):
        norm = torch.nn.BatchNorm2d(1)
        value = torch.full((8, 1), 64 * 33.3)
        scale, shift = kernels.normalised(norm, value, value * 33.3)
        self.assertAlmostEqual((scale * 33.3 + shift).item(), 0, delta=0.1)
        self.assertGreaterEqual(norm.running_var.item(), 0)

    def test_what_cannot_be_run_is_not_chosen(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            with self.assertRaisesRegex(SystemExit, "--backend kernels: .+"):
                choose("kernels", Shape(2, 48, 16), 1, Path(folder))
            with mock.patch("shutil.which", return_value=None):
                self.assertEqual(choose(None, Shape(2, 64, 16), 2, Path(folder)), "torch")
            self.assertRegex(said.getvalue(), "# --backend torch instead of kernels: .+")
            with mock.patch.object(kernels, "unfit", return_value=""), mock.patch.dict("os.environ", CXX="no-such-compiler"):
                with self.assertRaisesRegex(SystemExit, "--backend kernels: no-such-compiler: No such file"):
                    choose("kernels", Shape(), 1, Path(folder))
            self.assertEqual(list(Path(folder).iterdir()), [])


class CompiledKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            unfit = kernels.unfit(Shape())
            with tempfile.TemporaryDirectory() as folder:
                unfit or kernels.load(Path(folder))
        except RuntimeError as error:
            unfit = str(error)
        if unfit:
            raise unittest.SkipTest(f"no kernels: {unfit}")

    def test_gradient_of_the_weights(self):
        torch.manual_seed(0)
        # Boards that fill the last batch of them and that do not; blocks of outputs in pairs, and a single one over.
        for boards, inputs, outputs in ((1, 16, 16), (9, 112, 80), (16, 64, 96)):
            x = torch.randn(boards, inputs, 8, 8).bfloat16()
            g = torch.randn(boards, outputs, 8, 8).bfloat16().to(memory_format=torch.channels_last)
            expected = by_definition().weight_gradient(x, g)
            torch.testing.assert_close(kernels.ops.weight_gradient(x, g), expected, atol=1e-3, rtol=1e-5)
        with self.assertRaisesRegex(RuntimeError, "1 boards of x, 2 of g"):
            kernels.ops.weight_gradient(x[:1], g[:2])

    def test_operations_are_what_they_are_by_definition(self):
        torch.manual_seed(0)
        z, g, residual = torch.randn(3, 5, 96, 8, 8).bfloat16()
        scale, shift, by_sum, by_square = torch.randn(4, 5, 96)
        definition = by_definition()
        out = definition.scale_relu(z, scale, shift, residual)
        for name, *given in (
            ("board_sums", z), ("scale_relu", z, scale, shift, None), ("scale_relu", z, scale, shift, residual),
            ("scale_relu_sums", g, out, z), ("scale_relu_gradients", g, out, z, scale, by_sum, by_square, True),
        ):
            expected, actual = getattr(definition, name)(*given), getattr(kernels.ops, name)(*given)
            torch.testing.assert_close(actual, expected, atol=1e-3, rtol=1e-2)
        with self.assertRaisesRegex(RuntimeError, "beside"):
            kernels.ops.scale_relu(z, scale, shift, residual[:4])

    def test_what_is_no_number_stays_none(self):
        z = torch.full((1, 32, 8, 8), torch.nan, dtype=torch.bfloat16)
        self.assertTrue(kernels.ops.scale_relu(z, *torch.ones(2, 1, 32), None).isnan().all())


if __name__ == "__main__":
    unittest.main()
