//! `zeitnot time explain move`: shows how a time manager comes to its decision about one move.

use super::{check_times, explanation, nps, number, overhead_ms, show};
use crate::commands::flags::{switch, time_flags};
use crate::commands::output::say;
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use zeitnot_engine::engine::Options;
use zeitnot_engine::managers;
use zeitnot_time::MoveRequest;

pub fn command() -> Command {
    let ms = |name, help| number(name, "MS", value_parser!(f64), help);
    let count = |name, value_name, help| number(name, value_name, value_parser!(u32), help);
    explanation("move", "Explain the decision about one move").arg(nps()).args([
        ms("clock", "Time on our clock").required(true),
        ms("inc", "Increment that each of our moves adds [default: 0]"),
        count("movestogo", "N", "Moves until the next time control [default: sudden death]"),
        count("ply", "N", "Game ply of the position, 0 at the start [default: 0]"),
        number("reused", "NODES", value_parser!(u64), "Nodes already in the tree [default: 0]"),
        ms("evaluation", "Time of one evaluation; a move that has less is answered without one"),
        number("moves-left", "PLIES", value_parser!(f64), "Estimate of the network's moves-left head"),
        count("pieces", "N", "Pieces on the board"),
        count("legal-moves", "N", "Legal moves of the position"),
        count("captures", "N", "Captures among the legal moves"),
        switch("check", "Check against the side to move"),
    ])
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let defaults = Options::default();
    let nps = time_flags::speeds(matches)?.first().copied();
    let request = request(matches)?;
    let mut manager = managers::build(matches.get_one::<String>("manager").unwrap_or(&defaults.time_manager))?;
    if let Some(nps) = nps {
        manager.set_nps(nps);
    }
    let plan = manager.plan(&request);
    anyhow::ensure!(plan.manager == manager.name(), "{} gave no plan", manager.name());
    if matches.get_flag("json") {
        say!("{}", serde_json::to_string(&plan)?);
    } else {
        show(&plan);
    }
    Ok(())
}

/// The facts that the flags give the manager.
fn request(matches: &ArgMatches) -> anyhow::Result<MoveRequest> {
    check_times(matches, &["clock", "inc", "evaluation"])?;
    let moves_left_plies = matches.get_one::<f64>("moves-left").copied();
    if let Some(plies) = moves_left_plies {
        let is_length = plies.is_finite() && plies >= 0.0;
        anyhow::ensure!(is_length, "--moves-left {plies}: the rest of a game is a number of plies, 0 or more");
    }
    Ok(MoveRequest {
        clock_ms: *matches.get_one("clock").context("--clock is required")?,
        increment_ms: matches.get_one("inc").copied().unwrap_or(0.0),
        moves_to_go: matches.get_one("movestogo").copied(),
        ply: matches.get_one("ply").copied().unwrap_or(0),
        overhead_ms: overhead_ms(matches)?,
        lag_ms: 0.0,
        missing_increment_ms: 0.0,
        is_foreign_clock: false,
        evaluation_ms: matches.get_one("evaluation").copied(),
        reused_nodes: matches.get_one("reused").copied().unwrap_or(0),
        moves_left_plies,
        pieces: matches.get_one("pieces").copied(),
        legal_moves: matches.get_one("legal-moves").copied(),
        captures: matches.get_one("captures").copied(),
        in_check: matches.get_flag("check"),
        recaptures: None,
        reply_prior: None,
        opponent_clock_ms: None,
    })
}
