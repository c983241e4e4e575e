#!/usr/bin/env python3
"""Makes the pages of crates/zeitnot-time/docs the folder `time-managers` of the book; mdBook runs it (book.toml)."""

import json
import sys


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    text = sys.stdin.buffer.read().decode("utf-8")
    text = text.replace("../crates/zeitnot-time/docs/", "time-managers/").replace("../../../docs/", "../")
    _, book = json.loads(text)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
