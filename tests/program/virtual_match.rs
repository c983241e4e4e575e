//! Plays matches on a virtual clock through the command line: they are the same to the byte at any concurrency, on a
//! busy machine, and after any interruption.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::kills;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zeitnot_engine::splitmix::SplitMix64;

/// Games of each match here.
const GAMES: usize = 12;

/// The command of a match in this folder.
fn command(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["match", "--clock", "virtual", "--nps", "400", "--tc", "1+0.01", "--games", &GAMES.to_string()]);
    // A random evaluator needs no network, and games by it are short of nothing: mates, repetitions, forfeits.
    command.args(["--backend", "random", "--lag", "2,40", "--jitter", "0.1", "--option2", "TimeManager=legacy"]);
    command.args(["--openings", "book.epd", "--json"]).args(flags);
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let book = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
                rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
                rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
                rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -\n";
    std::fs::write(folder.path().join("book.epd"), book).unwrap();
    folder
}

/// The PGN without its dates.
fn pgn(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("match.pgn")).unwrap();
    text.lines().filter(|line| !line.starts_with("[Date ")).map(|line| format!("{line}\n")).collect()
}

/// Plays a match to its end; its PGN and its lines of JSON without the last number, the seconds.
fn play(folder: &Path, flags: &[&str]) -> (String, String) {
    let output = command(folder, flags).output().unwrap();
    let (told, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    let end = told.rfind("\"seconds\"").expect("a summary");
    (pgn(folder), told[..end].to_owned())
}

#[test]
fn a_match_is_the_same_at_any_concurrency_and_beside_busy_threads() {
    let (one, two) = (folder(), folder());
    let alone = play(one.path(), &["--concurrency", "1"]);
    assert_eq!(alone.0.matches("[Event ").count(), GAMES);
    assert_eq!(alone.1.lines().count(), GAMES + 1, "{}", alone.1);
    let over = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let busy = play(two.path(), &["--concurrency", "2"]);
        over.store(true, Ordering::Relaxed);
        busy
    });
    assert!(alone == busy, "{}\n{}", alone.0, busy.0);
    let other = folder();
    let fens = |pgn: &str| pgn.lines().filter(|line| line.starts_with("[FEN")).map(str::to_owned).collect::<Vec<_>>();
    let (here, there) = (fens(&alone.0), fens(&play(other.path(), &["--seed", "2"]).0));
    assert!(here != there && here.len() == there.len(), "the seed decides the order of the openings");
}

#[test]
fn games_with_pondering_repeat_themselves_too() {
    let (one, two) = (folder(), folder());
    let ponder = |folder: &Path, concurrency: &str| play(folder, &["--ponder", "--concurrency", concurrency]);
    let alone = ponder(one.path(), "1");
    assert!(alone == ponder(two.path(), "3"));
    let plain = folder();
    assert!(play(plain.path(), &["--concurrency", "1"]).0 != alone.0, "pondering changes games");
}

#[test]
fn games_of_others_behind_those_of_a_match_are_not_touched() {
    let folder = folder();
    play(folder.path(), &[]);
    let path = folder.path().join("match.pgn");
    let games = std::fs::read_to_string(&path).unwrap();
    let with_mine = format!("{games}[Event \"my own\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n");
    std::fs::write(&path, &with_mine).unwrap();
    let output = command(folder.path(), &["--resume"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("has other games behind those of this match"), "{errors}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), with_mine);
}

#[test]
fn games_that_would_repeat_each_other_are_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("one.epd"), "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n")
        .unwrap();
    // The jitter of a batch is the same in every game, and where nodes end a search, no lag does.
    for flags in [&[][..], &["--jitter", "0.2"], &["--nodes", "20", "--lag", "2,40"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["match", "--clock", "virtual", "--backend", "random", "--games", "4"]);
        let output = command.args(["--openings", "one.epd"]).args(flags).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains("4 games from 1 opening would repeat"),
            "{flags:?}: {errors}"
        );
    }
}

#[test]
fn games_without_openings_begin_with_the_book_inside_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let play = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["match", "--clock", "virtual", "--backend", "random", "--games", "4"]);
        let output = command.args(["--movetime", "20,40", "--max-moves", "12"]).args(flags).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        pgn(folder.path())
    };
    let games = play(&["--name1", "First", "--name2", "Second", "--option2", "TimeManager=simple"]);
    let first_moves: Vec<&str> = games.lines().filter(|line| line.starts_with("1. ")).collect();
    assert!(first_moves[0] != first_moves[2] && games.matches("[ECO ").count() == 4, "{games}");
    assert!(games.contains("[White \"First\"]\n[Black \"Second\"]\n"), "{games}");
    let times = "[WhiteTimeControl \"0.02/move\"]\n[BlackTimeControl \"0.04/move\"]\n[Termination \"adjudication\"]";
    assert!(games.contains(times) && !games.contains("time forfeit"), "{games}");
    assert_eq!(play(&["--name1", "First", "--name2", "Second", "--option2", "TimeManager=simple", "--resume"]), games);
}

/// One random player varies the games that it plays, not those of the others.
#[test]
fn a_comparison_is_refused_where_one_of_its_pairs_would_repeat_itself() {
    let folder = tempfile::tempdir().unwrap();
    let compare = |specs: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["time", "compare"]).args(specs);
        command.args(["--games", "4", "--backend", "random", "--nps", "400", "--tc", "1+0.01", "--fen", "startpos"]);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let random = "TimeManager=simple;Temperature=1";
    let (is_played, errors) = compare(&["legacy", "simple", random]);
    assert!(!is_played && errors.lines().count() == 1, "{errors}");
    assert!(errors.contains("legacy - simple: 4 games from 1 opening would repeat each other"), "{errors}");
    let (is_played, errors) = compare(&[random, "legacy", "simple", "--gauntlet"]);
    assert!(is_played, "{errors}");
}

/// A proof's page without the line of program and date.
fn proof(folder: &Path, flags: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).args(["time", "compare", "--cells", "builtin", "--scale", "150"]).args(flags);
    let output = command.output().unwrap();
    let (page, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    page.lines().filter(|line| !line.starts_with("Zeitnot ")).map(str::to_owned).collect()
}

#[test]
fn a_proof_goes_on_and_repeats_itself() {
    if !zeitnot_kernels::Isa::Avx2.is_available() {
        eprintln!("skipped: no AVX2");
        return;
    }
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = proof(one.path(), &["--quick", "--games", "4"]);
    let begun = proof(other.path(), &["--quick", "--games", "2"]);
    assert_eq!(proof(other.path(), &["--quick", "--games", "4", "--concurrency", "1"]), whole);
    assert_ne!(begun.last(), whole.last(), "another digest");
    assert!(whole.iter().any(|line| line.starts_with("| 150 | `legacy` | 4 |")), "{whole:?}");
    assert!(one.path().join("compare/150-zeitnot-small-430-10+0.1-legacy.pgn").is_file());
}

#[test]
fn cells_of_a_file_are_played_as_declared() {
    let folder = tempfile::tempdir().unwrap();
    let cell = r#"{"scale":9,"network":"zeitnot-tiny","nps":80,"tc":"1+0.02","second":"legacy","games":2,"quick":0}"#;
    let head = r#"{"seed":7,"book":"builtin","isa":"portable","first":"simple","bounds":{"pooled_lower":0,"cell":-10}"#;
    let cells = &format!("{head},\"cells\":[{cell}]}}");
    let compare = |text: &str, flags: &[&str]| {
        std::fs::write(folder.path().join("cells.json"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["time", "compare"]).args(flags);
        if !flags.contains(&"--cells") {
            command.args(["--cells", "cells.json"]);
        }
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (is_played, page, errors) = compare(cells, &[]);
    assert!(is_played && page.contains("| 9 | zeitnot-tiny | 1+0.02 | `legacy` | 2 |"), "{page}{errors}");
    assert!(folder.path().join("compare/9-zeitnot-tiny-80-1+0.02-legacy.pgn").is_file());
    let book = |fen: &str| std::fs::write(folder.path().join("book.epd"), format!("{fen}\n")).unwrap();
    let of_book = cells.replace("builtin", "book.epd");
    let (one, other) = ("4k3/8/8/8/8/8/4P3/4K3 w - -", "4k3/8/8/8/8/8/3P4/4K3 w - -");
    book(one);
    assert!(compare(&of_book, &["--out", "book"]).0);
    book(other);
    let (is_played, _, errors) = compare(&of_book, &["--out", "book"]);
    assert!(!is_played && errors.contains("book.epd"), "another book of the same name: {errors}");
    for (text, flags, complaint) in [
        (&cells[1..], &[][..], "cells.json: "),
        (&cells.replace("1+0.02", "fast"), &[], "cells.json: 9-zeitnot-tiny-80-fast-legacy: "),
        (cells, &["--quick"], "no cell has this scale, or is part of a quick run"),
        (cells, &["--scale", "150"], "no cell has this scale; there are 9"),
        (cells, &["--cells", "builtn"], "builtin; did you mean \"builtin\"?"),
        (cells, &["--games", "3"], "--games 3: each opening is played twice"),
        (&cells.replace("zeitnot-tiny", "no-such"), &[], "no-such"),
        (&cells.replace("]}", &format!(",{}]}}", cell.replace("legacy", "legcy"))), &[], "legcy"),
        (&cells.replace("]}", &format!(",{cell}]}}")), &[], "80-1+0.02-legacy: another cell has the same games"),
        (&cells.replace("]}", &format!(",{}]}}", cell.replace("0.02", ".02"))), &[], "80-1+.02-legacy: another cell"),
        (&cells.replace(":80", ":0"), &[], "9-zeitnot-tiny-0-1+0.02-legacy: "),
        (&cells.replace("games\":2", "games\":3"), &[], "games 3, quick 0: even numbers"),
        (&cells.replace("games\":2", "games\":0"), &[], "games 0, quick 0: "),
        (&cells.replace("quick\":0", "quick\":4"), &[], "games 2, quick 4: "),
        (
            cells,
            &["--cpuct", "9"],
            "CPuct is set, but declared cells are played with the options of their declaration alone",
        ),
    ] {
        std::fs::remove_dir_all(folder.path().join("compare")).ok();
        let (is_played, page, errors) = compare(text, flags);
        assert!(!is_played && page.is_empty(), "{flags:?}: {page}");
        assert!(errors.lines().last().is_some_and(|line| line.contains(complaint)), "{flags:?}: {errors}");
        let played = std::fs::read_dir(folder.path().join("compare")).map_or(0, Iterator::count);
        assert_eq!(played, 0, "{complaint}");
    }
    // A declaration says all of its games.
    for flags in [["--draw", "40,8,15"], ["--lag", "20"], ["--seed", "2"], ["--engine", "stockfish"]] {
        let (is_played, _, errors) = compare(cells, &flags);
        assert!(!is_played && errors.contains("cannot be used with") && errors.contains(flags[0]), "{errors}");
    }
    for flag in ["--quick", "--scale=150"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        let output = command.args(["time", "compare", "smooth", "legacy", flag]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(" is about declared cells: --cells names them"),
            "{errors}"
        );
    }
}

/// `ZEITNOT_KILLS=50` kills a match that often.
#[test]
fn a_match_that_is_killed_at_any_moment_goes_on_without_losing_or_repeating_a_game() {
    let wanted: usize = std::env::var("ZEITNOT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let reference = folder();
    let started = Instant::now();
    let expected = play(reference.path(), &["--concurrency", "2"]);
    let whole_ms = started.elapsed().as_millis() as usize;
    let mut random = SplitMix64(wanted as u64);
    let mut kills = 0;
    while kills < wanted {
        let folder = folder();
        let begin = || command(folder.path(), &["--concurrency", "2", "--resume"]).spawn().unwrap();
        let in_this = kills::until_over(&begin, whole_ms, &mut random);
        kills += in_this;
        let finished = play(folder.path(), &["--concurrency", "1", "--resume"]);
        assert!(finished == expected, "after {in_this} kills:\n{}\n{}", finished.0, expected.0);
        let again = play(folder.path(), &["--resume"]);
        assert!(again == expected, "a match that is over is told again");
    }
}

/// Plays on in `folder` until the journal has `lines` lines, and tells the match to end.
#[cfg(unix)]
fn terminate_at(folder: &Path, lines: usize) {
    let mut child = command(folder, &["--concurrency", "4", "--resume"]).spawn().unwrap();
    let journal = folder.join("match.pgn.jsonl");
    while std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < lines
        && child.try_wait().unwrap().is_none()
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).stderr(Stdio::null()).status().unwrap();
    child.wait().unwrap();
}

/// Games that several threads had begun are broken off and written; they are played from their first move again. The
/// first line of the journal is the settings: at one line no game has ended.
#[cfg(unix)]
#[test]
fn a_match_that_is_told_to_end_goes_on_without_losing_or_repeating_a_game() {
    let reference = folder();
    let expected = play(reference.path(), &["--concurrency", "1"]);
    let mut broken_off = 0;
    for lines in [[1, 1], [1, 2], [1, 4], [2, 3], [3, 6], [5, 9], [8, 11]] {
        let folder = folder();
        for lines in lines {
            terminate_at(folder.path(), lines);
            broken_off = broken_off.max(pgn(folder.path()).matches("[Result \"*\"]").count());
        }
        let resumed = play(folder.path(), &["--concurrency", "2", "--resume"]);
        assert!(resumed == expected, "after {lines:?} lines:\n{}\n{}", resumed.0, expected.0);
    }
    assert!(broken_off > 1, "no match had two games broken off");
}

/// An SPRT drops the games that end after its decision, where the match goes on, too.
#[test]
fn a_match_that_a_test_decided_stays_as_it_is() {
    let folder = folder();
    let flags = ["--sprt", "-200,200", "--concurrency", "6", "--games", "60", "--fen", "startpos"];
    let play = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["match", "--clock", "virtual", "--tc", "1+0.01", "--lag", "2,40"]);
        let output = command.args(["--nps", "400", "--backend", "random", "--json"]).args(flags).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        pgn(folder.path())
    };
    let first = play(&flags);
    let games = first.matches("[Event ").count();
    assert!(games < 60, "it was not decided");
    assert!(first == play(&[&flags[..], &["--resume"]].concat()));
}

#[test]
fn what_would_lose_games_or_mix_matches_is_refused_in_one_line() {
    let folder = folder();
    let mut child = command(folder.path(), &["--concurrency", "1"]).spawn().unwrap();
    let journal = folder.path().join("match.pgn.jsonl");
    // The second line is the first game; a part of it would be none.
    while std::fs::read_to_string(&journal).map_or(0, |text| text.matches('\n').count()) < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = |flags: &[&str], part: &str| {
        let output = command(folder.path(), flags).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = errors.lines().last().unwrap_or_default();
        assert!(!output.status.success() && last.contains(part), "{flags:?}: {errors}");
    };
    // Where it ended before it could be killed there is nothing to refuse.
    if !std::fs::read_to_string(&journal).unwrap().contains("{\"end\":true}") {
        refused(&[], "--resume goes on with it");
    }
    refused(&["--resume", "--seed", "2"], "holds a match with another");
    refused(&["--resume", "--max-moves", "9"], "holds a match with another");
    refused(&["--resume", "--sprt", "5,0"], "--sprt");
    refused(&["--openings", "missing.pgn"], "missing.pgn");
    refused(&["--nodes", "1,2,3"], "--nodes: one number, or one for each player");
    assert_eq!(command(folder.path(), &["--resume"]).output().unwrap().status.code(), Some(0));
    // What is refused before the match begins leaves the journal of the last one as it is.
    let ended = std::fs::read(&journal).unwrap();
    for (flags, part) in [
        (&["--live"][..], "--live: standard error is no terminal"),
        (&["--tb", "/no/such"], "--tb /no/such"),
        (&["--pgn", "/no/such/match.pgn"], "cannot write /no/such/match.pgn"),
    ] {
        refused(flags, part);
        assert!(std::fs::read(&journal).unwrap() == ended, "{flags:?}");
    }
    // An engine that does not start is told when the match would begin.
    let mut match_of_others = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    match_of_others.current_dir(folder.path()).args(["match", "--backend", "random", "--nodes", "5"]);
    let output = match_of_others.args(["--engine2", "/no/such --fast", "--name2", "X"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("cannot start /no/such"), "{errors}");
    assert!(errors.contains("the match ended before its first game did") && !errors.contains("--resume"), "{errors}");
    assert!(std::fs::read(&journal).unwrap() == ended);
}
