#!/usr/bin/env python3
"""Names every relative link of the pages in a folder that leads to nothing there; then the exit code is 1.

    release/links.py FOLDER
"""

import re
import sys
from pathlib import Path

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)|^\[[^\]]+\]: ([^#\s]+)", re.MULTILINE)


def main():
    dead = 0
    for page in sorted(Path(sys.argv[1]).rglob("*.md")):
        for inline, defined in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            link = inline or defined
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
                print(f"{page}: ({link}) leads to nothing", file=sys.stderr)
                dead += 1
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
