//! `zeitnot net prepare`: lets a device do ahead the work before its first evaluation that takes long.

use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::output::say;
use clap::{ArgMatches, Command};
use zeitnot_engine::backend;
use zeitnot_engine::chess::{Game, Move};

pub fn command() -> Command {
    let command = Command::new("prepare").about("Let a device prepare for a network ahead of a game").after_help(
        "Loads the network as the engine would, with the same --weights, --backend and --backend-opts; a device of its own runs \
         every size of batch once. What TensorRT, CoreML and OpenVINO on a graphics card compile on the way (TensorRT's \
         engines take minutes) is kept in the user's cache, where the engine finds it. The other devices, a CPU among them, \
         keep nothing: for them this only shows that the network runs.",
    );
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    let backend = engine.options().backend.clone();
    if !backend::needs_network(&backend)? {
        say!("nothing to prepare: the backend {backend} runs no network");
        return Ok(());
    }
    let news = engine.prepare()?;
    // The proof that it can be played with.
    let game = Game::new();
    let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
    engine.network_evaluator()?.evaluate(&game, &moves)?;
    if let Some(news) = news {
        say!("prepared: {news}");
    }
    Ok(())
}
