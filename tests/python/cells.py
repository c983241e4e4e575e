"""Runs the Python code of a notebook or of a page, piece by piece, and shows what a notebook would show.

python3 tests/python/cells.py docs/python.md
"""

import ast
import json
import re
import sys
from pathlib import Path

file = Path(sys.argv[1])
text = file.read_text("utf-8")
if file.suffix == ".ipynb":
    cells = json.loads(text)["cells"]
    assert not any(cell.get("outputs") for cell in cells), "a notebook is stored without outputs"
    pieces = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
else:
    pieces = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
assert pieces, f"{file} has no code"
scope = {"__name__": "__main__"}
for number, piece in enumerate(pieces, 1):
    name = f"{file.name}, piece {number}"
    tree = ast.parse(piece)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    if last:
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
