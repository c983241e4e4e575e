//! Plays the game: the turns of the person and of the engine, before the referee of all games.

use super::game_file::GameFile;
use super::keyboard::{Heard, Keyboard};
use super::opponent::{Opponent, Thought, agrees_to_draw, offers_draw, resigns};
use super::typed::{self, Typed};
use super::words;
use crate::commands::interrupt;
use crate::commands::output::{self, say};
use anyhow::Context as _;
use std::time::{Duration, Instant};
use zeitnot::uci::Signs;
use zeitnot_engine::chess::Color;
use zeitnot_engine::engine::GoParams;
use zeitnot_games::{Evaluation, Limits, Referee, Termination, Thought as Move};

/// Time of a hint, and in a game with clocks of a search about an offered draw, in milliseconds.
const HINT_MS: f64 = 1_000.0;

/// A game between a person and the engine.
pub struct Session<'a> {
    pub keyboard: Keyboard,
    pub opponent: Opponent,
    pub file: GameFile,
    pub referee: Referee<'a>,
    /// The clocks at the start of the game.
    pub start_ms: [f64; 2],
    /// The side of the person.
    pub you: Color,
    /// The side from which the board is seen.
    pub viewer: Color,
    pub signs: Signs,
    /// The command line that resumes the game.
    pub resume: String,
    /// The error because of which the file lacks the last moves, if any.
    pub unkept: Option<anyhow::Error>,
}

enum End {
    Over { winner: Option<Color>, termination: Termination },
    Left,
    Interrupted,
}

impl Session<'_> {
    /// Plays until the game is over or the person leaves.
    pub fn play(mut self) -> anyhow::Result<()> {
        self.greet();
        let end = loop {
            let turn = self.referee.game.current().turn();
            let end = match self.referee.game.outcome() {
                Some(outcome) => Some(End::Over { winner: outcome.winner(), termination: outcome.into() }),
                None if turn == self.you => self.your_turn().with_context(|| self.how_to_go_on())?,
                None => self.engines_turn().with_context(|| self.how_to_go_on())?,
            };
            if let Some(end) = end {
                break end;
            }
        };
        let how = self.how_to_go_on();
        match end {
            End::Over { winner, termination } => self.over(winner, termination),
            End::Left => {
                say!("{how}");
                self.give_back()
            }
            End::Interrupted => {
                self.keyboard.leave_prompt();
                self.give_back()?;
                interrupt::exit(&format!("interrupted: {how}"));
            }
        }
    }

    pub(super) fn limits_of(&self, color: Color) -> &Limits {
        self.referee.limits[usize::from(color.is_black())]
    }

    pub(super) fn number(&self) -> usize {
        self.referee.game.current().fullmoves().get() as usize
    }

    /// Waits for the person's move, and obeys commands. The clock runs from the prompt to the line with the move.
    fn your_turn(&mut self) -> anyhow::Result<Option<End>> {
        let began = Instant::now();
        let most_ms = self.referee.clocks.most_ms(self.you);
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
                    self.keyboard.leave_prompt();
                    self.referee.clocks.take(self.you, ms_since(began, Instant::now()), 0.0);
                    return Ok(Some(self.flag_of(self.you)));
                }
                Heard::Interrupted => return Ok(Some(End::Interrupted)),
                Heard::End => {
                    self.keyboard.leave_prompt();
                    return Ok(Some(End::Left));
                }
            };
            match typed::read(&text, &self.referee.game) {
                Ok(Typed::Move(mv)) => return Ok(self.make_move(&Move::of_move(mv, ms_since(began, at)))),
                Ok(Typed::Undo) if self.take_back() => return Ok(None),
                Ok(Typed::Undo) => say!("there is no move of yours to take back"),
                Ok(Typed::Resign) => {
                    let winner = Some(self.you.other());
                    return Ok(Some(End::Over { winner, termination: Termination::Resignation }));
                }
                Ok(Typed::Quit) => return Ok(Some(End::Left)),
                Ok(Typed::Draw) if self.is_draw_offered() => {
                    return Ok(Some(End::Over { winner: None, termination: Termination::Agreement }));
                }
                Ok(Typed::Draw) => match self.look()? {
                    None => return Ok(Some(End::Interrupted)),
                    // The look was on the person's clock.
                    Some(_) if until.is_some_and(|until| Instant::now() >= until) => {}
                    Some(thought) if self.agrees(&thought) => {
                        return Ok(Some(End::Over { winner: None, termination: Termination::Agreement }));
                    }
                    Some(_) => {}
                },
                Ok(Typed::Hint) => match self.hint()? {
                    None => return Ok(Some(End::Interrupted)),
                    Some(thought) => self.show_hint(&thought),
                },
                Ok(other) => self.answer(&other, ms_since(began, Instant::now())),
                Err(error) => say!("{error}"),
            }
        }
    }

    /// Takes the person's last move back, and the answer to it. Returns whether there was one.
    fn take_back(&mut self) -> bool {
        let Some(left) = self.referee.record.moves.len().checked_sub(2) else { return false };
        self.referee.game.truncate(left);
        self.referee.record.moves.truncate(left);
        self.referee.set_clocks(self.referee.record.moves.last().map_or(self.start_ms, |last| last.clocks_ms));
        self.keep();
        self.show(0.0);
        true
    }

    /// A short search of the position in which the person is to move, within the engine's limits; `None` after Ctrl-C.
    fn look(&mut self) -> anyhow::Result<Option<Thought>> {
        let limits = self.limits_of(self.you.other());
        let movetime = limits.movetime_ms.or(limits.clock.map(|_| HINT_MS));
        let go = GoParams { movetime, nodes: limits.nodes, depth: limits.depth, ..GoParams::default() };
        self.opponent.look(&self.referee.game, &go)
    }

    /// A search at full strength for a hint: a second, or the engine's time for a move where that is longer; `None`
    /// after Ctrl-C.
    fn hint(&mut self) -> anyhow::Result<Option<Thought>> {
        let limits = self.limits_of(self.you.other());
        let movetime = Some(limits.movetime_ms.map_or(HINT_MS, |ms| ms.max(HINT_MS)));
        let is_free = limits.nodes.is_none() && limits.depth.is_none();
        self.opponent.advise(&self.referee.game, &GoParams { movetime, ..GoParams::default() }, is_free)
    }

    /// Answers an offer of a draw. `thought` is a search of the position with the person to move.
    fn agrees(&self, thought: &Thought) -> bool {
        // The person is to move.
        let points = thought.points().map(|points| 1.0 - points);
        let agrees = points.is_some_and(|points| agrees_to_draw(points, self.number()));
        let expects = points.map(|points| format!(": it expects {points:.2} points")).unwrap_or_default();
        say!("Zeitnot {} the draw{expects}", if agrees { "accepts" } else { "declines" });
        agrees
    }

    /// The engine's evaluations of its moves, the last one first.
    fn evaluations(&self) -> impl Iterator<Item = Evaluation> {
        let own = self.referee.record.moves.iter().rev().filter(|mv| mv.white != self.you.is_white());
        own.map_while(|mv| mv.evaluation)
    }

    /// Whether the engine has offered a draw with its last move.
    fn is_draw_offered(&self) -> bool {
        let number = self.number() - usize::from(self.you.is_white());
        self.opponent.level.is_some() && offers_draw(number, self.evaluations())
    }

    fn engines_turn(&mut self) -> anyhow::Result<Option<End>> {
        let game = &self.referee.game;
        let color = game.current().turn();
        let go = self.referee.clocks.go(color);
        let Some(thought) = self.opponent.think(game, &go)? else { return Ok(Some(End::Interrupted)) };
        let line = words::moved(thought, game);
        let mv = thought.told();
        let evaluations = mv.evaluation.into_iter().chain(self.evaluations());
        if self.opponent.level.is_some_and(|level| resigns(level, evaluations))
            && self.referee.clocks.take(color, mv.used_ms, 0.0)
        {
            say!("Zeitnot resigns.");
            return Ok(Some(End::Over { winner: Some(self.you), termination: Termination::Resignation }));
        }
        let end = self.make_move(&mv);
        if end.is_none() {
            say!("{line}");
            self.show(0.0);
            if self.is_draw_offered() {
                say!("Zeitnot offers a draw: draw accepts it");
            }
        }
        Ok(end)
    }

    /// Plays a move and writes the game; a move after the flag has fallen loses. Returns the end, if the game is over.
    fn make_move(&mut self, mv: &Move) -> Option<End> {
        let color = self.referee.game.current().turn();
        match self.referee.make_move(mv) {
            Some((_, Termination::TimeForfeit)) => return Some(self.flag_of(color)),
            Some((winner, termination)) => {
                self.keep();
                return Some(End::Over { winner, termination });
            }
            None => self.keep(),
        }
        None
    }

    /// Writes the game to its file. An error is reported, and the game goes on.
    fn keep(&mut self) {
        self.unkept = self.file.write(&self.referee.record).err();
        if let Some(error) = &self.unkept {
            say!("{error:#}; save FILE writes the game elsewhere");
        }
    }

    /// Prints the game as PGN, and fails, where its file could not be written.
    fn give_back(self) -> anyhow::Result<()> {
        let Some(error) = self.unkept else { return Ok(()) };
        output::text(String::from_utf8_lossy(&self.file.text(&self.referee.record)));
        Err(error)
    }

    /// Ends the game because the flag of `loser` has fallen.
    fn flag_of(&mut self, loser: Color) -> End {
        say!("{} flag has fallen.", if loser == self.you { "Your" } else { "Zeitnot's" });
        let (winner, termination) = self.referee.forfeit(loser);
        End::Over { winner, termination }
    }

    /// Records the end of the game, and prints the result.
    fn over(mut self, winner: Option<Color>, termination: Termination) -> anyhow::Result<()> {
        self.referee.end(winner, termination);
        self.keep();
        let who = match winner {
            None => "a draw",
            Some(winner) if winner == self.you => "you win",
            Some(_) => "Zeitnot wins",
        };
        say!("{}: {who} ({termination})", self.referee.record.result());
        if self.unkept.is_none() {
            say!("the game is in {}", self.file.path().display());
        }
        self.give_back()
    }
}

/// Milliseconds from one moment to a later one; a line that was typed ahead took none.
fn ms_since(began: Instant, at: Instant) -> f64 {
    at.saturating_duration_since(began).as_secs_f64() * 1e3
}
