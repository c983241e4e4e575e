//! `zeitnot eval`: prints a network's evaluation of a position, without a search.

use super::engine_options::{self, MAY_INSTALL};
use crate::commands::flags::{fen_option, flag, game_from, lines_of, switch};
use crate::commands::output::note;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use zeitnot_base::printable;
use zeitnot_engine::backend::softmax;
use zeitnot_engine::chess::{Move, to_uci};
use zeitnot_engine::engine::NetworkEvaluator;
use zeitnot_engine::network::{PLANES, Planes};

pub fn command() -> Command {
    let command = Command::new("eval")
        .about("Print the network's evaluations of positions, one JSON object a line")
        .arg(fen_option())
        .arg(Arg::new("moves").long("moves").num_args(1..).conflicts_with("positions").help("Moves played from the position"))
        .arg(
            flag("positions", "FILE.jsonl")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with("fen")
                .help("Positions, one JSON object a line: {\"id\", \"fen\", \"moves\", \"chess960\"}")
                .long_help("Positions, one JSON object a line: {\"id\", \"fen\" (needed; startpos or null: the start position), \"moves\", \"chess960\"}; - reads standard input, and answers each with a line, an {\"error\"} where it must"),
        )
        .arg(switch("planes", "Input planes in the output, too"));
    engine_options::add_to(command)
}

/// A request to evaluate a position: a line of `--positions`.
#[derive(Deserialize, Default)]
struct Request {
    #[serde(default)]
    id: Value,
    /// The position; a line must have this key, which may be null. Unknown keys are ignored.
    #[serde(deserialize_with = "Option::deserialize")]
    fen: Option<String>,
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default)]
    chess960: bool,
}

/// Evaluates the positions. Those that cannot be evaluated are reported on standard error, or to the program that writes
/// them to standard input as its answers, and the exit code is then 1.
pub fn run(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    // Every position gets its own evaluation: a cache would answer for those that differ in history alone.
    engine.set_option("NNCacheSize", "0")?;
    engine.prepare()?;
    let mut evaluator = engine.network_evaluator()?;
    let with_planes = matches.get_flag("planes");
    let path = matches.get_one::<PathBuf>("positions");
    let serves = path.is_some_and(|path| path.as_os_str() == "-");
    let mut output = std::io::stdout().lock();
    let mut failed = false;
    let mut answer = |request: &Request| -> anyhow::Result<()> {
        match evaluate(&mut evaluator, request, with_planes) {
            Ok(line) => writeln!(output, "{}", printable::lines(&line.to_string()))?,
            Err(error) => {
                failed = true;
                match &request.id {
                    id if serves => writeln!(output, "{}", json!({"id": id, "error": format!("{error:#}")}))?,
                    Value::Null => note!("zeitnot: {error:#}"),
                    id => note!("zeitnot: position {id}: {error:#}"),
                }
            }
        }
        Ok(())
    };
    match path {
        None => {
            let fen = matches.get_one::<String>("fen").cloned();
            let moves = matches.get_many::<String>("moves").unwrap_or_default().cloned().collect();
            answer(&Request { fen, moves, ..Request::default() })?;
        }
        Some(path) => {
            let cannot_read = || format!("cannot read {}", path.display());
            for (index, line) in lines_of(path).with_context(cannot_read)?.enumerate() {
                let line = line.with_context(cannot_read)?;
                if !line.trim().is_empty() {
                    let at = || format!("{} line {} is no position", path.display(), index + 1);
                    answer(&serde_json::from_str(&line).with_context(at)?)?;
                }
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn evaluate(evaluator: &mut NetworkEvaluator, request: &Request, with_planes: bool) -> anyhow::Result<Value> {
    let mut game = game_from(request.fen.as_deref(), request.chess960)?;
    for mv in request.moves.iter().flat_map(|moves| moves.split_ascii_whitespace()) {
        game.push_uci(mv)?;
    }
    let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
    let (query, evaluation) = evaluator.evaluate(&game, &moves)?;
    let probabilities = softmax(&evaluation.logits, 1.0);
    let policy: Vec<Value> = (0..moves.len())
        .map(|i| {
            let logit = evaluation.logits[i];
            // Castling as king takes rook, in standard chess too: the form that is the same everywhere.
            json!({"move": to_uci(moves[i], true), "index": query.indices[i], "logit": logit, "p": probabilities[i]})
        })
        .collect();
    let mut line = json!({
        "id": request.id, "q": evaluation.q, "d": evaluation.d, "m": evaluation.m, "policy": policy,
    });
    if with_planes && let Some(planes) = &query.planes {
        line["planes"] = planes_as_json(planes);
    }
    Ok(line)
}

/// The planes that are not empty, each as index, squares (a hexadecimal mask, bit 0 for a1 of the mover's side), value.
fn planes_as_json(planes: &Planes) -> Value {
    let set = |plane: &usize| planes.masks[*plane] != 0 && planes.values[*plane] != 0.0;
    let row = |plane| json!([plane, format!("{:016x}", planes.masks[plane]), planes.values[plane]]);
    (0..PLANES).filter(set).map(row).collect()
}
