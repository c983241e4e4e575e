//! `zeitnot time explain`: shows how a time manager comes to its decision about one move, or answers a script of events.

use super::{explain_game, script};
use crate::commands::json_flag;
use crate::commands::output::{self, say};
use anyhow::Context as _;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_engine::engine::Options;
use zeitnot_time::{MoveRequest, Plan, StopperParams};

fn number(name: &'static str, value_name: &'static str, parser: impl Into<ValueParser>, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name).allow_negative_numbers(true).value_parser(parser).help(help)
}

/// The events of a script, as [`script`] reads them.
const SCRIPT_HELP: &str = r#"A script has one event a line, in the order of a game: a plan, any number of looks at the search, the end. A trace that was
recorded from a game is a script, too; the answers in it are passed over.
Times are in milliseconds on the move's clock; what stands in brackets may be left out.

  {"event":"plan","clock_ms":60000,"inc_ms":600,"ply":24,"reused":9000}
  {"event":"observe","t_ms":1200,"first_batch_ms":1150,"new_nodes":1200,"visits":[800,400]}
  {"event":"finish","t_ms":2100,"total_nodes":11100}

  plan     what the manager is told before the move: clock_ms [inc_ms, movestogo, ply, overhead_ms (else that of
           --overhead), lag_ms, missing_inc_ms, opponents_clock (bool), evaluation_ms (of one position), reused (nodes), moves_left
           (plies, of the network), pieces, legal_moves, captures, check (bool)]
  observe  a look at the running search: t_ms [first_batch_ms (since the end of the first batch), new_nodes, total_nodes
           (else new and reused ones), batches, depth (average, whole plies), mate (in moves), visits (of the moves at the
           root), win_found, may_resign, need_more_time (bool), losing_edges, best_move (index into visits; else the most
           visited), best_value and second_value (-1 to 1), moves_left]
  finish   the move is played: t_ms [total_nodes, stop (else that of the last look), first_evaluation_ms]

Rarer ones, as a trace has them: another manager (--manager goes before it), a new game, another game that goes on, a tree
that is not the last one's, a move from the book, and the limits beside the clock with the options of all stoppers, before
the plan of their move:

  {"event":"manager","spec":"smooth","measure_lag":true}
  {"event":"new_game"}
  {"event":"other_game","keep_time_stats":false}
  {"event":"tree_changed"}
  {"event":"book_move","ply":2,"clock_ms":60000,"inc_ms":600}
  {"event":"search","limits":{"movetime_ms":3000},"stoppers":{"smart_pruning_factor":1.33},"evaluation_ms":2.5}"#;

/// A note on names in formulas that the table has not; `zeitnot_time::formulas` reads them so.
const ABSENT: &str = "In formulas, a name that has no line is a parameter, or is 0 in this decision.\n";

pub fn command() -> Command {
    let ms = |name, help| number(name, "MS", value_parser!(f64), help);
    let count = |name, value_name, help| number(name, value_name, value_parser!(u32), help);
    let one_decision = [
        ms("clock", "Time on our clock").required_unless_present_any(["script", "game"]),
        ms("inc", "Increment that each of our moves adds [default: 0]"),
        count("movestogo", "N", "Moves until the next time control [default: sudden death]"),
        count(
            "ply",
            "N",
            "Game ply of the position, 0 at the start [default: 0]; with --game the plies before the move",
        ),
        number("reused", "NODES", value_parser!(u64), "Nodes already in the tree [default: 0]"),
        ms("evaluation", "Time that one evaluation takes: where it does not fit, a move is due without one"),
        number("moves-left", "PLIES", value_parser!(f64), "What the network's moves-left head says"),
        count("pieces", "N", "Pieces on the board"),
        count("legal-moves", "N", "Legal moves of the position"),
        count("captures", "N", "Those of them that capture"),
        Arg::new("check").long("check").action(ArgAction::SetTrue).help("The side to move is in check"),
    ];
    let script = Arg::new("script")
        .long("script")
        .value_name("FILE.jsonl")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with_all(["clock", "inc", "movestogo", "ply", "reused", "moves-left", "pieces", "check"])
        .conflicts_with_all(["legal-moves", "captures", "evaluation"])
        .help("Events, one JSON object a line; each is answered with one line of JSON (- reads standard input); --help says which");
    let game = Arg::new("game")
        .long("game")
        .value_name("FILE.pgn")
        .value_parser(value_parser!(PathBuf))
        .requires("ply")
        .conflicts_with_all(["script", "clock", "inc", "movestogo", "reused", "moves-left", "pieces", "check"])
        .conflicts_with_all(["legal-moves", "captures", "evaluation"])
        .help("The move after --ply plies of a game with clocks in its comments, by all the moves before it");
    let number_of_game = count("number", "N", "The game's number in its file [default: 1]").requires("game");
    let flag = |name, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let table = flag("table", "Answer a script for people: every term of a plan, and what became of the move");
    let stoppers =
        flag("stoppers", "Ask all stoppers at each look of a script, smart pruning among them, not the manager alone");
    Command::new("explain")
        .about("Explain the decision about one move, or answer a script of events")
        .after_long_help(SCRIPT_HELP)
        .arg(
            Arg::new("manager")
                .long("manager")
                .value_name("SPEC")
                .help("The time manager, as the option TimeManager has it [default: that option's]"),
        )
        .arg(ms("overhead", "Time lost between engine and clock, per move [default: that of MoveOverheadMs]"))
        .arg(number("nps", "N", value_parser!(f64), "The manager's estimate of speed, as if learned"))
        .args(one_decision)
        .arg(script)
        .args([game, number_of_game])
        // With --clock no script can be required, as the two exclude each other: so that is said for these, too.
        .arg(table.requires("script").conflicts_with_all(["json", "clock", "game"]))
        .arg(stoppers.requires("script").conflicts_with_all(["clock", "game"]))
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let defaults = Options::default();
    let spec = matches.get_one::<String>("manager").unwrap_or(&defaults.time_manager);
    let nps = super::speeds(matches)?.first().copied();
    for name in ["clock", "inc", "overhead", "evaluation"] {
        if let Some(ms) = matches.get_one::<f64>(name) {
            let is_time = ms.is_finite() && *ms >= 0.0;
            anyhow::ensure!(is_time, "--{name} {ms}: a time is a number of milliseconds, 0 or more");
        }
    }
    if let Some(plies) = matches.get_one::<f64>("moves-left") {
        let is_length = plies.is_finite() && *plies >= 0.0;
        anyhow::ensure!(is_length, "--moves-left {plies}: the rest of a game is a number of plies, 0 or more");
    }
    let overhead_ms = matches.get_one("overhead").copied().unwrap_or(defaults.move_overhead as f64);
    if let Some(path) = matches.get_one::<PathBuf>("script") {
        let overhead_is_set = matches.contains_id("overhead");
        let params = StopperParams { overhead_ms, overhead_is_set, ..defaults.stopper_params() };
        let stoppers = matches.get_flag("stoppers").then_some(params);
        let insists = matches.get_one::<String>("manager").is_some();
        let as_table = matches.get_flag("table");
        return script::answer(path, &script::Terms { spec, insists, nps, overhead_ms, stoppers, as_table });
    }
    if let Some(path) = matches.get_one::<PathBuf>("game") {
        return explain_game::run(matches, path, spec, nps, overhead_ms);
    }
    let mut manager = zeitnot_time::build(spec)?;
    if let Some(nps) = nps {
        manager.set_nps(nps);
    }
    let plan = manager.plan(&MoveRequest {
        clock_ms: *matches.get_one("clock").context("--clock or --script is required")?,
        increment_ms: matches.get_one("inc").copied().unwrap_or(0.0),
        moves_to_go: matches.get_one("movestogo").copied(),
        ply: matches.get_one("ply").copied().unwrap_or(0),
        overhead_ms,
        lag_ms: 0.0,
        missing_increment_ms: 0.0,
        is_opponents_clock: false,
        evaluation_ms: matches.get_one("evaluation").copied(),
        reused_nodes: matches.get_one("reused").copied().unwrap_or(0),
        moves_left_plies: matches.get_one("moves-left").copied(),
        pieces: matches.get_one("pieces").copied(),
        legal_moves: matches.get_one("legal-moves").copied(),
        captures: matches.get_one("captures").copied(),
        in_check: matches.get_flag("check"),
    });
    if matches.get_flag("json") {
        say!("{}", serde_json::to_string(&plan)?);
    } else {
        show(&plan);
    }
    Ok(())
}

/// Prints a plan with all its terms.
pub(super) fn show(plan: &Plan) {
    output::text(format_args!("{plan:#}{ABSENT}"));
}
