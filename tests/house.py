#!/usr/bin/env python3
"""Counts the house: lines, public items and lengths of functions of each room.

    python3 tests/house.py                     the working tree
    python3 tests/house.py --commit af49a36    a commit, read from git
    python3 tests/house.py --engine            the crate zeitnot-engine alone, or the rooms that became it
    python3 tests/house.py --items search      the public items of a room, one a line
    python3 tests/house.py --json              the numbers for other scripts

A room is a folder below `src` of a package; the files of `src` itself are the room `root files`. A package is the root, a
folder of `crates/` or `models/label`; `tests`, `benches`, `examples`, `fuzz` and `build.rs` are not counted. A package below
the root gives its rooms its name: `zeitnot-engine/search`.

| column | what is counted |
|---|---|
| files | files with a line outside tests |
| prod | lines outside tests, with comments and blank lines |
| code, doc, comments, blank | parts of prod: a line that begins with `//!` or `///` is doc, with `//` or inside `/* */` a comment |
| tests | lines of tests: files `*tests.rs`, files below a folder `tests`, modules and items below `#[cfg(test)]` with their attributes |
| pub | items declared `pub` outside tests: functions, methods, types, constants, statics and traits; not `pub(crate)` and the like, not modules, `pub use`, fields or variants |
| file | median, 90th percentile and maximum of the lines of a file, with its inline tests |
| fn | median and 90th percentile of a function's lines, signature and closing brace included; functions without a body do not count |
| fn > 60 | functions of more than 60 lines |

The counts of commit 82e6b11 agree with the table of the review of the house, which was made by another script.
"""

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

# Rooms of `src` before the workspace that became the crate `zeitnot-engine`.
ENGINE_ROOMS = ("chess", "network", "runtime", "backend", "tablebase", "search", "engine", "root files")
# Files of the root that went to other crates or stayed in the program.
NOT_ENGINE = ("lib.rs", "main.rs", "words.rs")

ITEM = re.compile(
    r"^\s*pub\s+(?:default\s+)?(?:(?:const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
    r"(?:fn|struct|enum|union|trait|type|const|static|macro)\b"
)
CONSTANT = re.compile(r"^\s*pub\s+const\s+\w+")
FUNCTION = re.compile(r"\bfn\s+\w+")


def blank_literals(text):
    """The text with the inside of strings, characters and comments replaced by spaces, line breaks kept."""
    out = []
    i, end = 0, len(text)

    def blank(piece):
        out.append("".join("\n" if c == "\n" else " " for c in piece))

    while i < end:
        two = text[i : i + 2]
        if two == "//":
            stop = text.find("\n", i)
            stop = end if stop < 0 else stop
            blank(text[i:stop])
            i = stop
        elif two == "/*":
            depth, stop = 1, i + 2
            while stop < end and depth:
                if text.startswith("/*", stop):
                    depth, stop = depth + 1, stop + 2
                elif text.startswith("*/", stop):
                    depth, stop = depth - 1, stop + 2
                else:
                    stop += 1
            blank(text[i:stop])
            i = stop
        elif (raw := re.compile(r'b?r(#*)"').match(text, i)) and not (i and (text[i - 1].isalnum() or text[i - 1] == "_")):
            stop = text.find('"' + raw.group(1), raw.end())
            stop = end if stop < 0 else stop + 1 + len(raw.group(1))
            blank(text[i:stop])
            i = stop
        elif text[i] == '"':
            stop = i + 1
            while stop < end and text[stop] != '"':
                stop += 2 if text[stop] == "\\" else 1
            blank(text[i : stop + 1])
            i = stop + 1
        elif char := re.compile(r"'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'").match(text, i):
            blank(char.group())
            i = char.end()
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def item_end(bare, start):
    """The end of the item that begins at `start`: behind its closing brace, or behind the semicolon without one."""
    depth = 0
    for i in range(start, len(bare)):
        c = bare[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == "}":
                return i + 1
        elif c == ";" and depth == 0:
            return i + 1
    return len(bare)


def skip_attributes(bare, start):
    """The first character behind white space and attributes."""
    i = start
    while True:
        while i < len(bare) and bare[i].isspace():
            i += 1
        if not bare.startswith("#[", i):
            return i
        depth = 0
        while i < len(bare):
            depth += {"[": 1, "]": -1}.get(bare[i], 0)
            i += 1
            if depth == 0:
                break


def test_lines(bare):
    """The numbers of the lines below `#[cfg(test)]`."""
    lines = set()
    for found in re.finditer(r"#\[cfg\(test\)\]", bare):
        end = item_end(bare, skip_attributes(bare, found.start()))
        lines.update(range(bare.count("\n", 0, found.start()), bare.count("\n", 0, end) + 1))
    return lines


def functions(bare, outside):
    """The lengths in lines of the functions that have a body, outside the lines of tests."""
    lengths = []
    for found in FUNCTION.finditer(bare):
        first = bare.count("\n", 0, found.start())
        if first in outside:
            continue
        depth, i = 0, found.end()
        while i < len(bare) and not (depth == 0 and bare[i] in ";{"):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(bare[i], 0)
            i += 1
        if i < len(bare) and bare[i] == "{":
            lengths.append(bare.count("\n", 0, item_end(bare, i)) - first + 1)
    return lengths


def public_items(bare, outside):
    """The public items: their lines and names."""
    items = []
    for number, line in enumerate(bare.splitlines()):
        if number in outside:
            continue
        if ITEM.match(line) or CONSTANT.match(line):
            items.append((number + 1, " ".join(line.split())))
    return items


def is_test(path, test_modules):
    """Whether a file is compiled for tests alone, by its name or by its declaration."""
    parts = Path(path).parts
    names = {str(Path(path).with_suffix(""))} | {str(folder) for folder in Path(path).parents}
    return parts[-1].endswith("tests.rs") or "tests" in parts[:-1] or bool(names & test_modules)


def test_modules(path, text):
    """The paths, without suffix, of modules that a file declares below `#[cfg(test)]`."""
    path = Path(path)
    folder = path.parent if path.stem in ("mod", "lib", "main") else path.with_suffix("")
    declared = re.findall(r"^\s*#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);", text, re.MULTILINE)
    return {str(folder / name) for name in declared}


def count(path, text, tests):
    """All counts of one file."""
    lines = text.splitlines()
    if is_test(path, tests):
        return {"tests": len(lines), "prod": 0, "code": 0, "doc": 0, "comments": 0, "blank": 0,
                "lines": 0, "fns": [], "items": []}
    bare = blank_literals(text)
    bare_lines = bare.splitlines()
    outside = test_lines(bare)
    counts = {"tests": 0, "prod": 0, "code": 0, "doc": 0, "comments": 0, "blank": 0, "lines": len(lines)}
    for number, line in enumerate(lines):
        if number in outside:
            counts["tests"] += 1
            continue
        counts["prod"] += 1
        stripped = line.strip()
        if not stripped:
            counts["blank"] += 1
        elif bare_lines[number].strip() or stripped.endswith('"') or not stripped.startswith(("/", "*")):
            counts["code"] += 1
        elif re.match(r"//!|///(?!/)", stripped):
            counts["doc"] += 1
        else:
            counts["comments"] += 1
    counts["fns"] = functions(bare, outside)
    counts["items"] = public_items(bare, outside)
    return counts


def room_of(path):
    """The room of a path, or none for a file that is not counted."""
    parts = Path(path).parts
    if parts[:1] == ("src",):
        package, below = "", parts[1:]
    elif len(parts) > 3 and (parts[0] == "crates" or parts[:2] == ("models", "label")) and parts[2] == "src":
        package, below = parts[1] + "/", parts[3:]
    else:
        return None
    return package + (below[0] if len(below) > 1 else "root files")


def sources(commit):
    """Paths and texts of the Rust files of the working tree or of a commit."""
    root = Path(__file__).resolve().parent.parent
    git = ["git", "-C", str(root)]
    if commit is None:
        names = subprocess.run(git + ["ls-files", "-co", "--exclude-standard", "*.rs"], check=True, capture_output=True, text=True)
        for name in sorted(set(names.stdout.splitlines())):
            if room_of(name) and (root / name).exists():
                yield name, (root / name).read_text()
        return
    archive = subprocess.run(git + ["archive", "--format=tar", commit], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            if member.isfile() and member.name.endswith(".rs") and room_of(member.name):
                yield member.name, files.extractfile(member).read().decode()


def percentile(values, share):
    """The smallest value that at least this share of the values does not pass."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)] if ordered else 0


def is_engine(name, room, names):
    """Whether a file belongs to the crate zeitnot-engine, or to the rooms that became it."""
    if any(name.startswith("crates/zeitnot-engine/") for name in names):
        return room.startswith("zeitnot-engine/")
    return room in ENGINE_ROOMS and not (room == "root files" and Path(name).name in NOT_ENGINE)


def summary(files):
    """The row of a room."""
    lengths = [counts["lines"] for counts in files if counts["prod"]]
    fns = [length for counts in files for length in counts["fns"]]
    row = {key: sum(counts[key] for counts in files) for key in ("prod", "code", "doc", "comments", "blank", "tests")}
    return {
        "files": len(lengths),
        **row,
        "pub": sum(len(counts["items"]) for counts in files),
        "file": [percentile(lengths, 0.5), percentile(lengths, 0.9), max(lengths, default=0)],
        "fn": [percentile(fns, 0.5), percentile(fns, 0.9)],
        "fn > 60": sum(length > 60 for length in fns),
    }


def print_table(rows):
    columns = ["room"] + list(next(iter(rows.values())))
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for room, row in rows.items():
        cells = ["/".join(map(str, cell)) if isinstance(cell, list) else f"{cell:,}" for cell in row.values()]
        print("| " + " | ".join([room] + cells) + " |")


def main():
    parser = argparse.ArgumentParser(description="Counts lines, public items and functions of each room.")
    parser.add_argument("--commit", help="a commit instead of the working tree")
    parser.add_argument("--engine", action="store_true", help="the crate zeitnot-engine alone, or the rooms that became it")
    parser.add_argument("--items", metavar="ROOM", help="print the public items of a room (`all` for every room)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    args = parser.parse_args()

    rooms = {}
    texts = dict(sources(args.commit))
    tests = set().union(*(test_modules(name, text) for name, text in texts.items()))
    for name, text in texts.items():
        room = room_of(name)
        if args.engine and not is_engine(name, room, texts):
            continue
        counts = count(name, text, tests)
        rooms.setdefault(room, []).append(counts)
        if args.items in ("all", room, room.rpartition("/")[2]):
            for number, item in counts["items"]:
                print(f"{name}:{number}: {item}")
    if args.items:
        return
    order = sorted(rooms, key=lambda room: -sum(counts["prod"] for counts in rooms[room]))
    rows = {room: summary(rooms[room]) for room in order}
    rows["all"] = summary([counts for files in rooms.values() for counts in files])
    if args.json:
        json.dump(rows, sys.stdout, indent=2)
        print()
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
