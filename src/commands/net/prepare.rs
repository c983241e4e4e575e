//! `zeitnot net prepare`: what a device needs time for before its first evaluation, done ahead.

use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::output::say;
use clap::{ArgMatches, Command};
use zeitnot::chess::{Game, Move};

pub fn command() -> Command {
    let command = Command::new("prepare").about("Let a device prepare for a network ahead of a game").after_help(
        "Loads the network as the engine would, with the same --weights, --backend and --backend-opts, and runs every size of \
         batch once. What the backend compiles on the way (TensorRT's engines take minutes) is kept in the user's cache, \
         where the engine finds it.",
    );
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    let news = engine.prepare()?;
    // The proof that it can be played with.
    let game = Game::new();
    let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
    engine.prober()?.evaluate(&game, &moves)?;
    if let Some(news) = news {
        say!("prepared: {news}");
    }
    Ok(())
}
