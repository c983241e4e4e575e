//! `zeitnot time explain game`: shows the decision that a time manager would have made about a move of a game that was
//! played.

use super::{explanation, number, overhead_ms, show};
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use zeitnot_analysis::audit::{
    ClockedMove, Remarks, game_times, lost_on_time, move_name, plan_of, player_name, unplayed_move,
};
use zeitnot_base::files::open;
use zeitnot_base::printable::plain;
use zeitnot_base::words::seconds;
use zeitnot_engine::engine::Options;
use zeitnot_games::{PgnGame, PgnGames};

pub fn command() -> Command {
    let count = |name, help| number(name, "N", value_parser!(u32), help);
    explanation("game", "Explain a move of a game that has clocks in its comments, by all the moves before it")
        .arg(
            Arg::new("game")
                .value_name("FILE.pgn")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Games in PGN with clocks or times in their comments"),
        )
        .arg(count("ply", "Plies before the move").required(true))
        .arg(count("number", "The game's number in its file [default: 1]"))
}

/// Explains a move, by `--manager` or else the manager in the player's name, as in `Zeitnot 2 (TimeManager=legacy)`.
pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let path = matches.get_one::<PathBuf>("game").context("FILE.pgn is required")?;
    let ply = *matches.get_one::<u32>("ply").context("--ply is required")? as usize;
    let number = matches.get_one::<u32>("number").map_or(1, |number| *number as usize);
    let overhead_ms = overhead_ms(matches)?;
    let game = game(path, number)?;
    let times = game_times(&game);
    let mut remarks = Remarks::default();
    remarks.add(&game, &times);
    remarks.lines().for_each(|line| note!("{}: {line}", path.display()));
    let plies = game.game.moves().len();
    let mut moves = times.moves.clone();
    // The move that was not finished may be the one to look at.
    moves.extend(unplayed_move(&game, &times).filter(|_| ply == plies));
    let place = moves.iter().position(|mv| mv.ply == ply && mv.clock_ms.is_some()).with_context(|| {
        let problem = game.problem.as_ref().map_or_else(String::new, |problem| format!(": {}", plain(problem)));
        format!("{} game {number} has no clock for the move after {ply} of its {plies} plies{problem}", path.display())
    })?;
    let mv = moves[place];
    let own_manager = named_manager(player_name(&game, mv.color));
    let defaults = Options::default();
    let spec = matches.get_one::<String>("manager").or(own_manager.as_ref()).unwrap_or(&defaults.time_manager);
    let plan = plan_of(place, &game.game, &moves, spec, overhead_ms)?.context("a move with a clock has a plan")?;
    let is_played = ply < plies;
    let lost = lost_on_time(&game, &times, path, overhead_ms).filter(|lost| lost.ply == Some(ply));
    if matches.get_flag("json") {
        let Value::Object(mut object) = serde_json::to_value(&plan)? else { anyhow::bail!("a plan is an object") };
        let Value::Object(played) = played(&game, &mv, is_played, lost.is_some()) else {
            anyhow::bail!("a move is an object")
        };
        object.extend(played);
        say!("{}", Value::Object(object));
        return Ok(());
    }
    let time = |ms: f64| format!("{} s", seconds(ms));
    let own = mv.budget_ms.map_or_else(String::new, |ms| format!(" of its budget of {}", time(ms)));
    let nodes = mv.nodes.map_or_else(String::new, |nodes| format!(" and {nodes} nodes"));
    let used = if is_played { format!(", {} used{own}{nodes}", time(mv.used_ms)) } else { String::new() };
    let left = match (lost, is_played) {
        (Some(lost), _) => {
            let over = lost.over_ms.map_or_else(String::new, |ms| format!(", {} too late", time(ms)));
            let file = if is_played { "" } else { ", and the move is not in the file" };
            format!("it lost on time with this move{over}{file}")
        }
        (None, false) => "the game ended before this move".to_owned(),
        (None, true) if mv.moves_left == 1 => "it was the last move of this side".to_owned(),
        (None, true) => format!("{} moves of this side were left, this one included", mv.moves_left),
    };
    let clock = mv.clock_ms.map_or_else(String::new, time);
    say!("{} ({}): {clock} on the clock{used}; {left}.\n", move_name(&game.game, ply), side(&mv));
    say!(
        "{spec} would have granted it {}, by the clocks and moves before it. It is asked without the network, whose moves-left head \
         it may have used, and without its search; what a manager of ours really decided is in `match --decisions`.",
        time(plan.budget_ms)
    );
    show(&plan);
    Ok(())
}

fn game(path: &Path, number: usize) -> anyhow::Result<PgnGame> {
    let cannot_read = || format!("cannot read {}", path.display());
    let mut count = 0;
    for game in PgnGames::new(open(path).with_context(cannot_read)?) {
        let game = game.with_context(cannot_read)?;
        count = game.number;
        if count == number {
            return Ok(game);
        }
    }
    anyhow::bail!("--number {number}: {} has games 1 to {count}", path.display())
}

/// The time manager in the name of a player of `match`; `None` if the name has none.
fn named_manager(player: &str) -> Option<String> {
    let named = ["(TimeManager=", ", TimeManager="].into_iter().find_map(|before| player.split_once(before));
    let settings = named?.1.strip_suffix(')')?;
    // Other options may follow; a specification has commas of its own.
    let ends = settings.match_indices(", ").map(|(at, _)| at).chain([settings.len()]);
    ends.map(|end| &settings[..end]).find(|spec| zeitnot_time::build(spec).is_ok()).map(str::to_owned)
}

fn side(mv: &ClockedMove) -> &'static str {
    if mv.color.is_white() { "White" } else { "Black" }
}

fn played(game: &PgnGame, mv: &ClockedMove, is_played: bool, is_lost: bool) -> Value {
    json!({
        "move": move_name(&game.game, mv.ply),
        "side": side(mv).to_lowercase(),
        "clock_ms": mv.clock_ms,
        "used_ms": is_played.then_some(mv.used_ms),
        "own_budget_ms": mv.budget_ms,
        "nodes": mv.nodes,
        "moves_left_true": mv.moves_left,
        "lost_on_time": is_lost,
    })
}

#[cfg(test)]
mod tests {
    use super::named_manager;

    #[test]
    fn a_name_tells_its_manager_among_other_options() {
        for (player, manager) in [
            ("Zeitnot 1 (TimeManager=legacy)", Some("legacy")),
            ("Zeitnot 1 (CPuct=2, TimeManager=smooth(preset=lc0))", Some("smooth(preset=lc0)")),
            (
                "Zeitnot 1 (TimeManager=smooth(extension=1, score-drop=0), Threads=2)",
                Some("smooth(extension=1, score-drop=0)"),
            ),
            ("Zeitnot 1 (CPuct=2)", None),
            ("Zeitnot 1", None),
        ] {
            assert_eq!(named_manager(player).as_deref(), manager, "{player}");
        }
    }
}
