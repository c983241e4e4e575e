//! Tests what a report makes of its inputs.

use super::*;
use crate::results::{ComparisonResult, LabResult, MatchGame, MatchScore, ReplayResult, SimulationResult};
use crate::simulation::{ClockAt, Simulation};
use std::io::Cursor;
use zeitnot_games::sample::Quantiles;
use zeitnot_games::{Cell, Score};

const RULES: fn() -> ReportRules = || ReportRules::default();

fn text(result: LabResult) -> String {
    serde_json::to_string(&result).unwrap()
}

/// A replay of these recordings.
fn replay(traces: &str, nodes: u64, stops: u64) -> ReplayResult {
    ReplayResult {
        manager: "smooth".to_owned(),
        traces: traces.to_owned(),
        tc: "10+0.1".to_owned(),
        batch: 8,
        moves: 12,
        mean_nodes: nodes as f64,
        regret: 0.1,
        agreement: 0.5,
        stops: [("time".to_owned(), stops), ("nodes".to_owned(), stops)].into(),
        ..ReplayResult::default()
    }
}

fn replay_text(replay: ReplayResult) -> String {
    format!("[{}]", text(LabResult::Replay(Box::new(replay))))
}

fn simulation(tc: &str, number: f64) -> SimulationResult {
    let quantiles = Quantiles { p5: number, p50: number, p95: number };
    let at = ClockAt { number: 1, clock_ms: quantiles, budget_ms: number, used_ms: number, games: 1 };
    let simulation = Simulation {
        games: usize::MAX,
        clock_ms: vec![at],
        left_ms: quantiles,
        flag_rate: number,
        share_by_phase: [number; 3],
        ..Simulation::default()
    };
    let (manager, tc, traces) = ("m".to_owned(), tc.to_owned(), "1f".to_owned());
    SimulationResult { manager, tc, traces, simulation, ..SimulationResult::default() }
}

fn simulation_text(simulation: SimulationResult) -> String {
    text(LabResult::Simulation(Box::new(simulation)))
}

#[test]
fn replays_of_the_same_recordings_become_one_section() {
    let mut report = Report::default();
    // As many moves are not the same moves.
    for (name, traces, nodes) in [("a", "1f", 100), ("b", "2e", 100), ("c", "1f", 200)] {
        report.add(name, &mut Cursor::new(replay_text(replay(traces, nodes, 1)).as_bytes()), &RULES()).unwrap();
    }
    let sections = report.sections();
    let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Replays of a and c", "Replays of b"]);
    assert!(sections[0].figures.iter().any(|figure| figure.name == "regret-over-nodes"));
}

#[test]
fn replays_under_other_conditions_are_sections_of_their_own() {
    let mut report = Report::default();
    let usual = || replay("1f", 100, 1);
    for (name, replay) in [
        ("a", usual()),
        ("b", ReplayResult { tc: "60".to_owned(), ..usual() }),
        ("c", ReplayResult { batch: 64, ..usual() }),
        ("d", replay("1f", 200, 1)),
    ] {
        report.add(name, &mut Cursor::new(replay_text(replay).as_bytes()), &RULES()).unwrap();
    }
    let titles: Vec<String> = report.sections().into_iter().map(|section| section.title).collect();
    let expected =
        ["Replays of a and d, tc 10+0.1, batch 8", "Replays of b, tc 60, batch 8", "Replays of c, tc 10+0.1, batch 64"];
    assert_eq!(titles, expected);
}

#[test]
fn simulations_under_other_conditions_are_sections_of_their_own() {
    let of = |tc: &str, nps, traces: &str| {
        simulation_text(SimulationResult { nps, traces: traces.to_owned(), ..simulation(tc, 1.0) })
    };
    let mut report = Report::default();
    for (name, text) in [
        ("a", of("10+0.1", Some(400.0), "1f")),
        ("b", of("60", Some(400.0), "1f")),
        ("c", of("10+0.1", None, "1f")),
        ("d", of("10+0.1", Some(400.0), "2e") + &of("10+0.1", Some(400.0), "3d")),
        // Conditions of replays are not those of simulations.
        ("e", replay_text(replay("1f", 100, 1))),
    ] {
        report.add(name, &mut Cursor::new(text.as_bytes()), &RULES()).unwrap();
    }
    let titles: Vec<String> = report.sections().into_iter().map(|section| section.title).collect();
    let expected = [
        "Simulations of a and b, nps 400",
        "Simulations of c, nps 1000",
        "Simulations of d, recording 2e, nps 400",
        "Simulations of d, recording 3d, nps 400",
        "Replays of e",
    ];
    assert_eq!(titles, expected);
}

#[test]
fn sections_have_names_of_their_own() {
    let mut report = Report::default();
    let comparison = br#"{"kind":"comparison","cells":[],"times":[],"ranking":[]}"#;
    for _ in 0..3 {
        report.add("a", &mut Cursor::new(comparison), &RULES()).unwrap();
    }
    let names: Vec<String> = report.sections().into_iter().map(|section| section.name).collect();
    assert_eq!(names, ["comparison-of-a", "comparison-of-a-2", "comparison-of-a-3"]);
}

#[test]
fn figures_have_names_of_their_own_whatever_names_the_inputs_have() {
    let mut report = Report::default();
    let game = b"[TimeControl \"10+1\"]\n\n1. e4 {[%emt 0:00:01]} *\n";
    for name in ["a.pgn", "a.pgn clocks", "a.pgn", "a.pgn heading", "a.pgn-2"] {
        report.add(name, &mut Cursor::new(game), &RULES()).unwrap();
    }
    let simulations = ["40/60", "40+60", "40-60"].map(|tc| simulation_text(simulation(tc, 1.0)));
    report.add("s", &mut Cursor::new(simulations.concat().as_bytes()), &RULES()).unwrap();
    let sections = report.sections();
    let files = sections
        .iter()
        .flat_map(|section| section.figures.iter().map(|figure| format!("{}--{}", section.name, figure.name)));
    let files: Vec<String> = files.collect();
    let page = page(&sections).unwrap();
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let each_once = |names: &[&str]| names.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(each_once(&files.iter().map(String::as_str).collect::<Vec<_>>()), files.len(), "{files:?}");
    assert_eq!(each_once(&ids), ids.len(), "{ids:?}");
    assert!(files.contains(&"simulations-of-s--clocks-40-60-2".to_owned()), "{files:?}");
}

#[test]
fn numbers_at_the_end_of_what_a_number_can_be_are_drawn() {
    for number in [5e-324, 1e308, 1e-300, 1e16] {
        let mut report = Report::default();
        let simulations =
            [("1", number), ("1", 1.0), ("2", number)].map(|(tc, number)| simulation_text(simulation(tc, number)));
        let simulations = simulations.concat();
        report.add("s", &mut Cursor::new(simulations.as_bytes()), &RULES()).unwrap();
        for nodes in [1, 900] {
            let replay = replay_text(replay("a", nodes, u64::MAX));
            report.add("r", &mut Cursor::new(replay.as_bytes()), &RULES()).unwrap();
        }
        let sections = report.sections();
        for figure in sections.iter().flat_map(|section| &section.figures) {
            let svg = figure.svg_file();
            assert!(!svg.contains("NaN") && !svg.contains("\"inf"), "{number}: {}", figure.name);
        }
    }
}

#[test]
fn sums_of_counts_do_not_overflow() {
    let most = u64::MAX;
    let score = Score {
        games: most,
        wins: most,
        draws: most,
        losses: most,
        pentanomial: [most; 5],
        elo: Some(1e308),
        elo_error: Some(1e308),
        forfeits: [most; 2],
        ..Score::default()
    };
    let [tc, first, second] = ["1", "a", "b"].map(str::to_owned);
    let cell = Cell { tc, first, second, score: score.clone(), clock_left_ms: Quantiles::default() };
    let comparison = ComparisonResult { cells: vec![cell.clone(), cell], ..ComparisonResult::default() };
    let mut report = Report::default();
    report.add("c", &mut Cursor::new(text(LabResult::Comparison(comparison)).as_bytes()), &RULES()).unwrap();
    let [white, black, termination] = ["a", "b", "checkmate"].map(str::to_owned);
    let game = MatchGame { game: 1, white, black, termination, ..MatchGame::default() };
    let summary = Box::new(MatchScore { score, ..MatchScore::default() });
    let played = text(LabResult::Game(game)) + &text(LabResult::Match { summary });
    report.add("m", &mut Cursor::new(played.as_bytes()), &RULES()).unwrap();
    assert!(!page(&report.sections()).unwrap().contains("NaN"));
}

#[test]
fn games_without_clocks_are_refused() {
    let mut report = Report::default();
    let error = report.add("a", &mut Cursor::new(b"1. e4 e5 *\n\n1. d4 *\n"), &RULES()).unwrap_err();
    assert_eq!(error.to_string(), "no move of its 2 games has a clock or a time in its comments");
    let error = report.add("a", &mut Cursor::new(b"1. e4 *\n\n1. e5 {[%emt 0:00:01]} *\n"), &RULES()).unwrap_err();
    assert!(error.to_string().contains("in its comments; game 2: illegal move e5"), "{error}");
    assert!(report.sections().is_empty());
}

#[test]
fn names_do_not_turn_text_round() {
    let mut report = Report::default();
    let game = "[White \"ev\u{202e}il\u{2066}\"]\n\n1. e4 {[%emt 0:00:01] [%clk 0:00:09]} e5 {[%emt 0:00:01]} *\n";
    report.add("\u{202d}a.pgn", &mut Cursor::new(game.as_bytes()), &RULES()).unwrap();
    let page = page(&report.sections()).unwrap();
    assert!(page.contains("evil") && page.contains("Games of a.pgn"));
    assert!(!page.contains(zeitnot_base::printable::is_bidi_control));
}

#[test]
fn damaged_games_are_named() {
    let mut report = Report::default();
    let added =
        report.add("a", &mut Cursor::new(b"1. e4 {[%emt 0:00:01] [%clk 0:00:09]} e5 2. Ke4 *\n"), &RULES()).unwrap();
    assert!(added.has_games && added.problems.len() == 1, "{added:?}");
    assert!(added.problems[0].starts_with("game 1: illegal move Ke4"), "{added:?}");
    assert_eq!(
        report.add("r", &mut Cursor::new(replay_text(replay("1f", 1, 1)).as_bytes()), &RULES()).unwrap(),
        Added::default()
    );
}
