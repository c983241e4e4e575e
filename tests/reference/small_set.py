"""Writes tests/golden, the small set of records that every clone has, from the whole set in the folder shared/.

    cargo run --example random_network -- "tower with policy encoders" NETS/random-policy-encoders.pb.gz
    cargo run --example random_network -- "map, smolgen, gates" NETS/random-smolgen.pb.gz
    cargo run --example random_network -- "dense, several heads, policy encoders" NETS/random-dense.pb.gz
    python tests/reference/small_set.py --nets NETS [--shared ../shared]

Positions, planes, policy indices and visits are Lc0's, as they were recorded. Evaluations are those of networks of the
repository in 64-bit floats (lc0_float64.py). Needs models/train/requirements.txt.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from lc0_float64 import ROOT, Network

#: Positions by what is compared of them. Formats with a history as others have it need fewer.
PLANES = {
    "classical": (0, 2, 172, 204, 212, 216, 238, 246, 258, 304),
    "with-castling-plane": (0, 2, 204, 238, 304),
    "canonical": (0, 172, 204, 212, 216, 228, 230, 233, 256, 258, 304),
    "canonical-hectoplies": (0, 40, 62, 172, 204, 212, 216, 238, 256, 258, 304),
    "canonical-hectoplies-armageddon": (0, 40, 212, 222, 238, 240),
    "canonical-v2": (0, 14, 20, 40),
    "canonical-v2-armageddon": (0, 14, 20, 40),
}
EVALUATED = {
    "zeitnot-small": (0, 2, 62, 172, 206, 212, 216, 238, 246, 304),
    "random-policy-encoders": (2, 222, 246),
    "random-smolgen": (2, 222, 246),
    "random-dense": (2, 222, 246),
}
SEARCHED = (0, 62, 112, 118, 196, 208, 216, 237, 246, 254, 264, 268)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, objects: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item, separators=(",", ":")) + "\n" for item in objects))


def chosen(path: Path, ids: tuple[int, ...]) -> list[dict]:
    found = [item for item in lines(path) if item.get("id") in ids]
    assert len(found) == len(ids), f"{path}: {sorted(item['id'] for item in found)} of {ids}"
    return found


def dense(planes: list) -> np.ndarray:
    out = np.zeros((112, 64))
    for plane, mask, value in planes:
        bits = np.array([int(mask, 16) >> square & 1 for square in range(64)])
        out[plane] = bits * value
    return out.reshape(112, 8, 8)


def evaluations(network: Path, shared: Path, ids: tuple[int, ...]) -> list[dict]:
    """Moves and indices are Lc0's; the network's outputs are computed here."""
    records = chosen(shared / "golden/eval/maia-1900.jsonl", ids)
    planes = {item["id"]: item["planes"] for item in lines(shared / "golden/planes/classical.jsonl")}
    logits, value, left = Network(network)(torch.from_numpy(np.stack([dense(planes[item["id"]]) for item in records])))
    found = []
    for row, item in enumerate(records):
        wdl = [float(number) for number in value[row]]
        q, d = (wdl[0] - wdl[2], wdl[1]) if len(wdl) == 3 else (wdl[0], 0.0)
        found.append({
            "id": item["id"], "moves": item["moves"], "idx": item["idx"],
            "logits": [round(float(logits[row, index]), 5) for index in item["idx"]],
            "q": round(q, 6), "d": round(d, 6), "m": None if left is None else round(float(left[row]), 4),
        })
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT / "../shared")
    parser.add_argument("--nets", type=Path, required=True, help="the folder with the random networks")
    args = parser.parse_args()
    records, out = args.shared / "golden", ROOT / "tests/golden"
    for name, ids in PLANES.items():
        write(out / f"planes/{name}.jsonl", chosen(records / f"planes/{name}.jsonl", ids))
    for name, ids in EVALUATED.items():
        folder = ROOT / "crates/zeitnot-network/networks" if name == "zeitnot-small" else args.nets
        write(out / f"eval/{name}.jsonl", evaluations(folder / f"{name}.pb.gz", args.shared, ids))
    used = {number for ids in (*PLANES.values(), *EVALUATED.values()) for number in ids}
    keep = ("id", "fen", "moves", "chess960", "final_fen_ep_legal")
    positions = [{key: item[key] for key in keep} for item in chosen(records / "positions.jsonl", tuple(used))]
    write(out / "positions.jsonl", positions)
    path = records / "search/uniform_800.jsonl"
    # Positions where Lc0 found a mate are none of these: there a bound would have to be written, too.
    searches = [{**{key: item[key] for key in ("id", "fen", "moves", "chess960")},
                 "children": [{key: child[key] for key in ("move", "N")} for child in item["children"]]}
                for item in chosen(path, SEARCHED)]
    write(out / "search/uniform_800.jsonl", [lines(path)[0], *searches])


if __name__ == "__main__":
    main()
