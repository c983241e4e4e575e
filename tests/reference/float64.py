"""Which of two float32 evaluations is nearer to the network: Lc0's recorded one, or Zeitnot's?

    python tests/reference/float64.py [--zeitnot target/release/zeitnot] [--shared ../shared] [NETWORK ...]

Evaluates the golden positions in 64-bit floats (PyTorch, by lc0_float64.py, which reads the file on its own) and prints, for each
network, the largest distance of Lc0's logits, of Zeitnot's, and of both from each other, in how many positions they exceed what
is asked for, and the same of q. Needs models/train/requirements.txt.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import torch

from lc0_float64 import ROOT, Network

NETWORKS = ["t1-256x10", "maia-1900", "meangirl-8", "tinygyal-8", *(f"synthetic/{name}" for name in (
    "classical-2x16-legacyfmt", "se-2x16-polclassical-valclassical", "se-2x16-conv-wdl-mlh", "se-2x16-conv-wdl-mlh-mish",
    "se-2x16-attpolicy-polenc-wdl-mlh-mish", "attbody-2x32x4h-nosmolgen-nogate-pemap", "attbody-2x32x4h-nosmolgen-pemap",
    "attbody-2x32x4h-smolgen-pemap-oldfmt", "attbody-2x32x4h-smolgen-pedense-multihead"))]
#: How close logits, q and moves left are asked to be.
LOGIT, Q, PLIES = 2e-4, 1e-4, 0.02
BATCH = 16


def lines(path: Path) -> list[dict]:
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except OSError as error:
        raise SystemExit(f"{error} (see --shared)") from error


def dense(planes: list) -> np.ndarray:
    out = np.zeros((112, 64))
    for plane, mask, value in planes:
        bits = int(mask, 16)
        out[plane, [square for square in range(64) if bits >> square & 1]] = value
    return out.reshape(112, 8, 8)


def exact(path: Path, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Logits, q and plies left in 64-bit floats."""
    network = Network(path)
    parts = [network(torch.from_numpy(planes[at : at + BATCH])) for at in range(0, len(planes), BATCH)]
    logits, values, plies = (None if part[0] is None else torch.cat(part).numpy() for part in zip(*parts))
    return logits, values[:, 0] - values[:, 2] if values.shape[1] == 3 else values[:, 0], plies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", default=NETWORKS)
    parser.add_argument("--zeitnot", type=Path, default=ROOT / "target/release/zeitnot")
    parser.add_argument("--shared", type=Path, default=ROOT / "../shared")
    args = parser.parse_args()
    planes = {line["id"]: dense(line["planes"]) for line in lines(args.shared / "golden/planes/classical.jsonl")}
    print(f"largest distance (positions beyond {LOGIT:g} for a logit, {Q:g} for q, {PLIES:g} for moves left)")
    print(f"{'network':40} {'':11} {'Lc0-exact':>15} {'Zeitnot-exact':>15} {'Zeitnot-Lc0':>15}")
    for name in args.networks:
        path = args.shared / "nets" / f"{name}.pb.gz"
        golden = lines(args.shared / "golden/eval" / f"{name.split('/')[-1]}.jsonl")
        command = [args.zeitnot, "eval", f"--weights={path}", f"--positions={args.shared / 'golden/positions.jsonl'}"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        ours = {line["id"]: line for line in map(json.loads, output.splitlines())}
        logits, q, plies = exact(path, np.stack([planes[line["id"]] for line in golden]))
        distances = {"logit": [], "q": [], "moves left": []}
        for row, line in enumerate(golden):
            answer = ours[line["id"]]
            policy = {move["index"]: move["logit"] for move in answer["policy"]}
            sides = {
                "logit": [logits[row][line["idx"]], np.array(line["logits"]), np.array([policy[index] for index in line["idx"]])],
                "q": [q[row], line["q"], answer["q"]],
                "moves left": [] if plies is None else [plies[row], line["m"], answer["m"]],
            }
            for what, side in sides.items():
                if side:
                    reference, lc0, zeitnot = side
                    pairs = ((lc0, reference), (zeitnot, reference), (zeitnot, lc0))
                    distances[what].append([np.abs(a - b).max() for a, b in pairs])
        for (what, rows), bar in zip(distances.items(), (LOGIT, Q, PLIES)):
            if rows:
                rows = np.array(rows)
                cells = [f"{largest:.1e} ({over:3})" for largest, over in zip(rows.max(0), (rows > bar).sum(0))]
                print(f"{name if what == 'logit' else '':40} {what:11} " + " ".join(f"{cell:>15}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
