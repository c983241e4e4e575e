"""A time manager in Python for Zeitnot: one event a line on standard input, one answer a line on standard output.

zeitnot time compare smooth 'external(command="python3 examples/external/manager.py")' --nps 430
"""

import json
import sys

MOVES = 40  # for which the clock has to serve

budget_ms = hard_limit_ms = 0.0
for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "plan":
        free_ms = max(0.0, event["clock_ms"] - event.get("overhead_ms", 0.0))
        moves = min(MOVES, event.get("movestogo") or MOVES)
        budget_ms = min(free_ms, free_ms / moves + 0.75 * event.get("inc_ms", 0.0))
        hard_limit_ms = max(budget_ms, min(0.3 * free_ms, 2.5 * budget_ms))
        answer = {"budget_ms": budget_ms, "hard_limit_ms": hard_limit_ms}
    elif event["event"] == "observe":
        visits = sorted(event.get("visits", []), reverse=True)
        is_sure = len(visits) < 2 or visits[1] < visits[0] / 2
        limit_ms = budget_ms if is_sure else hard_limit_ms
        answer = {"stop": event["t_ms"] >= limit_ms, "remaining_ms": limit_ms - event["t_ms"]}
        answer["next_ms"] = event["t_ms"] + budget_ms / 10
    else:  # finish
        answer = {}
    print(json.dumps(answer), flush=True)
