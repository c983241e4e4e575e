"""Tests of growing, starting, exporting and restoring a network, and of the optimiser."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

import lc0_file
from encoding import RULE50_PLANE
from examples import some_network, some_planes
from export import message
from grow import grown
from lc0_network import Lc0Network
from model import Shape
from optimiser import Muon, orthogonalise
from restore import described, restored
from soup import soup
from train import beginning


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

    def test_the_soup_of_a_run_lies_between_its_ends(self):
        start, end = some_network(Shape(2, 16, 8)), some_network(Shape(2, 16, 8))
        with torch.no_grad():
            for weights in end.parameters():
                weights.add_(1)
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("start.pt", "end.pt")]
            for path, network in zip(paths, (start, end)):
                state = {"shape": network.shape.as_dict(), "averaged": network.state_dict(), "samples": 7}
                torch.save(state, path)
            for share in (0.0, 0.25, 1.0):
                weights = soup(paths[1], paths[0], share, None)["averaged"]
                for name, before in start.named_parameters():
                    torch.testing.assert_close(weights[name], before + share)


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
