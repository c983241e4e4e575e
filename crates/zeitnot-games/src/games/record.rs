//! Records a game: who played, the moves with their times and evaluations, and how it ended.

use super::game_clocks::Limits;
use crate::strength::GameResult;
use serde::{Deserialize, Serialize};
use std::fmt;
use zeitnot_engine::chess::{Game, Outcome};
use zeitnot_engine::engine::{Line, ScoreType, score};

/// The evaluation of a position by the player to move, from its own side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Centipawns.
    pub cp: i32,
    /// Moves to mate, negative when being mated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mate: Option<i32>,
    /// Win minus loss, -1 to 1; `None` where a player does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
}

impl Evaluation {
    /// The evaluation of a line of a search; `has_wdl` says whether its network has separate outputs for win, draw and
    /// loss.
    pub fn of(line: &Line, has_wdl: bool) -> Evaluation {
        Evaluation {
            cp: score(ScoreType::WdlMu, line, has_wdl),
            mate: line.mate,
            q: Some((f64::from(line.q) * 1e6).round() / 1e6),
        }
    }

    /// The evaluation as lichess writes it: pawns from White's side, or `#` and the moves to mate. `is_white` says
    /// whether White evaluated.
    pub fn for_white(&self, is_white: bool) -> String {
        let sign = if is_white { 1 } else { -1 };
        match self.mate {
            Some(mate) => format!("#{}", sign * mate),
            None => format!("{:.2}", f64::from(sign * self.cp) / 100.0),
        }
    }
}

/// One move of a game. Times are in milliseconds, whole microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// The move in UCI notation.
    pub uci: String,
    /// The move in the notation of PGN.
    pub san: String,
    /// Whether White moved.
    pub white: bool,
    /// Time used, by the referee's clock.
    pub used_ms: f64,
    /// The clock of White and of Black after the move; 0 without a clock.
    pub clocks_ms: [f64; 2],
    /// The time manager's budget, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<f64>,
    /// The hard limit: the most to which the search might stretch the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_limit_ms: Option<f64>,
    /// Nodes of the tree at the end, those found in the reused tree among them.
    pub nodes: u64,
    /// Visits made by this search; 0 where a player does not say.
    #[serde(default)]
    pub playouts: u64,
    /// Depth as the player counts it, in plies.
    pub depth: u32,
    /// The player's evaluation; `None` where it gives none, as for a book move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// Both players saw a draw for long enough.
    DrawAdjudication,
    /// A player saw itself lost for long enough.
    ResignAdjudication,
    /// A person resigned.
    Resignation,
    /// A person offered a draw, and it was accepted.
    Agreement,
    /// The endgame tables know the result.
    TablebaseAdjudication,
    /// The game had as many moves as it may have.
    MoveLimit,
    /// A player gave an illegal move.
    IllegalMove,
    /// A player crashed.
    Crash,
    /// A player did not answer.
    Stall,
    /// The game was broken off.
    Unfinished,
}

impl Termination {
    /// The word for the end of the game in PGN's tag `Termination`.
    pub fn pgn(self) -> &'static str {
        use Termination::*;
        match self {
            Checkmate | Stalemate | Repetition | FiftyMoves | InsufficientMaterial | Resignation | Agreement => {
                "normal"
            }
            DrawAdjudication | ResignAdjudication | TablebaseAdjudication | MoveLimit => "adjudication",
            TimeForfeit => "time forfeit",
            IllegalMove => "rules infraction",
            Crash | Stall => "abandoned",
            Unfinished => "unterminated",
        }
    }
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
            Termination::DrawAdjudication => "draw by adjudication",
            Termination::ResignAdjudication => "resignation by adjudication",
            Termination::Resignation => "resignation",
            Termination::Agreement => "agreement",
            Termination::TablebaseAdjudication => "adjudicated by endgame tables",
            Termination::MoveLimit => "limit of moves",
            Termination::IllegalMove => "illegal move",
            Termination::Crash => "crash",
            Termination::Stall => "no answer",
            Termination::Unfinished => "unfinished",
        })
    }
}

/// A finished game. Arrays have White's entry first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// The number of the game in the match, from 1.
    pub game: u64,
    /// Names of White and Black.
    pub players: [String; 2],
    /// Names of the networks of White and Black, where they are known.
    #[serde(default)]
    pub networks: [Option<String>; 2],
    /// Whether the first player of the match has White.
    pub first_is_white: bool,
    /// Limits of White and Black, as PGN's tag `TimeControl` has them.
    pub controls: [String; 2],
    /// The start position as FEN, unless it is the standard one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_fen: Option<String>,
    /// Whether castling follows the rules of Chess960.
    #[serde(default)]
    pub chess960: bool,
    /// The moves of the opening, from the start position to the first move played, in the notation of PGN.
    #[serde(default)]
    pub opening: Vec<String>,
    /// The moves played.
    pub moves: Vec<MoveRecord>,
    /// Whether White won; `None` for a draw and for a game that was broken off.
    pub white_won: Option<bool>,
    /// Why the game ended.
    pub termination: Termination,
    /// Whether the clock that ran out was White's, in a drawn game, too; `None` where no clock ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forfeit: Option<bool>,
    /// The error by which a player lost, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The errors after which a player could go on, each once; nobody lost by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub player_errors: Vec<String>,
    /// The clocks of White and Black at the end, in milliseconds; a clock that ran out is negative.
    pub clocks_ms: [f64; 2],
}

impl GameRecord {
    /// The record of a game that begins, of players White and Black with these limits; `start` has the moves of the
    /// opening.
    pub fn begin(game: u64, players: [String; 2], limits: [&Limits; 2], start: &Game, chess960: bool) -> GameRecord {
        let mut before = start.clone();
        before.truncate(0);
        let start_fen = (!before.starts_from_standard()).then(|| before.fen());
        let mut opening = Vec::new();
        for &mv in start.moves() {
            opening.push(before.san(mv));
            before.push(mv);
        }
        GameRecord {
            game,
            players,
            networks: [None, None],
            first_is_white: true,
            controls: limits.map(Limits::pgn),
            start_fen,
            chess960: chess960 || start.is_chess960(),
            opening,
            moves: Vec::new(),
            white_won: None,
            termination: Termination::Unfinished,
            forfeit: None,
            error: None,
            player_errors: Vec::new(),
            clocks_ms: [0.0; 2],
        }
    }

    /// The result as PGN writes it.
    pub fn result(&self) -> &'static str {
        match self.white_won {
            None if self.termination == Termination::Unfinished => "*",
            Some(true) => "1-0",
            Some(false) => "0-1",
            None => "1/2-1/2",
        }
    }

    /// All moves from the start position, those of the opening first, in the notation of PGN.
    pub(super) fn sans(&self) -> impl Iterator<Item = &str> {
        self.opening.iter().chain(self.moves.iter().map(|mv| &mv.san)).map(String::as_str)
    }

    /// The number of the first move of the opening or the game, as PGN counts moves, and whether White makes it.
    pub fn first_move(&self) -> (usize, bool) {
        let Some(fen) = &self.start_fen else { return (1, true) };
        let number = fen.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1);
        (number, fen.split(' ').nth(1) != Some("b"))
    }

    /// The number of the last move played.
    pub(crate) fn number_of_last(&self) -> usize {
        let (first, is_white) = self.first_move();
        let before = (self.opening.len() + self.moves.len()).saturating_sub(1);
        first + (before + usize::from(!is_white)) / 2
    }

    /// The result of the first player of the match.
    pub(crate) fn result_of_first(&self) -> GameResult {
        match self.white_won {
            None => GameResult::Draw,
            Some(white) if white == self.first_is_white => GameResult::Win,
            Some(_) => GameResult::Loss,
        }
    }

    /// Whether the clock that ran out was the first player's; `None` where no clock ran out.
    pub(crate) fn forfeit_of_first(&self) -> Option<bool> {
        self.forfeit.map(|white| white == self.first_is_white)
    }

    /// Time that the move that came too late used beyond its clock, in milliseconds; `None` where no clock ran out, and
    /// where the player never answered.
    pub fn over_ms(&self) -> Option<f64> {
        let side = usize::from(!self.forfeit?);
        self.error.is_none().then(|| -self.clocks_ms[side])
    }

    /// Whether the player who lost on time was the match's first; `None` where nobody did, as against a bare king.
    pub(crate) fn lost_on_time_by_first(&self) -> Option<bool> {
        self.white_won.and(self.forfeit_of_first())
    }
}

/// Milliseconds in whole microseconds, so that a record reads and writes without loss.
pub(crate) fn in_microseconds(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

/// A drawn game without moves, for tests that look at a part of it.
#[cfg(any(test, feature = "testing"))]
pub fn drawn_game(game: u64) -> GameRecord {
    let players = ["A".into(), "B".into()];
    let record = GameRecord::begin(game, players, [&Limits::default(); 2], &Game::new(), false);
    let controls = ["1".into(), "1".into()];
    GameRecord { controls, first_is_white: game % 2 == 1, termination: Termination::Stalemate, ..record }
}
