//! Writes what a search found as JSON. Values are for the side to move, as in `info` lines.

use super::request::Asked;
use crate::commands::output;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{IsTerminal as _, stdout};
use zeitnot_engine::chess::{Move, to_uci};
use zeitnot_engine::engine::{Line, MoveStats, ScoreType, SearchEnd, score, wdl_permille};

/// Factor by which values are rounded, to six decimal places: a float32 has no more.
const PLACES: f64 = 1e6;

/// Prints an answer as a line: unchanged to a program, and made safe for a terminal.
pub fn print(answer: String) {
    let line = answer + "\n";
    match stdout().is_terminal() {
        true => output::text(line),
        false => output::exact(&line),
    }
}

/// The text of an answer, which is a JSON object with members, behind the `id` of its request as it came.
pub fn json(id: Option<&RawValue>, answer: &Value) -> String {
    match id {
        Some(id) => format!("{{\"id\":{id},{}", &answer.to_string()[1..]),
        None => answer.to_string(),
    }
}

/// The answer to a request whose search has ended.
pub fn of_search(asked: &Asked, end: &SearchEnd, score_type: ScoreType, has_wdl: bool) -> Value {
    let uci = |mv: Move| to_uci(mv, asked.chess960);
    let report = &end.report;
    let line = |line: &Line| {
        let (w, d, l) = wdl_permille(line);
        let mut value = json!({
            "pv": line.moves.iter().map(|mv| uci(*mv)).collect::<Vec<_>>(),
            "wl": rounded(line.wl), "d": rounded(line.d), "wdl": [w, d, l], "m": line.m.map(rounded),
            "visits": line.visits,
        });
        match line.mate {
            Some(mate) => value["mate"] = mate.into(),
            None => value["cp"] = score(score_type, line, has_wdl).into(),
        }
        value
    };
    let mut answer = json!({
        "turn": asked.game.current().turn().to_string(),
        "bestmove": end.best.map(uci), "ponder": end.ponder.map(uci),
        "nodes": report.nodes, "depth": report.tree_depth, "seldepth": report.seldepth,
        "time": report.elapsed_ms as u64, "tbhits": report.tb_hits,
        "lines": report.lines.iter().map(line).collect::<Vec<_>>(),
    });
    if let Some(outcome) = asked.game.outcome() {
        answer["outcome"] = outcome.reason().into();
    }
    if asked.stats {
        let stats = |stats: &MoveStats| {
            stats.mv.map(|mv| {
                json!({
                    "move": uci(mv), "visits": stats.n, "p": rounded(stats.p),
                    "wl": stats.wl.map(rounded), "d": stats.d.map(rounded), "m": stats.m.map(rounded),
                })
            })
        };
        // The most visited last, as VerboseMoveStats prints them.
        answer["moves"] = end.move_stats.iter().rev().filter_map(stats).collect();
    }
    answer
}

/// The answer to a request that was ended before its search began.
pub fn of_nothing() -> Value {
    json!({ "noResults": true })
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * PLACES).round() / PLACES
}
