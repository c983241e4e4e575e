"""Averages the weights of a run with those that it began with.

    python soup.py work/medium4/checkpoint.pt work/medium4/soup.pt --start medium.pb.gz --share 0.5
    python export.py work/medium4/soup.pt ../zeitnot-medium.pb.gz

Where both ends of a run lie in one valley, there may be a network between them that is better than either (Wortsman et al.
2021, arXiv:2109.01903; measured in ../README.md). Where the run began with a network file, the positions must be those that it had: the file's batch
norms come back from them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from data import Positions
from export import load
from train import beginning, save


@torch.no_grad()
def soup(checkpoint: Path, start: Path, share: float, positions: Positions | None) -> dict:
    """The checkpoint with averaged weights: `share` of them its own, the rest those of `start`, grown as the run had them."""
    network, state = load(checkpoint)
    before = beginning(start, network.shape, state.get("sharpen", 1.0), positions)[0].state_dict()
    for name, weights in state["averaged"].items():
        if weights.is_floating_point():
            state["averaged"][name] = torch.lerp(before[name].contiguous(), weights.contiguous(), share)
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="the end of the run")
    parser.add_argument("output", type=Path, help="checkpoint to write, for export.py")
    parser.add_argument("--start", type=Path, required=True, metavar="FILE", help="what train.py --start began it with")
    parser.add_argument("--share", type=float, default=0.5, help="of the end; the rest is of the beginning (default 0.5)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    args = parser.parse_args()
    if not 0 <= args.share <= 1:
        raise SystemExit(f"--share {args.share}: a share is from 0 to 1")
    positions = Positions(args.work / "packed") if args.start.name.endswith((".pb", ".pb.gz")) else None
    try:
        state = soup(args.checkpoint, args.start, args.share, positions)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
    save(args.output, state)


if __name__ == "__main__":
    main()
