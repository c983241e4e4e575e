//! Tells opening, middlegame and endgame apart by the pieces on the board.

use serde::{Deserialize, Serialize};
use zeitnot_engine::chess::{Color, Game, Position};
use zeitnot_engine::shakmaty::{Board, Rank};

/// Pieces besides kings and pawns, of both sides, up to which the opening is over; up to `ENDGAME_PIECES` it is the
/// endgame (scalachess, `Divider`).
const MIDDLEGAME_PIECES: usize = 10;
const ENDGAME_PIECES: usize = 6;
/// Pieces on its own first rank below which a side counts as developed, and the opening as over.
const DEVELOPED: usize = 4;

/// A part of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The time until enough pieces are traded or a side is developed.
    Opening,
    /// The time between opening and endgame.
    Middlegame,
    /// With few pieces left.
    Endgame,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Phase; 3] = [Phase::Opening, Phase::Middlegame, Phase::Endgame];

    /// The phase of a position on its own.
    fn of(position: &Position) -> Phase {
        let board = position.board();
        let pieces = (board.occupied() & !board.pawns() & !board.kings()).count();
        let is_out = |color| {
            let first = if color == Color::White { Rank::First } else { Rank::Eighth };
            on_rank(board, color, first) < DEVELOPED
        };
        match pieces {
            pieces if pieces <= ENDGAME_PIECES => Phase::Endgame,
            pieces if pieces <= MIDDLEGAME_PIECES => Phase::Middlegame,
            _ if is_out(Color::White) || is_out(Color::Black) => Phase::Middlegame,
            _ => Phase::Opening,
        }
    }

    /// The phase of each position of a game; once a phase is over, it does not return.
    pub fn of_game(game: &Game) -> Vec<Phase> {
        let mut phase = Phase::Opening;
        let later = |position| {
            phase = phase.max(Phase::of(position));
            phase
        };
        game.positions().iter().map(later).collect()
    }
}

/// Pieces of a side on a rank.
fn on_rank(board: &Board, color: Color, rank: Rank) -> usize {
    let first = zeitnot_engine::shakmaty::Bitboard::from_rank(rank);
    (board.by_color(color) & first).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_the_pieces_and_do_not_come_back() {
        let of = |fen: &str| Phase::of_game(&Game::from_fen(fen, false).unwrap())[0];
        assert_eq!(Phase::of_game(&Game::new()), [Phase::Opening]);
        assert_eq!(of("r4rk1/pppq1ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPPQ1PPP/R4RK1 w - - 0 9"), Phase::Middlegame);
        assert_eq!(of("r1b1k2r/pppp1ppp/8/8/8/8/PPPP1PPP/R1B1K2R w KQkq - 0 9"), Phase::Endgame);
        let mut game = Game::from_fen("7k/P6p/8/8/8/8/8/K7 w - - 0 1", false).unwrap();
        game.push_uci("a7a8q").unwrap();
        assert_eq!(Phase::of_game(&game), [Phase::Endgame; 2]);
    }
}
