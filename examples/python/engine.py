"""A UCI engine whose clock a time manager of Zeitnot keeps: `pip install zeitnot[chess]`, then `python3 engine.py smooth`."""

import sys

import chess
import zeitnot

VALUES = [0, 100, 300, 310, 500, 900, 0]
keeper = zeitnot.Timekeeper(*sys.argv[1:2], overhead_ms=50)


def value(board, depth, alpha, beta, count):
    """Alpha-beta over the material, for the side to move; `count[0]` are the positions so far."""
    count[0] += 1
    if count[0] % 200 == 0 and keeper.stop(count[0]):
        raise TimeoutError
    moves = sorted(board.legal_moves, key=board.is_capture, reverse=True)
    if depth == 0 or not moves:
        signs = ((VALUES[it.piece_type], it.color == board.turn) for it in board.piece_map().values())
        return len(moves) + sum(worth if ours else -worth for worth, ours in signs) if moves else -30000 * board.is_check()
    for move in moves:
        board.push(move)
        alpha = max(alpha, -value(board, depth - 1, -beta, -alpha, count))
        board.pop()
        if alpha >= beta:
            break
    return alpha


def search(board):
    """The best move of the deepest search that ended in time; the time manager sees the positions below each move."""
    moves, count = list(board.legal_moves), [0]
    for depth in range(60):
        best, visits, choice = -99999, [], 0
        for move in moves:
            before, after = count[0], board.copy()
            after.push(move)
            try:
                score = -value(after, depth, -99999, -best, count)
            except TimeoutError:
                return moves[0], count[0]
            visits.append(count[0] - before)
            if score > best:
                best, choice = score, len(visits) - 1
        moves.insert(0, moves.pop(choice))
        visits.insert(0, visits.pop(choice))
        print(f"info depth {depth + 1} score cp {best} nodes {count[0]} pv {moves[0]}", flush=True)
        if keeper.stop(count[0], depth=depth + 1, visits=visits, best_move=0):
            break
    return moves[0], count[0]


board = chess.Board()
for word, *words in map(str.split, sys.stdin):
    if word == "uci":
        print("id name Example\nuciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "ucinewgame":
        keeper.new_game()
    elif word == "position":
        end = words.index("moves") if "moves" in words else len(words)
        board = chess.Board() if words[0] == "startpos" else chess.Board(" ".join(words[1:end]))
        for move in words[end + 1 :]:
            board.push_uci(move)
    elif word == "go":
        side, given = "wb"[not board.turn], dict(zip(words[::2], map(float, words[1::2])))
        keeper.plan(given[side + "time"], given.get(side + "inc", 0), ply=board.ply())
        move, nodes = search(board)
        keeper.finish(total_nodes=nodes)
        print("bestmove", move, flush=True)
    elif word == "quit":
        break
