"""Measures Zeitnot on an NVIDIA card, and checks its evaluations against the CPU's: one JSON and one page.

    cargo build --release
    python3 benches/gpu.py --weights t1-256x10.pb.gz --weights maia-1900.pb.gz --libraries FOLDER --lc0 PATH --out gpu

It needs Python alone, no network, and 8 minutes (--minutes). FOLDER has CUDA's libraries and ONNX Runtime's for CUDA, as files or
as wheels, which are unpacked; without it those that `zeitnot runtime install --gpu` obtained are used. What a machine cannot do
is said on the page and skipped, so that the script runs to its end without a card, too.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import zipfile

# Positions whose evaluations are compared.
POSITIONS = 300
BATCHES = [1, 8, 16, 32, 64, 128, 256, 512, 1024]
# The bars of issue 30: agreement in half precision, the share of a bare loop, of the whole search, and of Lc0's.
BARS = {"first choice": 0.99, "error of q": 0.01, "share of a bare loop at 256": 0.95, "search": 0.8}
CARDS = ["cuda", "tensorrt"]


class Clock:
    """The time that is left, which is divided among what is still to be done."""

    def __init__(self, minutes):
        self.end = time.monotonic() + 60 * minutes

    def left(self):
        return self.end - time.monotonic()


class Zeitnot:
    """The engine's commands, their output as JSON."""

    def __init__(self, program, environment, clock):
        self.program, self.environment, self.clock = program, environment, clock

    def run(self, *arguments):
        """The output of a command, or a line that says why there is none."""
        command = [self.program, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment,
                                  timeout=max(self.clock.left(), 1), check=False)
        except subprocess.TimeoutExpired:
            return None, "no time was left for it"
        lines = done.stderr.strip().splitlines()
        return (done.stdout, None) if done.returncode == 0 else (None, lines[-1] if lines else f"exit {done.returncode}")

    def json(self, *arguments):
        output, problem = self.run(*arguments, "--json")
        return (None, problem) if output is None else (json.loads(output), None)


def libraries(folder, scratch):
    """The environment in which a folder of libraries or wheels is found: ONNX Runtime, and what it needs."""
    environment = dict(os.environ)
    if folder is None:
        return environment
    folder = pathlib.Path(folder).resolve()
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch)
    found = [path for root in (folder, pathlib.Path(scratch)) for path in root.rglob("*.so*")]
    folders = sorted({str(path.parent) for path in found})
    environment["LD_LIBRARY_PATH"] = ":".join([*folders, environment.get("LD_LIBRARY_PATH", "")])
    runtimes = [path for path in found if path.name.startswith("libonnxruntime.so")]
    if runtimes:
        environment["ORT_DYLIB_PATH"] = str(runtimes[0])
    return environment


def positions(zeitnot, scratch):
    """A file of positions of random openings, the same on every machine."""
    output, problem = zeitnot.run(f"genfens {POSITIONS} seed 1 book None", "quit")
    if output is None:
        sys.exit(f"gpu.py: no positions: {problem}")
    fens = [line.split("genfens ", 1)[1] for line in output.splitlines() if "genfens " in line]
    path = pathlib.Path(scratch) / "positions.jsonl"
    path.write_text("".join(json.dumps({"id": index, "fen": fen}) + "\n" for index, fen in enumerate(fens)))
    return path


def evaluations(zeitnot, network, file, *options):
    output, problem = zeitnot.run("eval", "--positions", file, *weights(network), *options)
    return (None, problem) if output is None else ([json.loads(line) for line in output.splitlines()], None)


def weights(network):
    return ["--weights", network] if network else []


def agreement(ours, reference):
    """How near evaluations are to those in float32 on the CPU."""
    same, q, kl = 0, 0.0, 0.0
    for one, other in zip(ours, reference, strict=True):
        best = [max(side["policy"], key=lambda move: move["p"])["move"] for side in (one, other)]
        same += best[0] == best[1]
        q += abs(one["q"] - other["q"])
        found = {move["move"]: move["p"] for move in one["policy"]}
        kl += sum(move["p"] * math.log(move["p"] / max(found[move["move"]], 1e-9))
                  for move in other["policy"] if move["p"] > 0)
    count = len(reference)
    return {"positions": count, "first choice": same / count, "error of q": q / count, "KL": kl / count}


def agreements(zeitnot, networks, file):
    """Each network on the card, and on the CPU in the form that the card gets: packed planes, half precision, its Mish."""
    rows = []
    for network in networks:
        reference, problem = evaluations(zeitnot, network, file, "--backend", "onnxruntime")
        if reference is None:
            rows.append({"network": network, "backend": "onnxruntime", "problem": problem})
            continue
        for backend, options in [("onnxruntime", "planes=packed,datatype=f16"), *((card, None) for card in CARDS)]:
            ours, problem = evaluations(zeitnot, network, file, "--backend", backend,
                                        *(["--backend-opts", options] if options else []))
            row = {"network": network, "backend": backend, "options": options}
            rows.append({**row, "problem": problem} if ours is None else {**row, **agreement(ours, reference)})
    return rows


def speeds(zeitnot, networks, backends, seconds):
    """Evaluations a second by batch, beside a bare loop in the same process, and of the whole search."""
    rows = []
    for network in networks:
        for backend in backends:
            row = {"network": network, "backend": backend}
            batches = ",".join(map(str, BATCHES if backend in CARDS else BATCHES[:5]))
            row["batches"], row["problem"] = zeitnot.json(
                "backendbench", *weights(network), "--backend", backend, "--versus", "bare", "--batch-sizes", batches,
                "--seconds", seconds)
            if row["batches"] is not None:
                row["search"], row["problem"] = zeitnot.json(
                    "benchmark", *weights(network), "--backend", backend, "--no-grid", "--seconds", 5 * seconds)
            rows.append(row)
    return rows


def variants(zeitnot, networks, seconds):
    """What each part of the path to a card is worth, at a batch of 256."""
    rows = []
    for options in ["", "planes=dense", "runs=1", "provider.prefer_nhwc=1", "datatype=f32"]:
        for threads in [1, 2]:
            found, problem = zeitnot.json("backendbench", *weights(networks[0]), "--backend", "cuda", "--backend-opts", options,
                                          "--batch-sizes", "32,256,1024", "--threads", threads, "--seconds", seconds)
            rows.append({"options": options or "as it is", "threads": threads, "batches": found, "problem": problem})
            if problem:
                return rows
    return rows


def lc0(program, networks, seconds):
    """Lc0's own backend on the same networks. Its lines go onto the page as they are."""
    rows = []
    for network in filter(None, networks):
        command = [program, "backendbench", "--backend=cuda-fp16", f"--weights={network}", "--batches=10",
                   "--start-batch-size=128", "--max-batch-size=1024", "--batch-step=128"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 60 * seconds, check=False)
            rows.append({"network": network, "output": done.stdout.splitlines(), "problem": done.stderr[-200:] if done.returncode else None})
        except (OSError, subprocess.TimeoutExpired) as error:
            rows.append({"network": network, "output": [], "problem": str(error)})
    return rows


def page(report):
    """The report as Markdown: it can be read as it is, and pasted into an issue."""
    lines = ["# Zeitnot on this machine", ""]
    lines += [f"- {key}: {value}" for key, value in report["machine"].items()]
    lines += ["", "## Agreement with float32 on the CPU", "",
              "| network | backend | first choice | mean error of q | KL |", "|---|---|---|---|---|"]
    for row in report["agreement"]:
        name = f"| {name_of(row['network'])} | {row['backend']} {row.get('options') or ''} |"
        lines.append(f"{name} {row['problem']} | | |" if row.get("problem") else
                     f"{name} {row['first choice']:.4f} | {row['error of q']:.5f} | {row['KL']:.5f} |")
    lines += ["", "## Evaluations a second", "", "| network | backend | batch | evaluations/s | share of a bare loop |",
              "|---|---|---|---|---|"]
    for row in report["speed"]:
        name = f"| {name_of(row['network'])} | {row['backend']} |"
        if row["problem"]:
            lines.append(f"{name} | {row['problem']} | |")
        for batch in row["batches"] or []:
            lines.append(f"{name} {batch['batch']} | {batch['evals_per_s']:.0f} | {batch['ratio']:.3f} |")
        if row.get("search"):
            lines.append(f"{name} search | {searched(row['search']):.0f} | |")
    lines += ["", "## Bars", ""]
    lines += [f"- {name_of(network)}, {backend}: {bar} {value:.4f}, bar {BARS[bar]}: {'passes' if passes else 'FAILS'}"
              for network, backend, bar, value, passes in judged(report)] or ["- for a card only"]
    for title, rows in [("What each part is worth (CUDA)", report["variants"]), ("Lc0", report["lc0"])]:
        lines += ["", f"## {title}", ""]
        for row in rows:
            lines.append(f"- {row.get('options') or name_of(row.get('network'))}, threads {row.get('threads', '-')}: "
                         + (row["problem"] or ", ".join(
                             f"{batch['batch']}: {batch['evals_per_s']:.0f}" for batch in row.get("batches") or [])))
            lines += [f"      {line}" for line in row.get("output", [])]
    lines += ["", "## What this machine could not do", ""]
    lines += [f"- {problem}" for problem in report["problems"]] or ["- nothing"]
    return "\n".join(lines) + "\n"


def name_of(network):
    """A network's file, without its folder, which is nobody's business."""
    return pathlib.Path(network).name if network else "built in"


def judged(report):
    """Which bars a card passes; nothing without one."""
    lines = []
    for row in report["agreement"]:
        if row["backend"] in CARDS and not row.get("problem"):
            for bar, passes in [("first choice", row["first choice"] >= BARS["first choice"]),
                                ("error of q", row["error of q"] <= BARS["error of q"])]:
                lines.append((row["network"], row["backend"], bar, row[bar], passes))
    for row in report["speed"]:
        batch = next((batch for batch in row["batches"] or [] if batch["batch"] == 256), None)
        if row["backend"] in CARDS and batch:
            lines.append((row["network"], row["backend"], "share of a bare loop at 256", batch["ratio"],
                          batch["ratio"] >= BARS["share of a bare loop at 256"]))
            if row.get("search"):
                share = searched(row["search"]) / max(each["versus_evals_per_s"] for each in row["batches"])
                lines.append((row["network"], row["backend"], "search", share, share >= BARS["search"]))
    return lines


def searched(benchmark):
    """Evaluations a second of the whole search, from `benchmark --json`."""
    return benchmark["measured"]["evals_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zeitnot", default="target/release/zeitnot")
    parser.add_argument("--weights", action="append", metavar="FILE",
                        help="a network: residual, transformer, several heads (at most four; the built-in one without any)")
    parser.add_argument("--libraries", metavar="FOLDER", help="libraries or wheels of CUDA and ONNX Runtime")
    parser.add_argument("--lc0", metavar="PROGRAM")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", default="gpu", metavar="FOLDER")
    arguments = parser.parse_args()
    networks = (arguments.weights or [None])[:4]
    clock = Clock(arguments.minutes)
    with tempfile.TemporaryDirectory() as scratch:
        zeitnot = Zeitnot(arguments.zeitnot, libraries(arguments.libraries, scratch), clock)
        doctor, _ = zeitnot.json("doctor")
        checks = {check["name"]: re.sub(r"/\S+/", ".../", check["finding"]) for check in (doctor or {}).get("checks", [])}
        version, unknown = zeitnot.run("--version")
        report = {"machine": {"zeitnot": (version or unknown).strip(), "system": platform.platform(),
                              **{name: checks.get(name) for name in ["processor", "graphics card", "runtime"]}}}
        report["agreement"] = agreements(zeitnot, networks, positions(zeitnot, scratch))
        cards = [card for card in CARDS if any(row["backend"] == card and not row.get("problem") for row in report["agreement"])]
        # A measurement of a side takes a fifth more to warm up; the whole search takes five times as long as a batch size.
        parts = len(networks) * max(len(cards), 1) * (2 * len(BATCHES) + 6) + 30 * bool(cards)
        seconds = round(min(2.0, max(0.2, 0.7 * clock.left() / parts / 1.2)), 2)
        report["speed"] = speeds(zeitnot, networks, cards or ["onnxruntime"], seconds)
        report["variants"] = variants(zeitnot, networks, seconds) if cards else []
        report["lc0"] = lc0(arguments.lc0, networks, seconds) if arguments.lc0 and cards else []
    every = [row for part in ("agreement", "speed", "variants", "lc0") for row in report[part]]
    report["problems"] = sorted({f"{row.get('backend', 'cuda')}: {row['problem']}" for row in every if row.get("problem")})
    report["bars"] = BARS
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / "gpu.md").write_text(page(report))
    print(page(report), end="")


if __name__ == "__main__":
    main()
