//! Plays the game: the turns of the person and of the engine, the clocks, the end.

use super::game_file::GameFile;
use super::keyboard::{Heard, Keyboard};
use super::opponent::{Opponent, Thought, agrees_to_draw};
use super::typed::{self, Typed};
use super::words::{self, Moved};
use crate::commands::interrupt;
use crate::commands::output::{self, say};
use crate::commands::time::show_plan;
use std::path::Path;
use std::time::{Duration, Instant};
use zeitnot::uci::{Signs, board};
use zeitnot_engine::chess::{Color, Game, Move, to_uci};
use zeitnot_engine::engine::GoParams;
use zeitnot_lab::{GameClocks, GameRecord, Limits, MoveRecord, Termination, winner_on_time};

/// Time of a hint in a game with clocks, in milliseconds.
const HINT_MS: f64 = 1_000.0;

/// Plies of a hint's line that are shown.
const HINT_PLIES: usize = 10;

/// A game between a person and the engine.
pub struct Session<'a> {
    pub keyboard: Keyboard,
    pub opponent: Opponent,
    pub file: GameFile,
    pub record: GameRecord,
    pub game: Game,
    pub limits: [&'a Limits; 2],
    /// The clocks at the start of the game.
    pub start_ms: [f64; 2],
    pub clocks: GameClocks<'a>,
    /// The side of the person.
    pub you: Color,
    /// The side from which the board is seen.
    pub viewer: Color,
    pub signs: Signs,
    /// The line that goes on with the game.
    pub resume: String,
}

/// The end of a session.
enum End {
    Over { winner: Option<Color>, termination: Termination },
    Left,
    Interrupted,
}

impl Session<'_> {
    /// Plays until the game is over or the person leaves.
    ///
    /// # Errors
    /// When a search fails or the file cannot be written. The moves before that are in the file.
    pub fn play(mut self) -> anyhow::Result<()> {
        self.greet();
        let end = loop {
            let turn = self.game.current().turn();
            let end = match self.game.outcome() {
                Some(outcome) => Some(End::Over { winner: outcome.winner(), termination: outcome.into() }),
                None if turn == self.you => self.your_turn()?,
                None => self.engines_turn()?,
            };
            if let Some(end) = end {
                break end;
            }
        };
        match end {
            End::Over { winner, termination } => return self.over(winner, termination),
            End::Left => say!("{}", self.how_to_go_on()),
            End::Interrupted => interrupt::exit(&format!("interrupted: {}", self.how_to_go_on())),
        }
        Ok(())
    }

    fn greet(&self) {
        let (yours, engines) = (self.limits_of(self.you), self.limits_of(self.you.other()));
        say!("You have {}, Zeitnot has {}; help lists the commands.", name(self.you), name(self.you.other()));
        say!("You: {}; Zeitnot: {}.", words::limits(yours), words::limits(engines));
        self.show(0.0);
    }

    fn limits_of(&self, color: Color) -> &Limits {
        self.limits[usize::from(color.is_black())]
    }

    /// The line about the game that was left.
    fn how_to_go_on(&self) -> String {
        match self.record.moves.is_empty() {
            true => "no move was played".to_owned(),
            false => format!("the game is in {}; {} goes on with it", self.file.path().display(), self.resume),
        }
    }

    /// Shows the board and the clocks; the person has thought for `thought_ms`.
    fn show(&self, thought_ms: f64) {
        let lines = board(self.game.current(), self.signs, self.viewer);
        output::text(format_args!("\n{}\n\n", lines.join("\n")));
        self.show_clocks(thought_ms);
    }

    fn show_clocks(&self, thought_ms: f64) {
        let mut left_ms = self.clocks.left_ms();
        left_ms[usize::from(self.you.is_black())] -= thought_ms;
        let of = |color: Color| {
            let side = usize::from(color.is_black());
            self.limits[side].clock.as_ref().map_or_else(|| "no clock".to_owned(), |_| words::clock(left_ms[side]))
        };
        if self.limits.iter().any(|limits| limits.clock.is_some()) {
            say!("Clocks: you {}, Zeitnot {}", of(self.you), of(self.you.other()));
        }
    }

    fn number(&self) -> usize {
        self.game.current().fullmoves().get() as usize
    }

    /// Waits for the person's move, and obeys commands. The clock runs from the prompt to the line with the move.
    fn your_turn(&mut self) -> anyhow::Result<Option<End>> {
        let began = Instant::now();
        let most_ms = self.clocks.most_ms(self.you);
        let until = most_ms.map(|ms| began + Duration::from_secs_f64(ms.max(0.0) / 1e3));
        loop {
            self.keyboard.prompt(&format!("{} ", words::number(self.number(), self.you.is_white())));
            let (text, at) = match self.keyboard.wait(until) {
                Heard::Line { text, at } => (text, at),
                Heard::PassedOver(why) => {
                    say!("{why}");
                    continue;
                }
                Heard::Late => {
                    self.clocks.take(self.you, ms_since(began, Instant::now()), 0.0);
                    return Ok(Some(self.flag_of(self.you)));
                }
                Heard::Interrupted => return Ok(Some(End::Interrupted)),
                Heard::End => return Ok(Some(End::Left)),
            };
            match typed::read(&text, &self.game) {
                Ok(Typed::Move(mv)) => return self.make_move(mv, ms_since(began, at), None),
                Ok(Typed::Undo) if self.take_back()? => return Ok(None),
                Ok(Typed::Undo) => say!("there is no move of yours to take back"),
                Ok(Typed::Resign) => {
                    let winner = Some(self.you.other());
                    return Ok(Some(End::Over { winner, termination: Termination::Resignation }));
                }
                Ok(Typed::Quit) => return Ok(Some(End::Left)),
                Ok(Typed::Draw) => match self.look()? {
                    None => return Ok(Some(End::Interrupted)),
                    Some(thought) if self.agrees(&thought) => {
                        return Ok(Some(End::Over { winner: None, termination: Termination::Agreement }));
                    }
                    Some(_) => {}
                },
                Ok(Typed::Hint) => match self.look()? {
                    None => return Ok(Some(End::Interrupted)),
                    Some(thought) => self.show_hint(&thought),
                },
                Ok(other) => self.answer(&other, ms_since(began, Instant::now())),
                Err(error) => say!("{error}"),
            }
        }
    }

    /// Answers a command that changes nothing in the game.
    fn answer(&mut self, typed: &Typed, thought_ms: f64) {
        match typed {
            Typed::Flip => {
                self.viewer = self.viewer.other();
                self.show(thought_ms);
            }
            Typed::Board => self.show(thought_ms),
            Typed::Clock if self.limits.iter().all(|limits| limits.clock.is_none()) => say!("this game has no clocks"),
            Typed::Clock => self.show_clocks(thought_ms),
            Typed::Explain => self.explain(),
            Typed::Moves => say!("{}", self.moves()),
            Typed::Fen => say!("{}", self.game.fen()),
            Typed::Pgn => output::text(String::from_utf8_lossy(&self.file.text(&self.record))),
            Typed::Save(path) => match self.file.save_as(Path::new(path), &self.record) {
                Ok(()) => say!("the game is in {path}"),
                Err(error) => say!("cannot write {path}: {error}"),
            },
            Typed::Help => say!("{}", typed::help().join("\n")),
            _ => {}
        }
    }

    /// The moves with their numbers.
    fn moves(&self) -> String {
        let (mut number, mut is_white) = self.record.first_move();
        let mut words = Vec::new();
        for mv in &self.record.moves {
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

    /// Takes the person's last move back, and the answer to it. Returns whether there was one.
    fn take_back(&mut self) -> anyhow::Result<bool> {
        let Some(left) = self.record.moves.len().checked_sub(2) else { return Ok(false) };
        self.game.truncate(left);
        self.record.moves.truncate(left);
        let left_ms = self.record.moves.last().map_or(self.start_ms, |last| last.clocks_ms);
        self.clocks = clocks_after(self.limits, left_ms, &self.record);
        self.file.write(&self.record)?;
        self.show(0.0);
        Ok(true)
    }

    /// A short look of the engine at the position in which the person thinks; `None` after Ctrl-C.
    fn look(&mut self) -> anyhow::Result<Option<Thought>> {
        let limits = self.limits_of(self.you.other());
        let movetime = limits.movetime_ms.or(limits.clock.map(|_| HINT_MS));
        let go = GoParams { movetime, nodes: limits.nodes, depth: limits.depth, ..GoParams::default() };
        self.opponent.look(&self.game, &go)
    }

    /// Answers an offer of a draw by what the look at the position says.
    fn agrees(&self, thought: &Thought) -> bool {
        // The person is to move.
        let points = thought.points().map(|points| 1.0 - points);
        let agrees = points.is_some_and(|points| agrees_to_draw(points, self.number()));
        let expects = points.map(|points| format!(": it expects {points:.2} points")).unwrap_or_default();
        say!("Zeitnot {} the draw{expects}", if agrees { "accepts" } else { "declines" });
        agrees
    }

    fn show_hint(&self, thought: &Thought) {
        let line = thought.end.report.lines.first().map_or_else(|| vec![thought.mv], |line| line.moves.clone());
        let mut game = self.game.clone();
        let mut sans = Vec::new();
        for mv in line.into_iter().take(HINT_PLIES) {
            sans.push(game.san(mv));
            game.push(mv);
        }
        let score = thought.evaluation.map(|evaluation| words::score(&evaluation, self.you.is_white()));
        let score = score.map(|score| format!(", {score}")).unwrap_or_default();
        let number = words::number(self.number(), self.you.is_white());
        say!("Hint: {}  (line {number} {}{score})", self.game.san(thought.mv), sans.join(" "));
    }

    fn engines_turn(&mut self) -> anyhow::Result<Option<End>> {
        let color = self.game.current().turn();
        let go = self.clocks.go(color);
        let Some(thought) = self.opponent.think(&self.game, &go)? else { return Ok(Some(End::Interrupted)) };
        let san = self.game.san(thought.mv);
        let moved = Moved {
            san: &san,
            number: self.game.current().fullmoves().get() as usize,
            is_white: color.is_white(),
            used_ms: thought.used_ms,
            plan: thought.plan.as_ref(),
            is_book: thought.is_book(),
            nodes: thought.end.report.nodes,
            evaluation: thought.evaluation.as_ref(),
        };
        let line = moved.line();
        let record = MoveRecord {
            uci: String::new(),
            san,
            white: color.is_white(),
            used_ms: 0.0,
            clocks_ms: [0.0; 2],
            budget_ms: thought.plan.as_ref().map(|plan| plan.budget_ms),
            hard_limit_ms: thought.plan.as_ref().map(|plan| plan.hard_limit_ms),
            nodes: thought.end.report.nodes,
            playouts: thought.end.report.playouts,
            depth: thought.end.report.depth,
            evaluation: thought.evaluation,
        };
        let (mv, used_ms) = (thought.mv, thought.used_ms);
        let end = self.make_move(mv, used_ms, Some(record))?;
        if end.is_none() {
            say!("{line}");
            self.show(0.0);
        }
        Ok(end)
    }

    /// Plays a move and writes the game. `thought` has what the engine says of its own.
    fn make_move(&mut self, mv: Move, used_ms: f64, thought: Option<MoveRecord>) -> anyhow::Result<Option<End>> {
        let color = self.game.current().turn();
        if !self.clocks.take(color, used_ms, 0.0) {
            return Ok(Some(self.flag_of(color)));
        }
        let played = MoveRecord {
            uci: to_uci(mv, self.record.chess960),
            san: self.game.san(mv),
            white: color.is_white(),
            used_ms,
            clocks_ms: self.clocks.left_ms(),
            budget_ms: None,
            hard_limit_ms: None,
            nodes: 0,
            playouts: 0,
            depth: 0,
            evaluation: None,
        };
        self.record.moves.push(match thought {
            None => played,
            Some(thought) => MoveRecord { uci: played.uci, used_ms, clocks_ms: played.clocks_ms, ..thought },
        });
        self.game.push(mv);
        self.file.write(&self.record)?;
        Ok(None)
    }

    /// The end of a game in which the flag of `loser` has fallen.
    fn flag_of(&mut self, loser: Color) -> End {
        say!("{} flag has fallen.", if loser == self.you { "Your" } else { "Zeitnot's" });
        self.record.forfeit = Some(loser.is_white());
        End::Over { winner: winner_on_time(&self.game, loser), termination: Termination::TimeForfeit }
    }

    /// Ends the game: its last word, and the file.
    fn over(mut self, winner: Option<Color>, termination: Termination) -> anyhow::Result<()> {
        self.record.white_won = winner.map(Color::is_white);
        self.record.termination = termination;
        self.record.clocks_ms = self.clocks.left_ms();
        self.file.write(&self.record)?;
        let who = match winner {
            None => "a draw",
            Some(winner) if winner == self.you => "you win",
            Some(_) => "Zeitnot wins",
        };
        say!("{}: {who} ({termination})", self.record.result());
        say!("the game is in {}", self.file.path().display());
        Ok(())
    }
}

/// The clocks after the moves of a record.
pub fn clocks_after<'a>(limits: [&'a Limits; 2], left_ms: [f64; 2], record: &GameRecord) -> GameClocks<'a> {
    let by_white = record.moves.iter().filter(|mv| mv.white).count();
    GameClocks::after(limits, left_ms, [by_white, record.moves.len() - by_white])
}

fn name(color: Color) -> &'static str {
    if color.is_white() { "White" } else { "Black" }
}

/// Milliseconds from one moment to a later one; a line that was typed ahead took none.
fn ms_since(began: Instant, at: Instant) -> f64 {
    at.saturating_duration_since(began).as_secs_f64() * 1e3
}
