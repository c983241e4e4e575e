"""A UCI engine whose clock a time manager of Zeitnot keeps: `python3 engine.py smooth`, with zeitnot[chess]."""

import sys

import chess
import zeitnot

WORTH = [0, 100, 300, 310, 500, 900, 0]
keeper = zeitnot.Timekeeper(*sys.argv[1:2], overhead_ms=50)


def value(board, depth, alpha, beta, count):
    """Alpha-beta over material and mobility, for the side to move; `count[0]` are the positions so far."""
    count[0] += 1
    if count[0] % 200 == 0 and keeper.stop(count[0]):
        raise TimeoutError
    moves = sorted(board.legal_moves, key=board.is_capture, reverse=True)
    if not moves:
        return -30000 if board.is_check() else 0
    if depth == 0:
        pieces = board.piece_map().values()
        return len(moves) + sum(WORTH[it.piece_type] * (1 if it.color == board.turn else -1) for it in pieces)
    for move in moves:
        board.push(move)
        alpha = max(alpha, -value(board, depth - 1, -beta, -alpha, count))
        board.pop()
        if alpha >= beta:
            break
    return alpha


def search(board, count):
    """The best move of the deepest search that ended in time. The time manager sees the positions below each move."""
    moves = list(board.legal_moves)
    for depth in range(60):
        best, visits = -99999, []
        for number, move in enumerate(moves):
            before, after = count[0], board.copy()
            after.push(move)
            try:
                score = -value(after, depth, -99999, -best, count)
            except TimeoutError:
                return moves[0]
            visits.append(count[0] - before)
            if score > best:
                best, choice = score, number
        print(f"info depth {depth + 1} score cp {best} nodes {count[0]} pv {moves[choice]}", flush=True)
        is_over = keeper.stop(count[0], depth=depth + 1, visits=visits, best_move=choice)
        moves.insert(0, moves.pop(choice))
        if is_over:
            break
    return moves[0]


for line in sys.stdin:
    match line.split():
        case ["uci"]:
            print("id name Example\nuciok", flush=True)
        case ["isready"]:
            print("readyok", flush=True)
        case ["ucinewgame"]:
            keeper.new_game()
        case ["position", *words]:
            start, _, moves = " ".join(words).partition(" moves ")
            board = chess.Board(chess.STARTING_FEN if start == "startpos" else start.removeprefix("fen "))
            for move in moves.split():
                board.push_uci(move)
        case ["go", *words]:
            clocks, color, count = dict(zip(words[::2], words[1::2])), "wb"[not board.turn], [0]
            clock_ms = clocks.get(color + "time", clocks.get("movetime", 1000))  # A search without a clock gets a second.
            keeper.plan(float(clock_ms), float(clocks.get(color + "inc", 0)), ply=board.ply())
            print("bestmove", search(board, count), flush=True)
            keeper.finish(total_nodes=count[0])
        case ["quit"]:
            break
