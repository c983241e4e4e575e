//! Feeds a session random input, valid and damaged: no panic, one `bestmove` for each `go`, legal moves, a clean exit.
//!
//! `ZEITNOT_FUZZ_LINES=100000 ZEITNOT_FUZZ_SPECIFICATIONS=50000 cargo test --test uci fuzz -- --nocapture` is
//! the long run; without the variables a short one belongs to the test suite. `ZEITNOT_FUZZ_SEED` (1 otherwise) chooses
//! the input, which is the same for the same seed. A failure names the seed of its session:
//! `ZEITNOT_FUZZ_LINES=1 ZEITNOT_FUZZ_SEED=SEED` repeats that session alone.

mod damage;
mod lines;
mod session;
mod specification;

use super::driver::{Uci, errors};
use lines::Generator;
use session::Session;
use zeitnot_engine::splitmix::SplitMix64 as Random;
use zeitnot_time::{MoveOutcome, MoveRequest};

/// Lines and specifications of a run of the test suite.
const FEW_LINES: usize = 3_000;
const FEW_SPECIFICATIONS: usize = 3_000;

/// Random lines that one process reads.
const LINES_OF_A_SESSION: usize = 400;
/// Random lines between two searches with a known answer.
const LINES_OF_A_ROUND: usize = 40;

/// Specifications that are sent before the answers are read.
const CHUNK: usize = 200;
/// The longest complaint that is taken for one, in bytes.
const LONGEST_COMPLAINT: usize = 10_000;

fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn any_input_is_survived_and_every_go_is_answered_once() {
    let lines = setting("ZEITNOT_FUZZ_LINES", FEW_LINES);
    let first = setting("ZEITNOT_FUZZ_SEED", 1);
    let (mut sent, mut searches, mut moves) = (0, 0, 0);
    for seed in first.. {
        if sent >= lines {
            eprintln!("{sent} lines, {searches} go, {moves} moves checked; seeds {first} to {}", seed - 1);
            break;
        }
        eprintln!("session of seed {seed}");
        let mut session = Session::start(seed as u64);
        let mut generator = Generator::new(Random(seed as u64), session.options());
        while session.lines < LINES_OF_A_SESSION {
            session.round(&mut generator, LINES_OF_A_ROUND);
            session.control(&mut generator);
        }
        (sent, searches, moves) = (sent + session.lines, searches + session.searches, moves + session.moves);
        session.end();
    }
    assert!(searches * 10 > sent && moves * 10 > searches, "the input is no longer what it was meant to be");
}

#[test]
fn any_specification_of_a_time_manager_is_planned_with_or_refused_in_one_line() {
    let count = setting("ZEITNOT_FUZZ_SPECIFICATIONS", FEW_SPECIFICATIONS);
    let first = setting("ZEITNOT_FUZZ_SEED", 1);
    let mut random = Random(first as u64);
    let mut engine = Uci::uniform();
    let (mut accepted, mut made) = (0, 0);
    while made < count {
        let specs: Vec<String> = (0..CHUNK).map(|_| specification::any(&mut random)).collect();
        for (index, spec) in specs.iter().enumerate() {
            engine.send(&format!("setoption name TimeManager value {spec}\nmark {index}"));
        }
        for (index, spec) in specs.iter().enumerate() {
            let answer = engine.until_line(|line| line.ends_with(&format!("unknown command \"mark {index}\"")));
            let said = &answer[..answer.len() - 1];
            // What surrounds a value on its line is no part of it.
            match zeitnot_time::build(spec.trim()) {
                Ok(mut manager) => {
                    accepted += 1;
                    assert!(said.is_empty(), "{spec:?} is accepted: {said:?}");
                    plans(manager.as_mut(), spec, &mut random);
                }
                Err(error) => {
                    assert!(said.len() == 1 && errors(said).len() == 1, "{spec:?} is refused ({error}): {said:?}");
                    assert!(said[0].len() < LONGEST_COMPLAINT, "{spec:?}: {said:?}");
                }
            }
        }
        made += CHUNK;
    }
    engine.plays();
    engine.quit();
    eprintln!("{made} specifications, {accepted} accepted; seed {first}");
    assert!(accepted * 5 > made && accepted * 5 < made * 4, "{accepted} of {made} accepted: one kind is hardly tried");
}

/// A few moves of a game at any clock.
fn plans(manager: &mut dyn zeitnot_time::TimeManager, spec: &str, random: &mut Random) {
    for move_number in 0..4 {
        let clock_ms = clock(random);
        let increment_ms = if random.below(2) == 0 { 0.0 } else { clock(random) };
        let movestogo = [None, None, Some(1), Some(40), Some(u32::MAX)][random.below(5)];
        let request = MoveRequest {
            clock_ms,
            increment_ms,
            moves_to_go: movestogo,
            ply: 2 * move_number + [0, 60, 600][random.below(3)],
            overhead_ms: [0.0, 30.0, 200.0, 1e9][random.below(4)],
            reused_nodes: [0, 300, 10_000_000, u64::MAX][random.below(4)],
            moves_left_plies: [None, Some(0.0), Some(80.0), Some(1e30)][random.below(4)],
            ..MoveRequest::default()
        };
        let plan = manager.plan(&request);
        let numbers = [plan.budget_ms, plan.extra_ms, plan.hard_limit_ms];
        assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{spec}: {request:?}: {plan}");
        assert!(plan.budget_ms <= plan.hard_limit_ms && plan.hard_limit_ms <= clock_ms, "{spec}: {request:?}: {plan}");
        let elapsed_ms = plan.hard_limit_ms * random.below(101) as f64 / 100.0;
        manager.finish(&MoveOutcome {
            elapsed_ms,
            total_nodes: random.below(1_000_000) as u64,
            ..MoveOutcome::default()
        });
    }
}

/// A clock in milliseconds, 0 to 1e12: all orders of magnitude are equally likely.
fn clock(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => [0.0, 1.0, 200.0, 1e12][random.below(4)],
        _ => 10_f64.powf(random.below(12_001) as f64 / 1e3),
    }
}
