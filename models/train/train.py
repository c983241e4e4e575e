"""Trains a network on packed positions; stop it at any time and start it again with the same command.

    python train.py --name small --samples 6000000

Writes WORK/NAME/checkpoint.pt (network, averaged network, optimisers, position in the data) and WORK/NAME/log.txt.
The learning rate warms up, stays, and falls linearly to zero over the last part; with another --samples a run may be
shortened or lengthened when it is resumed, and --lr and --batch may change then, too (where the rate was falling
already, it jumps). The averaged weights are the product: they are good at any time, and best at the end.
"""

from __future__ import annotations

import argparse
import copy
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from backend import BACKENDS, choose, has_bfloat16, training_pass
from common import between, digest, make_folder, positive, whole
from data import Positions, batches, how_often
from export import load
from gang import Gang
from grow import beginning
from losses import held_out, losses
from model import Network, Shape, parameters
from optimiser import optimisers

#: Weights of the three losses.
POLICY_WEIGHT, VALUE_WEIGHT, LEFT_WEIGHT = 1.0, 1.0, 0.3
#: The pause file is looked for every this many batches.
PAUSE_EVERY = 4
#: The processes' weights are made equal again every this many batches (they do the same sums, so this is a safeguard).
SHARE_EVERY = 1000
#: What PyTorch takes.
LARGEST_SEED = 2**64 - 1
#: Time between lines of progress.
REPORT_SECONDS = 20.0


def rate(samples: int, total: int, warmup: int, decay: float) -> float:
    """Share of the peak learning rate after so many samples."""
    falling = (total - samples) / (decay * total)
    return max(0.0, min(1.0, (samples + 1) / warmup, falling))


@torch.no_grad()
def average(target: nn.Module, source: nn.Module, keep: float) -> None:
    """Exponential moving average of all weights and batch-norm statistics."""
    for (_, old), (_, new) in zip(target.state_dict().items(), source.state_dict().items()):
        if old.is_floating_point():
            old.lerp_(new, 1 - keep)
        else:
            old.copy_(new)


def save(path: Path, state: dict) -> None:
    """Writes a checkpoint so that there is always a whole one."""
    with whole(path) as partial:
        try:
            torch.save(state, partial)
        except RuntimeError as error:
            # PyTorch's own, of several lines, where a file cannot be opened or written to its end.
            raise OSError(f"{path} cannot be written (a full disk?): {str(error).splitlines()[0]}") from error


def kind(text: str) -> tuple[str, float]:
    """`maia=3`: a kind of shards, and how many times as often their positions are drawn."""
    name, _, times = text.partition("=")
    try:
        factor = float(times)
    except ValueError:
        factor = -1.0
    if not name or not 0 < factor < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not KIND=TIMES, such as maia=3")
    return name, factor


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--name", default="small", help="name of the run (default small)")
    parser.add_argument("--blocks", type=positive(int), default=Shape.blocks)
    parser.add_argument("--channels", type=positive(int), default=Shape.channels)
    parser.add_argument("--se", type=positive(int), default=Shape.se, help="hidden units of the squeeze-and-excitation")
    parser.add_argument("--narrow", type=int, choices=(1, 2, 4, 8), default=Shape.narrow,
                        help="divisor of the sizes of the value and moves-left heads (default 1)")
    parser.add_argument("--start", type=Path, metavar="FILE",
                        help="begin a new run with the network of this checkpoint or network file (.pb.gz), which may "
                             "be smaller")
    parser.add_argument("--samples", type=positive(int), default=6_000_000, help="length of the run in samples")
    parser.add_argument("--batch", type=positive(int), default=384)
    parser.add_argument("--lr", type=positive(float), default=4e-3, help="peak learning rate")
    parser.add_argument("--decay", type=positive(float), default=0.7,
                        help="the learning rate falls over this share of the run")
    parser.add_argument("--warmup", type=positive(int), default=50_000, help="samples until the peak learning rate")
    parser.add_argument("--sharpen", type=positive(float), default=2.0,
                        help="power of the teacher's policy (default 2)")
    parser.add_argument("--surprise", type=between(float, 0, 1), default=0.0, metavar="SHARE",
                        help="share of the samples drawn in proportion to what surprise.py measured (default 0)")
    parser.add_argument("--often", type=kind, action="append", default=[], metavar="KIND=TIMES",
                        help="positions of shards whose names begin with KIND (maia, maia-16) are drawn so many times "
                             "as often as others")
    parser.add_argument("--without", action="append", default=[], metavar="KIND",
                        help="shards whose names begin with KIND are kept from this training")
    parser.add_argument("--weight-decay", type=between(float, 0), default=0.05)
    parser.add_argument("--average", type=between(float, 0, 1), default=0.999,
                        help="what the averaged weights keep per step")
    parser.add_argument("--optimiser", choices=("muon", "adamw"), default="muon")
    parser.add_argument("--processes", type=positive(int), default=2, help="they share each batch (default 2)")
    parser.add_argument("--threads", type=positive(int), default=1, help="threads of each process (default 1)")
    parser.add_argument("--backend", choices=BACKENDS,
                        help="what computes: C++ of our own, for processors with AMX, one thread a process; "
                             "torch.compile; or PyTorch alone, without a C++ compiler (default: the first that this "
                             "machine can run)")
    parser.add_argument("--seed", type=between(int, 0, LARGEST_SEED), default=1)
    parser.add_argument("--save-minutes", type=between(float, 0), default=3, help="time between checkpoints")
    parser.add_argument("--check-samples", type=positive(int), default=250_000,
                        help="samples between held-out measures")
    parser.add_argument("--check-size", type=positive(int), default=4000, help="positions of a held-out measure")
    parser.add_argument("--pause-file", type=Path, help="training sleeps while this file exists")
    return parser.parse_args(words)


def told(args: argparse.Namespace) -> dict:
    """What a run must be told alike whenever it goes on."""
    return {
        "sharpen": args.sharpen, "surprise": args.surprise, "often": dict(args.often),
        "without": sorted(set(args.without)),
    }


def begun_with(args: argparse.Namespace) -> str:
    """What a new run begins with; or SystemExit."""
    try:
        return digest(args.start) if args.start else ""
    except OSError as error:
        raise SystemExit(f"--start: {error}") from error


#: The same of checkpoints that say nothing of it.
TOLD_BEFORE = {"sharpen": 1.0, "surprise": 0.0, "often": {}, "without": []}


def remembered(path: Path, args: argparse.Namespace, shape: Shape, positions: Positions) -> dict:
    """A run's checkpoint; SystemExit if it cannot be read, or if the run was another than is asked for now."""
    try:
        _, state = load(path)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
    if Shape(**state["shape"]) != shape:
        raise SystemExit(f"{path} holds a network of shape {state['shape']}: choose another --name")
    for option, now in told(args).items():
        before = state.get(option, TOLD_BEFORE[option])
        if before != now:
            before = before or "left out"
            raise SystemExit(f"{path} was trained with --{option} {before}: say so, or choose another --name")
    # None: of before checkpoints said so.
    if args.start and state.get("start") not in (None, begun_with(args)):
        raise SystemExit(f"{path} did not begin with {args.start}: choose another --name")
    positions.must_be(state.get("shards", positions.shards()), path)
    return state


def work(rank: int, gang: Gang, args: argparse.Namespace) -> None:
    """One process of a training run; the first one also measures, reports and saves."""
    if rank != 0:
        # Until the first one has read and checked all there is: then what is wrong is said once.
        gang.barrier.wait()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    folder = args.work / args.name
    path = folder / "checkpoint.pt"

    def say(line: str) -> None:
        if rank == 0:
            print(line, flush=True)
            with open(folder / "log.txt", "a") as log:
                log.write(line + "\n")

    positions = Positions(args.work / "packed", without=args.without)
    often = how_often(positions, args.surprise, dict(args.often))
    shape = Shape(args.blocks, args.channels, args.se, args.narrow)
    network, origin, started = Network(shape), "", begun_with(args)
    if args.start and not path.exists():
        network, origin = beginning(args.start, shape, args.sharpen, positions)
    network = network.to(memory_format=torch.channels_last)
    averaged = copy.deepcopy(network)
    tools = optimisers(network, args.lr, args.weight_decay, args.optimiser == "muon")
    step = 0
    if path.exists():
        state = remembered(path, args, shape, positions)
        if len(state["optimisers"]) != len(tools):
            raise SystemExit(f"{path} was trained with another --optimiser: say so, or choose another --name")
        network.load_state_dict(state["network"])
        averaged.load_state_dict(state["averaged"])
        for tool, kept in zip(tools, state["optimisers"]):
            tool.load_state_dict(kept)
        step, origin, started = state["samples"] // args.batch, state.get("origin", ""), state.get("start")
    drawn = batches(positions, often, args.batch, args.seed, step, rank, gang.size)
    if rank == 0:
        gang.barrier.wait()
    begun = f"; begun as {origin}" if origin else ""
    say(f"# {args.name}: {network.shape}, {parameters(network)} parameters; {len(positions.training)} positions to "
        f"train on, {len(positions.held_out)} held out; from sample {step * args.batch} to {args.samples}{begun}")
    paths = "work", "pause_file", "start"
    say("# " + " ".join(f"{key}={value}" for key, value in sorted(vars(args).items()) if key not in paths))

    def checkpoint() -> None:
        save(path, {
            "shape": network.shape.as_dict(), "network": network.state_dict(), "averaged": averaged.state_dict(),
            "optimisers": [tool.state_dict() for tool in tools], "step": step, "samples": step * args.batch,
            "batch": args.batch, "origin": origin, "lr": tools[0].param_groups[0]["lr"],
            "shards": positions.shards(), "start": started, **told(args),
        })

    half = args.backend == "kernels" or has_bfloat16()
    forward = training_pass(args.backend, network, args.work)
    began = saved = reported = time.monotonic()
    since, sums = step, np.zeros(3)
    network.train()
    for batch in drawn:
        if step * args.batch >= args.samples:
            break
        if rank == 0 and args.pause_file and step % PAUSE_EVERY == 0:
            while args.pause_file.exists():
                time.sleep(1)
                reported += 1
        lr = args.lr * rate(step * args.batch, args.samples, args.warmup, args.decay)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            outputs = forward(batch["planes"])
        policy, value, left = losses(outputs, batch, args.sharpen)
        (POLICY_WEIGHT * policy + VALUE_WEIGHT * value + LEFT_WEIGHT * left).backward()
        gang.average_gradients(rank, network)
        for tool in tools:
            for group in tool.param_groups:
                group["lr"] = lr
            tool.step()
            tool.zero_grad()
        if step % SHARE_EVERY == 0:
            gang.share_weights(rank, network)
        step += 1
        if rank != 0:
            continue
        average(averaged, network, min(args.average, (1 + step) / (10 + step)))
        sums += [policy.item(), value.item(), left.item()]
        if not np.isfinite(sums).all():
            samples = step * args.batch
            raise SystemExit(f"after {samples} samples the loss is no number: {path} stays as it was saved last")
        now = time.monotonic()
        if now - reported > REPORT_SECONDS:
            policy, value, left = sums / (step - since)
            speed = (step - since) * args.batch / (now - reported)
            say(f"{step * args.batch:>10} samples  {now - began:6.0f} s  {speed:5.0f}/s  lr {lr:.2e}  "
                f"policy {policy:.4f}  wdl {value:.4f}  left {left:.4f}")
            reported, since, sums = now, step, np.zeros(3)
        if step * args.batch // args.check_samples > (step - 1) * args.batch // args.check_samples:
            before = time.monotonic()
            say(f"{step * args.batch:>10} " + held_out(averaged, positions, args.check_size, args.sharpen))
            reported += time.monotonic() - before
        if now - saved > 60 * args.save_minutes:
            checkpoint()
            saved = now
    if rank == 0:
        checkpoint()
        say(f"{step * args.batch:>10} " + held_out(averaged, positions, len(positions.held_out), args.sharpen))


def main() -> None:
    # Ctrl-C and a polite kill are no errors, and Gang.run ends the processes.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    args = arguments()
    if args.batch % args.processes:
        raise SystemExit(f"--batch {args.batch} must be a multiple of --processes {args.processes}")
    make_folder(args.work / args.name)
    shape = Shape(args.blocks, args.channels, args.se, args.narrow)
    args.backend = choose(args.backend, shape, args.threads, args.work)
    length = parameters(Network(shape))
    Gang(args.processes, length).run(work, args)


if __name__ == "__main__":
    main()
