//! Packs an analysis for its page: each thing once, in columns over the moves of a game, without what a browser works out
//! itself, such as positions, numbers of moves and chances to win.

use super::document::{AnalysedGame, AnalysedMove, Analysis, ShownEvaluation};
use crate::audit::GameSpeed;
use serde_json::{Map, Value, json};
use zeitnot_engine::chess::Game;
use zeitnot_games::eco::opening;

/// Least loss of expected score that the page shows.
const SHOWN_LOSS: f64 = 0.005;
/// Least loss of expected score for which a move's better line is shown in full, others with `SHORT_LINE` moves.
const LEAST_LOSS: f64 = 0.02;
const SHORT_LINE: usize = 4;

/// The analysis as its page reads it.
pub fn page_data(analysis: &Analysis) -> Value {
    // Who played once is told with the game.
    let players: Vec<_> = analysis.players.iter().filter(|player| player.games > 1).collect();
    let Analysis { kind, version, network, limit, games, .. } = analysis;
    let games: Vec<Value> = games.iter().map(game).collect();
    short(json!({
        "kind": kind, "version": version, "network": network, "limit": limit, "players": players, "games": games,
    }))
}

fn game(game: &AnalysedGame) -> Value {
    let moves = &game.moves;
    let is_standard = game.start.fen == Game::new().fen();
    let known = |tag: &str| game.tags.get(tag).map(String::as_str).filter(|value| !matches!(*value, "" | "?"));
    let fen = (!is_standard).then_some(game.start.fen.as_str());
    let from_moves = || opening(fen, moves.iter().map(|mv| mv.san.as_str())).map(|opening| opening.name);
    let words = |of: fn(&AnalysedMove) -> &str| moves.iter().map(of).collect::<Vec<_>>().join(" ");
    let seconds = |of: fn(&AnalysedMove) -> Option<f64>| {
        let column: Vec<_> = moves.iter().map(|mv| of(mv).map(|ms| (ms / 10.0).round() / 100.0)).collect();
        column.iter().any(Option::is_some).then_some(column)
    };
    let more = moves.iter().map(|mv| (mv.ply.to_string(), more(mv))).filter(|(_, more)| *more != json!({}));
    json!({
        "tags": game.tags,
        "speed": game.speed.map(GameSpeed::word),
        "opening": known("Opening").or_else(from_moves),
        "start": { "fen": fen, "eval": game.start.eval },
        "white": game.white, "black": game.black, "moments": game.moments, "notes": game.notes,
        "moves": {
            "sans": words(|mv| &mv.san), "ucis": words(|mv| &mv.uci),
            "evals": moves.iter().map(|mv| eval(mv.eval)).collect::<Vec<_>>(),
            "clocks": seconds(|mv| mv.clock_ms), "used": seconds(|mv| mv.used_ms),
            "usual": seconds(|mv| mv.time.as_ref()?.usual_ms),
            "more": more.collect::<Map<_, _>>(),
        },
    })
}

/// An evaluation for the page: centipawns as a number, a mate as a text such as `#3`.
fn eval(eval: Option<ShownEvaluation>) -> Value {
    match eval {
        None => Value::Null,
        Some(ShownEvaluation::Cp(cp)) => json!(cp),
        Some(ShownEvaluation::Mate(moves)) => json!(format!("#{moves}")),
    }
}

/// The facts about a move that only some moves have, such as a judgement or a better line.
fn more(mv: &AnalysedMove) -> Value {
    let time = mv.time.as_ref();
    let verdict = time.and_then(|time| time.verdict);
    let shown = if mv.expected_loss >= Some(LEAST_LOSS) { usize::MAX } else { SHORT_LINE };
    let line = |line: &[String]| line[..line.len().min(shown)].join(" ");
    let best = mv.best.as_ref().map(|best| json!([best.uci, line(&best.line), eval(best.eval)]));
    short(json!({
        "judgement": mv.judgement, "lost": mv.expected_loss.filter(|loss| *loss >= SHOWN_LOSS), "best": best,
        "verdict": verdict, "trouble": time.is_some_and(|time| time.in_trouble),
        "words": time.filter(|_| verdict.is_some()).map(|time| &time.words),
    }))
}

/// Drops members of objects that are null or false, and rounds numbers to three decimals.
fn short(value: Value) -> Value {
    let says = |value: &Value| !value.is_null() && *value != Value::Bool(false);
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, short(value)));
            Value::Object(members.filter(|(_, value)| says(value)).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(short).collect()),
        Value::Number(number) => match number.as_f64().map(|number| (1e3 * number).round() / 1e3) {
            Some(rounded) if rounded.fract() == 0.0 && rounded.abs() < 1e15 => json!(rounded as i64),
            Some(rounded) => json!(rounded),
            None => Value::Number(number),
        },
        value => value,
    }
}
