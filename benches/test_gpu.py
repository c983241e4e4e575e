"""Tests of gpu.py and of its page. Run with `python3 -m unittest discover -s benches`."""

import unittest

from gpu import sizes
from gpu_page import page


class Device:
    """A program on a device that makes this many evaluations a second."""

    def __init__(self, rate, is_software=False):
        self.rate, self.is_software = rate, is_software

    def json(self, *arguments):
        return ([{"evals_per_s": self.rate}], None) if self.rate else (None, "took longer than 9 s")


def report(sizes, **parts):
    """A card measured at these sizes."""
    batches = [{"batch": size, "evals_per_s": 90.0, "ratio": 0.9, "versus_evals_per_s": 100.0, "in_turn_ms": 1.0, "latency_p50_ms": 1.0,
                "device": "a card"} for size in sizes]
    speed = {"network": "t1", "backend": "webgpu", "batches": batches, "problem": None}
    return {"machine": {}, "is software": False, "agreement": [], "speed": [speed], "variants": [], "lc0": [], "picture": [],
            "problems": [], **parts}


class Sizes(unittest.TestCase):
    def test_a_device_is_measured_at_what_it_runs_in_two_seconds(self):
        for rate, backend, largest in [(5905, "webgpu", 1024), (200, "cuda", 256), (0, "cuda", 1), (5905, "onnxruntime", 64),
                                       (10, "onnxruntime", 16)]:
            self.assertEqual(sizes(Device(rate), None, backend)[-1], largest, (rate, backend))
        self.assertEqual(sizes(Device(0, is_software=True), None, "webgpu"), [1, 8])


class Page(unittest.TestCase):
    def test_a_bar_is_judged_or_said_to_be_not_measured(self):
        bars = page(report([1, 256]))
        self.assertIn("- t1, webgpu: share of a bare loop at 256 0.9000, bar 0.95: FAILS\n", bars)
        self.assertIn("- t1, webgpu: change of the size 1.0000, bar 1.5: passes\n", bars)
        self.assertIn("- t1, webgpu: search: not measured\n", bars)
        for sizes in [[1], []]:
            self.assertEqual(page(report(sizes)).count(": not measured\n"), 3, sizes)

    def test_a_software_device_is_not_judged(self):
        bars = page(report([1, 256], **{"is software": True}))
        self.assertNotRegex(bars, "passes|FAILS|: not measured")
        self.assertIn("- webgpu: a card\n", bars)

    def test_a_picture_is_shown_or_missed(self):
        picture = {"file": "gpu.svg", "problem": None}
        self.assertIn("(gpu.svg)\n", page(report([1], picture=[picture])))
        self.assertNotIn("gpu.svg", page(report([1], picture=[{**picture, "problem": "too long"}])))


if __name__ == "__main__":
    unittest.main()
