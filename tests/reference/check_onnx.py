"""Are the models that Zeitnot writes valid ONNX, and do they say the same in every form?

    python tests/reference/check_onnx.py [--zeitnot target/release/zeitnot] NETWORK ...

Converts each network at the opsets 17 to 22 in float32 and float16 (bfloat16 at 22), with every head it has and with a fixed
batch, runs onnx.checker over each model (full_check: types and shapes are inferred as well), and compares float32 outputs on
random planes with those of opset 17. Needs `pip install numpy onnx onnxruntime`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
BATCH = 3
#: How far two float32 models of one network may differ, relative to the largest output.
TOLERANCE = 1e-5


def planes() -> np.ndarray:
    return (np.random.default_rng(1).random((BATCH, 112, 8, 8)) < 0.1).astype(np.float32)


def outputs(path: Path) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: planes()})))


def forms(description: dict) -> list[list[str]]:
    """The options of every conversion but the first, which has none."""
    forms = [[f"--opset={opset}"] for opset in range(18, 23)] + [[f"--batch={BATCH}"]]
    forms += [[f"--opset={opset}", "--precision=float16"] for opset in range(17, 23)]
    forms += [["--opset=22", "--precision=bfloat16"]]
    forms += [[f"--policy-head={head}"] for head in description["policy_heads"][1:]]
    return forms + [[f"--value-head={head}"] for head in description["value_heads"][1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", type=Path, metavar="NETWORK")
    parser.add_argument("--zeitnot", type=Path, default=ROOT / "target/release/zeitnot")
    args = parser.parse_args()
    models = failures = 0
    for network in args.networks:
        described = subprocess.run([args.zeitnot, "net", "describe", "--json", network], check=True, capture_output=True, text=True)
        reference, worst = None, 0.0
        for options in [[], *forms(json.loads(described.stdout))]:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.onnx"
                command = [args.zeitnot, "net", "convert", network, "--output", path, *options]
                subprocess.run(command, check=True, capture_output=True)
                models += 1
                try:
                    onnx.checker.check_model(str(path), full_check=True)
                    same = not any(word in option for option in options for word in ("precision", "head"))
                    if same:
                        found = outputs(path)
                        reference = reference or found
                        distances = [np.abs(found[name] - reference[name]).max() / max(1, np.abs(reference[name]).max()) for name in found]
                        worst = max(worst, *distances)
                        assert worst <= TOLERANCE, f"outputs differ by {worst:.1e}"
                except Exception as error:  # noqa: BLE001
                    failures += 1
                    print(f"{network.name} {' '.join(options)}: {error}", file=sys.stderr)
        print(f"{network.name}: float32 forms differ by at most {worst:.1e}", flush=True)
    print(f"{models - failures} of {models} models of {len(args.networks)} networks are valid")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
