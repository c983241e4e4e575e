"""Tests of the Python package that need no other one: `python3 tests/python/package.py`, with `zeitnot` installed."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import zeitnot

RANDOM = {"backend": "random"}
# Works until it is interrupted, and says then whether it has children left. Who is started in the background is born
# with interruptions ignored.
WORK = """
import os, signal, zeitnot
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    {}
except KeyboardInterrupt:
    try:
        print("left", os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("none left")
"""


def children(pid):
    """The processes that a process has started and that have not ended."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # A thread may end meanwhile.
            found += map(int, (task / "children").read_text().split())
    return found


def runs(pid):
    """Whether a process has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Package(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(children(os.getpid()), [], "no process is left, not even one that has ended")

    def refuses(self, words, what):
        with self.assertRaises(zeitnot.Error) as caught:
            what()
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_an_error_of_several_lines_is_told_whole(self):
        self.refuses("required arguments were not provided: <SPEC> <SPEC>...", lambda: zeitnot.compare([]))

    def test_positions_are_searched_by_fen_and_moves(self):
        with zeitnot.Analysis(nodes=30, **RANDOM) as analysis:
            self.assertEqual(analysis.search(["e2e4"])["turn"], "black")
            mate = "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"
            self.assertEqual(analysis.search(mate, nodes=500)["lines"][0]["mate"], 1)
            self.assertEqual(len(analysis.lines("startpos", 3, nodes=100)), 3)
            self.assertEqual(len(analysis.analyse_many([["e2e4"]] * 300, nodes=1)), 300)
            once = iter(["e2e4"])
            self.assertEqual(len(analysis.lines(once, 500, searchmoves=["e7e5", "e7e6"])), 2)
            self.refuses("nonsense", lambda: analysis.search("nonsense"))
            self.refuses("bytes", lambda: analysis.search("8/" * 1_000_000))
            self.refuses("e2e5", lambda: analysis.search(["e2e5"]))
            self.assertEqual(analysis.search("startpos")["nodes"], 30, "it serves on after what it refused")

    def test_threads_share_an_analysis(self):
        starts = ["a2a3", "b2b3", "c2c3", "d2d3", "e2e3", "f2f3", "g2g3", "h2h3"]
        with zeitnot.Analysis(nodes=50, **RANDOM) as analysis, ThreadPoolExecutor(8) as pool:
            alone = [analysis.search([move])["lines"][0]["pv"] for move in starts]
            together = pool.map(lambda move: analysis.search([move])["lines"][0]["pv"], starts)
            self.assertEqual(list(together), alone)

    def test_evaluations_are_distributions(self):
        with zeitnot.Analysis(**RANDOM) as analysis:
            first, second = analysis.evaluate([["e2e4"], "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"])
            self.assertEqual(len(first.policy), 20)
            self.assertAlmostEqual(sum(first.policy.values()), 1, 4)
            self.assertEqual(max(first.policy.values()), next(iter(first.policy.values())))
            self.assertAlmostEqual(sum(second.wdl), 1, 4)
            self.refuses("nonsense", lambda: analysis.evaluate(["nonsense"]))

    def test_many_answers_fill_no_pipe(self):
        with zeitnot.Analysis(**RANDOM) as analysis:
            self.assertEqual(len(analysis.evaluate([["e2e4"]] * 2000)), 2000)

    def test_a_program_that_cannot_begin_or_is_killed_is_an_error(self):
        self.refuses("absent.pb", lambda: zeitnot.Analysis(weights="absent.pb").search("startpos"))
        self.refuses("--no-such-option", lambda: zeitnot.Analysis(no_such_option=1).search("startpos"))
        analysis = zeitnot.Analysis(**RANDOM)
        analysis.search("startpos")
        os.kill(children(os.getpid())[0], signal.SIGKILL)
        self.refuses("ended with code -9", lambda: analysis.search("startpos"))
        self.refuses("ended with code -9", lambda: analysis.search("startpos"))
        analysis.close()
        self.refuses("closed", lambda: analysis.search("startpos"))
        self.refuses("closed", lambda: analysis.evaluate(["startpos"]))

    def test_who_forgets_to_close_leaves_nothing(self):
        analysis = zeitnot.Analysis(**RANDOM)
        analysis.search("startpos")
        keeper = zeitnot.Timekeeper()
        self.assertEqual(len(children(os.getpid())), 2)
        del analysis, keeper

    def test_who_keeps_no_analysis_hears_its_error_alone(self):
        heard = []
        with mock.patch.object(sys, "unraisablehook", heard.append):
            for _ in range(5):
                try:
                    zeitnot.Analysis(**RANDOM).search("startpos", nodes=-1)
                except zeitnot.Error:  # `assertRaises` would drop what the traceback refers to at once.
                    continue
            # The thread that brought the error may be the last that knows the analysis.
            for thread in threading.enumerate():
                if thread is not threading.main_thread():
                    thread.join(5)
        self.assertEqual(heard, [])

    def test_a_time_manager_plans_looks_and_learns(self):
        with zeitnot.Timekeeper("smooth", overhead_ms=50, nps=1000) as keeper:
            plan = keeper.plan(60000, 600, ply=10)
            asked = zeitnot.explain(60000, 600, ply=10, manager="smooth", overhead_ms=50, nps=1000)
            self.assertEqual(plan, asked)
            self.assertFalse(keeper.stop(10, t_ms=1, visits=[6, 4]))
            self.assertTrue(keeper.stop(9000, t_ms=plan.hard_limit_ms, visits=[6000, 3000]))
            self.assertTrue(keeper.observe(9000, t_ms=plan.hard_limit_ms + 1, visits=[6000, 3000]).stop)
            self.assertNotEqual(keeper.finish(t_ms=plan.budget_ms, total_nodes=9000)["nps"], 1000)
            self.refuses("plan first", lambda: keeper.stop(1))
            self.refuses("plan first", keeper.finish)
            keeper.new_game()
            keeper.plan(60000, 600)
            self.refuses("clok_ms", lambda: keeper.plan(60000, clok_ms=1))
            self.refuses("clok_ms", lambda: keeper.plan(60000))
        self.refuses("no-such", lambda: zeitnot.Timekeeper("no-such").plan(60000))
        self.refuses("no-such", lambda: zeitnot.explain(60000, manager="no-such"))

    def test_games_are_played_audited_annotated_and_drawn(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        found = zeitnot.compare(["legacy", "simple"], games=2, tc="1+0.01", nps=100, out=folder / "games", **RANDOM)
        self.assertEqual([cell["games"] for cell in found.cells], [2])
        self.assertIn("<svg", found.charts()["ranking"])
        file = next((folder / "games").glob("*.pgn"))
        audit = zeitnot.audit(file, ["legacy"])
        self.assertEqual({*audit.moves[0].managers}, {"legacy"})
        self.assertEqual({player["player"] for player in audit.players}, {"legacy", "simple"})
        annotated = zeitnot.annotate(file.read_text(), nodes=1, out=folder / "annotated.pgn", **RANDOM)
        self.assertEqual(len(annotated.games), 2)
        self.assertEqual(annotated.pgn, (folder / "annotated.pgn").read_text())
        self.assertIn("[%eval", annotated.pgn)
        self.assertIn("<svg", annotated.charts()["clocks"])
        self.assertIn("data:image/svg+xml", annotated._repr_html_())
        played = zeitnot.explain_game(file, 30, manager="simple").played
        self.assertEqual(played["move"].split()[-1], annotated.games[0].moves[30].san)
        self.refuses("absent.pgn", lambda: zeitnot.annotate("absent.pgn"))
        self.refuses("absent.pgn", lambda: zeitnot.audit("absent.pgn"))

    def test_what_was_interrupted_can_be_asked_again(self):
        with zeitnot.Analysis(nodes=10**9, **RANDOM) as analysis:
            analysis.search("startpos", nodes=1)
            threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
            with self.assertRaises(KeyboardInterrupt):
                analysis.analyse_many(["startpos"] * 20)
            self.assertEqual(analysis.search("startpos", nodes=7)["nodes"], 7)
        with zeitnot.Timekeeper("simple") as keeper:
            for _ in range(20):
                keeper.plan(60000)
                with self.assertRaises(KeyboardInterrupt):
                    threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
                    while True:
                        keeper.observe(1, t_ms=1)
                self.assertIn("move", keeper.finish(), "not the answer to a look")

    def test_programs_end_with_a_python_that_is_killed(self):
        work = "import zeitnot; k = zeitnot.Timekeeper(); k.plan(60000); a = zeitnot.Analysis(backend='random')"
        work += "; a.search('startpos'); a.evaluate(['startpos']); print('ready', flush=True); input()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", work], **pipes) as python:
            self.assertEqual(python.stdout.readline(), b"ready\n")
            started = children(python.pid)
            self.assertEqual(len(started), 3)
            python.kill()
        for child in started:
            while runs(child):
                time.sleep(0.05)

    def test_an_interruption_ends_the_program(self):
        for work in [
            "zeitnot.compare(['legacy', 'simple'], games=900, tc='600+6', backend='random')",
            "zeitnot.Analysis(nodes=10**9, backend='random').search('startpos')",
            "a = zeitnot.Analysis(nodes=10**9, backend='random'); a.analyse_many(['startpos'] * 600)",
        ]:
            with (
                self.subTest(work),
                subprocess.Popen(
                    [sys.executable, "-c", WORK.format(work + "; a = None")], stdout=subprocess.PIPE, text=True
                ) as python,
            ):
                while not (started := children(python.pid)):
                    time.sleep(0.05)
                time.sleep(0.5)  # It works.
                python.send_signal(signal.SIGINT)
                try:
                    output, _ = python.communicate(timeout=60)
                finally:
                    python.kill()
                for child in started:
                    self.assertFalse(runs(child), work)
                self.assertEqual((python.returncode, output.count("left")), (0, 1))


signal.signal(signal.SIGINT, signal.default_int_handler)
unittest.main()
