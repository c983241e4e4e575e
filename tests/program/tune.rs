//! Tests `zeitnot time tune` from end to end: on matches of a backend that needs no network, and on the recorded
//! searches in the repository.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::kills;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;
use zeitnot_engine::splitmix::SplitMix64;

const ITERATIONS: usize = 6;
const PARAMETERS: &str = "# of the search and of the time manager\n\
    CPuct, float, 1.745, 1, 3, 0.3, 0.02\n\
    smooth(extension), float, 0.5, 0, 2, 0.2, 0.02\n\
    MoveOverheadMs, int, 150, 50, 300, 20, 0.02\n";
const BOOK: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
    rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
    rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.params"), PARAMETERS).unwrap();
    fs::write(folder.path().join("book.epd"), BOOK).unwrap();
    folder
}

/// A tuning in this folder by this judge, with flags and their values; of a flag that is there twice the last value is
/// given.
fn command(folder: &Path, judge: &str, args: &[&str]) -> Command {
    let pairs: Vec<&[&str]> = args.chunks(2).collect();
    let is_last = |(at, pair): &(usize, &&[&str])| pairs[at + 1..].iter().all(|later| later[0] != pair[0]);
    let args: Vec<&str> = pairs.iter().enumerate().filter(is_last).flat_map(|(_, pair)| pair.to_vec()).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["time", "tune", judge, "--parameters", "p.params"]).args(args);
    command
}

/// A tuning on matches.
fn on_matches(folder: &Path, more: &[&str]) -> Command {
    let iterations = ITERATIONS.to_string();
    let args = ["--backend", "random", "--nps", "300", "--tc", "1+0.01,2", "--openings", "book.epd"];
    let sizes = ["--pairs", "2", "--check", "4", "--iterations", &iterations, "--out", "out"];
    command(folder, "match", &[&args[..], &sizes, more].concat())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs to the end; what was printed, and the course.
fn whole(folder: &Path, mut command: Command) -> (String, String) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    (String::from_utf8(output.stdout).unwrap(), fs::read_to_string(folder.join("out/course.jsonl")).unwrap())
}

#[test]
fn a_tuning_on_matches_ends_with_options_and_lines() {
    let (one, two) = (folder(), folder());
    // A seed by which every parameter moves.
    let alone = whole(one.path(), on_matches(one.path(), &["--concurrency", "1", "--seed", "4"]));
    let busy = whole(two.path(), on_matches(two.path(), &["--concurrency", "3", "--seed", "4"]));
    assert!(alone == busy, "{}\n{}", alone.1, busy.1);
    // The settings, the iterations, a comparison at each time control, and the end.
    assert_eq!(alone.1.lines().count(), 1 + ITERATIONS + 2 + 1, "{}", alone.1);
    for part in [
        "\n--cpuct=",
        " --move-overhead=",
        " --time-manager='smooth(extension=",
        "\nsetoption name CPuct value ",
        "at 1+0.01: ",
    ] {
        assert!(alone.0.contains(part), "{part:?} is not in\n{}", alone.0);
    }
    let tuned = fs::read_to_string(one.path().join("out/tuned.params")).unwrap();
    assert!(alone.0.ends_with(&tuned) && tuned.lines().count() == 3 && tuned.starts_with("CPuct, float, "), "{tuned}");
    // The lines are parameters again, and the course has moved them.
    assert!(tuned.lines().all(|line| !PARAMETERS.contains(line)), "{tuned}");
    fs::write(two.path().join("p.params"), &tuned).unwrap();
    let json = whole(two.path(), on_matches(two.path(), &["--out", "out2", "--seed", "2", "--json"])).0;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["is_refused"], json["openbench"].as_array().unwrap().len()), (&false.into(), 3), "{json}");
    assert_eq!(json["against_start"].as_array().unwrap().len(), 2);
    // A report reads the course.
    let chart = fs::read_to_string(one.path().join("out/tuning-of-out--course.svg")).unwrap();
    assert!(chart.contains("smooth(extension)"), "{chart}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    let args = ["time", "report", "out/course.jsonl", "--out", "report.html"];
    let output = report.current_dir(one.path()).args(args).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(fs::read_to_string(one.path().join("report.html")).unwrap().contains("Tuning of course.jsonl"));
}

/// `ZEITNOT_KILLS=50` kills tunings that often.
#[test]
fn a_tuning_that_is_killed_at_any_moment_goes_on_to_the_same_end() {
    let wanted: usize = std::env::var("ZEITNOT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let reference = folder();
    let started = Instant::now();
    let expected = whole(reference.path(), on_matches(reference.path(), &[]));
    let whole_ms = started.elapsed().as_millis() as usize;
    let mut random = SplitMix64(wanted as u64);
    let mut kills = 0;
    while kills < wanted {
        let folder = folder();
        let begin = || on_matches(folder.path(), &[]).spawn().unwrap();
        let in_this = kills::until_over(&begin, whole_ms, &mut random);
        kills += in_this;
        let finished = whole(folder.path(), on_matches(folder.path(), &[]));
        assert!(finished == expected, "after {in_this} kills:\n{}\n{}", finished.1, expected.1);
    }
}

#[test]
fn points_and_results_that_lose_on_time_are_refused() {
    let folder = folder();
    fs::write(folder.path().join("p.params"), "MoveOverheadMs, int, 60, 0, 400, 50, 0.05\n").unwrap();
    let lag = ["--tc", "1+0.01", "--lag", "20,300"];
    let output = on_matches(folder.path(), &lag).output().unwrap();
    let errors = said(&output);
    assert!(!output.status.success() && errors.contains(" is REFUSED: it lost "), "{errors}");
    let last = errors.lines().last().unwrap();
    assert!(last.starts_with("zeitnot: the result is REFUSED: it lost "), "{errors}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("setoption"));
    assert!(!folder.path().join("out/tuned.params").exists());
    // A refused point loses the whole iteration: the first one went up from 60 and not down.
    let course = fs::read_to_string(folder.path().join("out/course.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(course.lines().nth(1).unwrap()).unwrap();
    let refused = first["refused"].as_array().unwrap();
    assert!(refused.iter().filter(|why| why.is_null()).count() == 1, "{first}");
    assert!(first["values"][0].as_f64().unwrap() > 60.0, "{first}");
}

/// A tuning on the recorded searches in the repository.
fn on_replays(folder: &Path, more: &[&str]) -> Command {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/zeitnot-lab/recordings/games.zt");
    let args = ["--traces", traces, "--part", "1/8", "--batch", "64", "--iterations", "4", "--out", "out"];
    command(folder, "replay", &[&args[..], more].concat())
}

#[test]
fn a_tuning_on_replays_goes_on_where_it_was_cut() {
    let folder = folder();
    fs::write(folder.path().join("p.params"), "smooth(extension), float, 0.5, 0, 2, 0.3, 0.02\n").unwrap();
    let expected = whole(folder.path(), on_replays(folder.path(), &[]));
    assert!(
        expected.0.contains("thousandths") && expected.0.contains("--time-manager='smooth(extension="),
        "{}",
        expected.0
    );
    let course = folder.path().join("out/course.jsonl");
    for cut in [0, 10, expected.1.len() / 2, expected.1.len() - 20] {
        fs::write(&course, &expected.1[..cut]).unwrap();
        assert!(whole(folder.path(), on_replays(folder.path(), &[])) == expected, "cut at {cut}");
    }
}

/// A tuning on games simulated from the recording in the program.
fn on_simulations(folder: &Path, more: &[&str]) -> Command {
    let args = ["--tc", "2,20/2", "--nps", "400,300", "--games", "8", "--iterations", "4"];
    command(folder, "simulate", &[&args[..], &["--out", "out"], more].concat())
}

#[test]
fn a_tuning_on_simulated_games_finds_its_way_back_and_goes_on_where_it_was_cut() {
    let folder = folder();
    // A fiftieth of the clock at the most is far too little.
    fs::write(folder.path().join("p.params"), "smooth(max-move-budget), float, 0.02, 0.01, 0.5, 0.009, 0.3\n").unwrap();
    let expected = whole(folder.path(), on_simulations(folder.path(), &[]));
    let last: serde_json::Value = serde_json::from_str(expected.1.lines().nth(4).unwrap()).unwrap();
    assert!(last["values"][0].as_f64().unwrap() > 0.021, "{last}");
    fs::write(folder.path().join("out/course.jsonl"), &expected.1[..expected.1.len() / 2]).unwrap();
    assert!(whole(folder.path(), on_simulations(folder.path(), &[])) == expected);
}

#[test]
fn wrong_input_is_refused_in_one_line() {
    let folder = folder();
    let refused = |mut command: Command, part: &str| {
        let output = command.output().unwrap();
        let errors = said(&output);
        let last = errors.lines().last().unwrap_or_default();
        assert!(!output.status.success() && last.starts_with("zeitnot: ") && last.contains(part), "{part}: {errors}");
    };
    let path = folder.path();
    whole(path, on_matches(path, &["--iterations", "1", "--check", "0"]));
    refused(on_matches(path, &[]), "out/course.jsonl holds a tuning with another iterations: 1 there, 6 here");
    let again = ["--iterations", "1", "--check", "0"];
    refused(on_matches(path, &[&again[..], &["--seed", "5"]].concat()), "with another seed");
    refused(on_matches(path, &[&again[..], &["--cpuct-base", "9000"]].concat()), "with another CPuctBase");
    fs::write(path.join("p.params"), PARAMETERS.replace("0.5, 0, 2", "0.6, 0, 2")).unwrap();
    refused(on_matches(path, &again), "with another start: 0.5 there, 0.6 here");
    for (text, part) in [
        ("CPuct, float, 1.7\n", "p.params: line 1: no NAME, int|float, VALUE"),
        ("\nNone, float, 1, 0, 2, 0.1, 0.002\n", "None: neither an option of the engine"),
        ("smooth(none), float, 1, 0, 2, 0.1, 0.002\n", "smooth has no parameter \"none\""),
        ("", "p.params: there is no parameter in it"),
    ] {
        fs::write(path.join("p.params"), text).unwrap();
        refused(on_matches(path, &[]), part);
    }
    fs::write(path.join("p.params"), PARAMETERS).unwrap();
    refused(on_matches(path, &["--check", "100"]), "would repeat each other");
    refused(on_matches(path, &["--backend", "auto", "--network", "missing.pb.gz"]), "missing.pb.gz");
    refused(on_replays(path, &["--point", "0"]), "--point 0: a regret is more than 0");
    refused(on_replays(path, &[]), "CPuct has no effect on recorded searches");
    refused(on_simulations(path, &[]), "CPuct has no effect on recorded searches");
    refused(on_simulations(path, &["--nps", "0,1"]), "--nps 0: a speed is more than 0");
    refused(command(path, "replay", &["--traces", "p.params"]), "p.params");
    refused(command(path, "replay", &["--traces", "missing.zt"]), "missing.zt");
}

/// Each judge refuses flags that it would not read.
#[test]
fn flags_of_other_judges_are_refused() {
    let folder = folder();
    let path = folder.path();
    for (mut command, flag) in [
        (on_matches(path, &["--point", "0.1"]), "--point"),
        (on_replays(path, &["--pairs", "3"]), "--pairs"),
        (on_simulations(path, &["--part", "1/2"]), "--part"),
        (command(path, "replay", &[]), "--traces"),
    ] {
        let output = command.output().unwrap();
        assert!(output.status.code() == Some(2) && said(&output).contains(flag), "{flag}: {}", said(&output));
    }
}
