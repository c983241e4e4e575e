use super::*;
use crate::build;

/// The time of each move of a game without a search's findings but its priors: (number, clock before, time) in
/// milliseconds, and whether the move took back.
fn game(spec: &str, initial_ms: f64, increment_ms: f64, moves: u32, seed: u32) -> Vec<(u32, f64, f64, bool)> {
    let mut manager = build(spec).unwrap();
    let mut clock_ms = initial_ms;
    let mut played = Vec::new();
    for number in 1..=moves {
        // Facts that differ from game to game, every ninth move one that takes back.
        let facts = (number * 7 + seed * 13) % 31;
        let takes_back = (number + seed).is_multiple_of(9);
        let plan = manager.plan(&MoveRequest {
            clock_ms,
            increment_ms,
            ply: 2 * (number - 1),
            legal_moves: Some(2 + facts),
            captures: Some(seed % 5),
            recaptures: Some(u32::from(takes_back)),
            ..MoveRequest::default()
        });
        // As many equal priors as make up the usual entropy, now more, now less.
        let priors = vec![1.0; [2, 5, 6, 7, 9][facts as usize % 5]];
        let verdict = manager.observe(&SearchSnapshot {
            elapsed_ms: 1.0,
            total_nodes: 1,
            root_priors: priors.into(),
            ..SearchSnapshot::default()
        });
        let used_ms = verdict.answer_from_ms.unwrap();
        assert!(used_ms <= plan.hard_limit_ms && used_ms < clock_ms, "{plan}");
        manager.finish(&MoveOutcome { elapsed_ms: used_ms, total_nodes: 1, ..MoveOutcome::default() });
        played.push((number, clock_ms, used_ms, takes_back));
        clock_ms += increment_ms - used_ms;
    }
    played
}

/// The mean of `values`, their deviation as a share of it, and their correlation from each to the next.
fn moments(series: &[Vec<f64>]) -> (f64, f64, f64) {
    let all: Vec<f64> = series.iter().flatten().copied().collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / all.len() as f64;
    let pairs: Vec<f64> =
        series.iter().flat_map(|series| series.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean))).collect();
    (mean, variance.sqrt() / mean, pairs.iter().sum::<f64>() / pairs.len() as f64 / variance)
}

// The reference values of the page, under Limits.
#[test]
fn games_have_the_means_the_spread_and_the_rhythm_of_people() {
    for (initial_s, increment_s) in [(60.0, 0.0), (180.0, 0.0), (300.0, 3.0), (600.0, 0.0), (120.0, 1.0)] {
        for elo in [1100.0, 1500.0, 1900.0] {
            let curve = Curve::new(initial_s, increment_s, elo);
            let games: Vec<_> = (0..400)
                .map(|seed| {
                    game(&format!("human(elo={elo},seed={seed})"), 1e3 * initial_s, 1e3 * increment_s, 42, seed)
                })
                .collect();
            let shares: Vec<Vec<f64>> = games
                .iter()
                .map(|game| game.iter().map(|(n, _, used_ms, _)| used_ms / 1e3 / curve.mean_s(f64::from(*n))).collect())
                .collect();
            for window in (2..42).step_by(5) {
                let of: Vec<f64> = games
                    .iter()
                    .flat_map(|game| game[window..window + 5].iter())
                    .zip(shares.iter().flat_map(|shares| shares[window..window + 5].iter()))
                    .filter(|((_, clock_ms, _, _), _)| *clock_ms > 250.0 * initial_s)
                    .map(|(_, share)| *share)
                    .collect();
                // Who has a quarter of a minute left after 37 moves is one in ten.
                if of.len() < 500 {
                    continue;
                }
                let mean = of.iter().sum::<f64>() / of.len() as f64;
                assert!((0.87..1.13).contains(&mean), "{initial_s}+{increment_s}, {elo}, move {window}: {mean}");
            }
            let (_, spread, rhythm) = moments(&shares);
            assert!((0.9..1.4).contains(&spread), "{initial_s}+{increment_s}, {elo}: {spread}");
            assert!((0.3..0.5).contains(&rhythm), "{initial_s}+{increment_s}, {elo}: {rhythm}");
            let takes_back = games.iter().zip(&shares).flat_map(|(game, shares)| game.iter().zip(shares));
            let fast: Vec<f64> = takes_back.filter(|(game, _)| game.3).map(|(_, share)| *share).collect();
            let mean = fast.iter().sum::<f64>() / fast.len() as f64;
            assert!(mean < 0.55, "{mean}");
        }
    }
}

#[test]
fn another_seed_or_position_gives_other_times() {
    let times = |spec: &str, seed| game(spec, 60_000.0, 0.0, 9, seed).iter().map(|played| played.2).collect::<Vec<_>>();
    assert_eq!(times("human", 3), times("human(seed=1)", 3));
    assert_ne!(times("human", 3), times("human(seed=2)", 3));
    assert_ne!(times("human", 3), times("human", 4));
}

#[test]
fn a_short_clock_is_not_used_up() {
    for (initial_ms, increment_ms) in [(60_000.0, 0.0), (15_000.0, 0.0), (1_000.0, 0.0), (3_000.0, 2_000.0)] {
        let last = game("human(elo=1100)", initial_ms, increment_ms, 200, 5).pop().unwrap();
        assert!(last.1 > 0.0 && last.2 < 0.351 * last.1, "{initial_ms}+{increment_ms}: {last:?}");
    }
}

#[test]
fn a_game_taken_up_in_its_middle_goes_on_as_if_it_had_been_played() {
    let mut manager = Human::new(&ParamValues::default());
    manager.plan(&MoveRequest { clock_ms: 100_000.0, ply: 40, ..MoveRequest::default() });
    let initial_s = manager.control.unwrap().initial_s;
    let used_s: f64 = (1..=20).map(|number| Curve::new(initial_s, 0.0, 1500.0).mean_s(f64::from(number))).sum();
    assert!((initial_s - used_s - 100.0).abs() < 2.0, "{initial_s} {used_s}");
    // The next move follows, a longer clock does not.
    manager.plan(&MoveRequest { clock_ms: 90_000.0, ply: 42, ..MoveRequest::default() });
    assert_eq!(manager.control.unwrap().initial_s, initial_s);
    manager.plan(&MoveRequest { clock_ms: 3_600_000.0, ply: 44, ..MoveRequest::default() });
    assert!(manager.control.unwrap().initial_s > 3_600.0);
}

#[test]
fn a_surprise_a_swing_and_a_choice_take_longer() {
    let time = |reply_prior, value: Option<f64>, priors: &[f32]| {
        let mut manager = Human::new(&ParamValues::default());
        manager.last_value = Some(0.1);
        manager.plan(&MoveRequest { clock_ms: 300_000.0, ply: 20, reply_prior, ..MoveRequest::default() });
        let snapshot = SearchSnapshot { best_value: value, root_priors: priors.into(), ..SearchSnapshot::default() };
        manager.observe(&snapshot).answer_from_ms.unwrap()
    };
    let usual = time(Some(0.5), Some(0.1), &[0.2; 5]);
    assert!(time(Some(0.01), Some(0.1), &[0.2; 5]) > 1.3 * usual);
    assert!(time(Some(0.5), Some(-0.5), &[0.2; 5]) > 1.3 * usual);
    assert!(time(Some(0.5), Some(0.1), &[0.05; 20]) > 1.3 * usual);
    assert!(time(Some(0.5), Some(0.1), &[0.97, 0.03]) < 0.7 * usual);
}

#[test]
fn the_opponents_pace_is_followed_as_far_as_asked() {
    let budget = |spec: &str, opponent_s: f64| {
        let mut manager = build(spec).unwrap();
        let mut opponent_clock_ms = Some(300_000.0);
        let mut last = 0.0;
        for number in 0..20 {
            last = manager
                .plan(&MoveRequest {
                    clock_ms: 300_000.0,
                    ply: 2 * number,
                    opponent_clock_ms,
                    ..MoveRequest::default()
                })
                .budget_ms;
            manager.finish(&MoveOutcome::default());
            opponent_clock_ms = opponent_clock_ms.map(|ms| ms - 1e3 * opponent_s);
        }
        last
    };
    assert_eq!(budget("human", 0.5), budget("human", 12.0));
    let half = budget("human(opponent-pace=0.5)", 12.0) / budget("human(opponent-pace=0.5)", 0.5);
    let whole = budget("human(opponent-pace=1)", 12.0) / budget("human(opponent-pace=1)", 0.5);
    assert!(half > 1.5 && (whole / (half * half) - 1.0).abs() < 1e-9, "{half} {whole}");
}

#[test]
fn a_seed_is_put_into_a_specification_that_has_none() {
    for (spec, seeded) in [
        ("human", "human(seed=7)"),
        ("human()", "human(seed=7)"),
        ("human(elo=1100)", "human(elo=1100,seed=7)"),
        ("human(seed=1)", "human(seed=1)"),
        ("smooth", "smooth"),
        ("human(", "human("),
    ] {
        assert_eq!(with_seed(spec, 7), seeded);
    }
    assert!(build(&with_seed("human", u64::MAX)).is_ok());
}

#[test]
fn a_flag_falls_now_and_then_where_it_may() {
    let lost = |spec: &str, initial_ms: f64, increment_ms: f64| {
        let ends = |seed: u32| {
            let mut manager = build(&format!("human({spec},seed={seed})")).unwrap();
            let mut clock_ms = initial_ms;
            // Games of 20 to 80 moves.
            (1..20 + seed % 61).any(|number| {
                let request = MoveRequest {
                    clock_ms,
                    increment_ms,
                    ply: 2 * number,
                    legal_moves: Some(2 + (number * 7 + seed) % 31),
                    ..MoveRequest::default()
                };
                manager.plan(&request);
                let snapshot = SearchSnapshot { root_priors: vec![1.0; 5].into(), ..SearchSnapshot::default() };
                let used_ms = manager.observe(&snapshot).answer_from_ms.unwrap();
                manager.finish(&MoveOutcome { elapsed_ms: used_ms, ..MoveOutcome::default() });
                clock_ms -= used_ms;
                let is_lost = clock_ms <= 0.0;
                clock_ms += increment_ms;
                is_lost
            })
        };
        (0..610).filter(|seed| ends(*seed)).count() as f64 / 610.0
    };
    for elo in ["elo=1100", "elo=1500", "elo=1900"] {
        let bullet = lost(&format!("{elo},flag=1"), 60_000.0, 0.0);
        assert!((0.02..0.4).contains(&bullet), "{elo}: {bullet}");
        assert!(lost(&format!("{elo},flag=1"), 180_000.0, 2_000.0) < 0.01, "{elo}");
        assert_eq!(lost(elo, 60_000.0, 0.0), 0.0, "{elo}");
    }
}
