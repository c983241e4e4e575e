"""An Lc0 network file of any architecture in 64-bit floats, written from the file format and docs/lc0.md, 4.8 alone.

It repeats nothing of the conversion: no factor is folded, no constant moved, no form chosen for speed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/train"))
import encoding  # noqa: E402
import lc0_file  # noqa: E402

# Field numbers of `Weights`, of a policy head and of a value head among several.
TOP = dict(input=1, residual=2, policy=3, ip_pol_w=4, ip_pol_b=5, value=6, ip1_val_w=7, ip1_val_b=8, ip2_val_w=9, ip2_val_b=10,
           policy1=11, moves_left=12, ip1_mov_w=13, ip1_mov_b=14, ip2_mov_w=15, ip2_mov_b=16, ip2_pol_w=17, ip2_pol_b=18,
           ip3_pol_w=19, ip3_pol_b=20, pol_encoder=21, ip4_pol_w=22, pol_headcount=24, ip_emb_w=25, ip_emb_b=26, encoder=27,
           headcount=28, ip_val_w=29, ip_val_b=30, ip_mov_w=31, ip_mov_b=32, ip_mult_gate=33, ip_add_gate=34, smolgen_w=35,
           preproc_w=37, preproc_b=38, emb_ln_g=39, emb_ln_b=40, emb_ffn=41, emb_ffn_ln_g=42, emb_ffn_ln_b=43,
           value_heads=44, policy_heads=45)
POLICY = dict(ip_pol_w=1, ip_pol_b=2, ip2_pol_w=3, ip2_pol_b=4, ip3_pol_w=5, ip3_pol_b=6, ip4_pol_w=7, pol_encoder=8,
              pol_headcount=9, policy1=10, policy=11)
VALUE = dict(ip_val_w=1, ip_val_b=2, ip1_val_w=3, ip1_val_b=4, ip2_val_w=5, ip2_val_b=6, value=11)
POLICY_HEADS = {"vanilla": 3, "optimistic": 4, "soft": 5, "opponent": 6}
VALUE_HEADS = {"winner": 1, "q": 2, "st": 3}
ACTIVATIONS = {1: F.mish, 2: F.relu, 3: lambda x: x, 4: torch.tanh, 5: torch.sigmoid, 6: F.selu, 7: F.silu,
               8: lambda x: F.relu(x) ** 2}
CONVOLUTION, ATTENTION, PE_DENSE = 2, 3, 2
SE_WITH_HEADFORMAT, ATTENTION_BODY = 4, 6
BATCH_NORM_EPSILON, DENSE_EPSILON, USUAL_EPSILON = 1e-5, 1e-3, 1e-6
FROM, TO = (torch.tensor([move[i] for move in encoding.POLICY_MOVES]) for i in (0, 1))
PROMOTES = torch.tensor([move[2] != "" for move in encoding.POLICY_MOVES])
KIND = torch.tensor(["qrb".find(move[2]) if move[2] else 0 for move in encoding.POLICY_MOVES])


class Network:
    """call: planes [n, 112, 8, 8] -> policy logits [n, 1858], WDL probabilities [n, 3] or value [n, 1], plies left [n] or None."""

    def __init__(self, path: Path, policy_head: str = "vanilla", value_head: str = "winner"):
        net = lc0_file.read(path)
        self.top = lc0_file.decode(net[10][0])
        layout = lc0_file.decode(lc0_file.decode(net[4][0]).get(2, [b""])[0]) if 4 in net else {}
        kind = lambda field, default=0: layout.get(field, [default])[0]  # noqa: E731
        structure = kind(3)
        oldest = structure in (0, 1, 2)
        self.policy_kind, self.wdl = (1, False) if oldest else (kind(4, 1), kind(5, 1) == 2)
        self.has_moves_left = kind(6) == 1
        self.act = F.mish if kind(7) == 1 else F.relu
        upgraded = structure == SE_WITH_HEADFORMAT and self.has("encoder")
        smolgen, ffn = (7, 8) if upgraded and self.has("smolgen_w") else (kind(8), kind(9))
        self.smolgen_act, self.ffn_act = ACTIVATIONS.get(smolgen, self.act), ACTIVATIONS.get(ffn, self.act)
        old = structure < ATTENTION_BODY and not upgraded
        self.policy_act = F.selu if old else self.act
        self.policy_ffn_act = ACTIVATIONS.get(ffn, self.policy_act)
        self.dense_position = kind(10) == PE_DENSE
        self.epsilon = DENSE_EPSILON if self.dense_position else USUAL_EPSILON
        self.policy, self.policy_fields, self.value, self.value_fields = self.top, TOP, self.top, TOP
        if self.has("policy_heads"):
            heads = lc0_file.decode(self.top[TOP["policy_heads"]][0])
            self.policy, self.policy_fields = lc0_file.decode(heads[POLICY_HEADS[policy_head]][0]), POLICY
            for shared in (1, 2):
                self.policy.setdefault(shared, heads.get(shared) or self.top.get(TOP["ip_pol_w"] + shared - 1))
        if self.has("value_heads"):
            heads = lc0_file.decode(self.top[TOP["value_heads"]][0])
            self.value, self.value_fields = lc0_file.decode(heads[VALUE_HEADS[value_head]][0]), VALUE

    def has(self, name: str) -> bool:
        return TOP[name] in self.top

    @staticmethod
    def values(data: bytes) -> Tensor:
        return torch.from_numpy(lc0_file.layer_values(data).astype(np.float64))

    def get(self, name: str) -> Tensor:
        return self.values(self.top[TOP[name]][0])

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return F.linear(x, weight.view(-1, x.shape[-1]), bias)

    def layer(self, x: Tensor, message: dict, weight: int, bias: int | None) -> Tensor:
        return self.linear(x, self.values(message[weight][0]), None if bias is None else self.values(message[bias][0]))

    def named(self, x: Tensor, name: str, message: dict | None = None, fields: dict = TOP) -> Tensor:
        return self.layer(x, self.top if message is None else message, fields[f"{name}_w"], fields[f"{name}_b"])

    def convolve(self, x: Tensor, data: bytes) -> Tensor:
        fields = {field: self.values(values[0]) for field, values in lc0_file.decode(data).items()}
        outputs = next(len(fields[field]) for field in (2, 4) if field in fields)
        size = round((len(fields[1]) / outputs / x.shape[1]) ** 0.5)
        bias = fields.get(2, torch.zeros(outputs, dtype=x.dtype))
        y = F.conv2d(x, fields[1].view(outputs, -1, size, size), bias, padding=size // 2)
        if 4 not in fields:
            return y
        mean = fields.get(3, torch.zeros(outputs, dtype=x.dtype))
        return F.batch_norm(y, mean, fields[4], fields.get(5), fields.get(6), eps=BATCH_NORM_EPSILON)

    def normalise(self, x: Tensor, message: dict, gamma: int, beta: int, epsilon: float) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], self.values(message[gamma][0]), self.values(message[beta][0]), epsilon)

    def feed_forward(self, x: Tensor, data: bytes, act) -> Tensor:
        ffn = lc0_file.decode(data)
        return self.layer(act(self.layer(x, ffn, 1, 2)), ffn, 3, 4)

    def encoder(self, x: Tensor, data: bytes, heads: int, alpha: float, ffn_act) -> Tensor:
        message = lc0_file.decode(data)
        mha = lc0_file.decode(message[1][0])
        n = len(x)
        q, k, v = (self.layer(x, mha, w, w + 1).view(n, 64, heads, -1).transpose(1, 2) for w in (1, 3, 5))
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        if 9 in mha:
            scores = scores + self.smolgen(x, lc0_file.decode(mha[9][0]), heads)
        attended = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, 64, -1)
        x = self.normalise(x + alpha * self.layer(attended, mha, 7, 8), message, 2, 3, self.epsilon)
        return self.normalise(x + alpha * self.feed_forward(x, message[4][0], ffn_act), message, 5, 6, self.epsilon)

    def smolgen(self, x: Tensor, message: dict, heads: int) -> Tensor:
        flat = self.layer(x, message, 1, None).flatten(1)
        hidden = self.normalise(self.smolgen_act(self.layer(flat, message, 2, 3)), message, 4, 5, DENSE_EPSILON)
        hidden = self.normalise(self.smolgen_act(self.layer(hidden, message, 6, 7)), message, 8, 9, DENSE_EPSILON)
        return self.linear(hidden.view(len(x), heads, -1), self.get("smolgen_w"), None).view(len(x), heads, 64, 64)

    def body(self, x: Tensor, planes: Tensor) -> Tensor:
        n, alpha = len(x), (2 * len(self.top[TOP["encoder"]])) ** -0.25
        if self.dense_position:
            pieces = planes[:, :12].flatten(2).transpose(1, 2).flatten(1)
            x = torch.cat([x, self.named(pieces, "preproc").view(n, 64, -1)], 2)
        elif not self.has("residual"):
            reached = torch.zeros(64, 64, dtype=x.dtype) - torch.eye(64)
            reached[FROM[~PROMOTES], TO[~PROMOTES]] = 1
            x = torch.cat([x, reached.expand(n, 64, 64)], 2)
        x = self.act(self.named(x, "ip_emb"))
        if self.dense_position:
            x = self.normalise(x, self.top, TOP["emb_ln_g"], TOP["emb_ln_b"], DENSE_EPSILON)
        if self.has("ip_mult_gate"):
            x = x * self.get("ip_mult_gate").view(-1, 64).T
        if self.has("ip_add_gate"):
            x = x + self.get("ip_add_gate").view(-1, 64).T
        if self.dense_position:
            branch = alpha * self.feed_forward(x, self.top[TOP["emb_ffn"]][0], self.act)
            x = self.normalise(x + branch, self.top, TOP["emb_ffn_ln_g"], TOP["emb_ffn_ln_b"], DENSE_EPSILON)
        for data in self.top[TOP["encoder"]]:
            x = self.encoder(x, data, self.top[TOP["headcount"]][0], alpha, self.ffn_act)
        return x

    def tower(self, planes: Tensor) -> Tensor:
        x = self.act(self.convolve(planes, self.top[TOP["input"]][0]))
        for data in self.top.get(TOP["residual"], []):
            block = lc0_file.decode(data)
            y = self.convolve(self.act(self.convolve(x, block[1][0])), block[2][0])
            if 3 in block:
                se = lc0_file.decode(block[3][0])
                gate, offset = self.layer(self.act(self.layer(y.mean((2, 3)), se, 1, 2)), se, 3, 4).chunk(2, 1)
                y = y * torch.sigmoid(gate)[:, :, None, None] + offset[:, :, None, None]
            x = self.act(x + y)
        return x

    def logits(self, x: Tensor) -> Tensor:
        message, fields = self.policy, self.policy_fields
        if self.policy_kind != ATTENTION:
            if self.policy_kind == CONVOLUTION:
                x = self.act(self.convolve(x, message[fields["policy1"]][0]))
                return self.convolve(x, message[fields["policy"]][0]).flatten(1)[:, encoding.CONV_SLOTS]
            x = self.act(self.convolve(x, message[fields["policy"]][0])).flatten(1)
            return self.named(x, "ip_pol", message, fields)
        x = self.policy_act(self.named(x if x.dim() == 3 else x.flatten(2).transpose(1, 2), "ip_pol", message, fields))
        for data in message.get(fields["pol_encoder"], []):
            x = self.encoder(x, data, message[fields["pol_headcount"]][0], 1.0, self.policy_ffn_act)
        q, k = self.named(x, "ip2_pol", message, fields), self.named(x, "ip3_pol", message, fields)
        scores = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5)[:, FROM, TO]
        kinds = self.linear(k[:, 56:], self.values(message[fields["ip4_pol_w"]][0]), None)
        offsets = kinds[:, TO & 7, KIND] + kinds[:, TO & 7, 3]
        return torch.where(PROMOTES, scores + offsets, scores)

    def head(self, x: Tensor, message: dict, fields: dict, name: str, convolution: str) -> Tensor:
        if x.dim() == 3:
            x = self.named(x, f"ip_{name}", message, fields)
        else:
            x = self.convolve(x, message[fields[convolution]][0])
        x = self.act(self.named(self.act(x).flatten(1), f"ip1_{name}", message, fields))
        return self.named(x, f"ip2_{name}", message, fields)

    @torch.no_grad()
    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        planes = planes.double()
        x = self.tower(planes) if self.has("input") else planes
        if self.has("encoder"):
            x = self.body(x.flatten(2).transpose(1, 2), planes)
        value = self.head(x, self.value, self.value_fields, "val", "value")
        value = torch.softmax(value, 1) if self.wdl else torch.tanh(value)
        left = self.head(x, self.top, TOP, "mov", "moves_left").relu().squeeze(1) if self.has_moves_left else None
        return self.logits(x), value, left
