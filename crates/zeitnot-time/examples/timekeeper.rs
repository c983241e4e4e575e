//! Plays twelve moves of 60 s + 0.6 s with a time manager, as an engine drives one: plan, look after each batch, end.
//!
//! `cargo run -p zeitnot-time --example timekeeper -- "legacy(first-move-bonus=0)"`: the argument names the manager.
//! The search is made up, 1000 nodes a second, and time goes in as numbers, so that a game takes no time.

#![allow(clippy::print_stdout, reason = "an example prints")]

use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{MoveOutcome, MoveRequest, SearchSnapshot, Timekeeper};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = std::env::args().nth(1).unwrap_or_else(|| "smooth".to_owned());
    let mut time = Timekeeper::new(&spec)?; // one for each game
    let (mut clock_ms, increment_ms, mut reused_nodes) = (60_000.0, 600.0, 0);
    println!("ply  clock  budget  limit  used  stopped by");
    for ply in (0..24).step_by(2) {
        let request =
            MoveRequest { clock_ms, increment_ms, ply, overhead_ms: 50.0, reused_nodes, ..MoveRequest::default() };
        let plan = time.begin(&SearchStart::default(), Some(&request)).plan.ok_or("a move with a clock has a plan")?;
        let (mut elapsed_ms, mut new_nodes) = (0.0, 0);
        let stop = loop {
            (elapsed_ms, new_nodes) = (elapsed_ms + 20.0, new_nodes + 20); // the engine evaluates a batch
            let total_nodes = reused_nodes + new_nodes;
            let visits = [2, 4, 5].map(|part| total_nodes as u32 / part);
            let snapshot = SearchSnapshot {
                elapsed_ms,
                since_first_batch_ms: Some(elapsed_ms - 20.0),
                new_nodes,
                total_nodes,
                root_visits: visits.as_slice().into(),
                ..SearchSnapshot::default()
            };
            if let Some(stop) = time.observe(&snapshot).stop {
                break stop;
            }
        };
        let total_nodes = reused_nodes + new_nodes;
        time.end(&MoveOutcome { elapsed_ms, total_nodes, stop: Some(stop), ..MoveOutcome::default() });
        let (budget_ms, limit_ms) = (plan.budget_ms, plan.hard_limit_ms);
        println!("{ply:3} {clock_ms:6.0} {budget_ms:7.0} {limit_ms:6.0} {elapsed_ms:5.0}  {stop}");
        clock_ms += increment_ms - elapsed_ms;
        reused_nodes = total_nodes * 2 / 5; // four tenths of the tree survive the two moves
    }
    println!("learned: {:?}", time.manager().estimates());
    Ok(())
}
