"""Analysis of positions: searches and the network's evaluations, many at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union, cast

from ._pictures import bar
from ._program import Error, Requests, flags

has_chess = False  # python-chess is an extra: positions and moves are texts without it.
with contextlib.suppress(ImportError):
    import chess.engine

    has_chess = True

if TYPE_CHECKING:
    import numpy.typing

    Position = Union[chess.Board, str, Iterable[Union[str, chess.Move]]]

    class Info(chess.engine.InfoDict, total=False):
        """python-chess' `InfoDict`, and what the program says beside it."""

        moves_left: float | None
        visits: int
        bestmove: chess.Move | None
        ponder: chess.Move | None
        outcome: str
else:
    Info = dict


@dataclass
class Evaluation:
    """What the network says of a position, without a search, for the side to move."""

    # The probability of each legal move, likeliest first. Without python-chess a move is its text in UCI's notation,
    # and castling is king takes rook.
    policy: dict[chess.Move, float]
    wdl: tuple[float, float, float]  # Probabilities of win, draw and loss.
    moves_left: float | None  # Plies; None where the network does not say.
    indices: list[int]  # The place of each move of `policy` in Lc0's order, seen from the side to move.

    def array(self) -> numpy.typing.NDArray[numpy.float32]:
        """The policy as 1,858 numbers in Lc0's order, 0 for what is no legal move. It needs numpy."""
        import numpy

        array = numpy.zeros(1858, dtype=numpy.float32)
        array[self.indices] = list(self.policy.values())
        return array


class Analysis:
    """The program as a server of searches and evaluations, a context manager.

    A position is a board of python-chess, a FEN, or a list of moves from the start. Each gets a fresh search: the
    answer depends on nothing that was asked before. `nodes` is the effort of a search that names no limit, `parallel`
    how many are searched at once. Other keyword arguments are the program's options, such as `weights` or `backend`.
    """

    def __init__(self, *, nodes: int = 300, parallel: int | None = None, **options: Any) -> None:
        self._nodes, self._options = nodes, flags(options)
        self._searches = Requests("analyse", "--stdio", *flags({"parallel": parallel}), *self._options)
        self._evaluations: Requests | None = None

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the programs. What is still searched fails."""
        for requests in filter(None, [self._searches, self._evaluations]):
            requests.close()

    def search(self, position: Position, **limits: Any) -> dict[str, Any]:
        """The program's own answer, with the fields of the page "Analysis for programs". `limits` as of `analyse`."""
        return next(self._answers([position], limits))

    def analyse(self, position: Position, **limits: Any) -> Info:
        """Searches a position: `score` (a `PovScore`), `wdl`, `pv`, `nodes` and the rest of python-chess' `InfoDict`,
        and `moves_left` (plies), `visits`, `bestmove`, `ponder`.

        `limits` are `nodes`, `movetime` (ms) and `depth`, of which the first that is reached ends the search, and
        `searchmoves`. Without python-chess scores are numbers of the program (`{"cp": 23}`) and moves are texts.
        """
        return self.lines(position, 1, **limits)[0]

    def lines(self, position: Position, multipv: int, **limits: Any) -> list[Info]:
        """The best lines of a position, best first."""
        asked = _as_it_is(position)
        return _infos(_board(asked), self.search(asked, multipv=multipv, **limits))

    def analyse_many(self, positions: Iterable[Position], **limits: Any) -> list[Info]:
        """What `analyse` gives of each position. Some are searched at a time; tqdm, if it is there, shows a bar."""
        asked = [_as_it_is(position) for position in positions]
        return [_infos(_board(asked[i]), answer)[0] for i, answer in enumerate(self._answers(asked, limits))]

    def evaluate(self, positions: Iterable[Position]) -> list[Evaluation]:
        """The network's evaluation of each position, without a search: policy, win, draw and loss, moves left."""
        asked = [_as_it_is(position) for position in positions]
        return [_evaluation(_board(asked[i]), answer) for i, answer in enumerate(self._answers(asked, None))]

    def _answers(self, positions: list[Position], limits: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
        """The answers of searches, or of evaluations without `limits`."""
        if limits is None:
            if not self._searches.close.alive:
                raise Error("it has been closed")
            self._evaluations = self._evaluations or Requests("eval", "--positions=-", *self._options)
            server, asked = self._evaluations, dict[str, Any]()
        else:
            has_limit = limits.keys() & {"nodes", "movetime", "depth"}
            server, asked = self._searches, {**limits} if has_limit else {**limits, "nodes": self._nodes}
        if "searchmoves" in asked:
            asked["searchmoves"] = [str(move) for move in asked["searchmoves"]]
        with bar(len(positions), "positions") as move:
            requests = ({**asked, **_request(position)} for position in positions)
            for number, answer in enumerate(server.answers(requests, are_searches=limits is not None), 1):
                move(number)
                yield answer


def _as_it_is(position: Position) -> Position:
    """The position as it is now: a board may be moved on, and an iterator has its moves only once."""
    if isinstance(position, str):
        return position
    return position.copy() if has_chess and isinstance(position, chess.Board) else list(cast(Iterable[Any], position))


def _request(position: Position) -> dict[str, Any]:
    """The fields of a request. A board gives its moves, too: repetitions and the network's history need them."""
    if has_chess and isinstance(position, chess.Board):
        if position.uci_variant != "chess":
            raise Error(f"the program plays chess and Chess960, not {position.uci_variant}")
        moves = [move.uci() for move in position.move_stack]
        return {"fen": position.root().fen(), "moves": moves, "chess960": position.chess960}
    if isinstance(position, str):
        return {"fen": position, "moves": []}
    return {"fen": "startpos", "moves": [str(move) for move in cast(Iterable[Any], position)]}


def _board(position: Position) -> chess.Board | None:
    """The board of a position, whose moves were played; None without python-chess."""
    if not has_chess:
        return None
    if isinstance(position, chess.Board):
        return position
    asked = _request(position)
    try:
        board = chess.Board() if asked["fen"] == "startpos" else chess.Board(asked["fen"])
        # Rights of other rooks than those of standard chess are of Chess960.
        board.chess960 = board.castling_rights != board.clean_castling_rights()
        for move in asked["moves"]:
            board.push_uci(move)
    except ValueError as error:
        raise Error(str(error)) from error
    return board


def _moves(board: chess.Board | None, line: Iterable[str]) -> list[Any]:
    """A line of moves from a board as python-chess' moves; as they are without it."""
    board = board and board.copy(stack=False)
    return [board.push_uci(move) if board else move for move in line]


def _infos(board: chess.Board | None, answer: dict[str, Any]) -> list[Info]:
    """An answer's lines as python-chess has them. A position without a legal move has one, with its score alone."""
    told = ("nodes", "depth", "seldepth", "tbhits", "outcome")
    common: dict[str, Any] = {key: answer[key] for key in told if key in answer}
    common.update(time=answer["time"] / 1000, nps=1000 * answer["nodes"] // max(1, answer["time"]))
    moves = _moves(board, [move for move in (answer["bestmove"], answer["ponder"]) if move])
    common["bestmove"], common["ponder"] = (*moves, None, None)[:2]
    end = {"mate": 0} if answer.get("outcome") == "checkmate" else {"cp": 0}
    infos = []
    for number, line in enumerate(answer["lines"] or [end], 1):
        info = {**common, "multipv": number, "score": {key: line[key] for key in ("cp", "mate") if key in line}}
        if "wdl" in line:
            info["wdl"] = tuple(line["wdl"])
            info.update(pv=_moves(board, line["pv"]), moves_left=line["m"], visits=line["visits"])
        if board is not None:
            score = chess.engine.Mate(line["mate"]) if "mate" in line else chess.engine.Cp(line["cp"])
            info["score"] = chess.engine.PovScore(score, board.turn)
            if "wdl" in info:
                info["wdl"] = chess.engine.PovWdl(chess.engine.Wdl(*info["wdl"]), board.turn)
        infos.append(cast(Info, info))
    return infos


def _evaluation(board: chess.Board | None, answer: dict[str, Any]) -> Evaluation:
    entries = sorted(answer["policy"], key=lambda entry: -float(entry["p"]))
    policy = {board.parse_uci(it["move"]) if board is not None else it["move"]: it["p"] for it in entries}
    q, draw = answer["q"], answer["d"]
    wdl = ((1 + q - draw) / 2, draw, (1 - q - draw) / 2)
    return Evaluation(policy, wdl, answer["m"], [it["index"] for it in entries])
