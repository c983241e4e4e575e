//! Tests `zeitnot time audit`: on the TCEC games of the folder shared/ where it is there, and on damaged files.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::{Command, Output};
use zeitnot_analysis::audit::game_times;
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_games::{PgnGame, read_games};

fn audit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zeitnot")).args(["time", "audit"]).args(args).output().unwrap()
}

/// Games with every kind of comment that is read.
const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[TimeControl \"3600+7\"]\n\n1. e4 {book, } c5 {book, }\n\
    2. Nf3 {d=14, sd=39, mt=161060, tl=3445940, s=6194, n=997300, wv=0.51, }\n\
    d6 {d=41, mt=289985, tl=3317015, n=17018669658, } (2... e6 3. d4 {no}) 1/2-1/2\n\n\
    [White \"B\"]\n[Black \"A\"]\n[TimeControl \"40/60\"]\n\n1. d4 {+0.31/12 1.23s} d5 {-0.20/11 2.5s, n=100, tl=57.5s} 1-0\n\n\
    [White \"C\"]\n[Black \"D\"]\n[TimeControl \"180+2\"]\n\n1. e4 {[%clk 0:02:59]} e5 {[%eval 0.2] [%clk 0:03:01.5]} 0-1\n";

#[test]
fn every_move_gets_an_object_and_every_player_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, GAMES).unwrap();
    let output = audit(&[path.to_str().unwrap(), "--json", "--manager", "simple"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7, "six moves out of book and a summary");
    assert_eq!(lines[0]["used_ms"], 161_060.0);
    assert_eq!(lines[0]["clock_ms"], 3_600_000.0);
    assert!(lines[0]["managers"]["simple"].as_f64().unwrap() > 0.0);
    let players: Vec<&str> =
        lines[6]["summary"]["players"].as_array().unwrap().iter().map(|row| row["player"].as_str().unwrap()).collect();
    assert_eq!(players, ["A", "A", "B", "B", "C", "D"], "a row for each speed");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn tcec_games_are_read_whole() {
    let folder = crate::common::shared().join("data/tcec");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let games = read_games(std::fs::File::open(&file).unwrap()).unwrap();
        for game in &games {
            assert!(game.problem.is_none(), "{}: {:?}", file.display(), game.problem);
            let times = game_times(game);
            // Nearly all moves out of book have times, and no clock is below 0.
            let moves = game.game.moves().len();
            assert!(times.moves.len() + 40 > moves, "{} game {}", file.display(), game.number);
            assert!(times.moves.iter().all(|mv| mv.clock_ms >= Some(0.0) && mv.used_ms >= 0.0));
            assert!(times.doubts.is_empty() && times.remarks.is_empty(), "{}: {times:?}", file.display());
        }
        eprintln!("{}: {} games", file.display(), games.len());
    }
}

#[test]
fn damaged_files_end_in_clear_lines() {
    let mut random = SplitMix64(27);
    let whole = |game: &PgnGame| (game.tags.clone(), game.game.moves().to_vec(), game_times(game));
    let sound: Vec<_> = read_games(GAMES.as_bytes()).unwrap().iter().map(whole).collect();
    for round in 0..1_000 {
        let mut bytes = GAMES.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.below(256) as u8,
                2 => {
                    // Parts change places.
                    bytes.rotate_left(at);
                }
                3 => {
                    let end = (at + random.below(30)).min(bytes.len());
                    bytes.drain(at..end);
                    bytes.push(b'\n');
                }
                _ => {
                    let part =
                        [&b"[%clk 9:99:99]"[..], b"(((", b"{", b"mt=-5", b"tl=1e300", b"\xff\xfe"][random.below(6)];
                    bytes.splice(at..at, part.iter().copied());
                }
            }
        }
        // The games before the damage come back whole; whatever is left of the others is read, and its clocks are
        // times.
        let games = read_games(&[format!("{GAMES}\n").as_bytes(), &bytes].concat()[..]).unwrap();
        assert_eq!(games.iter().take(sound.len()).map(whole).collect::<Vec<_>>(), sound, "{round}");
        assert!(games[..sound.len()].iter().all(|game| game.problem.is_none()), "{round}");
        for game in &games {
            assert!(game.problem.as_ref().is_none_or(|problem| !problem.contains('\n')), "{round}: {:?}", game.problem);
            for mv in game_times(game).moves {
                let is_time = |ms: f64| ms >= 0.0 && ms.is_finite();
                assert!(mv.clock_ms.is_none_or(is_time) && is_time(mv.used_ms), "{round}: {mv:?}");
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_in_a_comment_has_its_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pgn");
    std::fs::write(&path, format!("{GAMES}\n[White \"E\"]\n\n1. e4 {{[%clk 0:0")).unwrap();
    let output = audit(&[path.to_str().unwrap(), "--json", "--manager", "smooth"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("game 4: a comment without an end after 1 plies"), "{said}");
    assert!(said.contains("3 of 4 games have moves with clocks") && said.lines().count() == 2, "{said}");
    assert_eq!(output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(), 7);
    let report = folder.path().join("report.html");
    let arguments = ["time", "report", path.to_str().unwrap(), "--out", report.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_zeitnot")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(report).unwrap().contains("3 games with clocks of 4"));
}

#[test]
fn estimates_are_of_the_game_and_not_of_the_period() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("periods.pgn");
    // The last move of 2 in a minute, with three more to come.
    let moves = "1. Nf3 {book} Nf6 {book} 2. Ng1 {+0.1/5 9s} Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 *";
    std::fs::write(&path, format!("[TimeControl \"2/60\"]\n\n{moves}\n")).unwrap();
    let managers = ["smooth", "simple", "alphazero"];
    let named = managers.iter().flat_map(|manager| ["--manager", manager]);
    let output = audit(&[&[path.to_str().unwrap(), "--json"][..], &named.collect::<Vec<_>>()].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["moves_left_true"], 4);
    let summary = &lines[1]["summary"]["managers"];
    let error = summary[0]["moves_left_error"]["median"].as_f64().unwrap();
    assert!(error > 20.0, "smooth thinks of a whole game: {error}");
    for manager in [1, 2] {
        assert!(summary[manager]["moves_left_error"].is_null() && summary[manager]["moves"] == 1, "{summary}");
    }
    let table = audit(&[path.to_str().unwrap(), "--manager", "simple"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("| simple | - / - | "), "{table}");
}

#[test]
fn files_that_are_not_there_or_hold_nothing_are_named() {
    let line = |args: &[&str]| {
        let output = audit(args);
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (is_fine, said) = line(&["missing.pgn"]);
    assert!(!is_fine && said.contains("missing.pgn") && said.lines().count() == 1, "{said}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.pgn");
    std::fs::write(&path, "").unwrap();
    let (is_fine, said) = line(&[path.to_str().unwrap()]);
    assert!(!is_fine && said.contains("0 of 0 games have moves with clocks"), "{said}");
    let (is_fine, said) = line(&[path.to_str().unwrap(), "--manager", "none"]);
    assert!(!is_fine && said.contains("none"), "{said}");
}

#[test]
fn a_move_of_a_game_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, GAMES).unwrap();
    let explain = |args: &[&str]| {
        let game = ["time", "explain", "game", path.to_str().unwrap()];
        Command::new(env!("CARGO_BIN_EXE_zeitnot")).args(game).args(args).output().unwrap()
    };
    let output = explain(&["--ply", "3", "--manager", "simple", "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["move"], "2... d6");
    assert_eq!((&plan["used_ms"], &plan["clock_ms"]), (&289_985.0.into(), &3_600_000.0.into()));
    assert!(plan["budget_ms"].as_f64().unwrap() > 0.0 && plan["terms"].as_array().unwrap().len() > 3, "{plan}");
    // The same as the audit says of that move.
    let audited = audit(&[path.to_str().unwrap(), "--json", "--manager", "simple"]);
    let second: serde_json::Value =
        serde_json::from_slice(audited.stdout.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap();
    assert_eq!((second["ply"].as_u64(), &second["managers"]["simple"]), (Some(3), &plan["budget_ms"]));
    let output = explain(&["--ply", "1", "--number", "2"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.starts_with(
            "1... d5 (Black): 60.0 s on the clock, 2.500 s used and 100 nodes; it was the last move of this side."
        ),
        "{said}"
    );
    for (args, problem) in [
        (&["--ply", "0"][..], "game 1 has no clock for the move after 0 of its 4 plies"),
        (&["--ply", "2", "--number", "4"], "has games 1 to 3"),
        (&["--ply", "2", "--manager", "none"], "none"),
    ] {
        let output = explain(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(problem) && said.lines().count() == 1, "{said}");
    }
}
