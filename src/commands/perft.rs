//! `zeitnot perft`: counts the leaves of the legal move tree.

use super::output::say;
use super::{fen_option, game_from, json_flag};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use zeitnot_engine::chess::divide;

pub fn command() -> Command {
    Command::new("perft")
        .about("Count the leaves of the legal move tree, by root move")
        .arg(Arg::new("depth").required(true).value_parser(value_parser!(u32).range(1..=20)).help("Plies"))
        .arg(fen_option())
        .arg(Arg::new("chess960").long("chess960").action(ArgAction::SetTrue).help("Castling as king takes rook"))
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let depth = matches.get_one::<u32>("depth").copied().unwrap_or(1);
    let chess960 = matches.get_flag("chess960");
    let game = game_from(matches.get_one::<String>("fen").map(String::as_str), chess960)?;
    let parts = divide(game.current().chess(), depth, chess960);
    let total: u64 = parts.iter().map(|part| part.1).sum();
    if matches.get_flag("json") {
        let moves: serde_json::Map<_, _> = parts.into_iter().map(|(mv, leaves)| (mv, leaves.into())).collect();
        say!("{}", serde_json::json!({ "fen": game.fen(), "depth": depth, "leaves": total, "moves": moves }));
        return Ok(());
    }
    for (mv, leaves) in parts {
        say!("{mv}: {leaves}");
    }
    say!("\n{total} leaves");
    Ok(())
}
