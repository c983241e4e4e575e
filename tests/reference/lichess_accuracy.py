#!/usr/bin/env python3
"""Computes lichess' accuracy, average centipawn loss and judgements of annotated games, and compares them with `zeitnot analyse --trust-evals`.

    zeitnot analyse --trust-evals games.pgn --out out.pgn --json out.json
    python3 tests/reference/lichess_accuracy.py games.pgn out.json

Needs python-chess. Written from lila's `AccuracyPercent.scala`, `AccuracyCP.scala` and `Advice.scala`, scalachess' `eval.scala` and scalalib's
`Maths.scala`, without a look at the Rust. `--make N` writes N random games with evaluations to the first file instead.
"""

import json
import math
import random
import statistics
import sys

import chess
import chess.pgn

START = 15


def ceiled(score):
    """Centipawns of an evaluation ("cp", n) or ("mate", n), cut at 1,000."""
    kind, number = score
    if kind == "mate":
        return 1000 if number > 0 else -1000
    return max(-1000, min(1000, number))


def chances(cp):
    return 2 / (1 + math.exp(-0.00368208 * cp)) - 1


def win(score):
    return 50 + 50 * chances(ceiled(score))


def accuracy(before, after):
    if after >= before:
        return 100.0
    raw = 103.1668100711649 * math.exp(-0.04354415386753951 * (before - after)) - 3.166924740191411 + 1
    return min(100.0, max(0.0, raw))


def of_moves(scores, white_first):
    """The accuracy of each move, None beside a missing evaluation."""
    found = []
    for i, (before, after) in enumerate(zip(scores, scores[1:])):
        if before is None or after is None:
            found.append(None)
        elif (i % 2 == 0) == white_first:
            found.append(accuracy(win(before), win(after)))
        else:
            found.append(accuracy(win(after), win(before)))
    return found


def of_game(scores, white_first):
    wins = [None if score is None else win(score) for score in scores]
    size = min(8, max(2, (len(scores) - 1) // 10))
    windows = [wins[:size]] * (min(size, len(wins)) - 2)
    windows += [wins[at : at + size] for at in range(max(1, len(wins) - size + 1))]
    weights = [None if None in w else min(12.0, max(0.5, statistics.pstdev(w))) for w in windows]
    sides = []
    for white in (True, False):
        own = [
            (a, w)
            for i, (a, w) in enumerate(zip(of_moves(scores, white_first), weights))
            if a is not None and w is not None and ((i % 2 == 0) == white_first) == white
        ]
        if not own:
            sides.append(None)
            continue
        weighted = sum(a * w for a, w in own) / sum(w for _, w in own)
        harmonic = len(own) / sum(1 / max(1, a) for a, _ in own)
        sides.append((weighted + harmonic) / 2)
    return sides


def losses(scores, white_first):
    sides = []
    for white in (True, False):
        own = []
        for i, (before, after) in enumerate(zip(scores, scores[1:])):
            if ((i % 2 == 0) == white_first) == white and before is not None and after is not None:
                own.append(max(0, (ceiled(before) - ceiled(after)) * (1 if white else -1)))
        sides.append(sum(own) / len(own) if own else None)
    return sides


def judgement(before, after, white):
    if before is None or after is None:
        return None
    sign = 1 if white else -1
    (kind, number), (next_kind, next_number) = before, after
    if kind == next_kind == "cp":
        delta = (chances(next_number) - chances(number)) * -sign
        return "blunder" if delta >= 0.3 else "mistake" if delta >= 0.2 else "inaccuracy" if delta >= 0.1 else None
    prev_mate = sign * number if kind == "mate" else None
    next_mate = sign * next_number if next_kind == "mate" else None
    prev_cp = sign * number if kind == "cp" else 0
    next_cp = sign * next_number if next_kind == "cp" else 0
    if prev_mate is None and next_mate < 0:
        return "inaccuracy" if prev_cp < -999 else "mistake" if prev_cp < -700 else "blunder"
    if prev_mate is not None and prev_mate > 0 and (next_mate is None or next_mate < 0):
        return "inaccuracy" if next_cp > 999 else "mistake" if next_cp > 700 else "blunder"
    return None


def scores_of(game):
    scores = [("cp", START)]
    for node in game.mainline():
        score = node.eval()
        if node.board().is_checkmate():
            scores.append(("mate", -1 if node.board().turn == chess.WHITE else 1))
        elif score is None:
            scores.append(None)
        else:
            white = score.white()
            scores.append(("mate", white.mate()) if white.is_mate() else ("cp", white.score()))
    return scores


def make(path, count):
    chance = random.Random(1)
    with open(path, "w") as out:
        for number in range(count):
            game = chess.pgn.Game()
            game.headers["White"], game.headers["Black"] = f"White {number % 7}", f"Black {number % 5}"
            node, cp = game, 20
            for _ in range(chance.choice([1, 2, 3, 15, 40, 90, 160])):
                moves = list(node.board().legal_moves)
                if not moves or node.board().is_insufficient_material():
                    break
                node = node.add_variation(chance.choice(moves))
                cp += int(chance.gauss(0, chance.choice([5, 40, 300])))
                if chance.random() < 0.05:
                    mate = chance.choice([-7, -2, -1, 1, 3, 9])
                    node.comment = f"[%eval #{mate}]"
                elif chance.random() < 0.97:
                    node.comment = f"[%eval {cp / 100:.2f}]"
            print(game, file=out, end="\n\n")


def close(ours, theirs):
    return ours is theirs is None or (None not in (ours, theirs) and abs(ours - theirs) < 1e-9)


def main():
    if sys.argv[2] == "--make":
        return make(sys.argv[1], int(sys.argv[3]))
    games, moves = 0, 0
    with open(sys.argv[2]) as file:
        analysed = json.load(file)["games"]
    with open(sys.argv[1]) as file:
        for theirs in analysed:
            game = chess.pgn.read_game(file)
            scores = scores_of(game)
            white_first = game.board().turn == chess.WHITE
            name = f"game {theirs['game']}"
            accuracies = of_moves(scores, white_first)
            for i, mv in enumerate(theirs["moves"]):
                white = (i % 2 == 0) == white_first
                assert close(accuracies[i], mv["accuracy"]), f"{name} move {i}: {accuracies[i]} for {mv['accuracy']}"
                judged = judgement(scores[i], scores[i + 1], white)
                assert judged == mv["judgement"], f"{name} move {i}: {judged} for {mv['judgement']}"
                moves += 1
            for side, of_side, loss in zip(("white", "black"), of_game(scores, white_first), losses(scores, white_first)):
                assert close(of_side, theirs[side]["accuracy"]), f"{name}: {of_side} for {theirs[side]['accuracy']}"
                assert close(loss, theirs[side]["average_loss_cp"]), f"{name}: {loss} for {theirs[side]['average_loss_cp']}"
            games += 1
    print(f"{games} games, {moves} moves: all accuracies, losses and judgements are equal")


if __name__ == "__main__":
    sys.exit(main())
