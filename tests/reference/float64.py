"""Which of two float32 evaluations is nearer to the network: Lc0's recorded one, or Zeitnot's?

    python tests/reference/float64.py [--zeitnot target/release/zeitnot] [--shared ../shared]

Evaluates the golden positions in 64-bit floats (PyTorch, by models/train/lc0_network.py, which reads the file on its own) and
prints, for each residual network with a convolutional policy, the largest distance of Lc0's logits, of Zeitnot's, and of both
from each other. Needs models/train/requirements.txt.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/train"))
import encoding  # noqa: E402
from lc0_network import Lc0Network  # noqa: E402

NETWORKS = ["maia-1900", "meangirl-8", "tinygyal-8", "synthetic/se-2x16-conv-wdl-mlh", "synthetic/se-2x16-conv-wdl-mlh-mish"]
BAR = 1e-4


class Double(Lc0Network):
    """The same in 64-bit floats: the file's 16-bit weights are decoded in float32, as both engines do, then widened."""

    @staticmethod
    def _values(data: bytes) -> torch.Tensor:
        return Lc0Network._values(data).double()


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def dense(planes: list) -> np.ndarray:
    out = np.zeros((112, 64))
    for plane, mask, value in planes:
        bits = int(mask, 16)
        out[plane, [square for square in range(64) if bits >> square & 1]] = value
    return out.reshape(112, 8, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", type=Path, default=ROOT / "target/release/zeitnot")
    parser.add_argument("--shared", type=Path, default=ROOT / "../shared")
    args = parser.parse_args()
    planes = {line["id"]: dense(line["planes"]) for line in lines(args.shared / "golden/planes/classical.jsonl")}
    print(f"{'network':36} Lc0-f64  Zeitnot-f64  Zeitnot-Lc0  positions over {BAR:g}: Lc0-f64, Zeitnot-f64, Zeitnot-Lc0")
    for name in NETWORKS:
        path = args.shared / "nets" / f"{name}.pb.gz"
        golden = lines(args.shared / "golden/eval" / f"{name.split('/')[-1]}.jsonl")
        command = [args.zeitnot, "eval", f"--weights={path}", f"--positions={args.shared / 'golden/positions.jsonl'}"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        ours = {line["id"]: {move["index"]: move["logit"] for move in line["policy"]} for line in map(json.loads, output.splitlines())}
        exact = Double(path)(torch.from_numpy(np.stack([planes[line["id"]] for line in golden])))[0].numpy()
        exact = exact[:, encoding.CONV_SLOTS]
        distances = []
        for line, logits in zip(golden, exact):
            reference, lc0 = logits[line["idx"]], np.array(line["logits"])
            zeitnot = np.array([ours[line["id"]][index] for index in line["idx"]])
            distances.append([np.abs(a - b).max() for a, b in ((lc0, reference), (zeitnot, reference), (zeitnot, lc0))])
        distances = np.array(distances)
        largest, over = distances.max(0), (distances > BAR).sum(0)
        print(f"{name:36} {largest[0]:.1e}  {largest[1]:.1e}      {largest[2]:.1e}      {over[0]}, {over[1]}, {over[2]} of {len(golden)}")


if __name__ == "__main__":
    main()
