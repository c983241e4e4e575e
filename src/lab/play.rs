//! Plays one timed game between two engines.

use super::TimeControl;
use crate::chess::{Color, Game, Move, Outcome};
use crate::engine::{Engine, EngineError, GoParams, Report};
use crate::time_manager::Plan;
use std::fmt;
use std::ops::ControlFlow;

/// An engine that plays, and its name.
pub struct Player {
    /// How the result names it.
    pub name: String,
    /// The engine; its options are set.
    pub engine: Engine,
    /// It searches on the caller's thread: on a virtual clock the game is then a computation.
    pub synchronous: bool,
}

/// One move of a game.
#[derive(Clone, Debug)]
pub struct MoveRecord {
    /// The move.
    pub mv: Move,
    /// In the notation of PGN.
    pub san: String,
    /// Who played it.
    pub color: Color,
    /// The time manager's decision.
    pub plan: Option<Plan>,
    /// Time used, in milliseconds.
    pub used_ms: f64,
    /// The clock of White and of Black after the move, in milliseconds.
    pub clocks_ms: [f64; 2],
    /// The search's last report.
    pub report: Report,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Mate.
    Checkmate,
    /// No move and no check.
    Stalemate,
    /// A position for the third time.
    Repetition,
    /// Fifty moves without capture or pawn move.
    FiftyMoves,
    /// Nobody can mate.
    InsufficientMaterial,
    /// A clock ran out.
    TimeForfeit,
    /// It was broken off.
    Unfinished,
}

impl From<Outcome> for Termination {
    fn from(outcome: Outcome) -> Termination {
        match outcome {
            Outcome::Checkmate { .. } => Termination::Checkmate,
            Outcome::Stalemate => Termination::Stalemate,
            Outcome::InsufficientMaterial => Termination::InsufficientMaterial,
            Outcome::Repetition => Termination::Repetition,
            Outcome::FiftyMoves => Termination::FiftyMoves,
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Termination::Checkmate => "checkmate",
            Termination::Stalemate => "stalemate",
            Termination::Repetition => "threefold repetition",
            Termination::FiftyMoves => "fifty-move rule",
            Termination::InsufficientMaterial => "insufficient material",
            Termination::TimeForfeit => "time forfeit",
            Termination::Unfinished => "unfinished",
        })
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// Names of White and Black.
    pub players: [String; 2],
    /// The clock they had.
    pub time_control: TimeControl,
    /// The start position as FEN, unless it is the standard one.
    pub start_fen: Option<String>,
    /// The moves.
    pub moves: Vec<MoveRecord>,
    /// Who won; `None` for a draw.
    pub winner: Option<Color>,
    /// Why it ended.
    pub termination: Termination,
    /// The clocks of White and Black at the end, in milliseconds.
    pub clocks_ms: [f64; 2],
}

impl GameRecord {
    /// As PGN writes results.
    pub fn result(&self) -> &'static str {
        match self.winner {
            None if self.termination == Termination::Unfinished => "*",
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }
}

/// Plays a game from `start`; `players` are White and Black. `on_move` sees each move as it is played, and may break
/// the game off.
///
/// The clock judges as a match runner does: who has used more than he had has lost, and only then comes the increment.
///
/// # Errors
/// [`EngineError`] when an engine cannot search, or its search failed.
pub fn play(
    players: [&mut Player; 2],
    start: Game,
    time_control: TimeControl,
    mut on_move: impl FnMut(&GameRecord) -> ControlFlow<()>,
) -> Result<GameRecord, EngineError> {
    let mut game = start;
    let mut record = GameRecord {
        players: [players[0].name.clone(), players[1].name.clone()],
        time_control,
        start_fen: (!game.starts_from_standard()).then(|| game.fen()),
        moves: Vec::new(),
        winner: None,
        termination: Termination::Stalemate,
        clocks_ms: [time_control.base_ms + time_control.increment_ms; 2],
    };
    let mut moves_made = [0; 2];
    let [white, black] = players;
    for player in [&mut *white, &mut *black] {
        player.engine.new_game();
        player.engine.prepare()?;
    }
    loop {
        if let Some(outcome) = game.outcome() {
            (record.termination, record.winner) = (outcome.into(), outcome.winner());
            return Ok(record);
        }
        let color = game.current().turn();
        let side = usize::from(color.is_black());
        let player = if color.is_white() { &mut *white } else { &mut *black };
        let engine = &mut player.engine;
        let to_go = time_control.moves.map(|moves| moves - moves_made[side] % moves);
        let params = match time_control.depth {
            Some(depth) => GoParams { depth: Some(depth), ..GoParams::default() },
            None => GoParams {
                wtime: Some(record.clocks_ms[0]),
                btime: Some(record.clocks_ms[1]),
                winc: Some(time_control.increment_ms),
                binc: Some(time_control.increment_ms),
                movestogo: to_go,
                ..GoParams::default()
            },
        };
        let start_ms = engine.now_ms();
        engine.set_game(game.clone());
        let (end, plan) = match player.synchronous {
            true => engine.run(&params, start_ms, None)?,
            false => engine.search_and_wait(&params, start_ms)?,
        };
        if let Some(error) = end.error {
            return Err(EngineError::Search(error));
        }
        let used_ms = engine.now_ms() - start_ms;
        let mv = end.best.expect("a position with legal moves has a best one");
        let left = if time_control.depth.is_some() { 0.0 } else { record.clocks_ms[side] - used_ms };
        if left < 0.0 {
            record.clocks_ms[side] = left;
            (record.termination, record.winner) = (Termination::TimeForfeit, Some(color.other()));
            return Ok(record);
        }
        moves_made[side] += 1;
        let control_reached = time_control.moves.is_some_and(|moves| moves_made[side] % moves == 0);
        let bonus = if control_reached { time_control.base_ms } else { 0.0 };
        record.clocks_ms[side] = left + time_control.increment_ms + bonus;
        let san = game.san(mv);
        game.push(mv);
        let clocks_ms = record.clocks_ms;
        record.moves.push(MoveRecord { mv, san, color, plan, used_ms, clocks_ms, report: end.report });
        if on_move(&record).is_break() {
            record.termination = Termination::Unfinished;
            return Ok(record);
        }
    }
}
