#!/usr/bin/env python3
"""Compares games with what `zeitnot analyse` made of them: tags, moves, variations, comments, glyphs and clocks stay.

    zeitnot analyse games.pgn --out out.pgn
    python3 tests/reference/annotated_games.py games.pgn out.pgn

Needs python-chess. Games that it reads with errors are counted, and their moves are not compared.
"""

import re
import sys

import chess.pgn

# What an analysis adds to the comments of the main line.
ADDED = re.compile(r"\[%(eval|wdl) [^\]]*\]|\(\S+ -> \S+\) .*$")
MARKS = {2, 4, 6}


def plain(comment, is_main):
    text = " ".join(comment) if isinstance(comment, list) else comment
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"\s+", " ", ADDED.sub("", text) if is_main else text).strip()


def compare(old, new, is_main, path):
    assert len(old.variations) == len(new.variations), f"{path}: variations"
    for index, (before, after) in enumerate(zip(old.variations, new.variations)):
        on_main = is_main and index == 0
        here = f"{path} {before.san()}"
        assert before.move == after.move, f"{here}: {after.san()}"
        texts = [plain(node.comment, on_main) for node in (before, after)]
        assert texts[0] == texts[1], f"{here}: {texts}"
        assert before.nags <= after.nags and after.nags - before.nags <= (MARKS if on_main else set()), f"{here}: glyphs"
        assert (before.clock(), before.emt()) == (after.clock(), after.emt()), f"{here}: clocks"
        compare(before, after, on_main, here)


def main():
    games, damaged, evals = 0, 0, 0
    with open(sys.argv[1]) as old_file, open(sys.argv[2]) as new_file:
        while (old := chess.pgn.read_game(old_file)) is not None:
            new = chess.pgn.read_game(new_file)
            assert dict(old.headers) == dict(new.headers), f"game {games + 1}: {new.headers}"
            assert not new.errors, f"game {games + 1}: {new.errors}"
            if old.errors:
                damaged += 1
            else:
                compare(old, new, True, f"game {games + 1}:")
            evals += sum(node.eval() is not None for node in new.mainline())
            games += 1
        assert chess.pgn.read_game(new_file) is None
    print(f"{games} games, {damaged} of them damaged, {evals} evaluations: nothing was lost")


if __name__ == "__main__":
    sys.exit(main())
