//! Plays whole games by the clocks that interfaces really keep, on a simulated clock, with every manager: nobody loses
//! on time, and nobody falls into moves without time while there is time.

use super::event_log::SearchStart;
use super::*;

fn specs() -> impl Iterator<Item = String> {
    managers().iter().map(ManagerSpec::title)
}

const OVERHEAD_MS: f64 = 200.0;
/// A move with less is one without a search.
const NO_TIME_MS: f64 = 3.0;
/// With more than this on the clock there is time.
const ENOUGH_MS: f64 = 1_500.0;

/// One side's clock as a referee keeps it.
struct Kind {
    name: &'static str,
    start_ms: f64,
    /// The increment as it is announced.
    increment_ms: f64,
    moves_to_go: fn(u32) -> Option<u32>,
    /// Time that comes onto the clock with a move: by the move's number, from 0, and the time that it took.
    credit: fn(u32, f64) -> f64,
    /// The clock as it is announced.
    told: fn(f64) -> f64,
}

const PLAIN: Kind = Kind {
    name: "sudden death",
    start_ms: 60_000.0,
    increment_ms: 0.0,
    moves_to_go: |_| None,
    credit: |_, _| 0.0,
    told: |clock_ms| clock_ms,
};

const KINDS: &[Kind] = &[
    PLAIN,
    Kind { name: "increment", increment_ms: 1_000.0, credit: |_, _| 1_000.0, ..PLAIN },
    Kind { name: "bullet", start_ms: 3_000.0, increment_ms: 50.0, credit: |_, _| 50.0, ..PLAIN },
    Kind { name: "Bronstein", start_ms: 2_500.0, increment_ms: 3_000.0, credit: |_, lost| lost.min(3_000.0), ..PLAIN },
    Kind { name: "Bronstein, long", increment_ms: 2_000.0, credit: |_, lost| lost.min(2_000.0), ..PLAIN },
    Kind {
        name: "Bronstein, some ms lost on the way",
        start_ms: 4_000.0,
        increment_ms: 3_000.0,
        credit: |_, lost| lost.min(3_000.0) - 4.0,
        ..PLAIN
    },
    Kind { name: "never credited", increment_ms: 3_000.0, ..PLAIN },
    Kind { name: "never credited, long increment", start_ms: 180_000.0, increment_ms: 30_000.0, ..PLAIN },
    Kind { name: "never credited, short of time", start_ms: 4_000.0, increment_ms: 3_000.0, ..PLAIN },
    Kind {
        name: "credited a move late",
        increment_ms: 2_000.0,
        credit: |index, _| if index == 0 { 0.0 } else { 2_000.0 },
        ..PLAIN
    },
    Kind {
        name: "credited every other move",
        start_ms: 10_000.0,
        increment_ms: 2_000.0,
        credit: |index, _| f64::from(index % 2) * 2_000.0,
        ..PLAIN
    },
    Kind {
        name: "credited twice every other move",
        start_ms: 10_000.0,
        increment_ms: 2_000.0,
        credit: |index, _| f64::from(index % 2) * 4_000.0,
        ..PLAIN
    },
    Kind { name: "half credited", start_ms: 5_000.0, increment_ms: 2_000.0, credit: |_, _| 1_000.0, ..PLAIN },
    Kind {
        name: "credited in the first ten moves",
        increment_ms: 2_000.0,
        credit: |index, _| if index < 10 { 2_000.0 } else { 0.0 },
        ..PLAIN
    },
    Kind { name: "hourglass", credit: |index, _| 200.0 + f64::from(index % 5) * 500.0, ..PLAIN },
    Kind {
        name: "time added by hand",
        start_ms: 20_000.0,
        increment_ms: 500.0,
        credit: |index, _| if index % 10 == 9 { 15_500.0 } else { 500.0 },
        ..PLAIN
    },
    Kind {
        name: "periods",
        moves_to_go: |index| Some(40 - index % 40),
        credit: |index, _| if index % 40 == 39 { 60_000.0 } else { 0.0 },
        ..PLAIN
    },
    Kind { name: "whole seconds", start_ms: 30_500.0, told: |clock| (clock / 1_000.0).floor() * 1_000.0, ..PLAIN },
    Kind { name: "nearest seconds", start_ms: 30_000.0, told: |clock| (clock / 1_000.0).round() * 1_000.0, ..PLAIN },
    Kind {
        name: "whole seconds, never credited",
        start_ms: 30_000.0,
        increment_ms: 3_000.0,
        told: |clock| (clock / 1_000.0).floor() * 1_000.0,
        ..PLAIN
    },
    Kind {
        name: "whole seconds, increment",
        start_ms: 5_500.0,
        increment_ms: 2_000.0,
        credit: |_, _| 2_000.0,
        told: |clock| (clock / 1_000.0).floor() * 1_000.0,
        ..PLAIN
    },
    Kind {
        name: "paused while it ran",
        start_ms: 60_000.0,
        credit: |index, _| if index == 6 { -12_000.0 } else { 0.0 },
        ..PLAIN
    },
];

/// The clock before each move, its budget and its hard limit. The game ends early where the clock is spent by the lag
/// alone; `Err`: a move that used more than there was could have been played at once.
fn play(kind: &Kind, spec: &str, lag_ms: f64, moves: u32) -> Result<Vec<(f64, f64, f64)>, String> {
    let mut time = Timekeeper::new(spec).unwrap();
    let mut clock_ms = kind.start_ms;
    let mut course = Vec::new();
    for index in 0..moves {
        let request = MoveRequest {
            clock_ms: (kind.told)(clock_ms),
            increment_ms: kind.increment_ms,
            moves_to_go: (kind.moves_to_go)(index),
            ply: 2 * index,
            overhead_ms: OVERHEAD_MS,
            pieces: Some(32 - index.min(100) / 4),
            legal_moves: Some(30),
            captures: Some(3),
            ..MoveRequest::default()
        };
        let plan = time.begin(&SearchStart::default(), Some(&request)).plan.unwrap();
        // Searches end early, in time, and now and then as late as the manager lets them.
        let is_hard = index % 7 == 6;
        let wanted_ms = match is_hard {
            true => plan.hard_limit_ms,
            false => plan.budget_ms * [0.4, 1.0, 0.7, 1.0, 1.0][index as usize % 5],
        };
        let mut used_ms = wanted_ms.min(plan.budget_ms).max(1.0);
        let look = |at_ms: f64| SearchSnapshot {
            elapsed_ms: at_ms,
            since_first_batch_ms: Some(at_ms - 0.5),
            new_nodes: at_ms as u64,
            total_nodes: at_ms as u64,
            root_visits: (&[60, 50]).into(),
            best_move: Some(index as usize % 2),
            need_more_time: is_hard,
            ..SearchSnapshot::default()
        };
        while time.observe(&look(used_ms)).stop.is_none() && used_ms < wanted_ms {
            used_ms += 1.0;
        }
        let total_nodes = used_ms as u64;
        time.end(&MoveOutcome { elapsed_ms: used_ms, total_nodes, ..MoveOutcome::default() });
        course.push((clock_ms, plan.budget_ms, plan.hard_limit_ms));
        clock_ms -= used_ms + lag_ms;
        if clock_ms < 0.0 && used_ms <= 1.0 {
            return Ok(course);
        }
        if clock_ms < 0.0 {
            return Err(format!("{}, {spec}, lag {lag_ms}: lost at move {index}: {course:.0?}", kind.name));
        }
        clock_ms += (kind.credit)(index, used_ms + lag_ms);
    }
    Ok(course)
}

#[test]
fn on_no_kind_of_clock_a_game_is_lost_or_played_without_time() {
    let mut faults = Vec::new();
    for kind in KINDS {
        for spec in specs() {
            for lag_ms in [0.0, 40.0, 150.0] {
                let course = match play(kind, &spec, lag_ms, 120) {
                    Ok(course) => course,
                    Err(lost) => {
                        faults.push(lost);
                        continue;
                    }
                };
                let without = |(clock_ms, _, hard_limit_ms): &(f64, f64, f64)| {
                    *hard_limit_ms < NO_TIME_MS && *clock_ms >= ENOUGH_MS
                };
                let most = course.split(|played| !without(played)).map(<[_]>::len).max().unwrap_or(0);
                if most > 2 {
                    faults
                        .push(format!("{}, {spec}, lag {lag_ms}: {most} moves without time: {course:.0?}", kind.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of them, the first: {}", faults.len(), faults[0]);
}

#[test]
fn an_increment_that_never_comes_is_not_spent() {
    for kind in KINDS.iter().filter(|kind| kind.name.starts_with("never credited") && kind.start_ms >= 60_000.0) {
        // `alphazero` counts no increment anyway: it gives an eighth of the clock.
        for spec in specs().filter(|spec| spec != "alphazero") {
            let course = play(kind, &spec, 20.0, 31).unwrap();
            let left_ms = course[30].0;
            assert!(left_ms > kind.start_ms / 6.0, "{}, {spec}: {left_ms:.0}: {course:.0?}", kind.name);
        }
    }
}

#[test]
fn moves_on_a_delay_may_use_it() {
    for kind in KINDS.iter().filter(|kind| kind.name == "Bronstein") {
        // People take less for late moves, whatever their clock.
        for spec in specs().filter(|spec| spec != "human") {
            let course = play(kind, &spec, 20.0, 60).unwrap();
            assert!(course.iter().all(|(clock_ms, ..)| *clock_ms == kind.start_ms), "{spec}: {course:?}");
            assert!(course[59].1 >= 0.9 * course[5].1, "{spec}: {course:.0?}");
        }
    }
}
