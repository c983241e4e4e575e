"""The chess engine Zeitnot from Python: analysis, evaluations, clocks of games, and time managers for other engines.

Everything is done by the program `zeitnot`, which the wheel brings along; `python -m zeitnot` runs it. Times are in
milliseconds, as the program has them. Whatever the program refuses is an `Error` with the program's line.
"""

from importlib import metadata as _metadata

from ._analysis import Analysis as Analysis, Evaluation as Evaluation, Info as Info
from ._clocks import Audit as Audit, AuditedMove as AuditedMove, audit as audit
from ._clocks import Comparison as Comparison, compare as compare
from ._games import AnnotatedGame as AnnotatedGame, AnnotatedMove as AnnotatedMove, Annotation as Annotation
from ._games import Moment as Moment, Side as Side, annotate as annotate
from ._managers import Look as Look, Plan as Plan, Term as Term, Timekeeper as Timekeeper
from ._managers import explain as explain, explain_game as explain_game
from ._program import Error as Error, program as program

try:
    __version__ = _metadata.version("zeitnot")
except _metadata.PackageNotFoundError:  # Run from a checkout.
    __version__ = "0"
