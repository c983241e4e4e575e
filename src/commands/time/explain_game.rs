//! Explains what a time manager would have granted one move of a game that was played.

use super::explain::show;
use crate::commands::output::say;
use anyhow::Context as _;
use clap::ArgMatches;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use zeitnot::lab::audit::{TimedMove, advice, game_times};
use zeitnot::lab::{PgnGame, PgnGames};
use zeitnot::time_manager;

/// Answers `time explain --game FILE --ply N`.
///
/// Unless `--manager` names one, the manager is the one that the player's name tells, as in `Zeitnot 2 (TimeManager=legacy)`.
pub fn run(matches: &ArgMatches, path: &Path, default: &str, nps: Option<f64>, overhead_ms: f64) -> anyhow::Result<()> {
    anyhow::ensure!(nps.is_none(), "--nps is learned from the game that --game names");
    let ply = *matches.get_one::<u32>("ply").context("--game requires --ply")? as usize;
    let number = matches.get_one::<u32>("number").map_or(1, |number| *number as usize);
    let game = game(path, number)?;
    let times = game_times(&game);
    let place = times.moves.iter().position(|mv| mv.ply == ply).with_context(|| {
        let plies = game.game.moves().len();
        let problem = game.problem.as_ref().map_or_else(String::new, |problem| format!(": {problem}"));
        format!("{} game {number} has no time for the move after {ply} of its {plies} plies{problem}", path.display())
    })?;
    let own_manager = game.tag(if times.moves[place].color.is_white() { "White" } else { "Black" });
    let own_manager = named_manager(own_manager);
    let spec = match (matches.get_one::<String>("manager"), &own_manager) {
        (None, Some(own)) => own,
        _ => default,
    };
    let plan = advice(&game.game, &times, spec, overhead_ms)?.swap_remove(place);
    let mv = &times.moves[place];
    let san = san(&game, ply);
    if matches.get_flag("json") {
        let Value::Object(mut object) = serde_json::to_value(&plan)? else { anyhow::bail!("a plan is an object") };
        let Value::Object(played) = played(mv, &san) else { anyhow::bail!("a move is an object") };
        object.extend(played);
        say!("{}", Value::Object(object));
        return Ok(());
    }
    let seconds = |ms: f64| format!("{:.2} s", ms / 1e3);
    let own = mv.budget_ms.map_or_else(String::new, |ms| format!(" of its budget of {}", seconds(ms)));
    let nodes = mv.nodes.map_or_else(String::new, |nodes| format!(" and {nodes} nodes"));
    let left = if mv.moves_left == 1 {
        "it was the last move of this side".to_owned()
    } else {
        format!("{} moves of this side were left, this one included", mv.moves_left)
    };
    say!(
        "{san} ({}): {} on the clock, {} used{own}{nodes}; {left}.\n",
        side(mv),
        seconds(mv.clock_ms),
        seconds(mv.used_ms)
    );
    say!(
        "{spec} would have granted it {}, by the clocks and moves before it. It is asked without the network, whose moves-left head \
         it may have used, and without its search; what a manager of ours really decided is in `match --decisions`.",
        seconds(plan.budget_ms)
    );
    show(&plan);
    Ok(())
}

/// The game of that number, from 1.
fn game(path: &Path, number: usize) -> anyhow::Result<PgnGame> {
    let cannot_read = || format!("cannot read {}", path.display());
    let mut count = 0;
    for game in PgnGames::new(File::open(path).with_context(cannot_read)?) {
        let game = game.with_context(cannot_read)?;
        count = game.number;
        if count == number {
            return Ok(game);
        }
    }
    anyhow::bail!("--number {number}: {} has games 1 to {count}", path.display())
}

/// The time manager in the name of a player of `match`.
fn named_manager(player: &str) -> Option<String> {
    let named = ["(TimeManager=", ", TimeManager="].into_iter().find_map(|before| player.split_once(before));
    let settings = named?.1.strip_suffix(')')?;
    // Other options may follow; a specification has commas of its own.
    let ends = settings.match_indices(", ").map(|(at, _)| at).chain([settings.len()]);
    ends.map(|end| &settings[..end]).find(|spec| time_manager::build(spec).is_ok()).map(str::to_owned)
}

/// The move after that many plies, with its number.
fn san(game: &PgnGame, ply: usize) -> String {
    let mut before = game.game.clone();
    before.truncate(ply);
    let mv = game.game.moves()[ply];
    let dots = if before.current().turn().is_white() { "." } else { "..." };
    format!("{}{dots} {}", before.current().ply() / 2 + 1, before.san(mv))
}

fn side(mv: &TimedMove) -> &'static str {
    if mv.color.is_white() { "White" } else { "Black" }
}

fn played(mv: &TimedMove, san: &str) -> Value {
    json!({
        "move": san,
        "side": side(mv).to_lowercase(),
        "clock_ms": mv.clock_ms,
        "used_ms": mv.used_ms,
        "own_budget_ms": mv.budget_ms,
        "nodes": mv.nodes,
        "moves_left_true": mv.moves_left,
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
