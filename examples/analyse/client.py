"""Analyses every position of a game with `zeitnot analyse --stdio`, several at once, and prints White's chances.

python3 examples/analyse/client.py e2e4 e7e5 g1f3
"""

import json
import os
import subprocess
import sys

COMMAND = [os.environ.get("ZEITNOT", "zeitnot"), "analyse", "--stdio"]


def analyse(requests: list[dict]) -> dict:
    """The answers to requests, by their ids."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        engine.stdin.writelines(json.dumps(request) + "\n" for request in requests)
        engine.stdin.close()  # The engine ends when it has answered all.
        answers = [json.loads(line) for line in engine.stdout]
    return {answer.get("id"): answer for answer in answers}


moves = sys.argv[1:]
found = analyse([{"id": ply, "moves": moves[:ply], "nodes": 200} for ply in range(len(moves) + 1)])
for ply, answer in sorted(found.items()):
    if "error" in answer:
        sys.exit(answer["error"])
    for line in answer["lines"]:
        win, draw, loss = line["wdl"] if answer["turn"] == "white" else reversed(line["wdl"])
        print(f"{ply:3} {' '.join(moves[ply - 1 : ply]):5} {win / 10:5.1f} % {draw / 10:5.1f} % {loss / 10:5.1f} %  {' '.join(line['pv'][:5])}")
