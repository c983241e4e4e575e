//! Input that no GUI should send: one line that names it, and the engine plays on.

use super::driver::{Uci, errors, game};

#[test]
fn bad_positions_are_named_and_nothing_is_searched_in_their_place() {
    let mut engine = Uci::uniform();
    engine.send("position startpos moves e2e4");
    let board = "8/8/8/8/8/4k3/4p3/4K3 w - -";
    let unclear = [
        " 0 1 e1e2 e1d1",
        " 0 1 e1e2",
        " foo bar",
        " bm Kd2; 7;",
        " id \"a; moves e1e2",
        " hmvc x;",
        " id \"the moves e1e2\";",
    ];
    let unclear = unclear.map(|rest| format!("fen {board}{rest}"));
    let unclear: Vec<(&str, &[&str])> = unclear.iter().map(|text| (text.as_str(), &["invalid FEN"][..])).collect();
    let bad = [
        ("", &["position"][..]),
        ("foo", &["\"foo\""]),
        ("startpos e2e4", &["\"startpos e2e4\""]),
        ("moves e2e4", &["\"moves e2e4\""]),
        ("fen", &["FEN"]),
        ("fen moves e2e4", &["FEN"]),
        ("fen 8/8/8/8/8/8/8/8 w - - 0 1", &["8/8/8/8/8/8/8/8 w - - 0 1", "king"]),
        ("fen 9/8 w - -", &["9/8 w - -", "rank 8"]),
        ("fen 8/8/8/8/8/8/8/8/8 w", &["ranks"]),
        ("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1", &["x KQkq", "turn"]),
        ("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1", &["e9", "ep square"]),
        ("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1", &["-1 1", "halfmove"]),
        ("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 7", &["fields"]),
        ("fen kK6/8/8/8/8/8/8/8 w - - 0 1", &["kK6"]),
        ("fen KK6/8/8/8/8/8/8/k7 w - - 0 1", &["KK6", "king"]),
        ("fen P6k/8/8/8/8/8/8/K7 w - - 0 1", &["pawn"]),
        ("fen ♔♚ w - - 0 1", &["♔♚"]),
        ("startpos moves e2e5", &["e2e5"]),
        ("startpos moves e2e4 e2e4", &["e2e4"]),
        ("startpos moves e2e4 e7e5 0000", &["0000"]),
        ("startpos moves P@e4", &["P@e4"]),
        ("startpos moves e1g1", &["e1g1"]),
        ("startpos moves e2e4q", &["e2e4q"]),
        ("startpos moves e4 e5", &["\"e4\""]),
        ("startpos moves E2E4", &["E2E4"]),
        ("startpos moves é2é4", &["é2é4"]),
    ];
    for (at, (text, parts)) in bad.into_iter().chain(unclear).enumerate() {
        engine.complains(&format!("position {text}"), parts);
        // An answer is due; a move of the position before would be illegal on the board of who asks.
        let go = ["go nodes 20", "go infinite", "go wtime 1000 btime 1000", "go ponder wtime 9 btime 9"][at % 4];
        let lines = engine.ask(go, "bestmove");
        assert!(lines.len() == 2 && lines[1] == "bestmove (none)", "{text}: {lines:?}");
        assert!(errors(&lines)[0].ends_with("the last position was refused: nothing is searched"), "{lines:?}");
        for command in ["eval", "go perft 1"] {
            engine.complains(command, &["nothing is searched"]);
        }
    }
    // A long one is named by its beginning.
    let lines = engine.tell(&format!("position fen {}", "x".repeat(1 << 20)));
    assert!(lines.len() == 1 && lines[0].len() < 400, "{}", lines[0].len());
    engine.plays();
    for (next, position) in [("ucinewgame", "startpos"), ("e7e5", "startpos moves e2e4 e7e5")] {
        engine.send("position startpos moves e2e4");
        engine.complains("position fen x", &["\"x\""]);
        engine.tell(next);
        engine.send("go nodes 20");
        engine.answer(&game(position));
    }
    engine.quit();
}

/// Positions of test suites, with the operations by which an EPD names a best move and much else.
#[test]
fn the_position_of_an_epd_is_taken() {
    let mut engine = Uci::uniform();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for (operations, counters) in [
        ("", "0 1"),
        (" 0 1", "0 1"),
        (" bm e4;", "0 1"),
        (" bm e4", "0 1"),
        (" bm Nf3 e4; id \"WAC.001\";", "0 1"),
        (" 3 9 bm e4; id \"x\";", "3 9"),
        (" hmvc 4; fmvn 30; am e4;", "4 30"),
        (" ;D1 20 ;D2 400", "0 1"),
        (" 0 1 ;D1 20", "0 1"),
        (" c0 \"moves; e2e5\"; acd 7;", "0 1"),
        (" 0 1;", "0 1"),
        (" pv e4 e5; noop;", "0 1"),
    ] {
        for (moves, fen) in [
            ("", format!("{start} w KQkq - {counters}")),
            (" moves e2e3", {
                let full = counters.split_once(' ').unwrap().1;
                format!("rnbqkbnr/pppppppp/8/8/8/4P3/PPPP1PPP/RNBQKBNR b KQkq - 0 {full}")
            }),
        ] {
            let command = format!("position fen {start} w KQkq -{operations}{moves}");
            let lines = engine.tell(&command);
            assert!(lines.is_empty(), "{command}: {lines:?}");
            assert_eq!(engine.ask("fen", "info"), [format!("info string {fen}")], "{command}");
        }
    }
    engine.quit();
}

/// Positions that no game reaches, and counters that no game has.
#[test]
fn strange_positions_are_played() {
    let mut engine = Uci::ready_with(&["--backend=random", "--multipv=500", "--verbose-move-stats"]);
    for position in [
        // The most moves a position can have, for either side.
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        "Kbnn1kb1/PP1q4/q4q2/2q4q/4q3/1q4q1/3q4/r6r b - - 0 1",
        "k7/8/8/8/8/8/8/K6R w - - 99 80",
        "k7/8/8/8/8/8/8/K6R w - - 100 80",
        "k7/8/8/8/8/8/8/K6R w - - 150 80",
        "k7/8/8/8/8/8/8/K6R w - - 4294967295 4294967295 moves h1h2 a8b8 h2h1",
        "k7/8/8/8/8/8/8/K7 w - - 0 1",
        "k/1R//K",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        // Rights without a rook, an en passant square without a pawn, an impossible double check.
        "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1",
        "4k3/8/8/8/8/8/8/4K2R w - e6 0 1",
        "3rk3/8/8/8/8/8/3r4/3K3r w - - 0 1",
    ] {
        for go in ["go nodes 300", "go depth 2", "go wtime 100 btime 100"] {
            let answer = engine.search(position, go);
            assert!(errors(&answer.lines).is_empty(), "{position} {go}: {:?}", answer.lines);
        }
    }
    engine.quit();
}

/// More legal moves than any game can have. All are counted; a search says where it does not know all of them.
#[test]
fn boards_full_of_queens_are_played() {
    let mut engine = Uci::ready_with(&["--backend=random"]);
    for (fen, moves) in [
        // The most moves of any board with two kings by shakmaty's own record, and more.
        ("kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1", 270),
        ("kQQQQQQQ/Q6Q/Q6Q/Q6K/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1", 277),
        ("qqqqqqqq/q6q/q6q/q6q/q6k/q6q/q6q/Kqqqqqqq b - - 0 1", 277),
        ("QQQQQQQQ/Q6Q/Q6Q/1Q5Q/1Q5Q/1Q2Q1QQ/3Q2pp/QQQ1KQbk w - - 0 1", 248),
        ("QQQQQQQQ/Q6Q/Q6Q/Q6Q/Q6Q/Q5pp/Q5pb/QQQQ1Kbk w - - 0 1", 4),
        ("Q1Q1Q1Q1/8/Q6Q/8/Q6Q/6pp/Q5pb/Q1QQ1Kbk w - - 0 1", 4),
        ("QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQpp/QQQQQQpb/KQQQQQbk w - - 0 1", 12),
    ] {
        let lines = engine.tell(&format!("position fen {fen}"));
        let said = |text: &str| errors(&lines).iter().filter(|line| line.contains(text) && line.contains(fen)).count();
        assert_eq!(said(&format!("{moves} legal moves")), usize::from(moves > 255), "{lines:?}");
        assert_eq!(said("illegal position"), usize::from(game(fen).current().is_illegal()), "{lines:?}");
        assert_eq!(engine.tell("go perft 1").pop().unwrap(), format!("Nodes searched: {moves}"), "{fen}");
        for go in ["go nodes 500", "go depth 2", "go wtime 500 btime 500"] {
            engine.send(go);
            engine.answer(&game(fen));
        }
        engine.plays();
    }
    // A king's move comes last, and is beyond what the search knows.
    assert_eq!(errors(&engine.tell("position fen kQQQQQQQ/Q6Q/Q6Q/Q6K/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1")).len(), 2);
    engine.complains("go nodes 10 searchmoves h5g5", &["h5g5", "255"]);
    engine.quit();
}

#[test]
fn unknown_commands_are_named() {
    let mut engine = Uci::uniform();
    for line in ["foo", "foo 1 2", "UCI", "Go nodes 5", "\u{1b}[31mred", "{\"json\":1}"] {
        let shown: String = line.chars().filter(|c| !c.is_control()).collect();
        engine.complains(line, &["unknown command", &shown]);
    }
    for line in ["", " ", "\t", "\r", "debug on", "register later"] {
        assert!(engine.tell(line).is_empty(), "{line:?}");
    }
    engine.plays();
}

#[test]
fn bytes_that_are_no_text() {
    let mut engine = Uci::uniform();
    for line in [&b"\xff\xfe\x00"[..], b"position fen \xff\xff", b"setoption name \x80 value \x81", b"\0\0\0"] {
        engine.send_bytes(line);
        let lines = engine.reply();
        assert_eq!(errors(&lines).len(), 1, "{line:?}: {lines:?}");
    }
    engine.send_bytes(b"position startpos moves e2e4\0");
    assert_eq!(errors(&engine.reply()).len(), 1);
    engine.plays();
    engine.quit();
}

/// A complaint about a long line is not as long as the line.
#[test]
fn very_long_lines() {
    let mut engine = Uci::uniform();
    for line in [
        "x".repeat(1 << 20),
        format!("position fen {}", "8/".repeat(1 << 18)),
        format!("setoption name {} value 1", "a ".repeat(1 << 18)),
        format!("position startpos moves {}", "e2e4 ".repeat(1 << 16)),
        format!("go nodes {}x", "9".repeat(1 << 16)),
        format!("setoption name TimeManager value {}", "(".repeat(1 << 18)),
    ] {
        engine.send(&line);
        if line.starts_with("go") {
            engine.until("bestmove");
            continue;
        }
        let lines = engine.reply();
        assert_eq!(errors(&lines).len(), 1, "{}", &line[..40]);
        assert!(lines[0].len() < 4096, "{} bytes in answer to {}", lines[0].len(), &line[..40]);
    }
    // Long is not wrong: a game of 2000 plies with every repetition in it.
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(500);
    let answer = engine.search(&format!("startpos moves {}", shuffle.trim()), "go nodes 100");
    assert!(errors(&answer.lines).is_empty());
    engine.quit();
}

/// A carriage return within a line must not let the input speak in the engine's name.
#[test]
fn complaints_are_one_line_whatever_they_quote() {
    let mut engine = Uci::uniform();
    engine.send("xyzzy\rbestmove a1a1\u{b}\u{c}\u{85}\u{2028}end");
    let lines = engine.reply();
    assert_eq!(errors(&lines).len(), 1, "{lines:?}");
    assert!(lines[0].chars().all(|c| !c.is_control() && c != '\u{2028}'), "{lines:?}");
}

/// Nor within a path, which is quoted by an error of the operating system, by `uci` and in the log.
#[test]
fn a_path_is_one_line_whatever_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut engine = Uci::uniform();
    engine.send(&format!("setoption name LogFile value {}", log.display()));
    engine.send("setoption name OwnBook value true");
    let path = "x\rbestmove e2e4\u{2028}y";
    let mut lines = engine.tell(&format!("setoption name BookFile value {path}"));
    assert_eq!(errors(&lines).len(), 1, "{lines:?}");
    lines.extend(engine.tell(&format!("setoption name SyzygyPath value {path}")));
    assert_eq!(errors(&lines).len(), 2, "{lines:?}");
    lines.extend(engine.ask("uci", "uciok"));
    assert_eq!(lines.iter().filter(|line| line.contains("x bestmove e2e4 y")).count(), 4, "{lines:?}");
    engine.quit();
    lines.extend(std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned));
    assert!(lines.iter().flat_map(|line| line.chars()).all(|c| !c.is_control() && c != '\u{2028}'), "{lines:?}");
}

#[test]
fn senseless_numbers_of_go() {
    let mut engine = Uci::uniform();
    for (go, part) in [
        ("nodes", "nodes"),
        ("nodes abc", "\"abc\""),
        ("nodes -5", "-5"),
        ("nodes 0x10", "0x10"),
        ("nodes nan", "\"nan\""),
        ("depth -1", "-1"),
        ("depth depth", "\"depth\""),
        ("movetime nan", "\"nan\""),
        ("movetime -inf", "-inf"),
        ("movetime -1e400", "-1e400"),
        ("wtime -100", "-100"),
        ("wtime abc", "\"abc\""),
        ("wtime", "wtime"),
        ("wtime 100 winc -1000", "-1000"),
        ("wtime 100 movestogo -1", "-1"),
        ("wtime 100 movestogo x", "\"x\""),
        ("wtime 200 winc 99999999999999999999999999", "99999999999999999999999999"),
        ("nodes 5 fast", "\"fast\""),
        ("fast nodes 5", "\"fast\""),
    ] {
        let answer = engine.search("startpos", &format!("go {go}"));
        let complaints = errors(&answer.lines);
        assert!(complaints.len() == 1 && complaints[0].contains(part), "{go}: {complaints:?}");
    }
    // These are as good as endless, and must be stopped.
    for go in ["nodes 99999999999999999999999", "movetime inf", "movetime 1e300", "depth 1e99", "mate 0", "wtime inf"] {
        engine.send(&format!("go {go}"));
        let lines = engine.reply();
        assert_eq!(errors(&lines).len(), usize::from(!["mate 0", "wtime inf"].contains(&go)), "{go}: {lines:?}");
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{go}: {lines:?}");
        engine.send("stop");
        engine.answer(&game("startpos"));
    }
    for go in ["wtime 100 movestogo 0", "wtime 1 movestogo 4294967295", "nodes 10 nodes 20", "nodes +5", "movetime 0.5"]
    {
        let answer = engine.search("startpos", &format!("go {go}"));
        assert!(errors(&answer.lines).is_empty(), "{go}: {:?}", answer.lines);
    }
    engine.quit();
}

/// No game has such a position, but Lc0 and others search it; it is named, and it is searched.
#[test]
fn a_check_out_of_turn_is_named_and_searched() {
    let mut engine = Uci::ready_with(&["--backend=random"]);
    engine.complains("position fen 8/8/1k6/8/8/8/1QK5/8 w - - 0 1", &["8/8/1k6/8/8/8/1QK5/8"]);
    let lines = engine.ask("go nodes 2000", "bestmove");
    assert!(lines.last().is_some_and(|line| line.starts_with("bestmove ")), "{lines:?}");
    engine.quit();
}

/// The king that can be taken is taken by perft and by a move of `position`, and nothing comes after it.
#[test]
fn a_king_that_is_taken_is_survived() {
    const FEN: &str = "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1";
    let mut engine = Uci::ready_with(&["--backend=random"]);
    engine.complains(&format!("position fen {FEN}"), &[FEN]);
    let lines = engine.tell("go perft 2");
    assert!(lines.iter().any(|line| line == "e7e8: 0") && lines.iter().any(|line| line == "e1d1: 3"), "{lines:?}");
    for (moves, part) in [("e7e8 e1e2", "e1e2"), ("e7e8 a8a7", "a8a7"), ("e7e8 e1g1", "e1g1")] {
        engine.complains(&format!("position fen {FEN} moves {moves}"), &[part, "4R3/8/8/8/8/8/8/4K3 b - - 0 1"]);
    }
    engine.send(&format!("position fen {FEN} moves e7e8"));
    engine.send("go nodes 10 searchmoves e8e7");
    assert_eq!(engine.until("bestmove").last().unwrap(), "bestmove (none)");
    assert_eq!(engine.tell("go perft 3").last().unwrap(), "Nodes searched: 0");
    engine.quit();
}
