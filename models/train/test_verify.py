"""Tests of the comparison with Lc0, and of what is not compared: networks of another kind, programs that are no Lc0."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import lc0_file
import verify
from examples import some_network
from export import NET_FORMAT, NETWORK_FORMAT, message
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
        # A prior may be off by 0.0055 points and, as Lc0 takes it, by 0.45 %; V by 1e-4; D by 0.0045; M by 0.0505.
        for at, inside, outside in (
            (0, {"e2e4": 60.27, "d2d4": 39.83}, {"e2e4": 60.29, "d2d4": 39.83}),
            (0, {"e2e4": 60.0, "d2d4": 40.18}, {"e2e4": 60.0, "d2d4": 40.2}),
            (1, 0.10009, 0.10011), (1, 0.09991, 0.09989), (2, 0.3044, 0.3046), (3, 50.0504, 49.9494),
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
