"""Tests of processes that train together."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

import gang

SIZE = 2
#: Longest wait for processes to begin, and to end.
PATIENCE_S = 60


def layer(number: float) -> nn.Linear:
    """A layer of such weights and gradients."""
    made = nn.Linear(3, 2)
    for weight in made.parameters():
        nn.init.constant_(weight, number)
        weight.grad = torch.full_like(weight, number)
    return made


def share(rank: int, group: gang.Gang, folder: Path) -> None:
    network = layer(1.0 + 4 * rank)
    for part in range(3):
        group.average_gradients(rank, network)
        torch.save([weight.grad for weight in network.parameters()], folder / f"gradients-{part}-{rank}.pt")
        for weight in network.parameters():
            weight.grad += rank
    group.share_weights(rank, network)
    torch.save(list(network.parameters()), folder / f"weights-{rank}.pt")


def fail(rank: int, group: gang.Gang) -> None:
    if rank == 0:
        raise OSError("no space left")
    group.barrier.wait()


def wait(rank: int, group: gang.Gang) -> None:
    group.barrier.wait()
    if rank == 0:
        print("waiting", flush=True)
    time.sleep(600)


def die_when_they_are_spawned() -> None:
    spawn = gang.multiprocessing.spawn

    def spawn_and_die(*arguments, **more) -> None:
        spawn(*arguments, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    gang.multiprocessing.spawn = spawn_and_die


@contextlib.contextmanager
def running(work: str, first: str = "pass") -> Iterator[subprocess.Popen]:
    """A program that has a gang do one of the things above; it and its processes end here."""
    code = f"import gang, test_gang; {first}; gang.Gang({SIZE}, 1).run(test_gang.{work})"
    program = subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield program
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        program.stdout.close()
        program.stderr.close()


class Together(unittest.TestCase):
    def test_gradients_become_the_mean_and_weights_those_of_the_first(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            gang.Gang(SIZE, sum(weight.numel() for weight in layer(0).parameters())).run(share, folder)
            for rank in range(SIZE):
                for part, expected in enumerate((3.0, 3.5, 4.0)):
                    for gradient in torch.load(folder / f"gradients-{part}-{rank}.pt"):
                        torch.testing.assert_close(gradient, torch.full_like(gradient, expected))
                for weight in torch.load(folder / f"weights-{rank}.pt"):
                    torch.testing.assert_close(weight.data, torch.full_like(weight, 1.0))

    def test_when_one_cannot_go_on_all_end_and_one_line_says_why(self):
        with running("fail") as program:
            _, said = program.communicate(timeout=PATIENCE_S)
        self.assertEqual((program.returncode, said), (1, "no space left\n"))

    def test_none_outlives_a_program_that_is_killed(self):
        with running("wait") as program:
            self.assertTrue(select.select([program.stdout], [], [], PATIENCE_S)[0], "they do not begin")
            self.assertEqual(program.stdout.readline(), "waiting\n")
            program.kill()
            # Their output is the program's: it ends when the last of them does.
            self.assertEqual(program.communicate(timeout=PATIENCE_S)[0], "")

    def test_none_outlives_a_program_that_is_killed_before_they_have_begun(self):
        with running("wait", "test_gang.die_when_they_are_spawned()") as program:
            self.assertEqual(program.communicate(timeout=PATIENCE_S)[0], "")
