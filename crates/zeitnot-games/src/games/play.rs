//! Plays one game between two players: the referee keeps their clocks and the record, and knows the end.

use super::adjudication::{Adjudication, Course};
use super::game_clocks::{GameClocks, Limits, winner_on_time};
use super::lag::LagModel;
use super::player::{Player, PlayerError, Thought, Turn};
use super::record::{GameRecord, MoveRecord, Termination, in_microseconds};
use super::time_control::TimeControl;
use std::ops::ControlFlow;
use zeitnot_engine::chess::{Color, Game, to_uci};
use zeitnot_engine::splitmix::mix;

/// The rules of a match that hold for each of its games.
#[derive(Clone, Default)]
pub struct Rules {
    /// Limits of the first and of the second player.
    pub limits: [Limits; 2],
    /// How games are adjudicated.
    pub adjudication: Adjudication,
    /// Milliseconds that a player may take beyond its clock, or beyond the time of a move, before it loses.
    pub time_margin_ms: f64,
    /// The lag of the GUI, for players on virtual clocks.
    pub lag: Option<LagModel>,
    /// Seed of everything that is random.
    pub seed: u64,
}

impl Rules {
    /// These rules with one time control for both players.
    pub fn at(&self, control: TimeControl) -> Rules {
        let limits = Limits { clock: Some(control), ..Limits::default() };
        Rules { limits: [limits.clone(), limits], ..self.clone() }
    }
}

/// A game of a match that is to be played.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The number of the game, from 1.
    pub game: u64,
    /// The start position, with the moves that led there.
    pub start: Game,
    /// Whether castling follows the rules of Chess960.
    pub chess960: bool,
    /// Whether the first player has White.
    pub first_is_white: bool,
}

/// A game under way, between players of a match or with a person.
pub struct Referee<'a> {
    rules: &'a Rules,
    /// Limits of White and Black.
    pub limits: [&'a Limits; 2],
    /// The game, with the moves of its opening.
    pub game: Game,
    /// The record so far.
    pub record: GameRecord,
    /// The clocks.
    pub clocks: GameClocks<'a>,
    course: Course,
    /// Time since the last answer of White and Black, in milliseconds.
    since_answer_ms: [f64; 2],
}

/// The winner of a game, `None` for a draw, and why it ended.
pub type End = (Option<Color>, Termination);

/// Plays a game; `players` are the first and the second player of the match. `on_move` sees the game after each move,
/// and may break it off.
///
/// A player that uses more time than its clock had, and the margin of the rules, loses; the increment comes only after
/// that. Against a bare king a clock that runs out draws, as in the laws of chess (fastchess lets it lose).
///
/// # Errors
/// [`PlayerError`] when an engine of this program cannot search or its search failed, and when a player cannot play
/// such games. A player that fails otherwise loses. An interruption of the match while a player thinks breaks the game
/// off.
pub fn play(
    players: [&mut dyn Player; 2],
    rules: &Rules,
    pairing: &Pairing,
    mut on_move: impl FnMut(&GameRecord) -> ControlFlow<()>,
) -> Result<GameRecord, PlayerError> {
    let mut sides = players;
    let mut limits = rules.limits.each_ref();
    if !pairing.first_is_white {
        sides.reverse();
        limits.reverse();
    }
    let names = sides.each_ref().map(|player| player.name().to_owned());
    let mut record = GameRecord::begin(pairing.game, names, limits, &pairing.start, pairing.chess960);
    record.first_is_white = pairing.first_is_white;
    record.networks = sides.each_ref().map(|player| player.network().map(str::to_owned));
    let mut referee = Referee::new(rules, limits, pairing.start.clone(), record);
    let (winner, termination) = referee.play(&mut sides, &mut on_move)?;
    referee.end(winner, termination);
    referee.record.player_errors = sides.iter_mut().flat_map(|player| player.take_errors()).collect();
    Ok(referee.record)
}

impl<'a> Referee<'a> {
    /// The referee of a game that begins. `game` has the moves of the opening, `record` none yet.
    pub fn new(rules: &'a Rules, limits: [&'a Limits; 2], game: Game, record: GameRecord) -> Referee<'a> {
        let clocks = GameClocks::new(limits);
        Referee { rules, limits, game, record, clocks, course: Course::default(), since_answer_ms: [0.0; 2] }
    }

    /// Sets the clocks of a game that goes on after the moves of its record: to `left_ms`, White's time first.
    pub fn set_clocks(&mut self, left_ms: [f64; 2]) {
        let by_white = self.record.moves.iter().filter(|mv| mv.white).count();
        self.clocks = GameClocks::after(self.limits, left_ms, [by_white, self.record.moves.len() - by_white]);
    }

    /// Lets the players move until the game ends.
    fn play(
        &mut self,
        sides: &mut [&mut dyn Player; 2],
        on_move: &mut dyn FnMut(&GameRecord) -> ControlFlow<()>,
    ) -> Result<End, PlayerError> {
        for (side, player) in sides.iter_mut().enumerate() {
            // Each player has a seed of its own, the same with either colour.
            let player_index = u64::from((side == 0) != self.record.first_is_white);
            if let Err(error) = player.new_game(mix(self.rules.seed ^ mix(2 * self.record.game + player_index))) {
                return self.failed_by(side, error);
            }
        }
        loop {
            if let Some(outcome) = self.game.outcome() {
                return Ok((outcome.winner(), outcome.into()));
            }
            let color = self.game.current().turn();
            let side = usize::from(color.is_black());
            let since_answer_ms = std::mem::take(&mut self.since_answer_ms[side]);
            let turn = Turn { game: &self.game, go: self.clocks.go(color), since_answer_ms };
            let thought = match sides[side].think(&turn) {
                Ok(thought) => thought,
                Err(error) => return self.failed_by(side, error),
            };
            if let Some(end) = self.make_move(&thought) {
                return Ok(end);
            }
            if on_move(&self.record).is_break() {
                return Ok((None, Termination::Unfinished));
            }
        }
    }

    /// Makes a player's move and takes its time off the clock. Returns the end where the clock or an adjudication ends
    /// the game.
    pub fn make_move(&mut self, thought: &Thought) -> Option<End> {
        let color = self.game.current().turn();
        let side = usize::from(color.is_black());
        let ply = self.record.moves.len();
        let lag_ms = self.rules.lag.map_or(0.0, |lag| lag.lag_ms(self.rules.seed, self.record.game, ply));
        let used_ms = thought.used_ms + lag_ms;
        self.since_answer_ms[side] += lag_ms;
        self.since_answer_ms[1 - side] += used_ms;
        if !self.clocks.take(color, used_ms, self.rules.time_margin_ms) {
            return Some(self.forfeit(color));
        }
        let san = self.game.san(thought.mv);
        let uci = to_uci(thought.mv, self.record.chess960);
        self.game.push(thought.mv);
        self.record.moves.push(MoveRecord {
            uci,
            san,
            white: color.is_white(),
            used_ms: in_microseconds(used_ms),
            clocks_ms: self.clocks.left_ms().map(in_microseconds),
            budget_ms: thought.budget_ms.map(|budget| in_microseconds(budget.0)),
            hard_limit_ms: thought.budget_ms.map(|budget| in_microseconds(budget.1)),
            nodes: thought.nodes,
            playouts: thought.playouts,
            depth: thought.depth,
            evaluation: thought.evaluation,
        });
        // The rules of chess come first.
        match self.game.outcome() {
            Some(_) => None,
            None => self.course.judge(&self.rules.adjudication, color, thought.evaluation, &self.game),
        }
    }

    /// The end of a game in which the clock of `loser` ran out: drawn where the opponent has a bare king.
    pub fn forfeit(&mut self, loser: Color) -> End {
        self.record.forfeit = Some(loser.is_white());
        (winner_on_time(&self.game, loser), Termination::TimeForfeit)
    }

    /// Records the end.
    pub fn end(&mut self, winner: Option<Color>, termination: Termination) {
        self.record.white_won = winner.map(Color::is_white);
        self.record.termination = termination;
        self.record.clocks_ms = self.clocks.left_ms().map(in_microseconds);
    }

    /// The end of a game in which a player failed: that player loses, unless the match was interrupted or must end.
    fn failed_by(&mut self, side: usize, error: PlayerError) -> Result<End, PlayerError> {
        let text = error.to_string();
        let loser = if side == 0 { Color::White } else { Color::Black };
        let end = match error {
            PlayerError::Engine(_) | PlayerError::Unfit(_) => return Err(error),
            PlayerError::Interrupted(_) => return Ok((None, Termination::Unfinished)),
            PlayerError::Crashed(_) => (Some(loser.other()), Termination::Crash),
            // A player that does not answer by its clock has lost on time.
            PlayerError::Stalled(_) if self.limits[side].has_time() => {
                self.clocks.run_out(loser);
                self.forfeit(loser)
            }
            PlayerError::Stalled(_) | PlayerError::NotReady(_) => (Some(loser.other()), Termination::Stall),
            PlayerError::IllegalMove(_) => (Some(loser.other()), Termination::IllegalMove),
        };
        self.record.error = Some(text);
        Ok(end)
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
