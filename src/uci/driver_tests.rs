//! Tests the driver's conversation line by line, without an engine.

use super::*;
use zeitnot_engine::managers::maker_for_computation;

fn driver(manager: &str) -> Driver {
    Driver::new(DrivenClock::new(manager, maker_for_computation()).unwrap(), manager.to_owned())
}

/// The effects of lines of the GUI at a time: `>` for the engine, `<` for the GUI.
fn gui(driver: &mut Driver, now_ms: f64, lines: &[&str]) -> Vec<String> {
    lines.iter().for_each(|line| assert!(driver.gui(line, now_ms)));
    driver.tick(now_ms);
    told(driver)
}

fn engine(driver: &mut Driver, now_ms: f64, line: &str) -> Vec<String> {
    driver.engine(line, now_ms);
    driver.tick(now_ms);
    told(driver)
}

fn told(driver: &mut Driver) -> Vec<String> {
    let text = |effect| match effect {
        Effect::Start => "start".to_owned(),
        Effect::Engine(line) => format!("> {line}"),
        Effect::Gui(line) => format!("< {line}"),
    };
    driver.effects().into_iter().map(text).collect()
}

/// Lets the clock run until the driver does something, and returns the time.
fn wait(driver: &mut Driver) -> (f64, Vec<String>) {
    for _ in 0..10 {
        let now_ms = driver.wakes_ms().expect("a clock runs");
        driver.tick(now_ms);
        let told = told(driver);
        if !told.is_empty() {
            return (now_ms, told);
        }
        assert!(driver.wakes_ms() > Some(now_ms), "it looks without end");
    }
    panic!("nothing happens");
}

const CLOCK: &str = "go wtime 10000 btime 10000 winc 100 binc 100";

#[test]
fn a_clock_is_the_managers_and_the_rest_the_engines() {
    let mut driver = driver("simple");
    assert_eq!(gui(&mut driver, 0.0, &["isready"]), ["> isready"]);
    assert_eq!(engine(&mut driver, 0.0, "readyok"), ["< readyok"]);
    let go = format!("{CLOCK} searchmoves e2e4 d2d4");
    let told = gui(&mut driver, 1_000.0, &["position startpos", &go]);
    assert_eq!(told, ["> position startpos", "> go infinite searchmoves e2e4 d2d4"]);
    assert_eq!(
        engine(&mut driver, 1_010.0, "info depth 1 nodes 20 score cp 30 pv e2e4"),
        ["< info depth 1 nodes 20 score cp 30 pv e2e4"]
    );
    let (stop_ms, told) = wait(&mut driver);
    assert_eq!(told, ["> stop"]);
    assert!((1_100.0..3_000.0).contains(&stop_ms), "{stop_ms}");
    assert_eq!(engine(&mut driver, stop_ms, "bestmove e2e4 ponder e7e5"), ["< bestmove e2e4 ponder e7e5"]);
    assert_eq!(driver.wakes_ms(), None);
    assert_eq!(gui(&mut driver, 9_000.0, &["go btime 500 wtime 500 nodes 700"]), ["> go nodes 700"]);
    assert_eq!(engine(&mut driver, 9_001.0, "bestmove d2d4"), ["< bestmove d2d4"], "by itself");
    for passed in ["go movetime 40 wtime 1000", "go nodes 5", "go mate 3", "go infinite wtime 10", "go", "go ponder"] {
        assert_eq!(gui(&mut driver, 9_100.0, &[passed]), [format!("> {passed}")]);
        assert_eq!(driver.wakes_ms(), None, "{passed}");
        assert_eq!(gui(&mut driver, 9_100.0, &["stop"]), ["> stop"]);
        assert_eq!(engine(&mut driver, 9_100.0, "bestmove a2a3"), ["< bestmove a2a3"]);
    }
    assert!(!driver.gui("quit", 9_200.0));
}

#[test]
fn a_ponderhit_starts_the_clock() {
    let mut driver = driver("smooth");
    let go = CLOCK.replace("go", "go ponder");
    assert_eq!(gui(&mut driver, 0.0, &[&go]), ["> go ponder"]);
    engine(&mut driver, 1.0, "info depth 9 nodes 9000 score cp 10 pv g1f3");
    assert_eq!(driver.wakes_ms(), None);
    assert_eq!(gui(&mut driver, 60_000.0, &["ponderhit"]), Vec::<String>::new());
    let (stop_ms, told) = wait(&mut driver);
    assert_eq!(told, ["> stop"]);
    assert!(stop_ms > 60_050.0, "{stop_ms}");
    engine(&mut driver, stop_ms, "bestmove g1f3");
    // An answer that comes while the opponent thinks waits for the opponent's move.
    gui(&mut driver, 70_000.0, &[&go]);
    assert_eq!(engine(&mut driver, 70_001.0, "bestmove d2d4"), Vec::<String>::new());
    assert_eq!(gui(&mut driver, 71_000.0, &["ponderhit"]), ["< bestmove d2d4"]);
}

#[test]
fn an_only_move_is_not_thought_about() {
    let mut driver = driver("smooth");
    gui(&mut driver, 0.0, &["position fen 7k/8/8/8/8/8/1q6/K7 w - - 0 1", CLOCK]);
    assert_eq!(engine(&mut driver, 2.0, "info depth 1 nodes 1 score cp 0 pv a1b2")[1..], ["> stop"]);
}

#[test]
fn an_engine_that_does_not_stop_is_answered_for_and_started_again() {
    let mut driver = driver("legacy");
    gui(&mut driver, 0.0, &["setoption name Hash value 8", CLOCK]);
    engine(&mut driver, 5.0, "info depth 1 nodes 20 score cp 30 multipv 1 pv c2c4 e7e5");
    let (stop_ms, _) = wait(&mut driver);
    let (answer_ms, told) = wait(&mut driver);
    assert_eq!(answer_ms, stop_ms + STOP_MS);
    assert_eq!(told[1], "< bestmove c2c4");
    assert!(told[0].starts_with("< info string ERROR: the engine has not answered stop"), "{told:?}");
    // Its answer comes after all.
    assert_eq!(engine(&mut driver, answer_ms + 1.0, "info depth 2 nodes 90 score cp 1 pv a2a3"), Vec::<String>::new());
    assert_eq!(engine(&mut driver, answer_ms + 1.0, "bestmove a2a3"), Vec::<String>::new());
    assert_eq!(gui(&mut driver, 5_000.0, &["go wtime 80 btime 80"]), ["> go infinite"]);
    let (stop_ms, _) = wait(&mut driver);
    assert!((5_010.0..=5_030.0).contains(&stop_ms), "time for a first line: {stop_ms}");
    let (answer_ms, told) = wait(&mut driver);
    assert_eq!(answer_ms, stop_ms + (5_080.0 - stop_ms) / 4.0, "a quarter of what is left of the clock");
    assert!(told[1].starts_with("< bestmove "), "a legal move: {told:?}");
    // It comes no more.
    let told = gui(&mut driver, 6_000.0, &["position startpos moves e2e4", CLOCK]);
    assert_eq!(
        told[2..],
        ["start", "> uci", "> setoption name Hash value 8", "> position startpos moves e2e4", "> go infinite"]
    );
}

#[test]
fn a_clock_that_has_run_out_leaves_time_for_an_answer() {
    let mut driver = driver("smooth");
    for clock in ["go wtime 0 btime 0", "go wtime -50 btime 9 winc 1000"] {
        assert_eq!(gui(&mut driver, 0.0, &[clock]), ["> go infinite", "> stop"]);
        assert_eq!(driver.wakes_ms(), Some(STOP_MS));
        assert_eq!(engine(&mut driver, 9.0, "bestmove e2e4"), ["< bestmove e2e4"]);
    }
}

#[test]
fn an_engine_that_hangs_is_started_again_before_it_is_asked_whether_it_is_ready() {
    let mut driver = driver("simple");
    gui(&mut driver, 0.0, &[CLOCK, "isready"]);
    wait(&mut driver);
    wait(&mut driver);
    let told = gui(&mut driver, 9_000.0, &["isready"]);
    assert_eq!(told[1..], ["< readyok", "start", "> uci", "> position startpos", "> isready"], "{told:?}");
}

#[test]
fn a_new_game_in_a_search_comes_behind_its_stop() {
    let mut driver = driver("simple");
    assert_eq!(gui(&mut driver, 0.0, &[CLOCK, "ucinewgame"]), ["> go infinite", "> stop", "> ucinewgame"]);
}

#[test]
fn a_ponder_search_that_does_not_stop_is_answered_for_by_its_best_line() {
    let mut driver = driver("simple");
    gui(&mut driver, 0.0, &[&CLOCK.replace("go ", "go ponder ")]);
    engine(&mut driver, 1.0, "info depth 3 multipv 1 score cp 20 nodes 9 pv d2d4");
    engine(&mut driver, 1.0, "info depth 3 multipv 2 score cp 10 nodes 9 pv a2a3");
    assert_eq!(gui(&mut driver, 2.0, &["stop"]), ["> stop"]);
    assert_eq!(driver.wakes_ms(), Some(2.0 + STOP_MS));
    let (_, told) = wait(&mut driver);
    assert_eq!(told.last().map(String::as_str), Some("< bestmove d2d4"), "{told:?}");
}

#[test]
fn an_engine_that_ends_is_answered_for_and_started_again() {
    let mut driver = driver("smooth");
    gui(&mut driver, 0.0, &["isready", CLOCK]);
    engine(&mut driver, 5.0, "info depth 1 nodes 20 score cp 30 pv c2c4");
    driver.engine_ended("fish has ended", 10.0);
    assert_eq!(told(&mut driver), ["< info string ERROR: fish has ended", "< readyok", "< bestmove c2c4"]);
    assert_eq!(gui(&mut driver, 20.0, &["isready"])[..2], ["start", "> uci"]);
    for line in ["id name fish", "option name Hash type button", "uciok"] {
        assert_eq!(engine(&mut driver, 21.0, line), Vec::<String>::new(), "it was told before");
    }
    assert_eq!(engine(&mut driver, 22.0, "readyok"), ["< readyok"]);
    // Analysis is answered when it is stopped.
    gui(&mut driver, 30.0, &["go infinite"]);
    driver.engine_ended("fish has ended", 40.0);
    assert_eq!(told(&mut driver), ["< info string ERROR: fish has ended"]);
    assert!(gui(&mut driver, 50.0, &["stop"])[0].starts_with("< bestmove "));
}

#[test]
fn the_options_of_the_driver_stand_beside_the_engines() {
    let mut driver = driver("smooth");
    gui(&mut driver, 0.0, &["uci"]);
    assert_eq!(engine(&mut driver, 0.0, "id name Fish 2"), ["< id name Fish 2 (TimeManager=smooth)"]);
    assert_eq!(engine(&mut driver, 0.0, "option name  move overhead type spin default 9"), Vec::<String>::new());
    assert_eq!(engine(&mut driver, 0.0, "option name Hash type button"), ["< option name Hash type button"]);
    assert_eq!(
        engine(&mut driver, 0.0, "uciok"),
        [
            "< option name TimeManager type string default smooth",
            "< option name Move Overhead type spin default 50 min 0 max 10000",
            "< uciok"
        ]
    );
    let set = ["setoption name timemanager value simple", "setoption name Move Overhead value 4000"];
    assert_eq!(gui(&mut driver, 0.0, &set), Vec::<String>::new());
    for (line, error) in [
        ("setoption name TimeManager value fast", "TimeManager: unknown time manager"),
        ("setoption name Move Overhead value x", "Move Overhead: \"x\" is no number"),
        ("position startpos moves e2e5", "the engine keeps its own time"),
    ] {
        let told = gui(&mut driver, 0.0, &[line, "go nodes 1"]);
        assert!(told.iter().any(|told| told.contains("ERROR: ") && told.contains(error)), "{told:?}");
        engine(&mut driver, 0.0, "bestmove e2e4");
    }
    gui(&mut driver, 0.0, &["position startpos", "go wtime 5000 btime 5000"]);
    let (stop_ms, _) = wait(&mut driver);
    assert!(stop_ms <= 1_250.0, "the overhead is off the clock: {stop_ms}");
}
