"""Averages the weights of a run with those that it began with, or with another average of such.

    python soup.py work/medium4/checkpoint.pt work/medium4/soup.pt --start medium.pb.gz --share 0.5
    python export.py work/medium4/soup.pt ../zeitnot-medium.pb.gz

Where both ends of a run lie in one valley, there may be a network between them that is better than either (Wortsman et
al. 2021, arXiv:2109.01903; measured in ../README.md). Batch norm's statistics are averaged like the weights, or with
--statistics measured anew, as for other averages (Izmailov et al. 2018, arXiv:1803.05407). For that, and where the run
began with a network file, whose batch norms come back from them, the positions must be those that it had.
"""

from __future__ import annotations

import argparse
import itertools
import math
from pathlib import Path

from torch.optim.swa_utils import update_bn

from common import between, digest
from data import Positions, batches, how_often
from export import load
from grow import beginning, is_network_file
from train import average, save

#: Positions, at most, that statistics are measured on at once.
BATCH = 512
#: They are drawn as a run with this --seed draws its first.
SEED = 1


def soup(checkpoint: Path, start: Path, share: float, packed: Path, statistics: int = 0) -> dict:
    """The checkpoint with averaged weights: `share` of them its own, the rest those of `start`, grown to its shape.
    Batch norm's statistics are averaged too, or measured on so many positions, drawn as the run drew them."""
    network, state = load(checkpoint)
    positions = None
    if statistics or is_network_file(start):
        shards = state.get("shards", {})
        positions = Positions(packed, shards)
        positions.must_be(shards or positions.shards(), checkpoint)
    before, origin = beginning(start, network.shape, state.get("sharpen", 1.0), positions)
    average(network, before, share)
    begun = state.get("origin") or "new"
    # Two networks may be described alike. None: of before checkpoints said so.
    is_that = origin == begun and state.get("start") in (None, digest(start))
    rest = "that" if is_that else f"({origin})"
    state["origin"] = f"{begun}; {share:g} of this run and the rest of {rest}"
    if statistics:
        often = how_often(positions, state.get("surprise", 0.0), state.get("often", {}))
        count = math.ceil(statistics / BATCH)
        drawn = batches(positions, often, math.ceil(statistics / count), SEED, 0, 0, 1)
        update_bn((batch["planes"] for batch in itertools.islice(drawn, count)), network)
        state["origin"] += f", batch norm by {statistics} positions"
    state["averaged"] = network.state_dict()
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="the end of the run")
    parser.add_argument("output", type=Path, help="checkpoint to write, for export.py")
    parser.add_argument("--start", type=Path, required=True, metavar="FILE",
                        help="what train.py --start began it with, or another average")
    parser.add_argument("--share", type=between(float, 0, 1), default=0.5,
                        help="of the end; the rest is of --start (default 0.5)")
    parser.add_argument("--statistics", type=between(int, 0), default=0, metavar="N",
                        help="measure batch norm's statistics on N positions (default 0: averaged like the weights)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    args = parser.parse_args()
    if args.output.resolve() in (args.checkpoint.resolve(), args.start.resolve()):
        raise SystemExit(f"{args.output} would be overwritten: name another output")
    try:
        save(args.output, soup(args.checkpoint, args.start, args.share, args.work / "packed", args.statistics))
    except (OSError, RuntimeError, ValueError) as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
