//! Words of a game for people: clocks, limits, the engine's move.

use super::opponent::Thought;
use zeitnot_base::words::{count, counted};
use zeitnot_engine::chess::Game;
use zeitnot_games::{Evaluation, Limits, TimeControl};
use zeitnot_time::Plan;

/// Clock in milliseconds below which a move is an emergency, where the time manager has no term for that: the threshold
/// of two documents (docs/documents.md, 2.6 and 4.5).
const EMERGENCY_MS: f64 = 10_000.0;

/// The text that marks an emergency, as Mergen writes it (docs/documents.md, 2.9).
const EMERGENCY: &str = "[EMERGENCY MODE]";

/// A clock: `2:59`, `1:30:00`, below twenty seconds `0:08.3`.
pub fn clock(ms: f64) -> String {
    if ms < 20_000.0 {
        return format!("0:{:04.1}", (ms.max(0.0) / 100.0).floor() / 10.0);
    }
    let s = (ms / 1e3) as u64;
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A time in seconds, without its unit.
fn seconds(ms: f64) -> String {
    let s = ms / 1e3;
    if s < 0.95 { format!("{s:.2}") } else { format!("{s:.1}") }
}

/// A time control: `3:00 + 2 s a move`.
pub fn control(control: &TimeControl) -> String {
    if let Some(depth) = control.depth {
        return format!("no clock, depth {depth}");
    }
    let moves = control.moves.map(|moves| format!("{moves} moves in ")).unwrap_or_default();
    let increment = match control.increment_ms {
        ms if ms > 0.0 => format!(" + {} s a move", ms / 1e3),
        _ => String::new(),
    };
    format!("{moves}{}{increment}", clock(control.base_ms))
}

/// The limits of a side as text.
pub fn limits(limits: &Limits) -> String {
    let parts = [
        limits.clock.as_ref().map(control),
        limits.movetime_ms.map(|ms| format!("{} s a move", seconds(ms))),
        limits.nodes.map(|nodes| format!("{} nodes a move", count(nodes as f64))),
        limits.depth.map(|depth| format!("depth {depth}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no clock".to_owned() } else { parts.join(", ") }
}

/// A score from White's side as text, with its sign; `is_white`: the evaluation is White's.
pub fn score(evaluation: &Evaluation, is_white: bool) -> String {
    let text = evaluation.for_white(is_white);
    if text.starts_with(['-', '#']) { text } else { format!("+{text}") }
}

/// Whether the clock is low: by the manager's term `emergency` if it has one, else by [`EMERGENCY_MS`].
fn is_emergency(plan: &Plan) -> bool {
    let is_low = || plan.term("clock").is_some_and(|term| term.value < EMERGENCY_MS);
    plan.term("emergency").map_or_else(is_low, |term| term.value > 0.0)
}

/// The line that is shown while the engine thinks.
pub fn thinking(plan: &Plan) -> String {
    let mark = if is_emergency(plan) { format!("{EMERGENCY} ") } else { String::new() };
    format!("{mark}Zeitnot is thinking... ({})", granted(plan, "target", " s"))
}

/// The budget and the hard limit of a plan, in seconds, as text.
fn granted(plan: &Plan, target: &str, unit: &str) -> String {
    format!("{target} {}{unit}, max {}{unit}", seconds(plan.budget_ms), seconds(plan.hard_limit_ms))
}

/// The facts about a move of the engine.
struct Moved<'a> {
    san: &'a str,
    /// The number of the move, and whether White made it.
    number: usize,
    is_white: bool,
    used_ms: f64,
    plan: Option<&'a Plan>,
    is_book: bool,
    nodes: u64,
    evaluation: Option<&'a Evaluation>,
}

/// The line about a move that the engine is about to make.
pub fn moved(thought: &Thought, game: &Game) -> String {
    let moved = Moved {
        san: &game.san(thought.mv),
        number: game.current().fullmoves().get() as usize,
        is_white: game.current().turn().is_white(),
        used_ms: thought.used_ms,
        plan: thought.plan.as_ref(),
        is_book: thought.is_book(),
        nodes: thought.end.report.nodes,
        evaluation: thought.evaluation.as_ref(),
    };
    moved.line()
}

impl Moved<'_> {
    fn line(&self) -> String {
        let time = format!("{} s", seconds(self.used_ms));
        let time = match self.plan {
            Some(plan) => format!("{time} of {}", granted(plan, "target", "")),
            None => time,
        };
        let work = if self.is_book { "book".to_owned() } else { counted(self.nodes as usize, "node") };
        let score = self.evaluation.map(|evaluation| score(evaluation, self.is_white));
        let mark = self.plan.filter(|plan| is_emergency(plan)).map(|_| EMERGENCY.to_owned());
        let facts: Vec<String> = [Some(time), Some(work), score, mark].into_iter().flatten().collect();
        format!("Zeitnot plays {} {}  ({})", number(self.number, self.is_white), self.san, facts.join("; "))
    }
}

/// The number of a move as PGN writes it: `12.`, or `12...` for Black's.
pub fn number(number: usize, is_white: bool) -> String {
    format!("{number}{}", if is_white { "." } else { "..." })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_games::PRESETS;
    use zeitnot_time::MoveRequest;

    fn plan(spec: &str, clock_ms: f64) -> Plan {
        zeitnot_time::build(spec).unwrap().plan(&MoveRequest { clock_ms, ..MoveRequest::default() })
    }

    #[test]
    fn clocks_and_controls() {
        let clocks = [8_349.0, -5.0, 19_999.0, 20_000.0, 179_999.0, 5_400_000.0].map(clock);
        assert_eq!(clocks, ["0:08.3", "0:00.0", "0:19.9", "0:20", "2:59", "1:30:00"]);
        let controls: Vec<String> = PRESETS.iter().map(|preset| control(&preset.control)).collect();
        assert_eq!(controls, ["1:00", "3:00 + 2 s a move", "10:00 + 5 s a move", "30:00", "no clock, depth 5"]);
        assert_eq!(control(&"40/60".parse().unwrap()), "40 moves in 1:00");
        assert_eq!(limits(&Limits { nodes: Some(1_500), ..Limits::default() }), "1,500 nodes a move");
    }

    #[test]
    fn a_move_is_one_line() {
        let plan = plan("complexity", 8_000.0);
        let evaluation = Evaluation { cp: -31, mate: None, q: None };
        let moved = Moved {
            san: "Nf6",
            number: 12,
            is_white: false,
            used_ms: 2_104.0,
            plan: Some(&plan),
            is_book: false,
            nodes: 12_345,
            evaluation: Some(&evaluation),
        };
        assert_eq!(
            moved.line(),
            "Zeitnot plays 12... Nf6  (2.1 s of target 0.80, max 1.2; 12,345 nodes; +0.31; [EMERGENCY MODE])"
        );
        assert_eq!(thinking(&plan), "[EMERGENCY MODE] Zeitnot is thinking... (target 0.80 s, max 1.2 s)");
        let book = Moved { plan: None, is_book: true, evaluation: None, is_white: true, used_ms: 12.0, ..moved };
        assert_eq!(book.line(), "Zeitnot plays 12. Nf6  (0.01 s; book)");
        let mate = Evaluation { mate: Some(3), ..evaluation };
        assert_eq!([score(&mate, true), score(&mate, false)], ["#3", "#-3"]);
    }

    #[test]
    fn an_emergency_is_the_managers_or_ten_seconds() {
        for (spec, clock_ms, is_low) in [
            ("smooth", 9_999.0, true),
            ("smooth", 10_000.0, false),
            ("complexity(emergency-threshold=5)", 9_999.0, false),
            ("adaptive", 30_000.0, true),
        ] {
            assert_eq!(is_emergency(&plan(spec, clock_ms)), is_low, "{spec} {clock_ms}");
        }
    }
}
