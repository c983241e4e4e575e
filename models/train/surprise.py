"""Measures how far a network is from the teacher on every packed position, for training to dwell on what it gets wrong.

    python surprise.py ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz
    python train.py --start ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz --surprise 0.5 ...

One SHARD.surprise beside each packed shard (as np.savez writes it): the divergence of the network's policy from the
teacher's, in nats, and which network that was. A shard that this network has measured is skipped. After KataGo's policy
surprise weighting (its KataGoMethods.md).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import torch

from common import digest, is_made, positive, whole
from data import Positions, stored, surprise_path
from evaluate import divergence
from lc0_network import Lc0Network, read_or_exit
from losses import log_policy

#: Positions evaluated at once.
BATCH = 512


@torch.no_grad()
def divergences(network: Lc0Network, positions: Positions) -> np.ndarray:
    """The divergence on each position, in nats."""
    found = []
    for part in np.array_split(np.arange(len(positions)), max(1, len(positions) // BATCH)):
        batch = positions.batch(part)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            policy = network(batch["planes"].float())[0]
        found.append(divergence(log_policy(policy, batch), batch["policy"]).numpy())
    return np.concatenate(found)


def measure(network: Path, shard: Path) -> tuple[str, int, float]:
    """Measures one shard; the file appears only when it is whole."""
    torch.set_num_threads(1)
    found = divergences(Lc0Network(network), Positions(shard)).astype(np.float16)
    with whole(surprise_path(shard)) as partial, open(partial, "wb") as file:
        np.savez(file, nats=found, network=digest(network))
    return shard.name, len(found), float(found.astype(np.float32).mean())


def is_measured(shard: Path, network: str) -> bool:
    """Whether that network, by its digest, has measured a shard."""
    path = surprise_path(shard)
    return is_made(path, shard) and str(stored(path)["network"]) == network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="network file (.pb.gz)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--jobs", type=positive(int), default=2, help="processes (default 2)")
    args = parser.parse_args()
    read_or_exit(args.network)
    shards = sorted((args.work / "packed").glob("*.npz"))
    if not shards:
        raise SystemExit(f"no packed positions in {args.work / 'packed'}: run prepare.py first")
    network = digest(args.network)
    pending = [shard for shard in shards if not is_measured(shard, network)]
    print(f"{len(shards)} shards, {len(shards) - len(pending)} measured", flush=True)
    began, positions = time.monotonic(), 0
    with ProcessPoolExecutor(args.jobs) as pool:
        try:
            for name, count, mean in pool.map(measure, [args.network] * len(pending), pending):
                positions += count
                print(f"{name}: {mean:.3f} nats, {positions / (time.monotonic() - began):.0f} positions/s", flush=True)
        except (OSError, BrokenProcessPool) as error:
            raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
