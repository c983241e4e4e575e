//! Tests `zeitnot analyse` from end to end, on a backend that needs no network.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kills;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_games::read_games;

const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"1500\"]\n[TimeControl \"180+2\"]\n[Result \"0-1\"]\n\n\
    {Begin} 1. e4 $1 {[%clk 0:03:00] known} e5 {[%clk 0:03:00]} (1... c5 {Sicilian} (1... e6) 2. Nf3) 2. Nf3 {[%clk 0:02:30]} Nc6 \
    {[%clk 0:02:59]} 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1\n\n\
    [White \"C\"]\n[Black \"D\"]\n\n1. d4 d5 2. Ke5 Nf6 *\n\n\
    [White \"B\"]\n[Black \"A\"]\n\n1. c4 {[%eval 0.3,9]} e5 1/2-1/2\n\n\
    [White \"E\"]\n[Black \"A\"]\n\n1. f3 e5 2. g4 {cut of";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    folder
}

fn analyse(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).args(["analyse", "games.pgn", "--backend", "random"]).args(more);
    command
}

fn line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn games_are_annotated_and_damaged_ones_are_named() {
    let folder = folder();
    let files = ["--out", "out.pgn", "--json", "out.json"];
    let output = analyse(folder.path(), &[&files[..], &["--nodes", "60"]].concat()).output().unwrap();
    let said = line(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("games.pgn game 2: illegal move Ke5 after 2 plies: the rest of it is left out"), "{said}");
    assert!(said.contains("games.pgn game 4: a comment without an end after 3 plies"), "{said}");
    let pgn = read(folder.path(), "out.pgn");
    let games = read_games(pgn.as_bytes()).unwrap();
    assert_eq!(games.iter().map(|game| game.game.moves().len()).collect::<Vec<_>>(), [14, 2, 2, 3]);
    assert!(games.iter().all(|game| game.problem.is_none()), "{pgn}");
    let first = &games[0];
    assert_eq!((&first.comments[0][..], &first.glyphs[1][..]), (&["Begin".to_owned()][..], &[1][..]));
    assert_eq!(first.variations[2], ["(1... c5 {Sicilian} (1... e6) 2. Nf3)"]);
    assert!(first.comments_of(0)[0].ends_with(" [%clk 0:03:00] known"), "{pgn}");
    // Every position but the mated one has an evaluation, and the old one is gone.
    let evals = |game: usize| pgn.split("[White ").nth(game + 1).unwrap().matches("[%eval ").count();
    assert_eq!([0, 1, 2, 3].map(evals), [13, 2, 2, 3]);
    assert!(!pgn.contains("[%eval 0.3,9]"));
    let json: Value = serde_json::from_str(&read(folder.path(), "out.json")).unwrap();
    assert_eq!((&json["kind"], &json["limit"]), (&"analysis".into(), &"60 nodes a move".into()));
    let moves = json["games"][0]["moves"].as_array().unwrap();
    assert_eq!((moves.len(), &moves[13]["san"], &moves[13]["eval"]["mate"]), (14, &"Nf3#".into(), &0.into()));
    assert_eq!((&moves[2]["used_ms"], &moves[2]["clock_ms"]), (&32_000.0.into(), &150_000.0.into()));
    assert!(moves[2]["time"]["usual_ms"].as_f64().unwrap() > 1_000.0 && json["games"][1]["white"]["clock"].is_null());
    let names: Vec<_> = json["players"].as_array().unwrap().iter().map(|player| &player["name"]).collect();
    assert_eq!(names[0], "A");
    assert_eq!((names.len(), &json["players"][0]["games"]), (5, &3.into()));
    assert!(!folder.path().join("out.pgn.work.jsonl").exists());
}

#[test]
fn one_output_is_enough_and_may_be_the_standard_one() {
    let folder = folder();
    let run = |more: &[&str]| analyse(folder.path(), &[more, &["--nodes", "5"]].concat()).output().unwrap();
    let output = run(&["--json", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(json["games"].as_array().unwrap().len(), 4);
    assert!(line(&output).lines().any(|line| line.starts_with("4 games: ")), "{}", line(&output));
    assert_eq!(read_games(&run(&["--out", "-"]).stdout[..]).unwrap().len(), 4);
    let output = run(&["--html", "page.html"]);
    assert!(output.status.success() && read(folder.path(), "page.html").contains("<html"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("4 games in page.html: "), "{output:?}");
    let output = run(&["--json", "-", "--html", "-"]);
    assert!(line(&output).contains("- is named for two results"), "{output:?}");
    assert_eq!(run(&[]).status.code(), Some(2));
    // Nothing is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn work_without_a_file_leaves_none_when_it_is_killed() {
    let (folder, temporary) = (folder(), tempfile::tempdir().unwrap());
    let mut command = analyse(folder.path(), &["--json", "-", "--nodes", "1000000000"]);
    command.envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, temporary.path())));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn work_that_is_killed_goes_on_and_gives_the_same_files() {
    let folder = folder();
    std::fs::write(folder.path().join("games.pgn"), GAMES.replace("{cut of", "*\n\n").repeat(3)).unwrap();
    let with = |out: &str, parallel: &str| {
        let json = format!("{out}.json");
        let more = ["--nodes", "1200", "--out", out, "--json", &json, "--parallel", parallel];
        analyse(folder.path(), &more)
    };
    let begin = Instant::now();
    assert!(with("whole.pgn", "1").output().unwrap().status.success());
    let whole_ms = begin.elapsed().as_millis() as usize;
    let mut random = SplitMix64(5);
    let start = || with("cut.pgn", "2").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let kills = kills::until_over(&start, whole_ms, &mut random);
    assert!(read(folder.path(), "cut.pgn") == read(folder.path(), "whole.pgn"), "after {kills} kills");
    assert!(read(folder.path(), "cut.pgn.json") == read(folder.path(), "whole.pgn.json"), "after {kills} kills");
}

#[test]
fn a_work_file_of_other_settings_is_named() {
    let folder = folder();
    let with = |nodes: &str| analyse(folder.path(), &["--out", "out.pgn", "--nodes", nodes]).output().unwrap();
    let work = folder.path().join("out.pgn.work.jsonl");
    std::fs::write(&work, "{\"limit\":\"7 nodes a move\"}\n{\"number\":1,\"elapsed_ms\":1,\"facts\":[]}\n").unwrap();
    let output = with("9");
    assert!(!output.status.success());
    assert!(line(&output).contains("delete out.pgn.work.jsonl, or name another --out"), "{}", line(&output));
    assert!(work.exists() && !folder.path().join("out.pgn").exists());
}

#[test]
fn evaluations_of_comments_need_no_network() {
    let folder = folder();
    let more = ["--trust-evals", "--out", "out.pgn", "--json", "out.json"];
    let output = analyse(folder.path(), &more).output().unwrap();
    assert!(output.status.success() && !line(&output).contains("random"), "{}", line(&output));
    let json: Value = serde_json::from_str(&read(folder.path(), "out.json")).unwrap();
    assert!(json["network"].is_null() && json["games"][2]["moves"][0]["eval"]["cp"] == 30);
    assert!(read(folder.path(), "out.pgn").contains("1. c4 {[%eval 0.3,9]} 1... e5 1/2-1/2"));
    // A mate on the board needs no comment; the move before it is not judged.
    assert_eq!(json["games"][0]["moves"][13]["eval"]["mate"], 0);
    std::fs::write(folder.path().join("games.pgn"), "1. f3 e5 2. g4 Qh4# 0-1\n").unwrap();
    let output = analyse(folder.path(), &["--trust-evals", "--html", "mate.html"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("no move has an evaluation: nothing is judged"));
}

#[test]
fn results_do_not_take_the_place_of_games_or_of_one_another() {
    let folder = folder();
    let games = read(folder.path(), "games.pgn");
    for (more, told) in [
        (["--out", "./games.pgn", "--nodes", "4"], "./games.pgn has the games"),
        (["--out", "a.pgn", "--json", "games.pgn"], "games.pgn has the games"),
        (["--out", "a.pgn", "--html", "a.pgn"], "a.pgn is named for two results"),
    ] {
        let output = analyse(folder.path(), &more).output().unwrap();
        assert!(!output.status.success() && line(&output).contains(told), "{}", line(&output));
    }
    assert_eq!(read(folder.path(), "games.pgn"), games);
}

#[test]
fn every_game_stays_in_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let games = "[White \"A\"]\n[Variant \"Atomic\"]\n\n1. e4 {boom} e5 2. Nf3 1-0\n\n\
        [White \"B\"]\n\n1. e4 e5 2. -- Nf6 {[%clk 0:01:00]} (2... d5) 3. d4 *\n\n\
        [White \"C\"]\n\n1. e4 e5 2. Sf3 Sc6 1/2-1/2\n\n\
        [White \"D\"]\n\n1. f3 e5 2. Ke4 {[%clk 0:02:00] why} Nf6 0-1\n\n[White \"E\"]\n\n1. e4 e5 (1... c5 {cut\n";
    std::fs::write(folder.path().join("games.pgn"), games).unwrap();
    for more in [&["--nodes", "20"][..], &["--trust-evals"]] {
        let output = analyse(folder.path(), &[&["--out", "out.pgn"], more].concat()).output().unwrap();
        let said = line(&output);
        assert!(output.status.success() && said.contains("(a piece in another language's letters)"), "{said}");
        let pgn = read(folder.path(), "out.pgn");
        for part in [
            "1. e4 {boom} e5 2. Nf3 1-0\n",
            "1. e4 e5 2. -- Nf6 {[%clk 0:01:00]} (2... d5) 3. d4 *\n",
            "1. e4 e5 2. Sf3 Sc6 1/2-1/2\n",
            "{Not read: Ke4 ([ %clk 0:02:00] why) Nf6 0-1} 0-1\n",
            "{Not read: (1... c5 (cut}",
        ] {
            assert!(pgn.replace("}\n", "} ").contains(part), "{part} in {pgn}");
        }
        // The result is read as the games were.
        let shape = |text: &str| {
            let games = read_games(text.as_bytes()).unwrap();
            games.iter().map(|game| (game.tags.clone(), game.game.moves().to_vec(), game.result)).collect::<Vec<_>>()
        };
        let (found, known) = (shape(&pgn), shape(games));
        assert_eq!(found[..4], known[..4]);
        assert_eq!((&found[4].0, &found[4].1), (&known[4].0, &known[4].1));
    }
}

#[test]
fn other_files_are_not_written_over() {
    let folder = folder();
    let other = "[White \"X\"]\n\n1. d4 *\n";
    for (name, text) in
        [("notes.txt", "Buy milk.\n"), ("other.pgn", other), ("longer.pgn", &format!("{GAMES}}}\n\n{other}"))]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
        let is_pgn = name.ends_with("pgn");
        let named = if is_pgn { vec!["--out", name] } else { vec!["--out", "a.pgn", "--json", name] };
        for named in [named, vec!["--out", name]] {
            let output = analyse(folder.path(), &[&named[..], &["--trust-evals"]].concat()).output().unwrap();
            let told = format!("{name} has something else in it");
            assert!(!output.status.success() && line(&output).contains(&told), "{}", line(&output));
            assert_eq!(read(folder.path(), name), text);
        }
    }
    // The game itself with a comment, a variation or a glyph of its owner.
    std::fs::write(
        folder.path().join("one.pgn"),
        "[White \"A\"]\n\n1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Nf3 {[%eval 0.3]} *\n",
    )
    .unwrap();
    let analyse_one = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(["analyse", "one.pgn", "--out", "mine.pgn", "--trust-evals"]);
        command.output().unwrap()
    };
    for (own, is_kept) in [
        ("{[%eval 0.3]} e5 2. Nf3 *", false),
        ("{mine} e5 2. Nf3 *", true),
        ("(1. d4) e5 2. Nf3 *", true),
        ("$1 e5 2. Nf3 *", true),
        ("e5? 2. Nf3 *", true),
        ("e5 2. Nf3 1-0", true),
        ("e5 2. Nf3 Ke5 {mine} *", true),
        ("e5 2. Nf3 -- {mine} *", true),
    ] {
        let text = format!("[White \"A\"]\n\n1. e4 {own}\n");
        std::fs::write(folder.path().join("mine.pgn"), &text).unwrap();
        let output = analyse_one();
        assert_eq!((!output.status.success(), read(folder.path(), "mine.pgn") == text), (is_kept, is_kept), "{own}");
    }
    // A rest that is not read is compared, too; the results of an analysis are written over.
    for (rest, own) in [("2. -- Nf6 *", "2. -- {mine} Nf6 *"), ("2. Ke5 Nf6 1-0", "2. Ke5 {mine} Nf6 1-0")] {
        let text = |rest| format!("[White \"A\"]\n\n1. e4 e5 {rest}\n");
        std::fs::write(folder.path().join("one.pgn"), text(rest)).unwrap();
        for (there, is_kept) in [(own, true), (rest, false)] {
            std::fs::write(folder.path().join("mine.pgn"), text(there)).unwrap();
            for _ in 0..2 {
                let output = analyse_one();
                assert_eq!(output.status.success(), !is_kept, "{there}: {}", line(&output));
            }
        }
    }
    std::fs::write(folder.path().join("empty.pgn"), "").unwrap();
    let results = ["--out", "empty.pgn", "--json", "a.json", "--html", "a.html", "--trust-evals"];
    for _ in 0..2 {
        let output = analyse(folder.path(), &results).output().unwrap();
        assert!(output.status.success(), "{}", line(&output));
    }
    let swapped = analyse(folder.path(), &["--out", "b.pgn", "--html", "a.json", "--trust-evals"]).output().unwrap();
    assert!(!swapped.status.success() && line(&swapped).contains("a.json has something else"), "{}", line(&swapped));
}

#[test]
fn budgets_end_and_bad_input_gets_a_line() {
    let folder = folder();
    for budget in ["0.3s", "2000n"] {
        let output = analyse(folder.path(), &["--out", "out.pgn", "--budget", budget]).output().unwrap();
        assert!(output.status.success(), "{}", line(&output));
    }
    for (more, said) in [
        (&["--out", "out.pgn", "--budget", "soon"][..], "a time such as 90s"),
        (&["--out", "no/where/out.pgn"], "cannot write no/where/out.pgn"),
        (&["--out", "out.pgn", "--trust-evals", "--nodes", "5"], "cannot be used with"),
        (&["missing.pgn", "--out", "out.pgn"], "cannot read missing.pgn"),
    ] {
        let output = analyse(folder.path(), more).output().unwrap();
        assert!(!output.status.success() && line(&output).contains(said), "{more:?}: {}", line(&output));
    }
    std::fs::write(folder.path().join("games.pgn"), "").unwrap();
    let output = analyse(folder.path(), &["--out", "out.pgn"]).output().unwrap();
    assert!(line(&output).contains("there is no game to analyse"), "{}", line(&output));
}
