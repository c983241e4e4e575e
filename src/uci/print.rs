//! Writes the lines for a GUI, in the order and the format of Lc0 (docs/lc0.md, 3.8).

use std::fmt::{self, Write as _};
use zeitnot_engine::announcer::ERROR;
use zeitnot_engine::chess::{Color, Move, to_uci};
use zeitnot_engine::engine::ignored_options::IgnoredOption;
use zeitnot_engine::engine::{
    Engine, EngineError, Kind, Line, MoveStats, OptionSpec, Options, Report, ScoreType, SearchEnd, TreeFacts,
    policy_index, score, wdl_permille,
};
use zeitnot_time::{MoveAccount, Plan, Term};

/// Longest error that is printed, in characters: it may quote input of any length.
const LONGEST_COMPLAINT: usize = 2000;

/// The terms of a plan that are shown without `TimeManagerLog`.
const SHOWN_TERMS: [&str; 4] = ["clock", "moves_left", "budget", "hard_limit"];

/// The options and facts that decide how analysis is shown.
#[derive(Clone, Debug)]
pub struct Display {
    pub(super) chess960: bool,
    pub(super) score_type: ScoreType,
    pub(super) show_wdl: bool,
    pub(super) show_moves_left: bool,
    pub(super) show_eps: bool,
    pub(super) per_pv_counters: bool,
    pub(super) multi_pv: bool,
    pub(super) has_wdl: bool,
    pub(super) turn: Color,
    pub(super) is_check: bool,
}

impl Display {
    /// The display that the engine's options ask for, in the position of its game.
    pub fn of(engine: &Engine) -> Display {
        let options = engine.options();
        Display {
            chess960: options.chess960,
            score_type: options.score_type,
            show_wdl: options.show_wdl,
            show_moves_left: options.show_moves_left,
            show_eps: options.show_eps,
            per_pv_counters: options.per_pv_counters,
            multi_pv: options.multi_pv > 1,
            has_wdl: engine.attributes().is_some_and(|attributes| attributes.has_wdl),
            turn: engine.game().current().turn(),
            is_check: engine.game().current().is_check(),
        }
    }

    /// A display with only the words of UCI's specification, whatever the options say, for readers that refuse others.
    /// Every line has its number, and castling is written as king takes rook.
    #[must_use]
    pub fn strict(self) -> Display {
        Display {
            chess960: true,
            show_wdl: false,
            show_moves_left: false,
            show_eps: false,
            per_pv_counters: false,
            multi_pv: true,
            ..self
        }
    }

    /// The `bestmove` line at the end of a search.
    pub fn best_move(&self, end: &SearchEnd) -> String {
        let moves = |mv| self.moves(&[mv]);
        let best = end.best.map_or_else(|| "(none)".to_owned(), moves);
        let ponder = end.ponder.map(moves).map(|mv| format!(" ponder {mv}")).unwrap_or_default();
        format!("bestmove {best}{ponder}")
    }

    pub(super) fn moves(&self, moves: &[Move]) -> String {
        moves.iter().map(|mv| to_uci(*mv, self.chess960)).collect::<Vec<_>>().join(" ")
    }

    /// The `info` lines of a report, one for each line of analysis.
    pub fn report(&self, report: &Report) -> Vec<String> {
        let info = |(index, line): (usize, &Line)| {
            let nodes = if self.per_pv_counters { u64::from(line.visits) } else { report.nodes };
            let mut text = format!(
                "info depth {} seldepth {} time {} nodes {nodes} score ",
                report.tree_depth, report.seldepth, report.elapsed_ms as u64
            );
            match line.mate {
                Some(mate) => write!(text, "mate {mate}"),
                None => write!(text, "cp {}", score(self.score_type, line, self.has_wdl)),
            }
            .ok();
            if self.show_wdl {
                let (w, d, l) = wdl_permille(line);
                write!(text, " wdl {w} {d} {l}").ok();
            }
            if let Some(plies) = line.m.filter(|_| self.show_moves_left) {
                write!(text, " movesleft {}", ((1.0 + plies) / 2.0) as u32).ok();
            }
            if let Some(permille) = report.hashfull {
                write!(text, " hashfull {permille}").ok();
            }
            if let Some(nps) = report.nps {
                write!(text, " nps {}", nps as u64).ok();
            }
            if let Some(eps) = report.eps.filter(|_| self.show_eps) {
                write!(text, " eps {}", eps as u64).ok();
            }
            if report.tb_hits > 0 {
                write!(text, " tbhits {}", report.tb_hits).ok();
            }
            if self.multi_pv {
                write!(text, " multipv {}", index + 1).ok();
            }
            write!(text, " pv {}", self.moves(&line.moves)).ok();
            text
        };
        report.lines.iter().enumerate().map(info).collect()
    }

    /// A remark on the lines of a report whose moves have no visit; `None` if all have visits, or the tree is empty.
    pub(super) fn unvisited(&self, report: &Report) -> Option<String> {
        let is_unvisited = |number: &usize| report.lines[number - 1].visits == 0;
        let numbers: Vec<usize> = (1..=report.lines.len()).filter(is_unvisited).collect();
        let (first, last) = (*numbers.first().filter(|_| report.nodes > 0)?, *numbers.last()?);
        Some(match report.lines.len() {
            1 => format!("{} has no visit: its value is that of the position", self.moves(&report.lines[0].moves)),
            _ if first == last => format!("multipv {first} has no visit: its value is that of the position"),
            // A move may be drawn that has none.
            _ if numbers.len() <= last - first => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                format!("multipv {} have no visit: their value is that of the position", numbers.join(", "))
            }
            _ => format!("multipv {first} to {last} have no visit: their value is that of the position"),
        })
    }

    /// The `info` line for a position without a legal move.
    pub(super) fn no_moves(&self) -> &'static str {
        if self.is_check { "info depth 0 score mate 0" } else { "info depth 0 score cp 0" }
    }

    /// A line of `VerboseMoveStats`, to the letter of Lc0's. Castling is always written as king takes rook.
    pub(super) fn move_stats(&self, stats: &MoveStats) -> String {
        let head = match stats.mv {
            Some(mv) => format!("{:<5} ({:<4})", to_uci(mv, true), policy_index(mv, self.turn)),
            None => format!("{:<5} ({:>4})", "node", stats.edges),
        };
        let percent = stats.p * 100.0;
        let digits = if stats.p >= 0.999_95 { 1 } else { 2 };
        let mut text = format!("{head} N: {:>7} (+{:>2}) (P: {percent:>5.digits$}%) ", stats.n, stats.in_flight);
        match (stats.wl, stats.d, stats.m) {
            (Some(wl), Some(d), Some(m)) => write!(text, "(WL: {wl:>8.5}) (D: {d:>5.3}) (M: {m:>4.1}) "),
            _ => write!(text, "(WL:  -.-----) (D: -.---) (M:  -.-) "),
        }
        .ok();
        write!(text, "(Q: {:>8.5}) ", stats.q).ok();
        if let (Some(u), Some(s)) = (stats.u, stats.s) {
            write!(text, "(U: {u:>6.5}) (S: {s:>8.5}) ").ok();
        }
        match stats.v {
            Some(v) => write!(text, "(V: {v:>7.4}) "),
            None => write!(text, "(V:  -.----) "),
        }
        .ok();
        text.push_str(match stats.bounds {
            (lower, upper) if lower == upper => "(T) ",
            (0, 1) => "(W) ",
            (-1, 0) => "(L) ",
            _ => "",
        });
        text
    }
}

/// An `info string` with a text for people.
pub(super) fn info(text: &dyn fmt::Display) -> String {
    format!("info string {text}")
}

/// An error as an `info string`, cut at [`LONGEST_COMPLAINT`], spelled so that the GUI Nibbler shows it.
pub(super) fn error(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let line: String = text.chars().take(LONGEST_COMPLAINT).collect();
    let rest = if text.chars().nth(LONGEST_COMPLAINT).is_some() { "..." } else { "" };
    format!("{ERROR}{line}{rest}")
}

/// The line about the plan of a move, with `all` its terms or with [`SHOWN_TERMS`].
pub(super) fn plan(plan: &Plan, all: bool) -> String {
    let is_shown = |term: &&Term| all || SHOWN_TERMS.contains(&&*term.name);
    let terms: String = plan.terms.iter().filter(is_shown).map(|term| format!(" {term}")).collect();
    format!("info string time {}:{terms}", plan.manager)
}

/// The line about the time that a move took.
pub(super) fn account(account: &MoveAccount) -> String {
    format!("info string time {account}")
}

/// The line about a move from the book.
pub(super) fn book_move(weight: impl fmt::Display, total: impl fmt::Display) -> String {
    format!("info string book move, weight {weight} of {total}")
}

/// The line about a move that was due before any evaluation.
pub(super) fn unevaluated(guess: impl fmt::Display) -> String {
    format!("info string no time for an evaluation: {guess}")
}

/// A text about a tree that was saved or loaded; `done` is the verb.
pub(super) fn tree(done: &str, file: &str, facts: &TreeFacts) -> String {
    let TreeFacts { positions, visits, .. } = facts;
    format!("{done} {file}: {positions} positions, {visits} visits of this one")
}

/// The text about a network that plays because the one of the options cannot.
pub(super) fn substituted(news: &str) -> String {
    format!("playing on with {news}")
}

/// The line about an option of Lc0 that is accepted and ignored.
pub(super) fn without_effect(option: &IgnoredOption) -> String {
    format!("info string option {} has no effect: {}", option.name, option.why)
}

/// The text about a move that is chosen without a search, because of `error`.
pub(super) fn by_material(error: &EngineError) -> String {
    format!("{error}: the move is chosen by material")
}

/// An option as `uci` lists it, under one of its names.
pub(super) fn option(name: &str, spec: &OptionSpec, defaults: &Options) -> String {
    let default = match spec.value(defaults) {
        text if text.is_empty() => "<empty>".to_owned(),
        text => text,
    };
    match spec.kind {
        Kind::Check => format!("option name {name} type check default {default}"),
        Kind::Steps { min, max } if !default.contains('.') => {
            format!("option name {name} type spin default {default} min {min} max {max}")
        }
        Kind::Spin { min, max } => format!("option name {name} type spin default {default} min {min} max {max}"),
        Kind::Combo(words) => {
            let vars: String = words.iter().map(|word| format!(" var {word}")).collect();
            format!("option name {name} type combo default {default}{vars}")
        }
        Kind::Float { .. } | Kind::Steps { .. } | Kind::Text | Kind::File => {
            format!("option name {name} type string default {default}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::chess::Game;

    fn display() -> Display {
        Display {
            chess960: false,
            score_type: ScoreType::Centipawn,
            show_wdl: true,
            show_moves_left: true,
            show_eps: false,
            per_pv_counters: false,
            multi_pv: true,
            has_wdl: true,
            turn: Color::White,
            is_check: false,
        }
    }

    fn e4() -> Move {
        zeitnot_engine::chess::parse_uci(Game::new().current().chess(), "e2e4").unwrap()
    }

    #[test]
    fn info_lines() {
        let line = Line { moves: vec![e4()], wl: 0.2, d: 0.6, mu: None, q: 0.2, m: Some(40.0), mate: None, visits: 9 };
        let mated = Line { mate: Some(-2), ..line.clone() };
        let report = Report {
            depth: 3,
            tree_depth: 4,
            seldepth: 9,
            elapsed_ms: 12.7,
            nodes: 100,
            playouts: 90,
            collisions: 0,
            nps: Some(3333.3),
            eps: Some(2500.9),
            hashfull: Some(7),
            tb_hits: 5,
            lines: vec![line, mated],
            move_stats: vec![],
        };
        assert_eq!(
            display().report(&report),
            [
                "info depth 4 seldepth 9 time 12 nodes 100 score cp 29 wdl 300 600 100 movesleft 20 hashfull 7 nps 3333 tbhits 5 multipv 1 pv e2e4",
                "info depth 4 seldepth 9 time 12 nodes 100 score mate -2 wdl 300 600 100 movesleft 20 hashfull 7 nps 3333 tbhits 5 multipv 2 pv e2e4",
            ]
        );
        let counting = Display { per_pv_counters: true, show_eps: true, ..display() };
        assert_eq!(
            counting.report(&report)[0],
            "info depth 4 seldepth 9 time 12 nodes 9 score cp 29 wdl 300 600 100 movesleft 20 hashfull 7 nps 3333 eps 2500 tbhits 5 multipv 1 pv e2e4",
        );
    }

    /// Lost moves are ranked behind those without a visit.
    #[test]
    fn lines_without_a_visit_say_so() {
        let line = |visits| Line { moves: vec![e4()], wl: 0.2, d: 0.6, mu: None, q: 0.2, m: None, mate: None, visits };
        let report = |visits: &[u32]| Report {
            nodes: 1 + u64::from(visits.iter().sum::<u32>()),
            lines: visits.iter().map(|visits| line(*visits)).collect(),
            ..Report::default()
        };
        let said = |visits: &[u32]| display().unvisited(&report(visits));
        assert_eq!(said(&[3, 1]), None);
        assert_eq!(said(&[0]).unwrap(), "e2e4 has no visit: its value is that of the position");
        assert_eq!(said(&[9, 0, 2]).unwrap(), "multipv 2 has no visit: its value is that of the position");
        assert_eq!(said(&[9, 0, 0, 2]).unwrap(), "multipv 2 to 3 have no visit: their value is that of the position");
        let drawn = "multipv 1, 3, 4 have no visit: their value is that of the position";
        assert_eq!(said(&[0, 9, 0, 0]).unwrap(), drawn);
        assert_eq!(
            display().unvisited(&Report { nodes: 0, ..report(&[0]) }),
            None,
            "another line tells how it was chosen"
        );
    }

    #[test]
    fn verbose_move_stats() {
        let stats = MoveStats {
            mv: Some(e4()),
            n: 312,
            in_flight: 0,
            p: 0.4424,
            wl: Some(0.02652),
            d: Some(0.05),
            m: Some(4.3),
            q: 0.02652,
            u: Some(0.0727),
            s: Some(0.10002),
            v: None,
            bounds: (-1, 1),
            edges: 20,
        };
        assert_eq!(
            display().move_stats(&stats),
            "e2e4  (322 ) N:     312 (+ 0) (P: 44.24%) (WL:  0.02652) (D: 0.050) (M:  4.3) (Q:  0.02652) (U: 0.07270) (S:  0.10002) (V:  -.----) "
        );
        let node = MoveStats { mv: None, u: None, s: None, v: Some(-0.5), bounds: (1, 1), wl: None, ..stats };
        assert_eq!(
            display().move_stats(&node),
            "node  (  20) N:     312 (+ 0) (P: 44.24%) (WL:  -.-----) (D: -.---) (M:  -.-) (Q:  0.02652) (V: -0.5000) (T) "
        );
    }

    #[test]
    fn options_are_advertised_in_uci_types() {
        let line_with =
            |name: &str, options: &Options| option(name, zeitnot_engine::engine::options::find(name).unwrap(), options);
        let line = |name: &str| line_with(name, &Options::default());
        assert_eq!(line("Threads"), "option name Threads type spin default 0 min 0 max 128");
        assert_eq!(line("Move Overhead"), "option name Move Overhead type spin default 200 min 0 max 100000000");
        assert_eq!(line("CPuct"), "option name CPuct type string default 1.745");
        assert_eq!(line("CPuctBase"), "option name CPuctBase type spin default 38739 min 1 max 1000000000");
        assert_eq!(line("UCI_RatingAdv"), "option name UCI_RatingAdv type spin default 0 min -10000 max 10000");
        let decimals = Options { rating_advantage: 1.5, ..Options::default() };
        assert_eq!(line_with("UCI_RatingAdv", &decimals), "option name UCI_RatingAdv type string default 1.5");
        assert_eq!(line("WeightsFile"), "option name WeightsFile type string default <empty>");
        assert_eq!(
            line("FpuStrategy"),
            "option name FpuStrategy type combo default reduction var reduction var absolute"
        );
        assert_eq!(line("UCI_Chess960"), "option name UCI_Chess960 type check default false");
    }
}
