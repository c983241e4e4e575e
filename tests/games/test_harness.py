"""Tests of the harness itself: every failure it must see is played to it by `fake_engine.py`.

Run with `python -m unittest discover -s tests/games`.
"""

import asyncio
import contextlib
import io
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import chess
import chess.engine
import chess.pgn

import client
import managers
import openings
import play
import referee
import strength
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

    def test_findings(self) -> None:
        rc, report, output = self.run_play("--option", "Fault=error", "--tc", "20+0.1")
        self.assertEqual(rc, 0, output)
        self.assertEqual(report["error_lines"], ["info string error something went wrong"])
        self.assertEqual(report["moves_with_late_plan"], 1)
        self.assertEqual(report["moves_without_plan"], 0)
        self.assertEqual(len(report["analysis_faults"]), 1)

    def test_an_engine_that_does_not_quit(self) -> None:
        _, report, output = self.run_play("--option", "Fault=stubborn", "--tc", "20+0.1")
        self.assertEqual(len(report["oddities"]), 1, output)

    def run_managers(self, *more: str) -> tuple[int, list[dict], str]:
        results = self.folder / "results.jsonl"
        command = [sys.executable, str(HERE / "managers.py"), "--zeitnot", str(self.fake), "--results", str(results)]
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        text = results.read_text(encoding="utf-8") if results.exists() else ""
        return done.returncode, [json.loads(line) for line in text.splitlines()], done.stdout + done.stderr

    def test_managers_meet_each_other_and_a_second_run_goes_on(self) -> None:
        some = ("--manager", "one", "--manager", "two", "--tc", "20+0.1")
        rc, games, output = self.run_managers(*some, "--games", "2", "--concurrency", "2")
        self.assertEqual((rc, len(games)), (0, 2), output)
        self.assertEqual({(game["white"], game["black"]) for game in games}, {("one", "two"), ("two", "one")})
        seat = games[0]["seats"]["white"]
        self.assertEqual(seat["node_ratio"], [0.9] * seat["moves"])
        # One search, the third, has no limit.
        self.assertEqual((len(seat["late_ms"]), seat["trouble"]), (seat["moves"] - 1, []))
        engine = games[0]["engine"]
        self.assertEqual((engine["name"], len(engine["sha256"])), ("Fake", 16))
        self.assertEqual(len({game["opening"] for game in games}), 1)
        self.assertGreater(seat["phase_ms"]["Opening"], 0)
        self.assertIn("| 20+0.1 | `one` | 2 | 0 |", output)
        rc, games, output = self.run_managers(*some, "--games", "4")
        self.assertEqual((rc, len(games)), (0, 4), output)
        rc, games, output = self.run_managers(*some, "--games", "4", "--seed", "2")
        self.assertEqual((rc, len(games)), (2, 4), output)
        self.assertIn("games of another setting", output)
        self.fake.write_text(self.fake.read_text(encoding="utf-8") + "# built again\n", encoding="utf-8")
        rc, games, output = self.run_managers(*some, "--games", "4")
        self.assertEqual((rc, len(games)), (2, 4), output)

    def test_a_manager_that_forfeits(self) -> None:
        rc, games, output = self.run_managers("--manager", "one", "--manager", "late", "--tc", "1", "--games", "2")
        self.assertEqual((rc, len(games)), (1, 2), output)
        self.assertTrue(all(game[game["failed"]] == "late" for game in games), output)
        self.assertIn("| 1 | `late` | 2 | 2 | +0 =0 -2 |", output)
        self.assertIn("| 1 | `one` | 2 | 0 | +2 =0 -0 |", output)

    def run_strength(self, *more: str) -> tuple[int, list[dict], str]:
        results = self.folder / "strength.jsonl"
        command = [sys.executable, str(HERE / "strength.py"), "--zeitnot", str(self.fake), "--results", str(results)]
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        text = results.read_text(encoding="utf-8") if results.exists() else ""
        return done.returncode, [json.loads(line) for line in text.splitlines()], done.stdout + done.stderr

    def test_strength_is_measured_in_pairs_and_a_second_run_goes_on(self) -> None:
        rc, games, output = self.run_strength("--games", "2", "--nodes", "100")
        self.assertEqual((rc, len(games)), (0, 2), output)
        # A hole, and a line that a run did not live to end.
        results = self.folder / "strength.jsonl"
        lines = results.read_text(encoding="utf-8").splitlines()
        results.write_text(lines[1] + "\n" + lines[0][:50], encoding="utf-8")
        rc, games, output = self.run_strength("--games", "4", "--nodes", "100")
        self.assertEqual((rc, sorted(game["number"] for game in games)), (0, [1, 2, 3, 4]), output)
        games.sort(key=lambda game: game["number"])
        self.assertEqual([game["zeitnot"] for game in games], ["white", "black"] * 2)
        alike = [game["moves"].split()[:2] == games[0]["moves"].split()[:2] for game in games]
        self.assertEqual(alike, [True, True, False, False])
        for game in games:
            board = chess.Board(game["fen"])
            for move in game["moves"].split():
                board.push_uci(move)
            self.assertEqual(board.result(claim_draw=True), game["result"])
        # The fake plays alike with either colour, and from so little nothing is known of the error.
        self.assertIn("pairs with 0, 1/2, ... 2 points [0, 0, 2, 0, 0]; Elo +0 [-inf, +inf]", output)
        for more, expected in (
            (("--nodes", "200"), "games of another setting"),
            (("--nodes", "100", "--seed", "2"), "games of another setting"),
            (("--nodes", "100", "--games", "82"), "40 openings give 80 games at most"),
            (("--games", "3"), "3 is odd"),
        ):
            with self.subTest(more):
                rc, games, output = self.run_strength("--games", "4", *more)
                self.assertEqual((rc, len(games)), (2, 4), output)
                self.assertIn(expected, output)
        lines = results.read_text(encoding="utf-8").splitlines()
        self.assertEqual(self.run_strength("--report")[0], 0)
        other = json.loads(lines[2])
        other["setting"]["seed"] = 2
        bare = {key: value for key, value in other.items() if key != "score"}
        for wrong, expected in (
            (["nonsense"], "strength.jsonl, line 1: "),
            ([*lines[:2], json.dumps(other)], "strength.jsonl, line 3: games of another setting"),
            ([lines[0], json.dumps(bare)], "strength.jsonl, line 2: not a game as this script writes it: no score"),
            ([*lines, lines[1]], f"game {json.loads(lines[1])['number']} is there 2 times"),
        ):
            results.write_text("".join(line + "\n" for line in wrong), encoding="utf-8")
            command = [sys.executable, str(HERE / "strength.py"), "--results", str(results), "--report"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            with self.subTest(expected):
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

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
        rc, _, output = self.run_forfeits()
        self.assertEqual(rc, 2, output)
        self.assertIn("--fastchess is needed", output)

    def test_a_crash_costs_the_game(self) -> None:
        for option, who, score, failures in (
            ("--option", "zeitnot", 0.0, "failures of Zeitnot 2, of the opponent 0"),
            ("--opponent-option", "opponent", 1.0, "failures of Zeitnot 0, of the opponent 2"),
        ):
            with self.subTest(who):
                (self.folder / "strength.jsonl").unlink(missing_ok=True)
                rc, games, output = self.run_strength("--games", "2", "--nodes", "100", option, "Fault=crash")
                self.assertEqual((rc, len(games)), (int(who == "zeitnot"), 2), output)
                self.assertEqual([(game["score"], game["failed"]) for game in games], [(score, who)] * 2, output)
                self.assertTrue(all(len(game["moves"].split()) > 4 for game in games), "in the midst of a game")
                self.assertIn(failures, output)
                for number in (1, 2):
                    self.assertIn(f"finding: game {number}, {who}: panicked", output)

    def test_a_move_by_nodes_has_its_own_patience(self) -> None:
        control = referee.TimeControl.of_nodes(100)
        self.assertEqual(control.limit({}, 3), chess.engine.Limit(nodes=100))
        clocks = asyncio.run(self.clocks_by_nodes(control))
        self.assertEqual(clocks, [referee.NODES_PATIENCE_S] * 2)

    async def clocks_by_nodes(self, control: referee.TimeControl) -> list[float]:
        engines = {side: await client.launch(str(self.fake), {}) for side in chess.COLORS}
        game = await referee.play(1, engines, chess.WHITE, openings.built_in()[0], control)
        for engine in engines.values():
            await engine.end()
        self.assertGreater(len(game.board.move_stack), 5)
        return list(game.clocks_s.values())

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

    def test_results_that_are_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.jsonl"
            for text, expected in (('{"setting": 1}\n{"sett', [{"setting": 1}]), ("", [])):
                path.write_text(text)
                self.assertEqual(play.finished(path), expected)
                play.write_whole(path, expected)
                with path.open("a") as results:
                    results.write('{"setting": 2}\n')
                self.assertEqual(play.finished(path), [*expected, {"setting": 2}])
            path.write_text('{"setting": 1, "score": 1}\n{"setting": 1}\n')
            self.assertEqual(len(play.finished(path)), 2)
            with self.assertRaisesRegex(ValueError, "line 2: .*no number, score"):
                path.write_text('{"setting": 1, "number": 1, "score": 1}\n{"setting": 1}\n')
                play.finished(path, "number", "score")
            for text in ('{"setting": 1}\n[]\n', '{"setting": 1}\n{}\n', '{"setting": 1}\nno game\n'):
                path.write_text(text)
                with self.assertRaisesRegex(ValueError, "results.jsonl, line 2: "):
                    play.finished(path)

    def test_games_of_one_setting(self) -> None:
        path, games = Path("results.jsonl"), [{"setting": {"seed": 1}}, {"setting": {"seed": 2}}]
        for alike in (games[:1], []):
            play.of_one_setting(path, alike)
            play.of_one_setting(path, alike, {"seed": 1})
        with self.assertRaisesRegex(ValueError, "results.jsonl, line 2: .*'seed': 2.*line 1 is .*'seed': 1"):
            play.of_one_setting(path, games)
        with self.assertRaisesRegex(ValueError, "results.jsonl, line 1: .*'seed': 1.*this is .*'seed': 2"):
            play.of_one_setting(path, games, {"seed": 2})

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

    def test_pairings_are_even(self) -> None:
        for count, games in ((9, 30), (2, 4), (3, 2), (1, 2)):
            pairs = managers.pairings(count, games)
            for player in range(count):
                self.assertEqual(sum(white == player for white, _, _ in pairs), games // 2)
                self.assertEqual(sum(black == player for _, black, _ in pairs), games // 2)
        pairs = managers.pairings(9, 16)
        self.assertEqual(len({(white, black) for white, black, _ in pairs}), 72, "everybody meets everybody")
        openings_of = {(white, black): opening for white, black, opening in pairs}
        self.assertTrue(all(openings_of[black, white] == opening for white, black, opening in pairs))

    def test_elo(self) -> None:
        # Two pairs with a point, one with 1 1/2 and one with 2; the game without its other half does not count.
        scores = dict(enumerate([1.0, 0.0, 0.5, 0.5, 1.0, 0.5, 1.0, 1.0, 0.0], 1))
        counts, difference, low, high = strength.estimate(scores)
        self.assertEqual(counts, [0, 0, 2, 1, 1])
        # The mean is 11/16, its standard error the root of (2 * 9 + 1 + 25) / 256 / 3 / 4: too large for an upper end.
        error = strength.errors_95(3) * math.sqrt((2 * 9 + 1 + 25) / 256 / 3 / 4)
        self.assertAlmostEqual(difference, 400 * math.log10(11 / 5))
        self.assertAlmostEqual(low, strength.elo(11 / 16 - error))
        self.assertEqual(high, math.inf)
        # Twelve pairs with a point and four with 1 1/2.
        _, _, low, high = strength.estimate(dict(enumerate([0.5, 0.5] * 12 + [1.0, 0.5] * 4, 1)))
        error = strength.errors_95(15) * math.sqrt((12 * (1 / 16) ** 2 + 4 * (3 / 16) ** 2) / 15 / 16)
        self.assertAlmostEqual(low, strength.elo(9 / 16 - error))
        self.assertAlmostEqual(high, strength.elo(9 / 16 + error))
        self.assertEqual((strength.elo(0.5), strength.elo(1.0), strength.elo(0.0)), (0.0, math.inf, -math.inf))
        self.assertTrue(math.isnan(strength.estimate({1: 1.0})[1]))
        self.assertEqual(strength.estimate({1: 1.0, 2: 0.5})[2:], (-math.inf, math.inf), "one pair has no error")

    def test_few_pairs_say_less(self) -> None:
        for freedom, expected in ((1, 12.706), (3, 3.182), (9, 2.262), (10, 2.228), (30, 2.042), (10**6, 1.960)):
            self.assertAlmostEqual(strength.errors_95(freedom) / expected, 1, delta=0.01)

    def test_percentiles(self) -> None:
        values = [float(value) for value in range(1, 101)]
        self.assertEqual(summary.percentile(values, 0.99), 99)
        self.assertEqual(summary.percentile([5.0], 0.99), 5)
        self.assertIsNone(summary.percentile([], 0.99))


if __name__ == "__main__":
    unittest.main()
