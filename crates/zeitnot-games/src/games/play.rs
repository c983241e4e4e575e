//! Plays one game between two players and keeps their clocks.

use super::adjudication::{Adjudication, Course};
use super::game_clocks::{GameClocks, Limits, winner_on_time};
use super::lag::LagModel;
use super::player::{Player, PlayerError, Thought, Turn};
use super::record::{GameRecord, MoveRecord, Termination, in_microseconds};
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

/// A game under way.
struct Referee<'a> {
    rules: &'a Rules,
    /// Limits of White and Black.
    limits: [&'a Limits; 2],
    game: Game,
    chess960: bool,
    course: Course,
    record: GameRecord,
    clocks: GameClocks<'a>,
    /// Time since the last answer of White and Black, in milliseconds.
    since_answer_ms: [f64; 2],
}

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
    let [first, second] = players;
    let (mut sides, [first_limits, second_limits]) = ([first, second], &rules.limits);
    let mut limits = [first_limits, second_limits];
    if !pairing.first_is_white {
        sides.reverse();
        limits.reverse();
    }
    let mut referee = Referee::new(rules, limits, pairing, [&*sides[0], &*sides[1]]);
    for (side, player) in sides.iter_mut().enumerate() {
        // Each player has a seed of its own, the same with either colour.
        let player_index = (side == 0) != pairing.first_is_white;
        if let Err(error) = player.new_game(mix(rules.seed ^ mix(2 * pairing.game + u64::from(player_index)))) {
            return referee.failed_by(side, error);
        }
    }
    loop {
        if let Some(outcome) = referee.game.outcome() {
            return Ok(referee.end(outcome.winner(), outcome.into()));
        }
        let color = referee.game.current().turn();
        let side = usize::from(color.is_black());
        let turn = Turn {
            game: &referee.game,
            go: referee.clocks.go(color),
            since_answer_ms: std::mem::take(&mut referee.since_answer_ms[side]),
        };
        let thought = match sides[side].think(&turn) {
            Ok(thought) => thought,
            Err(error) => return referee.failed_by(side, error),
        };
        if let Some((winner, termination)) = referee.make_move(&thought) {
            return Ok(referee.end(winner, termination));
        }
        if on_move(&referee.record).is_break() {
            return Ok(referee.end(None, Termination::Unfinished));
        }
    }
}

impl<'a> Referee<'a> {
    fn new(rules: &'a Rules, limits: [&'a Limits; 2], pairing: &Pairing, players: [&dyn Player; 2]) -> Referee<'a> {
        let clocks = GameClocks::new(limits);
        let chess960 = pairing.chess960 || pairing.start.is_chess960();
        let mut before = pairing.start.clone();
        before.truncate(0);
        let start_fen = (!before.starts_from_standard()).then(|| before.fen());
        let mut opening = Vec::new();
        for &mv in pairing.start.moves() {
            opening.push(before.san(mv));
            before.push(mv);
        }
        let record = GameRecord {
            game: pairing.game,
            players: players.map(|player| player.name().to_owned()),
            networks: players.map(|player| player.network().map(str::to_owned)),
            first_is_white: pairing.first_is_white,
            controls: limits.map(Limits::pgn),
            start_fen,
            chess960,
            opening,
            moves: Vec::new(),
            white_won: None,
            termination: Termination::Unfinished,
            forfeit: None,
            error: None,
            clocks_ms: clocks.left_ms().map(in_microseconds),
        };
        Referee {
            rules,
            limits,
            game: pairing.start.clone(),
            chess960,
            course: Course::default(),
            record,
            clocks,
            since_answer_ms: [0.0; 2],
        }
    }

    /// Makes a player's move and takes its time off the clock. Returns the winner and why the game ends, where the
    /// clock or an adjudication ends it.
    fn make_move(&mut self, thought: &Thought) -> Option<(Option<Color>, Termination)> {
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
        let uci = to_uci(thought.mv, self.chess960);
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
    fn forfeit(&mut self, loser: Color) -> (Option<Color>, Termination) {
        self.record.forfeit = Some(loser.is_white());
        (winner_on_time(&self.game, loser), Termination::TimeForfeit)
    }

    fn end(mut self, winner: Option<Color>, termination: Termination) -> GameRecord {
        self.record.white_won = winner.map(Color::is_white);
        self.record.termination = termination;
        self.record.clocks_ms = self.clocks.left_ms().map(in_microseconds);
        self.record
    }

    /// The end of a game in which a player failed: that player loses, unless the match was interrupted or must end.
    fn failed_by(mut self, side: usize, error: PlayerError) -> Result<GameRecord, PlayerError> {
        let text = error.to_string();
        let loser = if side == 0 { Color::White } else { Color::Black };
        let (winner, termination) = match error {
            PlayerError::Engine(_) | PlayerError::Unfit(_) => return Err(error),
            PlayerError::Crashed(_) => (Some(loser.other()), Termination::Crash),
            // A player that does not answer by its clock has lost on time.
            PlayerError::Interrupted(_) => return Ok(self.end(None, Termination::Unfinished)),
            PlayerError::Stalled(_) if self.limits[side].has_time() => {
                self.clocks.run_out(loser);
                self.forfeit(loser)
            }
            PlayerError::Stalled(_) | PlayerError::NotReady(_) => (Some(loser.other()), Termination::Stall),
            PlayerError::IllegalMove(_) => (Some(loser.other()), Termination::IllegalMove),
        };
        self.record.error = Some(text);
        Ok(self.end(winner, termination))
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
