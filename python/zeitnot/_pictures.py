"""Bars, frames and pictures of results: they use tqdm, pandas and a notebook where these are."""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ._program import Error, run

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")


@contextmanager
def bar(total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """A function that moves a bar to a number, if there is more than one thing to do and tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        total = 0
    if total < 2:
        yield lambda number: None
        return
    with tqdm(total=total, unit=" " + unit, leave=False, delay=1) as shown:
        yield lambda number: shown.n == number or shown.update(min(total, number) - shown.n)


def build(kind: type[T], values: dict[str, Any]) -> T:
    """A data class from an object of the program's JSON. What it has no field for is left out, a missing field None."""
    assert is_dataclass(kind)
    return kind(**{field.name: values.get(field.name) for field in fields(kind)})


def as_frame(rows: Iterable[Any]) -> pandas.DataFrame:
    """A frame of data classes or dicts; a dict in a column becomes columns. It needs pandas."""
    import pandas

    return pandas.json_normalize([row if isinstance(row, dict) else asdict(row) for row in rows])


def as_table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table of HTML."""

    def line(cells: Iterable[Any], tag: str) -> str:
        texts = ("" if cell is None else f"{cell:.5g}" if isinstance(cell, float) else str(cell) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


@dataclass
class Result:
    """A result with a frame and the charts of `zeitnot time report`; a notebook shows a table and the charts."""

    _rows: list[Any] = field(repr=False)
    _table: tuple[list[str], list[list[Any]]] = field(repr=False)
    _source: tuple[str, str] = field(repr=False)  # Name and content of the file that is drawn.

    def frame(self) -> pandas.DataFrame:
        """A row for each move, or for each pair of managers. It needs pandas."""
        return as_frame(self._rows)

    def charts(self) -> dict[str, str]:
        """The charts as SVG, by their names. Raises `Error` where no game has clocks."""
        name, content = self._source
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder, name), Path(folder, "charts")
            source.write_text(content, encoding="utf-8")
            run(["time", "report", str(source), "--svg", str(out)])
            return {file.stem.split("--")[-1]: file.read_text("utf-8") for file in sorted(out.glob("*.svg"))}

    def _repr_html_(self) -> str:
        try:
            # As images: the styles of one chart are not those of another.
            codes = [base64.b64encode(chart.encode()).decode() for chart in self.charts().values()]
            pictures = "".join(f'<img src="data:image/svg+xml;base64,{code}">' for code in codes)
        except Error as error:
            pictures = f"<p>{html.escape(str(error))}</p>"
        return as_table(*self._table) + pictures
