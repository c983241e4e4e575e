//! `zeitnot time audit`: reads how the players of games spent their clocks, and says what our managers would have granted.

use crate::commands::json_flag;
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use zeitnot::chess::Color;
use zeitnot::engine::Options;
use zeitnot::lab::audit::{
    GameTimes, PlayerClock, TimedMove, advice, game_times, is_tmgr_log, player_clocks, read_tmgr_log,
};
use zeitnot::lab::report::plain;
use zeitnot::lab::{PgnGame, read_games};
use zeitnot::time_manager::{self, Plan};

pub fn command() -> Command {
    Command::new("audit")
        .about("Read how the players of games spent their clocks, and what our time managers would have granted")
        .arg(super::files("Games in PGN with clocks or times in their comments, or logs of Lc0 with lines of TMGR:"))
        .arg(super::managers("A time manager that is asked about each move"))
        .arg(
            Arg::new("overhead")
                .long("overhead")
                .value_name("MS")
                .value_parser(value_parser!(f64))
                .help("The overhead of a move that the managers keep clear [default: that of MoveOverheadMs]"),
        )
        .arg(json_flag())
}

/// A game whose times are known.
struct Audited {
    file: String,
    game: PgnGame,
    times: GameTimes,
    /// For each manager its plans.
    plans: Vec<Vec<Plan>>,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut specs = super::named_managers(matches);
    let mut named = BTreeSet::new();
    // A manager named twice has one column.
    specs.retain(|spec| named.insert(*spec));
    for spec in &specs {
        time_manager::build(spec)?;
    }
    let overhead_ms = matches.get_one("overhead").copied().unwrap_or(Options::default().move_overhead as f64);
    anyhow::ensure!((0.0..1e9).contains(&overhead_ms), "--overhead {overhead_ms}: a time is a number of milliseconds");
    let is_json = matches.get_flag("json");
    let (mut audited, mut has_log) = (Vec::new(), false);
    for path in super::named_files(matches) {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        if is_tmgr_log(&bytes) {
            log(path, &bytes, is_json)?;
            has_log = true;
            continue;
        }
        let games = read_games(&bytes[..]).with_context(|| format!("cannot read {}", path.display()))?;
        let (before, count) = (audited.len(), games.len());
        for game in games {
            if let Some(problem) = &game.problem {
                note!("{} game {}: {}: the rest of it is left out", path.display(), game.number, plain(problem));
            }
            let times = game_times(&game);
            if times.moves.is_empty() {
                continue;
            }
            let plans = |spec: &&str| advice(&game.game, &times, spec, overhead_ms);
            let plans = specs.iter().map(plans).collect::<Result<_, _>>()?;
            audited.push(Audited { file: path.display().to_string(), game, times, plans });
        }
        let read = audited.len() - before;
        if read < count || count == 0 {
            note!("{}: {read} of {count} games have moves with clocks", path.display());
        }
    }
    anyhow::ensure!(has_log || !audited.is_empty(), "there is no move with a clock to audit");
    let names = |game: &PgnGame| ["White", "Black"].map(|color| game.tag(color).to_owned());
    let named: Vec<[String; 2]> = audited.iter().map(|audited| names(&audited.game)).collect();
    let games = named.iter().zip(&audited);
    let clocks = player_clocks(games.map(|(names, audited)| (names.each_ref().map(String::as_str), &audited.times)));
    if is_json {
        audited.iter().for_each(|audited| moves(audited, &specs));
        say!("{}", json!({ "summary": { "players": clocks, "managers": managers(&audited, &specs) } }));
    } else if !audited.is_empty() {
        players(&clocks);
        estimates(&audited, &specs);
    }
    Ok(())
}

/// A text as the cell of a table: nothing in it commands the terminal or ends the cell.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

/// Prints the moves of a log.
fn log(path: &Path, bytes: &[u8], is_json: bool) -> anyhow::Result<()> {
    let moves = read_tmgr_log(&String::from_utf8_lossy(bytes));
    if is_json {
        for mv in &moves {
            say!("{}", json!({ "file": path.display().to_string(), "tmgr": mv }));
        }
        return Ok(());
    }
    say!("{}: {} moves of Lc0's smooth", path.display(), moves.len());
    say!("| White's clock | Black's clock | granted | target takes | moves left | nps | reused nodes | nodes to add |");
    say!("|---|---|---|---|---|---|---|---|");
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let time = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{:.1} s", ms / 1e3));
    for mv in &moves {
        say!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            time(mv.clocks_ms[0]),
            time(mv.clocks_ms[1]),
            time(mv.allocated_ms),
            time(mv.brutto_ms),
            mv.moves.map_or("-".to_owned(), |moves| format!("{moves:.1}")),
            number(mv.nps),
            number(mv.reused),
            number(mv.expected_new)
        );
    }
    Ok(())
}

/// Prints an object for each move of a game.
fn moves(audited: &Audited, specs: &[&str]) {
    for (index, mv) in audited.times.moves.iter().enumerate() {
        let budgets: Map<String, Value> = specs
            .iter()
            .zip(&audited.plans)
            .map(|(spec, plans)| ((*spec).to_owned(), json!(plans[index].budget_ms)))
            .collect();
        say!(
            "{}",
            json!({
                "file": audited.file,
                "game": audited.game.number,
                "ply": mv.ply,
                "side": if mv.color == Color::White { "white" } else { "black" },
                "clock_ms": mv.clock_ms,
                "used_ms": mv.used_ms,
                "budget_ms": mv.budget_ms,
                "moves_left_true": mv.moves_left,
                "managers": budgets,
            })
        );
    }
}

/// The errors of a manager's estimates of the moves left, and its budgets beside the times used.
fn managers(audited: &[Audited], specs: &[&str]) -> Vec<Value> {
    let manager = |(at, spec): (usize, &&str)| {
        let moves = || audited.iter().flat_map(|game| game.times.moves.iter().zip(&game.plans[at]));
        // Not all managers estimate the length of the game.
        let error =
            |(mv, plan): (&TimedMove, &Plan)| Some((plan.estimated_moves_left()? - f64::from(mv.moves_left)).abs());
        let mut errors: Vec<f64> = moves().filter_map(error).collect();
        errors.sort_by(f64::total_cmp);
        let moves_left_error = errors
            .get(errors.len() / 2)
            .map(|median| json!({ "median": median, "mean": errors.iter().sum::<f64>() / errors.len() as f64 }));
        let used_ms: f64 = moves().map(|(mv, _)| mv.used_ms).sum();
        let budget_ms: f64 = moves().map(|(_, plan)| plan.budget_ms).sum();
        json!({
            "manager": spec,
            "moves": moves().count(),
            "moves_left_error": moves_left_error,
            "budget_to_used": if used_ms > 0.0 { budget_ms / used_ms } else { 0.0 },
        })
    };
    specs.iter().enumerate().map(manager).collect()
}

fn players(clocks: &[PlayerClock]) {
    say!(
        "| player | games | mean time | clock left, 5 / 50 / 95 % | moves 1-15, 16-40, later | hoarded | rushed | risked | overrun |"
    );
    say!("|---|---|---|---|---|---|---|---|---|");
    for clock in clocks {
        let left = clock.clock_left_ms;
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let [opening, middle, end] = clock.share_by_phase.map(|share| 100.0 * share);
        say!(
            "| {} | {} | {:.2} s | {:.1} / {:.1} / {:.1} s | {opening:.0} / {middle:.0} / {end:.0} % | {:.0} % | {:.1} % | {:.1} % | {} |",
            cell(&clock.player),
            clock.games,
            clock.mean_ms / 1e3,
            left.p5 / 1e3,
            left.p50 / 1e3,
            left.p95 / 1e3,
            share(clock.hoarded, clock.games),
            share(clock.rushed, clock.moves),
            share(clock.risked, clock.moves),
            clock.overrun,
        );
    }
    say!(
        "\nhoarded: games that ended with a quarter of the first clock or more; rushed: moves below a twentieth of an equal share \
         with a fifth of the first clock there; risked: moves that ended with less than a two-hundredth of the first clock\n"
    );
}

fn estimates(audited: &[Audited], specs: &[&str]) {
    say!("| manager | moves left, median / mean error | its budgets, all together, beside the times used |");
    say!("|---|---|---|");
    for manager in managers(audited, specs) {
        let error = &manager["moves_left_error"];
        let number = |value: &Value| value.as_f64().map_or_else(|| "-".to_owned(), |number| format!("{number:.0}"));
        say!(
            "| {} | {} / {} | {:.2} |",
            cell(manager["manager"].as_str().unwrap_or_default()),
            number(&error["median"]),
            number(&error["mean"]),
            manager["budget_to_used"].as_f64().unwrap_or_default()
        );
    }
}
