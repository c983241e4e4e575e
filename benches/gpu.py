"""Measures Zeitnot on an NVIDIA card, and checks its evaluations against the CPU's: one JSON and one page.

    cargo build --release --bin zeitnot
    python3 benches/gpu.py --weights t1-256x10.pb.gz --weights maia-1900.pb.gz --libraries FOLDER --lc0 PATH --out gpu

It needs Python alone, no network, and 8 minutes (--minutes). FOLDER has CUDA's libraries and ONNX Runtime's for CUDA, as files or
as wheels, which are unpacked; without it those that `zeitnot runtime install --gpu` obtained are used. What a machine cannot do
is said on the page and skipped, so that the script runs to its end without a card, too. It is for Linux.
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
# The share of the time left that one command may take.
MOST_OF_THE_TIME = 0.4


class Clock:
    """The time that is left. No command takes more than a part of it: a first engine of TensorRT's can take minutes."""

    def __init__(self, minutes):
        self.end = time.monotonic() + 60 * minutes

    def left(self):
        return self.end - time.monotonic()

    def of_a_command(self):
        return max(self.left() * MOST_OF_THE_TIME, 1)


class Zeitnot:
    """The engine's commands, their output as JSON."""

    def __init__(self, program, environment, clock):
        self.program, self.environment, self.clock = program, environment, clock

    def run(self, *arguments):
        """The output of a command, or a line that says why there is none."""
        command = [self.program, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment,
                                  timeout=self.clock.of_a_command(), check=False)
        except subprocess.TimeoutExpired:
            return None, "no time was left for it"
        except OSError as error:
            sys.exit(f"gpu.py: {self.program}: {error}")
        lines = done.stderr.strip().splitlines()
        problem = without_folders(lines[-1]) if lines else f"exit {done.returncode}"
        # `doctor` prints what it finds of a machine that cannot play, too.
        is_told = done.returncode == 0 or arguments[0] == "doctor"
        return (done.stdout, None) if is_told else (None, problem)

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
    # An empty part would be the working folder.
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, [*folders, environment.get("LD_LIBRARY_PATH")]))
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
    same, q, kl, furthest = 0, 0.0, 0.0, 0.0
    for one, other in zip(ours, reference, strict=True):
        best = [max(side["policy"], key=lambda move: move["p"])["move"] for side in (one, other)]
        same += best[0] == best[1]
        q += abs(one["q"] - other["q"])
        furthest = max(furthest, abs(one["q"] - other["q"]))
        found = {move["move"]: move["p"] for move in one["policy"]}
        kl += sum(move["p"] * math.log(move["p"] / max(found[move["move"]], 1e-9))
                  for move in other["policy"] if move["p"] > 0)
    count = len(reference)
    return {"positions": count, "first choice": same / count, "error of q": furthest, "mean error of q": q / count,
            "KL": kl / count}


def agreements(zeitnot, networks, file, backends):
    """Each network on the card, and on the CPU in the form that the card gets: packed planes, half precision, its Mish."""
    rows = []
    for network in networks:
        reference, problem = evaluations(zeitnot, network, file, "--backend", "onnxruntime")
        if reference is None:
            rows.append({"network": network, "backend": "onnxruntime", "problem": problem})
            continue
        for backend in backends:
            options = "planes=packed,datatype=f16" if backend == "onnxruntime" else None
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
    return rows


def lc0(program, networks, clock):
    """Lc0's own backend on the same networks. Its lines go onto the page as they are, for a reader to compare."""
    rows = []
    for network in filter(None, networks):
        command = [program, "backendbench", "--backend=cuda-fp16", f"--weights={network}", "--batches=10",
                   "--start-batch-size=128", "--max-batch-size=1024", "--batch-step=128"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=clock.of_a_command(), check=False)
            rows.append({"network": network, "output": done.stdout.splitlines(), "problem": done.stderr[-200:] if done.returncode else None})
        except (OSError, subprocess.TimeoutExpired) as error:
            rows.append({"network": network, "output": [], "problem": str(error)})
    return rows


def page(report):
    """The report as Markdown: it can be read as it is, and pasted into an issue."""
    lines = ["# Zeitnot on this machine", ""]
    lines += [f"- {key}: {value}" for key, value in report["machine"].items()]
    lines += ["", "## Agreement with float32 on the CPU", "",
              "| network | backend | first choice | largest error of q | mean | KL |", "|---|---|---|---|---|---|"]
    for row in report["agreement"]:
        name = f"| {name_of(row['network'])} | {row['backend']} {row.get('options') or ''} |"
        lines.append(f"{name} {row['problem']} | | | |" if row.get("problem") else
                     f"{name} {row['first choice']:.4f} | {row['error of q']:.5f} | {row['mean error of q']:.5f} | {row['KL']:.5f} |")
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


def without_folders(text):
    return re.sub(r"/\S+/", ".../", text)


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
            if row.get("search") and "t1" in name_of(row["network"]).lower():
                share = searched(row["search"]) / max(each["versus_evals_per_s"] for each in row["batches"])
                lines.append((row["network"], row["backend"], "search", share, share >= BARS["search"]))
    return lines


def searched(benchmark):
    """Evaluations a second of the whole search, from `benchmark --json`."""
    return benchmark["measured"]["evals_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zeitnot", default="target/release/zeitnot", metavar="PROGRAM", help="default: %(default)s")
    parser.add_argument("--weights", action="append", metavar="FILE",
                        help="a network: residual, transformer, several heads (at most four; the built-in one without any)")
    parser.add_argument("--libraries", metavar="FOLDER", help="libraries or wheels of CUDA and ONNX Runtime")
    parser.add_argument("--lc0", metavar="PROGRAM", help="Lc0 with its backend cuda-fp16, to measure beside it")
    parser.add_argument("--minutes", type=float, default=8.0, help="time for all of it; default: %(default)s")
    parser.add_argument("--out", default="gpu", metavar="FOLDER", help="for the JSON and the page; default: %(default)s")
    arguments = parser.parse_args()
    if arguments.minutes <= 0:
        parser.error("--minutes is above 0")
    for path in filter(None, [arguments.zeitnot, arguments.libraries, arguments.lc0]):
        if not pathlib.Path(path).exists():
            parser.error(f"there is no {path}")
    networks = (arguments.weights or [None])[:4]
    clock = Clock(arguments.minutes)
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        zeitnot = Zeitnot(arguments.zeitnot, libraries(arguments.libraries, scratch), clock)
        doctor, _ = zeitnot.json("doctor")
        checks = {check["name"]: without_folders(check["finding"]) for check in (doctor or {}).get("checks", [])}
        version, unknown = zeitnot.run("--version")
        report = {"machine": {"zeitnot": (version or unknown).strip(), "system": platform.platform(),
                              **{name: checks.get(name) for name in ["processor", "graphics card", "runtime"]}},
                  "bars": BARS, "agreement": [], "speed": [], "variants": [], "lc0": [], "problems": []}

        def told(part, rows):
            """Keeps what is there already, should the next part never end."""
            for row in rows:
                if "network" in row:
                    row["network"] = name_of(row["network"])
            report[part] = rows
            print(f"{part}: done, {clock.left():.0f} s left", file=sys.stderr)
            every = [row for rows in report.values() if isinstance(rows, list) for row in rows if isinstance(row, dict)]
            report["problems"] = sorted({f"{row.get('backend', 'cuda')}: {row['problem']}" for row in every if row.get("problem")})
            (out / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
            (out / "gpu.json").with_suffix(".md").write_text(page(report))

        file = positions(zeitnot, scratch)
        told("agreement", agreements(zeitnot, networks, file, ["onnxruntime", "cuda"]))
        found = {row["backend"] for row in report["agreement"] if not row.get("problem")}
        cards = [card for card in CARDS if card in found]
        # A measurement of a side takes a fifth more to warm up; the whole search takes five times as long as a batch size.
        parts = len(networks) * (2 * len(BATCHES) + 6) * (2 if cards else 1) + 30 * bool(cards)
        seconds = round(min(2.0, max(0.2, 0.5 * clock.left() / parts / 1.2)), 2)
        told("speed", speeds(zeitnot, networks, cards or ["onnxruntime"], seconds))
        told("variants", variants(zeitnot, networks, seconds) if cards else [])
        told("lc0", lc0(arguments.lc0, networks, clock) if arguments.lc0 and cards else [])
        # Last: the first engine of a network takes minutes.
        told("agreement", report["agreement"] + agreements(zeitnot, networks, file, ["tensorrt"]))
        if any(row["backend"] == "tensorrt" and not row.get("problem") for row in report["agreement"]):
            told("speed", report["speed"] + speeds(zeitnot, networks, ["tensorrt"], seconds))
    print(page(report), end="")


if __name__ == "__main__":
    main()
