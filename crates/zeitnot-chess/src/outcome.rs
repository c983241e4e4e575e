//! Decides how a game has ended by the rules: by mate, stalemate or a draw, which needs no claim here.

use super::{Color, Game, Move, Position};

/// Plies without capture or pawn move after which a game is drawn.
pub const FIFTY_MOVES_PLIES: u32 = 100;
/// Earlier occurrences of a position that end a game: the position stands on the board for the third time.
const EARLIER_OCCURRENCES: u32 = 2;

/// How a game ended. Of two draws that come at once, the first in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The side to move is mated.
    Checkmate {
        /// Side that mates.
        winner: Color,
    },
    /// The side to move has no move, and is not in check.
    Stalemate,
    /// Neither side can ever mate.
    InsufficientMaterial,
    /// The position has occurred for the third time.
    Repetition,
    /// Fifty moves of each side without capture or pawn move.
    FiftyMoves,
}

impl Outcome {
    /// The side that has won; `None` for a draw.
    pub fn winner(self) -> Option<Color> {
        match self {
            Outcome::Checkmate { winner } => Some(winner),
            _ => None,
        }
    }

    /// The reason why the game is over.
    pub fn reason(self) -> &'static str {
        match self {
            Outcome::Checkmate { .. } => "checkmate",
            Outcome::Stalemate => "stalemate",
            Outcome::InsufficientMaterial => "insufficient material",
            Outcome::Repetition => "threefold repetition",
            Outcome::FiftyMoves => "the fifty-move rule",
        }
    }
}

impl Game {
    /// End of the game; `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.current().outcome(&self.current().legal_moves())
    }
}

impl Position {
    /// End of a game that reached this position, whose legal moves are `moves`; `None` while it goes on.
    pub fn outcome(&self, moves: &[Move]) -> Option<Outcome> {
        if moves.is_empty() {
            let mated = Outcome::Checkmate { winner: self.turn().other() };
            return Some(if self.is_check() { mated } else { Outcome::Stalemate });
        }
        if self.is_insufficient_material() {
            Some(Outcome::InsufficientMaterial)
        } else if self.repetitions() >= EARLIER_OCCURRENCES {
            Some(Outcome::Repetition)
        } else {
            (self.rule50() >= FIFTY_MOVES_PLIES).then_some(Outcome::FiftyMoves)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcome_names_every_end_of_a_game() {
        for (fen, outcome) in [
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", Some(Outcome::Checkmate { winner: Color::White })),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 100 90", Some(Outcome::Stalemate)),
            ("7k/8/6K1/8/8/8/8/8 b - - 100 90", Some(Outcome::InsufficientMaterial)),
            ("7k/8/6K1/8/8/8/8/R7 b - - 100 90", Some(Outcome::FiftyMoves)),
            ("7k/8/6K1/8/8/8/8/R7 b - - 99 90", None),
        ] {
            let game = Game::from_fen(fen, false).unwrap();
            assert_eq!(game.outcome(), outcome, "{fen}");
            assert_eq!(outcome.and_then(Outcome::winner), (fen.contains("6Q1")).then_some(Color::White));
        }
    }

    #[test]
    fn outcome_is_a_draw_at_the_third_occurrence() {
        let mut game = Game::new();
        for text in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(8) {
            assert_eq!(game.outcome(), None);
            game.push_uci(text).unwrap();
        }
        assert_eq!(game.outcome(), Some(Outcome::Repetition));
    }
}
