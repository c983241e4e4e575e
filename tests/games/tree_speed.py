"""Speed and memory of the search against Lc0's, where the network costs nothing.

    python tests/games/tree_speed.py ZEITNOT LC0 [--nodes 2000000] [--repeats 3] [CASE ...]

A CASE is as in the table: uniform-start-1-32 (backend, position, threads, batch); LC0 may be - to leave it out. The two
engines take turns, and all cases do before the next repeat, so that a host that is slow for a while is so for all of them;
of several repeats the best of each figure counts (of memory the worst). Linux only: processor time and the peak of the
resident set come from /proc; the peak after `go nodes 1` is taken off.

Beside two threads stands what two processes of Zeitnot with a thread each make at once, each with all of the nodes: they
share no tree and no lock, only the last cache and the way to the memory. Against one thread that is what a second core brings
where nothing is shared; two threads on one tree can do better, since their tree is half as large as two.
"""

import argparse
import itertools
import os
import subprocess
import sys
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


def cases(args):
    """(case, position, threads, commands of the sides) of each case that is asked for."""
    for (backend, name), threads, batch in itertools.product(
        [("uniform", "start"), ("random", "start"), ("random", "kiwipete")], [1, 2], [32, 256]
    ):
        case = f"{backend}-{name}-{threads}-{batch}"
        if args.cases and case not in args.cases:
            continue
        same = ["--nncache=0", f"--minibatch-size={batch}", "--smart-pruning-factor=0"]
        uniform = ["--backend-opts=uniform=true"] if backend == "uniform" else []
        sides = {"zeitnot": [args.zeitnot, f"--backend={backend}", *same, f"--threads={threads}"]}
        if args.lc0 != "-":
            bare = ["--show-hidden", "--backend=random", "--max-prefetch=0", "--task-workers=0"]
            sides["lc0"] = [args.lc0, *bare, *uniform, *same, f"--threads={threads}"]
        yield case, name, threads, sides


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zeitnot")
    parser.add_argument("lc0")
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_intermixed_args()
    chosen, args.cases = args.cases, []
    known = [case for case, *_ in cases(args)]
    args.cases = chosen
    if unknown := set(chosen) - set(known):
        parser.error(f"unknown case {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if args.nodes < 1 or args.repeats < 1:
        parser.error("--nodes and --repeats are at least 1")
    for engine in {args.zeitnot, args.lc0} - {"-"}:
        if not os.access(engine, os.X_OK):
            parser.error(f"{engine} is not a program")
    best = {}
    for _, (case, name, threads, sides) in itertools.product(range(args.repeats), list(cases(args))):
        for side, command in sides.items():
            cpu, wall, size = measure(command, POSITIONS[name], args.nodes)
            known = best.setdefault((case, side), (0.0, 0.0, 0.0))
            best[case, side] = max(known[0], cpu), max(known[1], wall), max(known[2], size)
        if threads == 2:
            one = [*sides["zeitnot"][:-1], "--threads=1"]
            known = best.get((case, "pair"), 0.0)
            best[case, "pair"] = max(known, measure_pair(one, POSITIONS[name], args.nodes))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for case, _, threads, sides in cases(args):
        figures = {side: best[case, side] for side in sides}
        cells = [f"{side} {cpu:9.0f}/cpu-s {wall:9.0f}/s {size:5.1f} B" for side, (cpu, wall, size) in figures.items()]
        if "lc0" in figures:
            cells.append(f"{figures['zeitnot'][0] / figures['lc0'][0]:.2f}x lc0")
        if threads == 2:
            cells.append(f"two processes {best[case, 'pair']:.0f}/s")
            one = best.get((case.replace("-2-", "-1-"), "zeitnot"))
            if one:
                cells.append(f"{figures['zeitnot'][1] / one[1]:.2f}x one thread")
        print(f"{case:<24}", *cells, sep="  ", flush=True)


if __name__ == "__main__":
    main()
