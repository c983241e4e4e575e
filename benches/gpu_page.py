"""Writes the measurements of gpu.py as a page, and judges them."""

import pathlib
import re

# The providers of graphics cards, in the order in which they are measured.
CARDS = ["webgpu", "cuda", "tensorrt-rtx", "tensorrt"]
# The one that may run on a software device.
SOFTWARE = "webgpu"
# What an evaluation keeps of float32, and what is kept of a bare loop's speed; a change of the size costs no more than this
# multiple of a batch.
BARS = {"first choice": 0.99, "mean error of q": 0.005, "q of 99 %": 0.01, "share of a bare loop at 256": 0.95, "search": 0.8,
        "change of the size": 1.5}
# Bars that are not to be passed.
MOST = {"mean error of q", "q of 99 %", "change of the size"}


def without_folders(text):
    return re.sub(r"/\S+/", ".../", text)


def name_of(network):
    """A network's file, without its folder, which is nobody's business."""
    return pathlib.Path(network).name if network else "built in"


def searched(benchmark):
    """Evaluations a second of the whole search, from `benchmark --json`."""
    return benchmark["measured"]["evals_per_s"]


def at(row, size):
    return next((batch for batch in row["batches"] or [] if batch["batch"] == size), None)


def judged(report):
    """Each bar of each card, and whether the card passes it; no value where it was not measured."""
    lines = []
    cards = [card for card in CARDS if card != SOFTWARE or not report["is software"]]

    def judge(row, bar, value):
        passes = value is not None and (value <= BARS[bar] if bar in MOST else value >= BARS[bar])
        lines.append((row["network"], row["backend"], bar, value, passes))

    for row in report["agreement"]:
        if row["backend"] in cards and not row.get("problem"):
            for bar in ["first choice", "mean error of q", "q of 99 %"]:
                judge(row, bar, row[bar])
    for row in report["speed"]:
        if row["backend"] in cards:
            batch = at(row, 256) or {"ratio": None, "in_turn_ms": None}
            judge(row, "share of a bare loop at 256", batch["ratio"])
            judge(row, "change of the size", batch["in_turn_ms"] and batch["in_turn_ms"] / batch["latency_p50_ms"])
            bare = max((each["versus_evals_per_s"] for each in row["batches"] or []), default=None)
            judge(row, "search", searched(row["search"]) / bare if bare and row.get("search") else None)
    return lines


def side_by_side(rows):
    """The speeds of one network: a row for each batch, a column for each backend."""
    rows = [row for row in rows if row["batches"]]
    if not rows:
        return []
    lines = ["| batch | " + " | ".join(row["backend"] for row in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for size in sorted({batch["batch"] for row in rows for batch in row["batches"]}):
        cells = [at(row, size) for row in rows]
        lines.append(f"| {size} | " + " | ".join(
            f"{cell['evals_per_s']:.0f} ({cell['ratio']:.2f})" if cell else "" for cell in cells) + " |")
    lines.append("| search | " + " | ".join(
        f"{searched(row['search']):.0f}" if row.get("search") else row["problem"] or "" for row in rows) + " |")
    changes = [at(row, 256) or row["batches"][-1] for row in rows]
    lines.append("| ms in turn | " + " | ".join(
        f"{batch['in_turn_ms']:.1f} (batch {batch['batch']}, alone {batch['latency_p50_ms']:.1f})"
        if batch["in_turn_ms"] else "" for batch in changes) + " |")
    return lines


def devices(report):
    """The device of each backend that was measured."""
    return {row["backend"]: row["batches"][0]["device"] for row in report["speed"] if row["batches"]}


def page(report):
    """The report as Markdown: it can be read as it is, and pasted into an issue."""
    lines = ["# Zeitnot on this machine", ""]
    lines += [f"- {key}: {value}" for key, value in report["machine"].items()]
    lines += [f"- {backend}: {device}" for backend, device in devices(report).items()]
    lines += [f"\n![Speed by batch, and latency]({row['file']})" for row in report["picture"] if not row["problem"]]
    lines += ["", "## Agreement with float32 on the CPU", "",
              "| network | backend | first choice | mean error of q | 99 % within | largest | KL |", "|---|---|---|---|---|---|---|"]
    for row in report["agreement"]:
        name = f"| {name_of(row['network'])} | {row['backend']} {row.get('options') or ''} |"
        lines.append(f"{name} {row['problem']} | | | | |" if row.get("problem") else
                     f"{name} {row['first choice']:.4f} | {row['mean error of q']:.5f} | {row['q of 99 %']:.5f} | "
                     f"{row['largest error of q']:.5f} | {row['KL']:.5f} |")
    on_card = [row for row in report["agreement"] if row["backend"] in CARDS and not row.get("problem")]
    on_cpu = sorted({row["on the CPU"] for row in on_card if row["on the CPU"]})
    lines += ["", *(on_cpu or ["Every operator runs on the device."] * bool(on_card))]
    lines += ["", "## Evaluations a second", "",
              "In brackets the share of a bare loop with the same memory and runs in flight; `in turn` is a batch after one of another size."]
    for network in dict.fromkeys(row["network"] for row in report["speed"]):
        rows = [row for row in report["speed"] if row["network"] == network]
        lines += ["", f"### {name_of(network)}", "", *side_by_side(rows)]
        lines += [f"- {row['backend']}: {row['problem']}" for row in rows if row["problem"]]
    lines += ["", "## Bars", ""]
    lines += [f"- {name_of(network)}, {backend}: {bar}"
              + (": not measured" if value is None else f" {value:.4f}, bar {BARS[bar]}: {'passes' if passes else 'FAILS'}")
              for network, backend, bar, value, passes in judged(report)]
    if report["is software"]:
        lines.append(f"- {SOFTWARE} runs on a software device, which nothing is asked of")
    is_card = any(row["backend"] in CARDS for row in report["speed"])
    lines += [] if is_card else ["- for a card only"]
    for title, rows in [("What each part is worth", report["variants"]), ("Lc0", report["lc0"])]:
        lines += ["", f"## {title}", ""]
        for row in rows:
            lines.append(f"- {row['backend']}, {row.get('options') or name_of(row.get('network'))}: "
                         + (row["problem"] or ", ".join(variant(batch) for batch in row.get("batches") or [])))
            lines += [f"      {line}" for line in row.get("output", [])]
        if not rows:
            lines.append("- for a card only" if not is_card else "- not asked for (--lc0)" if title == "Lc0" else "- not measured")
    lines += ["", "## What this machine could not do", ""]
    lines += [f"- {problem}" for problem in report["problems"]] or ["- nothing"]
    return "\n".join(lines) + "\n"


def variant(batch):
    turn = f" ({batch['in_turn_ms']:.1f} ms in turn)" if batch["in_turn_ms"] else ""
    return f"{batch['batch']}: {batch['evals_per_s']:.0f}{turn}"
