"""Tests of exporting and restoring a network, and of the optimiser."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

import lc0_file
from encoding import RULE50_PLANE
from examples import some_network, some_planes
from export import LEFT, NET_WEIGHTS, VALUE, message
from grow import beginning
from lc0_network import Lc0Network
from model import Shape
from optimiser import Muon, orthogonalise
from restore import described, restored


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

    def test_narrow_heads_are_filled_up_with_zeros(self):
        network, batch = some_network(Shape(2, 16, 8, narrow=4)), some_planes()
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path, wide = Path(folder) / "net.pb.gz", Path(folder) / "wide.pb.gz"
            lc0_file.write(path, message(network, 1024, 512, 0.0))
            lc0_file.write(wide, message(some_network(Shape(2, 16, 8)), 1024, 512, 0.0))
            expected, actual = network(batch), Lc0Network(path)(batch)
            self.assertLess(path.stat().st_size, wide.stat().st_size / 3)
        torch.testing.assert_close(actual[0], expected[0], atol=2e-3, rtol=1e-3)
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
            other = message(network, 1024, 512, 0.0)
            other[NET_WEIGHTS][VALUE] = other[NET_WEIGHTS][LEFT]
            lc0_file.write(Path(folder) / "other.pb.gz", other)
            for wrong in ("cut.pb.gz", "none.pb.gz", "other.pb.gz"):
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
