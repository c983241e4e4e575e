"""Tests of the harness itself: every failure it must see is played to it by `fake_engine.py`.

Run with `python -m unittest discover -s tests/games`.
"""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import chess
import chess.pgn

import client
import en_croissant
import openings
import play
import referee
import summary

HERE = Path(__file__).resolve().parent


# Games as fastchess writes them: a late answer, no answer (the reason stands at the last move that came), a late first move,
# a crash, and a draw.
FORFEITS = """
[White "zeitnot"]
[Black "opponent"]
[Result "1-0"]
[Termination "time forfeit"]
[TimeControl "0.5+0.01"]

1. e4 {+0.30/3 0.100s, tl=0.420s, latency=0.000s, n=10} e5 {-0.30/3 0.480s, tl=0.040s, latency=0.001s, n=10}
2. Nf3 {+0.30/3 0.100s, tl=0.330s, latency=0.000s, n=10}
Nc6 {-0.30/3 0.052s, tl=-0.012s, latency=0.001s, n=10, Black loses on time (12ms overrun)} 1-0

[White "opponent"]
[Black "zeitnot"]
[Result "1-0"]
[Termination "time forfeit"]
[TimeControl "2/1+0.1"]

1. e4 {+0.30/3 0.900s, tl=0.300s, latency=0.000s, n=10} e5 {-0.30/3 0.600s, tl=0.600s, latency=0.001s, n=10}
2. Nf3 {+0.30/3 0.100s, tl=1.300s, latency=0.000s, n=10} Nc6 {-0.30/3 0.400s, tl=1.300s, latency=0.001s, n=10}
3. Bb5 {+0.30/3 0.100s, tl=1.300s, latency=0.000s, n=10, Black loses on time (10000ms overrun)} 1-0

[White "zeitnot"]
[Black "opponent"]
[Result "0-1"]
[Termination "time forfeit"]
[TimeControl "0.5"]

1. e4 {+0.30/3 0.507s, tl=-0.007s, latency=0.000s, n=10, White loses on time (7ms overrun)} 0-1

[White "opponent"]
[Black "zeitnot"]
[Result "0-1"]
[Termination "abandoned"]
[TimeControl "0.5"]

1. e4 {+0.30/3 0.100s, tl=0.400s, latency=0.000s, n=10, White disconnects} 0-1

[White "zeitnot"]
[Black "opponent"]
[Result "1/2-1/2"]
[Termination "normal"]
[TimeControl "0.5"]

1. e4 {+0.30/3 0.100s, tl=0.400s, latency=0.000s, n=10, Draw by 3-fold repetition} 1/2-1/2
"""
WARNINGS = """[WARN  ] [11:41:12.489925] <                    > fastchess --- Warning; No info line available from engine zeitnot

[WARN  ] [11:41:12.625091] <                    > fastchess --- Warning; Illegal PV move - move a1a1 from zeitnot
[WARN  ] [11:41:12.625092] <                    > fastchess --- Warning; Illegal PV move - move a1a2 from zeitnot
[WARN  ] [11:41:12.738160] <     140139795039936> fastchess --- Engine zeitnot loses on time by 11ms
"""


class Harness(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # The engine under this interpreter, so that it finds python-chess.
        self.fake = self.folder / "fake"
        self.fake.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "fake_engine.py"}"\n', encoding="utf-8")
        self.fake.chmod(0o755)

    def run_play(self, *more: str) -> tuple[int, dict, str]:
        report = self.folder / "report.json"
        command = [sys.executable, str(HERE / "play.py"), "--zeitnot", str(self.fake), "--opponent", str(self.fake)]
        command += ["--json", str(report), "--games", "1", "--tc", "2", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        text = report.read_text(encoding="utf-8") if report.exists() else ""
        return done.returncode, json.loads(text or "{}"), done.stdout + done.stderr

    def assert_failures(self, report: dict, expected: tuple[int, int, int], output: str) -> None:
        self.assertEqual((report["forfeits"], report["illegal"], report["crashes"]), expected, output)

    def test_sound_games(self) -> None:
        pgn = self.folder / "games.pgn"
        rc, report, output = self.run_play("--games", "4", "--concurrency", "2", "--pgn", str(pgn), "--tc", "20+0.1")
        self.assertEqual(rc, 0, output)
        self.assert_failures(report, (0, 0, 0), output)
        self.assertEqual([game["zeitnot"] for game in report["game_list"]], ["white", "black", "white", "black"])
        self.assertEqual(report["moves_without_plan"], 0)
        self.assertEqual(report["error_lines"] + report["stderr_lines"] + report["oddities"], [])
        with pgn.open(encoding="utf-8") as file:
            games = [chess.pgn.read_game(file) for _ in range(4)]
        self.assertTrue(all(game is not None and not game.errors for game in games))
        self.assertIn("hard_limit=5ms", str(games[0]))

    def test_accounts_of_time_are_no_plans(self) -> None:
        rc, report, output = self.run_play("--option", "TimeManagerLog=true", "--tc", "20+0.1")
        self.assertEqual((rc, report["oddities"], report["moves_without_plan"]), (0, [], 0), output)

    def test_forfeit_on_time(self) -> None:
        rc, report, output = self.run_play("--option", "Fault=late")
        self.assertEqual(rc, 1, output)
        self.assert_failures(report, (1, 0, 0), output)
        self.assertEqual(report["results"], {"wins": 0, "draws": 0, "losses": 1})
        self.assertLess(report["lowest_clock_s"], 0)

    def test_illegal_moves(self) -> None:
        for fault in ("illegal", "garbage"):
            with self.subTest(fault):
                rc, report, output = self.run_play("--option", f"Fault={fault}")
                self.assertEqual(rc, 1, output)
                self.assert_failures(report, (0, 1, 0), output)

    def test_castling_is_not_king_takes_rook(self) -> None:
        epd = self.folder / "castling.epd"
        epd.write_text("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq -\n", encoding="utf-8")
        # The fake pushes pawns before its third move: castling is legal then, but not written so.
        rc, report, output = self.run_play("--option", "Fault=castling", "--openings", str(epd))
        self.assertEqual(rc, 1, output)
        self.assert_failures(report, (0, 1, 0), output)

    def test_crash_and_hang(self) -> None:
        rc, report, output = self.run_play("--option", "Fault=crash", "--games", "2")
        self.assertEqual(rc, 1, output)
        self.assert_failures(report, (0, 0, 2), output)
        self.assertEqual(report["stderr_lines"], ["panicked", "panicked"])
        rc, report, output = self.run_play("--option", "Fault=hang", "--tc", "0.5")
        self.assertEqual(rc, 1, output)
        self.assert_failures(report, (0, 0, 1), output)

    def test_failures_of_the_opponent_are_not_zeitnots(self) -> None:
        rc, report, output = self.run_play("--opponent-option", "Fault=late")
        self.assertEqual(rc, 0, output)
        self.assert_failures(report, (0, 0, 0), output)
        self.assertEqual(report["opponent"]["forfeits"], 1)
        self.assertEqual(report["results"]["wins"], 1)

    def test_overshoot(self) -> None:
        _, report, output = self.run_play("--option", "Fault=plan", "--tc", "20+0.1")
        self.assertGreaterEqual(report["max_overshoot_ms"], 100, output)
        self.assertEqual(report["worst_moves"][0]["ply"] - report["worst_moves"][0]["ply"] % 2, 4 + self.plies(report))

    @staticmethod
    def plies(report: dict) -> int:
        opening, _ = openings.schedule(openings.built_in(), 1, report["seed"])[0]
        return len(opening.move_stack)

    def test_console(self) -> None:
        console = client.Console()
        for line in ("Zeitnot 0.1.0", "native, a network", "panicked"):
            console.error(line)
        self.assertEqual(console.trouble(), ["native, a network", "panicked"])
        console.output("info string native, a network")
        self.assertEqual(console.trouble(), ["panicked"])

    def test_findings(self) -> None:
        rc, report, output = self.run_play("--option", "Fault=error", "--tc", "20+0.1")
        self.assertEqual(rc, 0, output)
        self.assertEqual(report["error_lines"], ["info string ERROR: something went wrong"])
        self.assertEqual(report["moves_with_late_plan"], 1)
        self.assertEqual(report["moves_without_plan"], 0)
        self.assertEqual(len(report["analysis_faults"]), 1)

    def test_an_engine_that_does_not_quit(self) -> None:
        _, report, output = self.run_play("--option", "Fault=stubborn", "--tc", "20+0.1")
        self.assertEqual(len(report["oddities"]), 1, output)

    def run_deadlines(self, *more: str) -> tuple[int, list[dict], str]:
        figures = self.folder / "deadlines.json"
        command = [sys.executable, str(HERE / "deadlines.py"), "--zeitnot", str(self.fake), "--json", str(figures)]
        command += ["--nodes", "50", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        text = figures.read_text(encoding="utf-8") if figures.exists() else "[]"
        return done.returncode, json.loads(text), done.stdout + done.stderr

    def test_deadlines_are_measured_with_a_warm_tree(self) -> None:
        # Bars that a busy machine does not miss.
        bars = ("--median-bar", "5000", "--largest-bar", "5000", "--one-ms-bar", "5000")
        rc, searches, output = self.run_deadlines("--searches", "2", "--clock", "700", "--clock", "900", *bars)
        self.assertEqual((rc, len(searches)), (0, 2), output)
        self.assertEqual([search["clock_ms"] for search in searches], [700, 900])
        self.assertEqual({(search["tree_nodes"], search["hard_limit_ms"]) for search in searches}, {(100, 5.0)})
        self.assertEqual(len({search["fen"] for search in searches}), 2)
        for search in searches:
            self.assertAlmostEqual(search["used_ms"] - search["beyond_ms"], 5, places=1)
        # The third move of the engine is 100 ms beyond its hard limit, and it is the one on the clock.
        bars = ("--median-bar", "99", "--largest-bar", "99", "--one-ms-bar", "5000")
        rc, searches, output = self.run_deadlines("--searches", "1", "--option", "Fault=plan", *bars)
        self.assertEqual((rc, searches[0]["clock_ms"]), (1, 400), output)
        self.assertGreaterEqual(searches[0]["beyond_ms"], 100)
        self.assertEqual(output.count("MISSED: beyond the hard limit"), 2, output)
        self.assertNotIn("MISSED: go wtime 1", output)

    def test_deadlines_that_cannot_be_measured_end_in_one_line(self) -> None:
        for more, expected in (
            (("--option", "Fault=crash"), "panicked"),
            (("--zeitnot", "/nowhere"), "/nowhere is no program"),
        ):
            with self.subTest(more):
                rc, _, output = self.run_deadlines("--searches", "1", *more)
                self.assertEqual(rc, 2, output)
                self.assertIn(expected, output)
                self.assertNotIn("Traceback", output)

    def run_forfeits(self, *more: str) -> tuple[int, dict, str]:
        figures = self.folder / "forfeits.json"
        command = [sys.executable, str(HERE / "forfeits.py"), "--zeitnot", str(self.fake), "--json", str(figures)]
        command += ["--folder", str(self.folder / "run"), *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        text = figures.read_text(encoding="utf-8") if figures.exists() else "{}"
        return done.returncode, json.loads(text), done.stdout + done.stderr

    def referee_that(self, does: str) -> str:
        """A program in the place of fastchess."""
        program = self.folder / "fastchess"
        program.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        program.chmod(0o755)
        return str(program)

    def test_losses_on_time_are_counted_by_fastchess(self) -> None:
        (self.folder / "canned.pgn").write_text(FORFEITS, encoding="utf-8")
        (self.folder / "canned.log").write_text(WARNINGS, encoding="utf-8")
        program = self.referee_that(
            f"cp {self.folder}/canned.pgn games.pgn && cp {self.folder}/canned.log warnings.log && wc -l < openings.epd")
        network = self.folder / "network.pb"
        network.write_text("", encoding="utf-8")
        options = ("--option", f"WeightsFile={network}", "--opponent-option", "Threads=1")
        rc, found, output = self.run_forfeits("--fastchess", program, "--games", "6", *options)
        self.assertEqual(rc, 1, output)
        self.assertEqual((found["games"], found["losses_on_time"]), (5, {"zeitnot": 2, "opponent": 1}))
        self.assertEqual(
            [(loss["loser"], loss["colour"], loss["overrun_ms"], loss["clock_ms"], loss["used_ms"], loss["move"], loss["answered"])
             for loss in found["losses"]],
            [("opponent", "black", 12, 40, 52, 2, True), ("zeitnot", "black", 10000, 1300, 11300, 3, False),
             ("zeitnot", "white", 7, 500, 507, 1, True)],
        )
        self.assertEqual(found["other_failures"], {"opponent: abandoned": 1})
        self.assertEqual(found["warnings"], {"No info line available from engine zeitnot": 1, "Illegal PV move": 2})
        self.assertEqual((self.folder / "run/output.txt").read_text(encoding="utf-8").strip(), "3")
        self.assertIn(f"name=zeitnot option.WeightsFile={network.resolve()} -engine", output)
        self.assertIn("name=opponent option.Threads=1 -each tc=1+0.01", output)
        for line in ("3 losses on time, 0 allowed", "5 games of 6 are there", "opponent: abandoned"):
            self.assertIn(f"FAILED: {line}", output)
        # The folder is not overwritten, and can be looked at again.
        rc, _, output = self.run_forfeits("--fastchess", program)
        self.assertEqual((rc, output.count("\n")), (2, 1), output)
        rc, _, output = self.run_forfeits("--report", "--opponent", "another", "--losses-allowed", "2")
        self.assertEqual((rc, "FAILED" in output), (0, False), output)
        rc, _, output = self.run_forfeits("--report", "--opponent", "x", "--losses-allowed", "2", "--clock-allowed", "600")
        self.assertEqual(rc, 1, output)
        self.assertIn("FAILED: losses with 1300 ms on the clock, 600 allowed", output)

    def test_a_referee_that_fails_is_one_line(self) -> None:
        for does, expected in (("echo no engine; exit 3", "fastchess ended with 3: no engine"), ("exit 0", "games.pgn")):
            with self.subTest(does):
                rc, _, output = self.run_forfeits("--fastchess", self.referee_that(does))
                self.assertEqual(rc, 2, output)
                self.assertIn(expected, output)
                self.assertNotIn("Traceback", output)
        for more, expected in (((), "--fastchess is needed"), (("--games", "3"), "3 is odd")):
            with self.subTest(more):
                rc, _, output = self.run_forfeits(*more)
                self.assertEqual(rc, 2, output)
                self.assertIn(expected, output)

    def run_script(self, script: str, *arguments: str) -> tuple[int, str]:
        command = [sys.executable, str(HERE / script), "--zeitnot", str(self.fake), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_rounds_of_a_soak_add_up(self) -> None:
        canned, soak = self.folder / "canned.pgn", self.folder / "soak"
        canned.write_text(FORFEITS, encoding="utf-8")
        play = ("--fastchess", self.referee_that(f"cp {canned} games.pgn"), "--folder", str(soak), "--rounds", "1", "--games", "6")
        # One game is missing: that is no round.
        rc, output = self.run_script("soak.py", *play, "--kinds", "sudden-death")
        self.assertEqual((rc, output.count("\n")), (2, 1), output)
        self.assertIn("5 games of 6 were played", output)
        # It was cut off, then: what it finished counts, and the next round, too.
        canned.write_text(FORFEITS + FORFEITS.rpartition("\n[White")[1] + FORFEITS.rpartition("\n[White")[2], encoding="utf-8")
        rc, output = self.run_script("soak.py", *play, "--kinds", "sudden-death")
        self.assertEqual(rc, 1, output)
        self.assertIn("sudden-death: 11 games in 2 rounds, 6 lost on time, 1 other failures", output)
        rc, again = self.run_script("soak.py", "--folder", str(soak), "--report")
        self.assertEqual((rc, again), (1, output))
        # The next is another kind of game, whose network must be there.
        rc, output = self.run_script("soak.py", *play)
        self.assertEqual((rc, output.count("\n")), (2, 1), output)
        self.assertIn(".pb.gz", output)
        rc, output = self.run_script("soak.py", "--folder", str(self.folder / "empty"), "--report")
        self.assertEqual((rc, output.count("\n")), (2, 1), output)

    def test_hours_of_analysis_see_what_goes_wrong(self) -> None:
        results = self.folder / "results.jsonl"
        for fault, expected in (
            ("none", None), ("early", "a move before stop"), ("illegal", "e1e8"), ("crash", "the engine ended with 101"),
        ):
            with self.subTest(fault):
                rc, output = self.run_script(
                    "analysis.py", "--hours", "0.0008", "--max-seconds", "0.4", "--option", f"Fault={fault}", "--ram-limit", "10",
                    "--slack-mb", "500", "--stop-timeout", "1", "--results", str(results))
                self.assertEqual(rc, 1 if expected else 0, output)
                found = json.loads(results.read_text(encoding="utf-8").splitlines()[-1])
                self.assertGreaterEqual(found["positions"], 2, output)
                self.assertEqual(bool(found["failures"]), bool(expected), output)
                self.assertIn(expected or "", " ".join(found["failures"]))
        rc, output = self.run_script(
            "analysis.py", "--hours", "0.0003", "--max-seconds", "0.4", "--ram-limit", "9000", "--slack-mb", "500")
        self.assertEqual(rc, 1, output)
        self.assertIn("never came near", output)

    def test_bad_arguments_end_in_one_line(self) -> None:
        (self.folder / "empty.epd").write_text("\n", encoding="utf-8")
        (self.folder / "bad.epd").write_text("nonsense\n", encoding="utf-8")
        for more, expected in (
            (("--tc", "fast"), "time control 'fast'"),
            (("--tc", "0/10"), "time control '0/10'"),
            (("--zeitnot", "/nowhere"), "/nowhere is no program"),
            (("--option", "Nonsense=1"), "does not support option Nonsense"),
            (("--option", "Check=maybe"), "'maybe' is neither true nor false"),
            (("--openings", "/nowhere.epd"), "openings /nowhere.epd: No such file"),
            (("--openings", str(self.folder / "empty.epd")), "no position to play from"),
            (("--openings", str(self.folder / "bad.epd")), "line 1"),
        ):
            with self.subTest(more):
                rc, _, output = self.run_play(*more)
                self.assertEqual(rc, 2, output)
                self.assertIn(expected, output)
                self.assertNotIn("Traceback", output)


class Parts(unittest.TestCase):
    def test_a_script_ends_in_one_line(self) -> None:
        def fails(error: BaseException) -> tuple[int, str]:
            with contextlib.redirect_stderr(io.StringIO()) as said:
                return play.ended(mock.Mock(side_effect=error)), said.getvalue()

        self.assertEqual(fails(KeyboardInterrupt()), (130, "interrupted\n"))
        self.assertEqual(fails(ValueError("no such thing")), (2, "error: no such thing\n"))
        with self.assertRaises(KeyError):
            fails(KeyError("what only a fault of the script's can be"))

    def test_built_in_openings_are_short_and_different(self) -> None:
        boards = openings.built_in()
        self.assertEqual(len({board.fen() for board in boards}), 40)
        self.assertTrue(all(2 <= len(board.move_stack) <= 6 for board in boards))

    def test_books_of_positions(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            book = Path(folder) / "book.epd"
            position = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"
            book.write_text(f'{position}\n{position} id "one";\n\n{position} 0 1\n{position} 3 7\n', encoding="utf-8")
            boards = openings.read(book)
        self.assertEqual([(board.halfmove_clock, board.fullmove_number) for board in boards], [(0, 1)] * 3 + [(3, 7)])

    def test_schedule_pairs_colours_and_follows_the_seed(self) -> None:
        boards = openings.built_in()
        games = openings.schedule(boards, 90, 7)
        self.assertEqual(len(games), 90)
        for (first, first_colour), (second, second_colour) in zip(games[::2], games[1::2]):
            self.assertIs(first, second)
            self.assertNotEqual(first_colour, second_colour)
        self.assertEqual(len({board.fen() for board, _ in games[:80]}), 40)
        self.assertEqual(games, openings.schedule(boards, 90, 7))
        self.assertNotEqual(games, openings.schedule(boards, 90, 8))

    def test_time_controls(self) -> None:
        control = referee.TimeControl.parse("40/10+0.1")
        self.assertEqual((control.moves, control.base_s, control.increment_s), (40, 10.0, 0.1))
        self.assertEqual(referee.TimeControl.parse("5").increment_s, 0)

    def test_percentiles(self) -> None:
        values = [float(value) for value in range(1, 101)]
        self.assertEqual(summary.percentile(values, 0.99), 99)
        self.assertEqual(summary.percentile([5.0], 0.99), 5)
        self.assertIsNone(summary.percentile([], 0.99))

    def test_blocks_that_en_croissant_shows(self) -> None:
        display, allowance = en_croissant.Display(chess.Board(), 2, 0.0), en_croissant.Allowance()
        block = [("e2e4", 1), ("d2d4", 2)]

        def tell(depth: int, now: float, moves: list[tuple[str, int]]) -> int:
            for move, number in moves:
                display.take(f"info depth {depth} score cp 10 multipv {number} pv {move}", now, allowance)
            return len(display.shown)

        self.assertEqual(tell(3, 0.1, block[:1]), 0)
        self.assertEqual(tell(3, 0.1, [("e7e5", 2)]), 0, "no line of the position")
        self.assertEqual(tell(3, 0.1, block[1:]), 1)
        self.assertEqual(tell(2, 0.2, block), 1, "less deep")
        self.assertEqual(display.hidden, 1)
        shown = [tell(3, 2 + hundredths / 100, block) for hundredths in (0, 1, 2, 3, 4, 5, 30)]
        self.assertEqual(shown, [2, 3, 4, 5, 6, 6, 7], "five at once")
        self.assertEqual(display.best, chess.Move.from_uci("e2e4"))


if __name__ == "__main__":
    unittest.main()
