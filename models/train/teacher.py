"""The teacher itself, in float32, in place of the labels that it gave in fewer bits.

The first 1.28 million labels, of its own games, come from the teacher in bfloat16; those of `zeitnot-label` came later,
from its 8-bit form (`zeitnot net convert --int8`), whose first choice is the float network's in 92 % of the positions
of games that maia-1900's policy played: agreement with the labels is not quite agreement with the teacher.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from encoding import CONV_SLOTS

#: Outputs of an ONNX file by `zeitnot net convert`: logits of 1858 moves, odds of win, draw and loss, plies left.
OUTPUTS = ["/output/policy", "/output/wdl", "/output/mlh"]
#: Where such a file notes the format of its input, and the number of encoding.py's: 112 classical planes.
FORMAT_NOTE, CLASSICAL = "lc0_input_format", "1"
#: For each place of the flat convolutional policy head, the policy index (0 where there is none).
_INDEX_AT = np.zeros(CONV_SLOTS.max() + 1, np.int64)
_INDEX_AT[CONV_SLOTS] = np.arange(len(CONV_SLOTS))


class Teacher:
    """A network in ONNX with WDL and moves left, as `zeitnot net convert` writes it."""

    def __init__(self, path: Path, threads: int = 1):
        try:
            import onnxruntime  # Only who asks for the teacher needs it.
        except ImportError as error:
            raise SystemExit(f"--teacher needs ONNX Runtime: pip install onnxruntime ({error})") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # Its errors have no class in common but this.
            raise SystemExit(f"--teacher {path}: {error}") from error
        self.check(path)

    def check(self, path: Path) -> None:
        """SystemExit if the model does not read what is fed to it, or does not say what is read of it."""
        number = self.session.get_modelmeta().custom_metadata_map.get(FORMAT_NOTE, CLASSICAL)
        if number != CLASSICAL:
            raise SystemExit(
                f"--teacher {path}: its input format is number {number}; only classical planes are made here")
        missing = set(OUTPUTS) - {output.name for output in self.session.get_outputs()}
        if missing:
            raise SystemExit(f"--teacher {path}: no output {', '.join(sorted(missing))}")

    def relabelled(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The same positions (data.Positions.batch) with this network's policy, WDL and moves left."""
        [planes] = self.session.get_inputs()
        policy, wdl, left = self.session.run(OUTPUTS, {planes.name: batch["planes"].float().numpy()})
        index = torch.from_numpy(_INDEX_AT)[batch["slots"]]
        logits = torch.from_numpy(policy).gather(1, index).masked_fill(~batch["legal"], -torch.inf)
        return batch | {
            "policy": logits.softmax(1), "wdl": torch.from_numpy(wdl), "left": torch.from_numpy(left).flatten(),
        }
