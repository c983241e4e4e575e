"""Speed and memory of the search against Lc0's, where the network costs nothing.

    python tests/games/tree_speed.py ZEITNOT LC0 [--nodes 2000000] [--repeats 3] [CASE ...]

A CASE is as in the table: uniform-start-1-32 (backend, position, threads, batch). The two engines take turns. Linux only:
processor time and the peak of the resident set come from /proc; the peak after `go nodes 1` is taken off. Of several
repeats the fastest counts.

Beside two threads stands what two processes of Zeitnot with a thread each make at once, each with all of the nodes: they
share no tree and no lock, only the last cache and the way to the memory. Against one thread that is what a second core brings
where nothing is shared; two threads on one tree can do better, since their tree is half as large as two.
"""

import argparse
import itertools
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

POSITIONS = {
    "start": "startpos",
    "kiwipete": "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
}
TICKS = os.sysconf("SC_CLK_TCK")


class Engine:
    """An engine over its pipes."""

    def __init__(self, command, folder):
        libraries = {**os.environ, "LD_LIBRARY_PATH": folder}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, bufsize=1, env=libraries
        )
        self.ask("uci", "uciok")

    def ask(self, line, answer):
        self.process.stdin.write(line + "\n")
        while not (told := self.process.stdout.readline()).startswith(answer):
            if not told:
                raise SystemExit(f"{self.process.args[0]} ended at {line!r}")

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def measure(command, position, nodes):
    """Nodes per CPU-second, nodes a second, and bytes a node."""
    engine = Engine(command, os.path.dirname(os.path.abspath(command[0])))
    go = f"position {position}\ngo nodes "
    engine.ask(go + "1", "bestmove")
    engine.ask("ucinewgame\nisready", "readyok")
    base, cpu, start = engine.peak_bytes(), engine.cpu_seconds(), time.perf_counter()
    engine.ask(go + str(nodes), "bestmove")
    wall, cpu = time.perf_counter() - start, engine.cpu_seconds() - cpu
    bytes_a_node = (engine.peak_bytes() - base) / nodes
    engine.process.communicate("quit\n")
    return nodes / cpu, nodes / wall, bytes_a_node


def measure_pair(command, position, nodes):
    """Nodes a second of two processes at once."""
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(measure, command, position, nodes) for _ in range(2)]
        return sum(one.result()[1] for one in both)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zeitnot")
    parser.add_argument("lc0")
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_intermixed_args()
    for (backend, name), threads, batch in itertools.product(
        [("uniform", "start"), ("random", "start"), ("random", "kiwipete")], [1, 2], [32, 256]
    ):
        case = f"{backend}-{name}-{threads}-{batch}"
        if args.cases and case not in args.cases:
            continue
        same = ["--nncache=0", f"--minibatch-size={batch}", "--smart-pruning-factor=0"]
        uniform = ["--backend-opts=uniform=true"] if backend == "uniform" else []
        lc0 = [args.lc0, "--show-hidden", "--backend=random", "--max-prefetch=0", "--task-workers=0", *uniform, *same]
        zeitnot = [args.zeitnot, f"--backend={backend}", *same]
        sides = {"zeitnot": [*zeitnot, f"--threads={threads}"], "lc0": [*lc0, f"--threads={threads}"]}
        best = dict.fromkeys(sides, (0.0, 0.0, 0.0))
        pair = 0.0
        for _ in range(args.repeats):
            for side, command in sides.items():
                best[side] = max(best[side], measure(command, POSITIONS[name], args.nodes))
            if threads == 2:
                pair = max(pair, measure_pair([*zeitnot, "--threads=1"], POSITIONS[name], args.nodes))
        cells = [f"{side} {cpu:9.0f}/cpu-s {wall:9.0f}/s {size:5.1f} B" for side, (cpu, wall, size) in best.items()]
        cells.append(f"{best['zeitnot'][0] / best['lc0'][0]:.2f}x")
        if threads == 2:
            cells.append(f"two processes {pair:.0f}/s")
        print(f"{case:<24}", *cells, sep="  ", flush=True)


if __name__ == "__main__":
    main()
