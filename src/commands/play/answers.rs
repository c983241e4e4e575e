//! Shows the game to the person, and answers commands that change nothing in it.

use super::opponent::Thought;
use super::session::Session;
use super::typed::{self, Typed};
use super::words;
use crate::commands::output::{self, say};
use crate::commands::time::show_plan;
use std::path::Path;
use zeitnot::uci::board;
use zeitnot_engine::chess::Color;

/// Plies of a hint's line that are shown.
const HINT_PLIES: usize = 10;

impl Session<'_> {
    pub(super) fn greet(&self) {
        let (yours, engines) = (self.limits_of(self.you), self.limits_of(self.you.other()));
        say!("You have {}, Zeitnot has {}; help lists the commands.", name(self.you), name(self.you.other()));
        say!("You: {}; Zeitnot: {}.", words::limits(yours), words::limits(engines));
        self.show(0.0);
    }

    /// The line that says, after the person left, where the game is and how to go on.
    pub(super) fn how_to_go_on(&self) -> String {
        match &self.unkept {
            _ if self.referee.record.moves.is_empty() => "no move was played".to_owned(),
            Some(_) => "the file does not have the whole game".to_owned(),
            None => format!("the game is in {}; {} goes on with it", self.file.path().display(), self.resume),
        }
    }

    /// Shows the board and the clocks; the person has thought for `thought_ms`.
    pub(super) fn show(&self, thought_ms: f64) {
        let lines = board(self.referee.game.current(), self.signs, self.viewer);
        output::text(format_args!("\n{}\n\n", lines.join("\n")));
        self.show_clocks(thought_ms);
    }

    fn show_clocks(&self, thought_ms: f64) {
        let mut left_ms = self.referee.clocks.left_ms();
        left_ms[usize::from(self.you.is_black())] -= thought_ms;
        let of = |color: Color| {
            let side = usize::from(color.is_black());
            self.referee.limits[side]
                .clock
                .as_ref()
                .map_or_else(|| "no clock".to_owned(), |_| words::clock(left_ms[side]))
        };
        if self.referee.limits.iter().any(|limits| limits.clock.is_some()) {
            say!("Clocks: you {}, Zeitnot {}", of(self.you), of(self.you.other()));
        }
    }

    /// Answers a command that changes nothing in the game.
    pub(super) fn answer(&mut self, typed: &Typed, thought_ms: f64) {
        match typed {
            Typed::Flip => {
                self.viewer = self.viewer.other();
                self.show(thought_ms);
            }
            Typed::Board => self.show(thought_ms),
            Typed::NoMove(why) => {
                say!("{why} here:");
                self.show(thought_ms);
            }
            Typed::Clock if self.referee.limits.iter().all(|limits| limits.clock.is_none()) => {
                say!("this game has no clocks")
            }
            Typed::Clock => self.show_clocks(thought_ms),
            Typed::Explain => self.explain(),
            Typed::Moves => say!("{}", self.moves()),
            Typed::Fen => say!("{}", self.referee.game.fen()),
            Typed::Pgn => output::text(String::from_utf8_lossy(&self.file.text(&self.referee.record))),
            Typed::Save(path) => match self.file.save_as(Path::new(path), &self.referee.record) {
                Ok(()) => say!("the game is in {path}"),
                Err(error) => say!("cannot write {path}: {error}"),
            },
            Typed::Help => say!("{}", typed::help().join("\n")),
            _ => {}
        }
    }

    /// The moves with their numbers.
    fn moves(&self) -> String {
        let (mut number, mut is_white) = self.referee.record.first_move();
        let mut words = Vec::new();
        for mv in &self.referee.record.moves {
            if is_white || words.is_empty() {
                words.push(words::number(number, is_white));
            }
            words.push(mv.san.clone());
            number += usize::from(!is_white);
            is_white = !is_white;
        }
        if words.is_empty() { "no move yet".to_owned() } else { words.join(" ") }
    }

    /// Explains the time of the engine's last move.
    fn explain(&self) {
        match &self.opponent.last {
            None => say!("Zeitnot has not moved yet"),
            Some(Thought { plan: None, .. }) if self.opponent.is_limited() => {
                say!("Zeitnot's moves are limited by the nodes of its level: no time was divided");
            }
            Some(Thought { plan: None, .. }) => say!("Zeitnot's last move had no clock: no time was divided"),
            Some(Thought { plan: Some(plan), end, .. }) => {
                show_plan(plan);
                if let Some(time) = &end.time {
                    say!("{}", time.account);
                    time.game.iter().flat_map(|game| &game.lines).for_each(|line| say!("{line}"));
                }
            }
        }
    }

    pub(super) fn show_hint(&self, thought: &Thought) {
        // At a level the move to play is drawn: the line, and its score, may begin with another one.
        let line = thought.end.best_line().map(|line| line.moves.clone()).filter(|line| !line.is_empty());
        let line = line.unwrap_or_else(|| vec![thought.mv]);
        let hinted = self.referee.game.san(line[0]);
        let mut game = self.referee.game.clone();
        let mut sans = Vec::new();
        for mv in line.into_iter().take(HINT_PLIES) {
            sans.push(game.san(mv));
            game.push(mv);
        }
        let score = thought.evaluation.map(|evaluation| words::score(&evaluation, self.you.is_white()));
        let score = score.map(|score| format!(", {score}")).unwrap_or_default();
        let number = words::number(self.number(), self.you.is_white());
        say!("Hint: {hinted}  (line {number} {}{score})", sans.join(" "));
    }
}

fn name(color: Color) -> &'static str {
    if color.is_white() { "White" } else { "Black" }
}
