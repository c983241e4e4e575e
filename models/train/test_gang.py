"""Tests of processes that train together."""

import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import torch
from torch import nn

from gang import Gang

SIZE = 2


def layer(number: float) -> nn.Linear:
    """A layer of such weights and gradients."""
    made = nn.Linear(3, 2)
    for weight in made.parameters():
        nn.init.constant_(weight, number)
        weight.grad = torch.full_like(weight, number)
    return made


def share(rank: int, gang: Gang, folder: Path) -> None:
    network = layer(1.0 + 4 * rank)
    for part in range(3):
        gang.average_gradients(rank, network)
        torch.save([weight.grad for weight in network.parameters()], folder / f"gradients-{part}-{rank}.pt")
        for weight in network.parameters():
            weight.grad += rank
    gang.share_weights(rank, network)
    torch.save(list(network.parameters()), folder / f"weights-{rank}.pt")


def fail(rank: int, gang: Gang) -> None:
    if rank == 0:
        raise OSError("no space left")
    gang.barrier.wait()


def wait(rank: int, gang: Gang) -> None:
    gang.barrier.wait()
    if rank == 0:
        print("waiting", flush=True)
    time.sleep(600)


def running(work: str) -> subprocess.Popen:
    """A program that has a gang do one of the things above."""
    code = f"import gang, test_gang; gang.Gang({SIZE}, 1).run(test_gang.{work})"
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stdout=pipe, stderr=pipe, text=True)


class Together(unittest.TestCase):
    def test_gradients_become_the_mean_and_weights_those_of_the_first(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            Gang(SIZE, sum(weight.numel() for weight in layer(0).parameters())).run(share, folder)
            for rank in range(SIZE):
                for part, expected in enumerate((3.0, 3.5, 4.0)):
                    for gradient in torch.load(folder / f"gradients-{part}-{rank}.pt"):
                        torch.testing.assert_close(gradient, torch.full_like(gradient, expected))
                for weight in torch.load(folder / f"weights-{rank}.pt"):
                    torch.testing.assert_close(weight.data, torch.full_like(weight, 1.0))

    def test_when_one_cannot_go_on_all_end_and_one_line_says_why(self):
        with running("fail") as program:
            _, said = program.communicate(timeout=120)
        self.assertEqual((program.returncode, said), (1, "no space left\n"))

    def test_none_outlives_a_program_that_is_killed(self):
        with running("wait") as program:
            self.assertEqual(program.stdout.readline(), "waiting\n")
            program.kill()
            # Their output is the program's: it ends when the last of them does.
            self.assertEqual(program.communicate(timeout=120)[0], "")


if __name__ == "__main__":
    unittest.main()
