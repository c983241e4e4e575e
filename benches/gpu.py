"""Measures Zeitnot on a graphics card, and checks its evaluations against the CPU's: one JSON, one page and one picture.

    cargo build --release --bin zeitnot
    python3 benches/gpu.py --weights t1-256x10.pb.gz --weights maia-1900.pb.gz --libraries FOLDER --lc0 PATH --out gpu

FOLDER has CUDA's libraries and ONNX Runtime's for CUDA, as files or as wheels, which are unpacked. What a machine cannot do is said
on the page and skipped, so that the script runs to its end without a card, too. docs/gpu.md has the rest.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from gpu_page import CARDS, SOFTWARE, name_of, page, without_folders

# Positions whose evaluations are compared.
POSITIONS = 300
BATCHES = [1, 8, 16, 32, 64, 128, 256, 512, 1024]
# The runs of a software device, which computes a few positions a second.
SOFTWARE_BATCHES = [1, 8]
# TensorRT, whose first engine of a network takes minutes, comes last.
SLOW = "tensorrt"
# The words of the engine where a card does not compute all of a network.
ON_CPU = "run on the CPU"
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
        # Whether Vulkan has a software device alone.
        self.is_software = False
        # What the last command said of operators on the CPU.
        self.on_cpu = None

    def run(self, *arguments):
        """The output of a command, or a line that says why there is none."""
        command = [self.program, *map(str, arguments)]
        limit = self.clock.of_a_command()
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None, too_long(limit)
        except OSError as error:
            sys.exit(f"gpu.py: {self.program}: {error}")
        lines = done.stderr.strip().splitlines()
        self.on_cpu = next((without_folders(line) for line in lines if ON_CPU in line), None)
        problem = without_folders(lines[-1]).removeprefix("zeitnot: ") if lines else f"exit {done.returncode}"
        # `doctor` prints what it finds of a machine that cannot play, too.
        is_told = done.returncode == 0 or arguments[0] == "doctor"
        return (done.stdout, None) if is_told else (None, problem)

    def json(self, *arguments):
        output, problem = self.run(*arguments, "--json")
        return (None, problem) if output is None else (json.loads(output), None)


def too_long(limit):
    return f"took longer than {limit:.0f} s, its share of the time; give more with --minutes"


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
    same, kl, errors = 0, 0.0, []
    for one, other in zip(ours, reference, strict=True):
        best = [max(side["policy"], key=lambda move: move["p"])["move"] for side in (one, other)]
        same += best[0] == best[1]
        errors.append(abs(one["q"] - other["q"]))
        found = {move["move"]: move["p"] for move in one["policy"]}
        kl += sum(move["p"] * math.log(move["p"] / max(found[move["move"]], 1e-9))
                  for move in other["policy"] if move["p"] > 0)
    count = len(reference)
    return {"positions": count, "first choice": same / count, "mean error of q": statistics.fmean(errors),
            "q of 99 %": sorted(errors)[math.ceil(0.99 * count) - 1], "largest error of q": max(errors),
            # Rounding alone may make it negative.
            "KL": max(0.0, kl / count)}


def agreements(zeitnot, networks, file, backends, references):
    """Each network on the card, and on the CPU in the form that the card gets: packed planes, half precision, its Mish.

    `references` keeps the CPU's evaluations and problems, by network.
    """
    rows = []
    for network in networks:
        if network not in references:
            references[network] = evaluations(zeitnot, network, file, "--backend", "onnxruntime")
        reference, problem = references[network]
        if reference is None:
            rows.append({"network": network, "backend": "onnxruntime", "problem": problem})
            continue
        for backend in backends:
            options = "planes=packed,datatype=f16" if backend == "onnxruntime" else None
            ours, problem = evaluations(zeitnot, network, file, "--backend", backend,
                                        *(["--backend-opts", options] if options else []))
            row = {"network": network, "backend": backend, "options": options, "on the CPU": zeitnot.on_cpu}
            rows.append({**row, "problem": problem} if ours is None else {**row, **agreement(ours, reference)})
    return rows


def sizes(zeitnot, network, backend):
    """The batches to measure: up to what the device runs in two seconds."""
    if zeitnot.is_software and backend == SOFTWARE:
        return SOFTWARE_BATCHES
    largest_run = 256 if backend in CARDS else 16
    rows, _ = zeitnot.json("backendbench", *weights(network), "--backend", backend, "--batch-sizes", largest_run, "--seconds", 0.1)
    rate = rows[0]["evals_per_s"] if rows else 0
    return [batch for batch in BATCHES if batch <= max(2 * rate, 1)][:len(BATCHES) if backend in CARDS else 5]


def speeds(zeitnot, networks, backends, seconds):
    """Evaluations a second by batch, beside a bare loop in the same process, with the change of the size, and of the whole search.

    Both sides have the same runs in flight, two on NVIDIA's cards, and inputs in the same kind of memory.
    """
    rows = []
    for network in networks:
        for backend in backends:
            row = {"network": network, "backend": backend}
            batches = ",".join(map(str, sizes(zeitnot, network, backend)))
            row["batches"], row["problem"] = zeitnot.json(
                "backendbench", *weights(network), "--backend", backend, "--versus", "bare", "--in-turn", "--batch-sizes", batches,
                "--threads", 2 if backend in CARDS and backend != "webgpu" else 1, "--seconds", seconds)
            if row["batches"] is not None:
                row["search"], row["problem"] = zeitnot.json(
                    "benchmark", *weights(network), "--backend", backend, "--no-grid", "--seconds", search_seconds(seconds))
            rows.append(row)
    return rows


def search_seconds(seconds):
    """The time of the whole search, of which each position needs a second: young trees fill no batch of a card."""
    return max(5 * seconds, 6)


# What to leave out of the path to a card or to add to it, by backend.
VARIANTS = {
    "webgpu": ["", "runs=2"],
    "cuda": ["", "planes=dense", "runs=1", "fused=true", "fused=true,provider.sdpa_kernel=2",
             "provider.prefer_nhwc=0", "provider.prefer_nhwc=1", "datatype=f32", "datatype=bf16",
             # All sizes, also with convolutions: their change may stall.
             "min_batch=16", "min_batch=16,provider.cudnn_conv_algo_search=HEURISTIC",
             "graphs=on", "graphs=on,runs=1", "graphs=on,fused=true"],
    "tensorrt-rtx": ["", "runs=1"],
    # An engine of its own for small batches.
    "tensorrt": ["", "batch=64"],
}


def variants(zeitnot, report, networks, backends, seconds):
    """What each part of the path to a card is worth, with two threads."""
    rows = []
    for backend in backends:
        for options in VARIANTS.get(backend, []):
            most = 64 if "batch=64" in options else 1024
            measured = next(row["batches"] or [] for row in report["speed"]
                            if (row["network"], row["backend"]) == (name_of(networks[0]), backend))
            some = [batch["batch"] for batch in measured if batch["batch"] in [1, 16, 32, 64, 256, 1024] and batch["batch"] <= most]
            if not some:
                continue
            found, problem = zeitnot.json("backendbench", *weights(networks[0]), "--backend", backend, "--backend-opts", options,
                                          "--batch-sizes", ",".join(map(str, some)), "--in-turn", "--threads", 2, "--seconds", seconds)
            rows.append({"backend": backend, "options": options or "as it is", "batches": found, "problem": problem})
    return rows


def lc0(program, networks, clock):
    """Lc0's own backend on the same networks. Its lines go onto the page as they are, for a reader to compare."""
    rows = []
    for network in filter(None, networks):
        command = [program, "backendbench", "--backend=cuda-fp16", f"--weights={network}", "--batches=10",
                   "--start-batch-size=128", "--max-batch-size=1024", "--batch-step=128"]
        row = {"network": network, "backend": "Lc0's cuda-fp16", "output": [], "problem": None}
        limit = clock.of_a_command()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
            row |= {"output": done.stdout.splitlines(), "problem": done.stderr[-200:] if done.returncode else None}
        except subprocess.TimeoutExpired:
            row["problem"] = too_long(limit)
        except OSError as error:
            row["problem"] = str(error)
        rows.append(row)
    return rows


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
        for network in filter(None, networks):
            _, problem = zeitnot.run("net", "describe", network)
            if problem:
                parser.error(problem)
        doctor, _ = zeitnot.json("doctor")
        checks = {check["name"]: without_folders(check["finding"]) for check in (doctor or {}).get("checks", [])}
        zeitnot.is_software = "software device" in checks.get(f"provider {SOFTWARE}", "")
        version, unknown = zeitnot.run("--version")
        report = {"machine": {"zeitnot": (version or unknown).strip(), "system": platform.platform(),
                              **{name: checks.get(name) for name in ["processor", "graphics card"]}},
                  "is software": zeitnot.is_software,
                  "agreement": [], "speed": [], "variants": [], "lc0": [], "picture": [], "problems": []}

        def told(part, rows):
            """Keeps what is there already, should the next part never end."""
            for row in rows:
                if "network" in row:
                    row["network"] = name_of(row["network"])
            report[part] = rows
            print(f"{part}: done, {clock.left():.0f} s left", file=sys.stderr)
            every = [row for part in ["agreement", "speed", "variants", "lc0", "picture"] for row in report[part]]
            report["problems"] = sorted({f"{row['backend']}: {row['problem']}" for row in every if row.get("problem")})
            (out / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
            (out / "gpu.json").with_suffix(".md").write_text(page(report))

        file = positions(zeitnot, scratch)
        references = {}
        told("agreement", agreements(zeitnot, networks, file, ["onnxruntime", *(card for card in CARDS if card != SLOW)], references))
        found = {row["backend"] for row in report["agreement"] if not row.get("problem")}
        cards = [card for card in CARDS if card in found]
        # A measurement of a side takes a fifth more to warm up, and a third one changes the size. The whole search takes
        # five times as long as a batch size, or 6 seconds.
        measured = cards or ["onnxruntime"]
        pairs = len(networks) * len(measured)
        parts = pairs * 3.4 * len(BATCHES) + 13 * sum(len(VARIANTS[card]) for card in cards) + 60
        seconds = round(min(2.0, max(0.1, 0.6 * (clock.left() - 6 * pairs) / parts)), 2)
        told("speed", speeds(zeitnot, networks, measured, seconds))
        told("variants", variants(zeitnot, report, networks, [card for card in cards if card != SOFTWARE or not zeitnot.is_software], seconds))
        told("lc0", lc0(arguments.lc0, networks, clock) if arguments.lc0 and cards else [])
        picture = out / "gpu.svg"
        # All backends beside one another; the first card alone where they take too long.
        for only in [[], ["--backend", measured[0]]]:
            _, problem = zeitnot.run("benchmark", *weights(networks[0]), "--no-install", "--seconds", seconds, "--svg", picture, *only)
            if problem is None:
                break
        told("picture", [{"backend": "picture", "file": picture.name, "problem": problem}])
        told("agreement", report["agreement"] + agreements(zeitnot, networks, file, [SLOW], references))
        if any(row["backend"] == SLOW and not row.get("problem") for row in report["agreement"]):
            told("speed", report["speed"] + speeds(zeitnot, networks, [SLOW], seconds))
            told("variants", report["variants"] + variants(zeitnot, report, networks, [SLOW], seconds))
    print(page(report), end="")


if __name__ == "__main__":
    main()
