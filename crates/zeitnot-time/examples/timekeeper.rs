//! Drives a time manager through a game without a search: what it plans, when it stops a move, what it learns.
//!
//! `cargo run --example timekeeper`, or `cargo run --example timekeeper -- "legacy(first-move-bonus=0)"`: the argument is
//! what the option `TimeManager` takes. The game is 60 s + 0.6 s; the search is made up, 1000 nodes a second, half of them
//! the best move's. `Timekeeper` knows no clock and no threads: times go in as numbers, so that a game takes no time.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use zeitnot_time::trace::SearchStart;
use zeitnot_time::{MoveOutcome, MoveRequest, SearchSnapshot, Timekeeper};

const NPS: f64 = 1000.0;
const BATCH_MS: f64 = 20.0;
const INCREMENT_MS: f64 = 600.0;

fn main() -> Result<(), Box<dyn Error>> {
    let spec = std::env::args().nth(1).unwrap_or_else(|| "smooth".to_owned());
    let mut time = Timekeeper::new(&spec)?;
    let (mut clock_ms, mut reused_nodes) = (60_000.0, 0);
    println!("move  clock  budget  limit  used  stopped by");
    for number in 0..12 {
        let request = MoveRequest {
            clock_ms,
            increment_ms: INCREMENT_MS,
            ply: 2 * number,
            overhead_ms: 50.0,
            reused_nodes,
            ..MoveRequest::default()
        };
        let plan = time.begin(&SearchStart::default(), Some(&request)).plan.ok_or("a move with a clock has a plan")?;
        let mut elapsed_ms = 0.0;
        let (stop, total_nodes) = loop {
            elapsed_ms += BATCH_MS;
            let new_nodes = (elapsed_ms / 1e3 * NPS) as u64;
            let total_nodes = reused_nodes + new_nodes;
            let visits = [2, 4, 5].map(|part| total_nodes as u32 / part);
            let snapshot = SearchSnapshot {
                elapsed_ms,
                since_first_batch_ms: Some(elapsed_ms - BATCH_MS),
                new_nodes,
                total_nodes,
                root_visits: visits.as_slice().into(),
                ..SearchSnapshot::default()
            };
            if let Some(stop) = time.observe(&snapshot).stop {
                break (stop, total_nodes);
            }
        };
        time.end(&MoveOutcome { elapsed_ms, total_nodes, stop: Some(stop), ..MoveOutcome::default() });
        let (budget, limit) = (plan.budget_ms, plan.hard_limit_ms);
        println!("{:4} {clock_ms:6.0} {budget:7.0} {limit:6.0} {elapsed_ms:5.0}  {stop}", number + 1);
        clock_ms += INCREMENT_MS - elapsed_ms;
        // Four tenths of the tree survive the two moves.
        reused_nodes = total_nodes * 2 / 5;
    }
    println!("estimates: {:?}", time.manager().estimates());
    Ok(())
}
