"""Tests of the training pass of kernels.py against its definition; the compiled ones where a processor has AMX."""

import contextlib
import copy
import io
import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import torch
import torch._inductor.config

import kernels
from backend import choose, training_pass
from encoding import PLANES, RULE50_PLANE
from examples import some_network
from model import Shape


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
                # A few numbers may by chance all be rounded the same way.
                share = 0.03 if actual.numel() > 64 else 0.1
                self.assertLess(error, 2 * usual_error + share * size + 1e-9)

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


class Compiler(unittest.TestCase):
    def test_it_is_the_one_that_cxx_names(self):
        for named, expected in (("", ["c++"]), (" ", ["c++"]), ("ccache g++", ["ccache", "g++"])):
            with mock.patch.dict(os.environ, CXX=named):
                self.assertEqual(kernels.cxx(), expected)
        with mock.patch.dict(os.environ), self.assertRaisesRegex(SystemExit, "CXX: "):
            os.environ["CXX"] = "'"
            kernels.cxx()

    def test_torch_compile_is_chosen_where_it_has_one(self):
        for named, there, expected in (("", "c++", "compile"), ("g++", "g++", "compile"), ("", "", "torch"),
                                       ("ccache g++", "ccache", "compile"), ("ccache g++", "g++", "torch")):
            with (mock.patch.dict(os.environ, CXX=named), mock.patch.object(kernels, "unfit", lambda shape: "no AMX"),
                  mock.patch("shutil.which", lambda name: name == there or None),
                  contextlib.redirect_stdout(io.StringIO())):
                self.assertEqual(choose(None, Shape(), 1, Path()), expected)
                if expected == "torch":
                    with self.assertRaisesRegex(SystemExit, "--backend compile: .* (c[+][+]|ccache) "):
                        choose("compile", Shape(), 1, Path())
        with mock.patch.dict(os.environ, CXX="'"):
            self.assertEqual(choose("torch", Shape(), 1, Path()), "torch")

    def test_torch_compile_is_told_which_it_is(self):
        network = some_network(Shape(1, 8, 4))
        for named, expected in (("", "c++"), ("ccache g++", "ccache g++")):
            with (mock.patch.dict(os.environ, CXX=named), mock.patch("torch.compile", lambda module: "compiled"),
                  mock.patch.object(torch._inductor.config.cpp, "cxx", None)):
                self.assertEqual(training_pass("compile", network, Path()), "compiled")
                self.assertEqual(torch._inductor.config.cpp.cxx, (None, expected))
        self.assertIs(training_pass("torch", network, Path()), network)


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
