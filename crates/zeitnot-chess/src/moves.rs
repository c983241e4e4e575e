//! Reads and writes UCI moves, in both spellings of castling.

use super::fen::QUOTED;
use super::position::has_king;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, CastlingSide, Chess, File, Move, Position as _, Role, Square};
use thiserror::Error;
use zeitnot_base::printable::beginning;

/// Why a move cannot be played; displays as one line that names the move.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MoveError {
    /// Text that is not a move in UCI notation.
    #[error("\"{}\" is not a move in UCI notation (such as e2e4 or e7e8q)", beginning(.0, QUOTED))]
    Syntax(String),
    /// A move in UCI notation that the rules do not allow here.
    #[error("illegal move {text} in {fen}")]
    Illegal {
        /// The move as it came.
        text: String,
        /// The position it was to be played in.
        fen: String,
    },
}

/// Reads a move in UCI notation. Castling is understood as the king's step (`e1g1`) and as king takes rook (`e1h1`), in
/// standard chess and in Chess960: GUIs mix them. Where the king can reach the step's target by a plain move, the step
/// means the plain move.
///
/// # Errors
/// [`MoveError`] when the text is no move or the move is illegal in `chess`.
pub fn parse_uci(chess: &Chess, text: &str) -> Result<Move, MoveError> {
    let uci: UciMove = text.parse().map_err(|_| MoveError::Syntax(text.to_owned()))?;
    // Without its king a side has no move, and shakmaty would panic.
    let mv = has_king(chess).then(|| uci.to_move(chess).ok().or_else(|| king_step_castling(chess, uci))).flatten();
    // shakmaty passes a promotion over where a pawn is taken en passant.
    let mv = mv.filter(|mv| mv.promotion() == promotion_of(uci));
    mv.ok_or_else(|| MoveError::Illegal {
        text: text.to_owned(),
        fen: shakmaty::fen::Fen::from_position(chess, shakmaty::EnPassantMode::Legal).to_string(),
    })
}

fn promotion_of(uci: UciMove) -> Option<Role> {
    match uci {
        UciMove::Normal { promotion, .. } => promotion,
        UciMove::Put { .. } | UciMove::Null => None,
    }
}

/// The legal castling that `uci` writes as the king's step to the c- or g-file, as some GUIs do even in Chess960.
pub(super) fn king_step_castling(chess: &Chess, uci: UciMove) -> Option<Move> {
    let UciMove::Normal { from, to, promotion: None } = uci else { return None };
    chess.legal_moves().into_iter().find(|mv| match *mv {
        Move::Castle { king, rook } => {
            king == from
                && to.rank() == king.rank()
                && to.file() == CastlingSide::from_king_side(king < rook).king_to_file()
        }
        _ => false,
    })
}

/// The move in UCI notation. Castling is the king's step, but king takes rook in Chess960, and also where king or rook
/// do not stand on their squares of standard chess: there the step could be a plain king move.
pub fn to_uci(mv: Move, chess960: bool) -> String {
    let is_standard = |king: Square, rook: Square| king.file() == File::E && matches!(rook.file(), File::A | File::H);
    let is_step = !chess960 && matches!(mv, Move::Castle { king, rook } if is_standard(king, rook));
    mv.to_uci(CastlingMode::from_standard(is_step)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    #[test]
    fn castling_in_both_spellings() {
        let mut game = Game::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", false).unwrap();
        let short = parse_uci(game.current().chess(), "e1g1").unwrap();
        assert_eq!(short, parse_uci(game.current().chess(), "e1h1").unwrap());
        assert_eq!((to_uci(short, false), to_uci(short, true)), ("e1g1".into(), "e1h1".into()));
        game.push(short);
        let long = parse_uci(game.current().chess(), "e8c8").unwrap();
        assert_eq!(to_uci(long, true), "e8a8");
    }

    #[test]
    fn chess960_castling_by_the_kings_way() {
        let game = Game::from_fen("nrk2bbr/ppppnqpp/4pp2/8/8/4PP2/PPPPNQPP/1RK4R w HBhb - 2 4", true).unwrap();
        let mv = parse_uci(game.current().chess(), "c1g1").unwrap();
        assert_eq!(to_uci(mv, true), "c1h1");
    }

    #[test]
    fn only_a_promotion_has_the_letter_of_one() {
        let game = Game::from_fen("4k3/P7/8/3pP3/8/8/8/4K3 w - d6 0 1", false).unwrap();
        let chess = game.current().chess();
        for (text, is_legal) in [("e5d6", true), ("e5d6q", false), ("e5e6q", false), ("a7a8q", true), ("a7a8", false)] {
            assert_eq!(parse_uci(chess, text).is_ok(), is_legal, "{text}");
        }
    }

    #[test]
    fn move_errors_name_the_move() {
        let game = Game::new();
        let chess = game.current().chess();
        assert_eq!(parse_uci(chess, "e2").unwrap_err(), MoveError::Syntax("e2".into()));
        assert_eq!(parse_uci(chess, "").unwrap_err(), MoveError::Syntax(String::new()));
        let error = parse_uci(chess, "e2e5").unwrap_err().to_string();
        assert!(error.starts_with("illegal move e2e5 in rnbqkbnr/"), "{error}");
        for text in ["0000", "e7e5", "e2e4q", "a1a8", "h9h1"] {
            assert!(parse_uci(chess, text).is_err(), "{text}");
        }
    }

    #[test]
    fn promotions_need_their_piece() {
        let game = Game::from_fen("7k/P7/8/8/8/8/8/K7 w - - 0 1", false).unwrap();
        assert!(parse_uci(game.current().chess(), "a7a8").is_err());
        assert_eq!(to_uci(parse_uci(game.current().chess(), "a7a8n").unwrap(), false), "a7a8n");
    }
}
