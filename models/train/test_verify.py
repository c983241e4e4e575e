"""Tests of the comparison with Lc0, and of what is not compared: networks of another kind, programs that are no Lc0."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import lc0_file
import verify
from examples import some_network
from export import NET_FORMAT, NETWORK_FORMAT, message
from lc0_arithmetic import exponential, logarithm
from lc0_network import read
from model import Shape

WHAT = [("start position", None, "")]
LC0 = {"e2e4": 60.0, "d2d4": 40.0}, 0.1, 0.3, 50.0


class Tolerances(unittest.TestCase):
    def compared(self, *ours: verify.Evaluation) -> tuple[int, list[float], str]:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            failures, largest = verify.compare("Ours", WHAT * len(ours), list(ours), [LC0] * len(ours))
        return failures, largest, said.getvalue()

    def test_what_is_printed_alike_is_alike_and_no_more(self):
        # A prior may be off by 0.01 points; V by 1e-4; D by 0.00055; M by 0.0505.
        for at, inside, outside in (
            (0, {"e2e4": 60.009, "d2d4": 39.991}, {"e2e4": 60.011, "d2d4": 39.991}),
            (0, {"e2e4": 60.0, "d2d4": 39.991}, {"e2e4": 60.0, "d2d4": 39.989}),
            (1, 0.10009, 0.10011), (1, 0.09991, 0.09989), (2, 0.3005, 0.3006), (3, 50.0504, 49.9494),
        ):
            for changed, expected in ((inside, 0), (outside, 1)):
                with self.subTest(changed):
                    failures, _, said = self.compared((*LC0[:at], changed, *LC0[at + 1 :]))
                    self.assertEqual((failures, said.count("TOO FAR APART")), (expected, expected))

    def test_the_largest_differences_are_told(self):
        failures, largest, _ = self.compared(
            LC0, ({"e2e4": 60.1, "d2d4": 39.8}, 0.1, 0.301, 50.0), (LC0[0], 0.10005, 0.3, 50.02))
        self.assertEqual(failures, 1)
        for found, expected in zip(largest, (0.2, 0.00005, 0.001, 0.02)):
            self.assertAlmostEqual(found, expected)

    def test_other_moves_are_no_small_difference(self):
        with self.assertRaisesRegex(SystemExit, "start position, startpos .*moves differ.*a2a3.*d2d4"):
            self.compared(({"e2e4": 60.0, "a2a3": 40.0}, *LC0[1:]))


class Arithmetic(unittest.TestCase):
    def test_it_is_off_by_as_much_as_lc0_s(self):
        x = np.linspace(-30, 0, 20001, dtype=np.float32)
        self.assertAlmostEqual(np.abs(exponential(x) / np.exp(x.astype(float)) - 1).max(), 0.00268, delta=0.00002)
        self.assertEqual((exponential(np.float32(0)), exponential(np.float32(-100))), (1, 0))
        x = np.exp(np.linspace(-9, 9, 2001))
        off = [abs(float(logarithm(number)) - np.log(number)) for number in x]
        self.assertAlmostEqual(max(off), 0.0053, delta=0.0001)

    def test_what_it_makes_of_outputs_is_what_lc0_prints(self):
        # zeitnot-medium in a pawn ending of verify.POSITIONS: its logits, W, D and L, and what Lc0 0.32.1 prints.
        logits = {
            "d2e3": -0.92593, "d2d3": -0.19135, "d2c3": 0.00917, "d2e2": -0.93917, "d2c2": -0.32012, "d2e1": -1.751,
            "d2d1": -1.45426, "d2c1": -1.37716,
        }
        printed = {
            "d2e1": 4.33, "d2d1": 5.83, "d2c1": 6.29, "d2e2": 9.76, "d2e3": 9.89, "d2c2": 18.11, "d2d3": 20.64,
            "d2c3": 25.15,
        }
        win, draw, loss = 0.2347, 0.6837, 0.0816
        percent, value, drawn, left = verify.evaluation(
            list(logits), np.array(list(logits.values())), win - loss, draw, 61.96165)
        for move in logits:
            self.assertAlmostEqual(percent[move], printed[move], delta=0.0055)
        self.assertEqual((value, left), (win - loss, 61.96165))
        self.assertAlmostEqual(drawn, 0.685, delta=0.0006)
        odds = np.exp(list(logits.values()))
        off = np.abs(100 * odds / odds.sum() - [printed[move] for move in logits])
        self.assertGreater(off.max(), 0.02, "that tells Lc0's arithmetic from an exact one")

    def test_what_is_nearly_certain_is_not_rescaled(self):
        self.assertEqual(verify.evaluation(["e2e4"], np.zeros(1), 0.99995, 0.00002, 1.0)[2], 0.00002)


class Files(unittest.TestCase):
    def test_programs_that_are_no_lc0(self):
        network = Path("none.pb.gz")
        with self.assertRaisesRegex(SystemExit, "--lc0 /nowhere: No such file"):
            verify.Lc0(Path("/nowhere"), network)
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "lc0"
            for script in ("exit 0", "read line; exit 0", "while read line; do case $line in go*) exit 1; esac; done"):
                binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
                binary.chmod(0o755)
                with self.subTest(script), self.assertRaisesRegex(SystemExit, "Lc0 ended or gave no evaluation"):
                    with verify.Lc0(binary, network) as engine:
                        engine.evaluate(None, "")
            with self.assertRaisesRegex(SystemExit, "evaluates 0 of 1 positions"):
                verify.by_zeitnot(binary, network, WHAT)
            binary.write_text("#!/bin/sh\necho nonsense\n", encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, f"--zeitnot {binary}: "):
                verify.by_zeitnot(binary, network, WHAT)
        with self.assertRaisesRegex(SystemExit, "--zeitnot /nowhere: .*No such file"):
            verify.by_zeitnot(Path("/nowhere"), network, WHAT)

    def test_an_lc0_that_says_nothing_is_not_waited_for_for_ever(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("verify.PATIENCE_S", 0.2):
            binary = Path(folder) / "lc0"
            binary.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
            binary.chmod(0o755)
            with self.assertRaisesRegex(SystemExit, "Lc0 ended or gave no evaluation"):
                with verify.Lc0(binary, Path("none.pb.gz")) as engine:
                    engine.evaluate(None, "")

    def test_networks_of_another_kind_are_refused(self):
        network = some_network(Shape(1, 8, 4))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.pb.gz"
            for field, number, expected in ((1, 3, "input format is number 3"), (4, 1, "convolutional policy")):
                net = message(network, 1024, 512, 0.0)
                net[NET_FORMAT] = net[NET_FORMAT] | {2: NETWORK_FORMAT | {field: number}}
                lc0_file.write(path, net)
                with self.subTest(field), self.assertRaisesRegex(ValueError, f"net.pb.gz .*{expected}"):
                    read(path)
            lc0_file.write(path, message(network, 1024, 512, 0.0))
            self.assertTrue(read(path).has_wdl)


if __name__ == "__main__":
    unittest.main()
