#!/usr/bin/env python3
"""Lets OpenBench's own worker code build, bench and ask this engine for openings, without a server.

Give it a checkout of https://github.com/AndyGrant/OpenBench. The committed state of this repository is handed to the worker's
functions as the archive that it would download, on this machine's loopback. Exit code: 0 all is well, 1 it is not.
"""

import argparse
import functools
import http.server
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
HIDDEN = ["CPuctBase", "SmartPruningFactor"]
"""Options that `uci` lists only with --show-hidden, and in what `make` builds."""


def serve(folder):
    """Serves a folder on the loopback; returns its address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("openbench", type=pathlib.Path, help="a checkout of OpenBench")
    parser.add_argument("--network", type=pathlib.Path, help="a network to build in (EVALFILE)")
    parser.add_argument("--copies", type=int, default=4, help="bench runs at once [4]")
    parser.add_argument("--openings", type=int, default=25, help="openings that each copy draws [25]")
    options = parser.parse_args()
    sys.path.insert(0, str(options.openbench.resolve() / "Client"))
    import bench
    import genfens
    import utils

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        archive = ["git", "archive", "--format=zip", "--prefix=zeitnot-main/", f"--output={folder / 'main.zip'}", "HEAD"]
        subprocess.run(archive, cwd=HERE, check=True)
        source, began = f"{serve(folder)}/main.zip", time.monotonic()
        out = folder / "Engines" / "Zeitnot-main"
        out.parent.mkdir()
        network = str(options.network.resolve()) if options.network else None
        binary = utils.prepare_engine("Zeitnot", network, "main", source, "", str(out), False, "cargo")
        # The worker starts its engines as ./NAME.
        os.chdir(out.parent)
        print(f"built {binary} in {time.monotonic() - began:.0f} s")
        # The worker's fastchess sends only options that are listed, such as those of an SPSA test.
        said = subprocess.run([f"./{binary}"], input="uci\nquit\n", capture_output=True, text=True, check=True).stdout
        hidden = [name for name in HIDDEN if f"option name {name} type " in said]
        print(f"uci lists {said.count('option name ')} options; of the hidden ones {', '.join(hidden) or 'none'}")
        began = time.monotonic()
        speed, nodes = bench.run_benchmark(binary, options.copies, 1)
        print(f"bench: {nodes} nodes {speed} nps, {options.copies} copies at once in {time.monotonic() - began:.1f} s")
        book = io.StringIO()
        began = time.monotonic()
        genfens.create_genfens_opening_book({
            "N": options.openings, "threads": options.copies, "engine": binary, "book": "None", "extra": "",
            "seeds": list(range(1, options.copies + 1)), "output": book,
        })
        lines = book.getvalue().splitlines()
        print(f"genfens: {len(lines)} openings, {len(set(lines))} different, in {time.monotonic() - began:.1f} s")
        return 0 if len(lines) == options.openings * options.copies and hidden == HIDDEN else 1


if __name__ == "__main__":
    sys.exit(main())
