"""What the games come to, in numbers."""

import math

import chess

from client import Answer
from referee import Game

WORST_MOVES = 10
"""Moves with the largest overshoot that are listed in full."""


def percentile(values: list[float], share: float) -> float | None:
    """The nearest-rank percentile; `None` of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def summarize(games: list[Game]) -> dict:
    """The report; `crashes` counts hangs, too."""
    mine = [
        (game, ply, answer)
        for game in games
        for ply, (side, answer, _) in enumerate(game.answers, game.opening_plies)
        if side == game.zeitnot_is
    ]
    planned = [(game, ply, answer) for game, ply, answer in mine if answer.overshoot_ms is not None]
    overshoots = [answer.overshoot_ms for _, _, answer in planned]
    lags = [answer.elapsed_s * 1e3 - answer.engine_ms for _, _, answer in mine if answer.engine_ms is not None]
    engine_overshoots = [
        answer.engine_ms - answer.hard_limit_ms for _, _, answer in planned if answer.engine_ms is not None
    ]
    planned.sort(key=lambda item: -item[2].overshoot_ms)
    left = [game.clocks_s[game.zeitnot_is] for game in games]
    return {
        "games": len(games),
        "results": {
            "wins": sum(game.zeitnot_score == 1 for game in games),
            "draws": sum(game.zeitnot_score == 0.5 for game in games),
            "losses": sum(game.zeitnot_score == 0 for game in games),
        },
        **_failures(games, of_zeitnot=True),
        "opponent": _failures(games, of_zeitnot=False),
        "moves": len(mine),
        "moves_without_plan": len(mine) - len(planned),
        "moves_with_late_plan": sum(answer.plan_was_late for _, _, answer in mine),
        "moves_beyond_hard_limit": sum(overshoot > 0 for overshoot in overshoots),
        "max_overshoot_ms": _rounded(max(overshoots, default=None)),
        "p99_overshoot_ms": _rounded(percentile(overshoots, 0.99)),
        "max_engine_overshoot_ms": _rounded(max(engine_overshoots, default=None)),
        "max_client_lag_ms": _rounded(max(lags, default=None)),
        "p99_client_lag_ms": _rounded(percentile(lags, 0.99)),
        "average_clock_left_s": _rounded(sum(left) / len(left) if left else None),
        "lowest_clock_s": _rounded(_lowest_clock(games)),
        "analysis_faults": [fault for item in mine for fault in _analysis_faults(*item)],
        "worst_moves": [_describe(game, ply, answer) for game, ply, answer in planned[:WORST_MOVES]],
        "game_list": [
            {"number": game.number, "zeitnot": chess.COLOR_NAMES[game.zeitnot_is], "result": game.result,
             "reason": game.reason, "plies": len(game.board.move_stack),
             "clock_left_s": _rounded(game.clocks_s[game.zeitnot_is])}
            for game in games
        ],
    }


def failed(report: dict) -> bool:
    """Whether Zeitnot broke what these games are for."""
    return any(report[kind] > 0 for kind in ("forfeits", "illegal", "crashes"))


def _failures(games: list[Game], of_zeitnot: bool) -> dict[str, int]:
    kinds = [game.failure for game in games if game.failure and (game.failed == game.zeitnot_is) == of_zeitnot]
    return {
        "forfeits": kinds.count("forfeit"),
        "illegal": kinds.count("illegal"),
        "crashes": kinds.count("crash") + kinds.count("hang"),
    }


def _lowest_clock(games: list[Game]) -> float | None:
    """The least time Zeitnot ever had when its turn came, or after its last move."""
    clocks = [clock for game in games for side, _, clock in game.answers if side == game.zeitnot_is]
    return min(clocks, default=None)


def _before(game: Game, ply: int) -> chess.Board:
    board = game.board.root()
    for move in game.board.move_stack[:ply]:
        board.push(move)
    return board


def _analysis_faults(game: Game, ply: int, answer: Answer) -> list[str]:
    """Whether the last line of analysis is a line of legal moves that starts with the move played."""
    words = (answer.info or "").split()
    moves = words[words.index("pv") + 1 :] if "pv" in words else []
    where = f"game {game.number}, ply {ply}, bestmove {answer.best}"
    if moves and moves[0] != answer.best:
        return [f"{where}: another move leads the last analysis: {answer.info}"]
    board = _before(game, ply)
    for text in moves:
        move = next((move for move in board.legal_moves if move.uci() == text), None)
        if move is None:
            return [f"{where}: {text} in the last analysis is illegal: {answer.info}"]
        board.push(move)
    return []


def _describe(game: Game, ply: int, answer: Answer) -> dict:
    board = _before(game, ply)
    return {
        "overshoot_ms": _rounded(answer.overshoot_ms),
        "elapsed_ms": _rounded(answer.elapsed_s * 1e3),
        "engine_ms": answer.engine_ms,
        "game": game.number,
        "ply": ply,
        "fen": board.fen(),
        "move": answer.best,
        "go": answer.go,
        "plan": answer.plan,
        "plan_was_late": answer.plan_was_late,
        "info": answer.info,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
