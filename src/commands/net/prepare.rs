//! `zeitnot net fetch --prepare`: lets a device do the long work before its first evaluation ahead of time.

use crate::commands::engine_options::{self, MAY_INSTALL};
use clap::ArgMatches;
use std::path::Path;
use zeitnot_base::files::from_os;
use zeitnot_engine::backend;
use zeitnot_engine::chess::{Game, Move};

/// Prepares the device that the options name for `network`, or for the network of the options if `None`. Returns a line
/// about the result.
pub fn prepare(matches: &ArgMatches, network: Option<&Path>) -> anyhow::Result<String> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    if let Some(path) = network {
        engine.set_option("WeightsFile", &from_os(path.as_os_str()))?;
    }
    let backend = engine.options().backend.clone();
    if !backend::needs_network(&backend)? {
        return Ok(format!("nothing to prepare: the backend {backend} runs no network"));
    }
    let news = engine.prepare()?.unwrap_or_default();
    // Proves that the engine can play with the network.
    let game = Game::new();
    let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
    engine.network_evaluator()?.evaluate(&game, &moves)?;
    Ok(format!("prepared: {news}"))
}
