#!/usr/bin/env python3
"""Compares the judgements of `zeitnot analyse` with Stockfish's, move by move.

    python3 tests/reference/judged_moves.py --pick 40 --seed 63 all.pgn > games.pgn
    zeitnot analyse games.pgn --out out.pgn --json out.json
    python3 tests/reference/judged_moves.py games.pgn out.json --depth 18 --cache FILE

Needs python-chess and Stockfish 15.1 (Debian's package `stockfish`; `--stockfish` names another). Stockfish searches the positions of a game from the last
one back, with its table kept; what it says goes to the file `--cache`, so that work that was interrupted goes on. With `--first DEPTH` that is the depth for all,
and only moves that lose 0.15 or more by it, or are called mistake or blunder, are searched at `--depth`, before and behind. Losses are of winning chances, -1 to 1, by lichess'
formula; a mate counts as 1,000 centipawns, and a move that is Stockfish's own choice loses nothing.
"""

import argparse
import collections
import json
import math
import random
import sys

import chess
import chess.engine
import chess.pgn

LEAST_PLIES = 30
# Loss at the first depth from which a move is searched deeper.
DEEPER_FROM = 0.15
RATINGS = range(1000, 2300)
WORDS = ["blunder", "mistake", "inaccuracy", None]


def games_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            yield game


def is_fit(game):
    """Whether both players have a rating of a club player, and the game is a whole one of chess."""
    ratings = [game.headers.get(tag, "") for tag in ("WhiteElo", "BlackElo")]
    is_rated = all(rating.isdigit() and int(rating) in RATINGS for rating in ratings)
    is_chess = "Variant" not in game.headers and "FEN" not in game.headers and not game.errors
    return is_rated and is_chess and game.end().ply() >= LEAST_PLIES


def pick(path, count, seed):
    games = [game for game in games_of(path) if is_fit(game)]
    for game in random.Random(seed).sample(games, count):
        print(game, end="\n\n")


def chances(score):
    """Winning chances of a score in centipawns cut at 1,000, from the side it is given for."""
    return 2 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, score)))) - 1


class Stockfish:
    """White's score and the best move of a position, from the cache or by Stockfish."""

    def __init__(self, command, path):
        self.cache = open(path, "a+", encoding="utf-8")
        self.cache.seek(0)
        self.known = {key: told for key, *told in map(json.loads, self.cache)}
        self.engine = chess.engine.SimpleEngine.popen_uci(command)
        self.engine.configure({"Hash": 64, "Threads": 1})

    def told(self, board, depth, game):
        if board.is_game_over():
            return [{"1-0": 100000, "0-1": -100000}.get(board.result(), 0), None]
        key = f"{depth} {' '.join(move.uci() for move in board.move_stack)}"
        if key not in self.known:
            told = self.engine.analyse(board, chess.engine.Limit(depth=depth), game=game)
            self.known[key] = [told["score"].white().score(mate_score=100000), told["pv"][0].uci()]
            print(json.dumps([key, *self.known[key]]), file=self.cache, flush=True)
        return self.known[key]


def losses_of(game, stockfish, depth, first, judged):
    """What each move of a game loses, the move before it as the side's best, and how deep Stockfish looked."""
    boards = [game.board()]
    for move in game.mainline_moves():
        boards.append(boards[-1].copy())
        boards[-1].push(move)
    moves = list(zip(boards, boards[1:], judged or [False] * (len(boards) - 1)))

    def loss(before, after, at):
        sign = 1 if before.turn else -1
        behind, (score, best) = stockfish.told(after, at, game), stockfish.told(before, at, game)
        return 0.0 if best == after.peek().uci() else max(0.0, chances(sign * score) - chances(sign * behind[0]))

    found = []
    for before, after, is_judged in reversed(moves):
        lost, at = (loss(before, after, first), first) if first else (1.0, None)
        if lost >= DEEPER_FROM or is_judged:
            lost, at = loss(before, after, depth), depth
        found.append((lost, at))
    return found[::-1]


def share(part, whole):
    return f"{part} of {whole} ({100 * part / max(1, whole):.1f} %)"


def cp(told):
    """White's centipawns of an evaluation of the JSON, cut at 1,000."""
    return max(-1000, min(1000, told["cp"])) if "cp" in told else math.copysign(1000, told["mate"])


def compare(told, lost, show):
    """Prints how the judgements of the JSON compare with what Stockfish says that the moves lose."""
    words, losses, depths = collections.Counter(), collections.defaultdict(list), collections.Counter()
    own, moves = [], 0
    for said, lost in zip(told["games"], lost):
        before = said["start"]["eval"]
        assert len(lost) == len(said["moves"]), f"game {said['game']}: not the same moves"
        for (loss, depth), move in zip(lost, said["moves"]):
            sign, word = 1 if move["color"] == "white" else -1, move["judgement"]
            moves += 1
            depths[depth] += 1
            losses[word].append(loss)
            words[word] += loss >= 0.3
            if show and (loss >= 0.3) != (word in WORDS[:2]):
                print(f"game {said['game']} ply {move['ply']} {move['san']}: loses {loss:.2f}, {word}; {before} {move['eval']}")
            if move["best"] is None and move["ply"] > 1 and "cp" in before and "cp" in move["eval"]:
                own.append(sign * (cp(before) - cp(move["eval"])))
            before = move["eval"]
    blunders = sum(words.values())
    print(f"{len(told['games'])} games, {moves} moves (by depth: {dict(depths)}), {blunders} lose 0.3 or more by Stockfish")
    print(f"  called blunder or mistake: {share(words['blunder'] + words['mistake'], blunders)}")
    for word in WORDS:
        print(f"  called {word or 'nothing'}: {share(words[word], blunders)}")
    for word, least in zip(WORDS, (0.2, 0.1, 0.05)):
        found = losses[word]
        print(f"{word}: {len(found)}, of which lose {least} or more: {share(sum(loss >= least for loss in found), len(found))}")
        print(f"  lose less than 0.02: {share(sum(loss < 0.02 for loss in found), len(found))}")
    mean, size = sum(own) / max(1, len(own)), sum(map(abs, own)) / max(1, len(own))
    print(f"own choice: {len(own)} moves, the evaluation falls by {mean:.2f} centipawns, changes by {size:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--pick", type=int, metavar="N", help="print N games of club players and end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=18)
    parser.add_argument("--first", type=int)
    parser.add_argument("--cache", default="judged_moves.cache")
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    parser.add_argument("--show", action="store_true", help="print the moves on which both disagree much")
    args = parser.parse_args()
    if args.pick:
        return pick(args.games, args.pick, args.seed)
    told = None
    if args.json:
        with open(args.json, encoding="utf-8") as file:
            told = json.load(file)
    stockfish, lost = Stockfish(args.stockfish, args.cache), []
    for index, game in enumerate(games_of(args.games)):
        judged = told and [move["judgement"] in WORDS[:2] for move in told["games"][index]["moves"]]
        lost.append(losses_of(game, stockfish, args.depth, args.first, judged))
    stockfish.engine.quit()
    if told:
        compare(told, lost, args.show)


if __name__ == "__main__":
    sys.exit(main())
