"""Evaluations per second of two ONNX models of one network, interleaved in one process: Zeitnot's export against Lc0's.

    lc0 leela2onnx --input=t1-256x10.pb.gz --output=lc0.onnx
    zeitnot net convert t1-256x10.pb.gz --output=zeitnot.onnx
    python tests/reference/versus_lc0_export.py lc0.onnx zeitnot.onnx

ONNX Runtime's CPU provider, one session and one thread each, medians of interleaved rounds, by CPU time, so that other
programs disturb less. The outputs are compared first. Needs `pip install numpy onnxruntime`.

T1-256x10 on one core of a Zen 5 (AVX-512; 287 GFLOP/s of float32 at most): the sums of its dense layers are 1.26 GFLOP for
each position and 5.0 ms at the 250 GFLOP/s that ONNX Runtime's products reach there, which is four fifths of the time of
either model. What the forms of the graph cost was measured with this script:

- Mish by one exponential instead of Softplus: 4 to 5 % (T1 has it only in its embeddings and heads);
- the factor of each branch in the last layer's weights, the one of the scores in those of the queries, the positional map as
  a bias of each square: 2 % together;
- queries, keys and values by one product, split afterwards: 1 to 4 % slower than three products;
- the residual stream as [batch, 64, width], so that additions might fuse with layer normalisation: no difference.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import onnxruntime

#: How far outputs of the two may be from each other, relative to the largest.
TOLERANCE = 1e-3


def load(path: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def outputs(session: onnxruntime.InferenceSession, inputs: dict) -> dict[str, np.ndarray]:
    return dict(zip([end.name for end in session.get_outputs()], session.run(None, inputs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs=2, metavar="MODEL.onnx")
    parser.add_argument("--batches", default="1,8,16,32", help="batch sizes (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each batch size (default %(default)s)")
    parser.add_argument("--positions", type=int, default=32, help="positions of a model in a round, at least (default %(default)s)")
    args = parser.parse_args()
    sessions = [load(path) for path in args.models]
    random = np.random.default_rng(0)
    print(f"{'batch':>5} {'first/s':>9} {'second/s':>9} {'second/first':>13}")
    for batch in map(int, args.batches.split(",")):
        planes = (random.random((batch, 112, 8, 8)) < 0.1).astype(np.float32)
        feed = [{session.get_inputs()[0].name: planes} for session in sessions]
        first, second = (outputs(session, inputs) for session, inputs in zip(sessions, feed))
        for name in first.keys() & second.keys():
            distance = np.abs(first[name] - second[name]).max() / np.abs(first[name]).max()
            if distance > TOLERANCE:
                raise SystemExit(f"the models differ: {name} by {distance:.1e}")
        runs = -(-args.positions // batch)
        rates = [[], []]
        for _ in range(args.rounds):
            for session, inputs, rate in zip(sessions, feed, rates):
                start = time.process_time()
                for _ in range(runs):
                    session.run(None, inputs)
                rate.append(runs * batch / (time.process_time() - start))
        one, two = (np.median(rate) for rate in rates)
        print(f"{batch:5} {one:9.1f} {two:9.1f} {two / one:13.3f}", flush=True)


if __name__ == "__main__":
    main()
