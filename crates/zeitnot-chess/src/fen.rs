//! Reads FENs: complete, partial and Chess960 ones, and those of EPDs.

use super::epd;
use shakmaty::fen::Fen;
use shakmaty::{
    CastlingMode, Chess, FromSetup as _, Move, Position as _, PositionError, PositionErrorKinds, Role, Setup, attacks,
};
use std::num::NonZeroU32;
use thiserror::Error;
use zeitnot_base::printable::beginning;

/// Characters of a refused text that an error quotes.
pub(super) const QUOTED: usize = 200;

/// A refused FEN; displays as one line with the FEN and the reason.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid FEN \"{}\": {reason}", beginning(.fen, QUOTED))]
pub struct FenError {
    /// The text as it came.
    pub fen: String,
    /// The problem.
    pub reason: String,
}

/// Reads a FEN, or an EPD with its operations. Ranks may be short or missing (the rest is empty), and every field after
/// the board may be left out.
///
/// Impossible castling rights and en passant squares are dropped. Positions that no game can reach (extra queens, odd
/// checks, a check by the side to move) are accepted as long as the rules can play on from them.
///
/// Returns the position and the FEN's full-move number, which is one less than the position's own where Black's king
/// stands in check at White's first move.
pub(super) fn parse(text: &str, chess960: bool) -> Result<(Chess, NonZeroU32), FenError> {
    let fail = |reason: String| FenError { fen: text.to_owned(), reason };
    let fen = epd::with_operations(text).map_err(fail)?;
    let setup = setup(fen.as_deref().unwrap_or(text)).map_err(fail)?;
    let fullmoves = setup.fullmoves;
    position(setup.clone(), chess960)
        .or_else(|reason| king_moved_into_check(setup, chess960).ok_or(reason))
        .map(|chess| (chess, fullmoves))
        .map_err(fail)
}

/// The position `after`, in which the side not to move stands in check: shakmaty reaches it by a king's move, but
/// refuses to read it. `None` where no readable position leads there. The king's castling rights are lost.
fn king_moved_into_check(after: Setup, chess960: bool) -> Option<Chess> {
    let mut before = after;
    let side = before.turn.other();
    before.turn = side;
    let rule50 = before.halfmoves;
    before.halfmoves = rule50.saturating_sub(1);
    if side.is_black() {
        before.fullmoves = NonZeroU32::new(before.fullmoves.get() - 1).unwrap_or(NonZeroU32::MIN);
    }
    let to = before.board.king_of(side)?;
    if attacks::king_attacks(to).contains(before.board.king_of(side.other())?) {
        return None;
    }
    before.board.discard_piece_at(to);
    before.castling_rights.discard(to);
    (!before.board.occupied()).into_iter().find_map(|from| {
        let mut before = before.clone();
        before.board.set_piece_at(from, side.king());
        let mut chess = position(before, chess960).ok()?;
        // At a capture, shakmaty sets the fifty-move counter to 0.
        let capture = (rule50 == 0).then_some(Role::Pawn);
        chess.play_unchecked(Move::Normal { role: Role::King, from, capture, to, promotion: None });
        Some(chess)
    })
}

fn setup(text: &str) -> Result<Setup, String> {
    let mut fields: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let Some(board) = fields.first_mut() else { return Err("it is empty".to_owned()) };
    *board = complete_board(board)?;
    if fields.len() > 6 {
        return Err(format!("it has {} fields, six at most are known", fields.len()));
    }
    Ok(fields.join(" ").parse::<Fen>().map_err(|error| error.to_string())?.into_setup())
}

#[allow(clippy::result_large_err, reason = "shakmaty's error carries the position, which is how it can be mended")]
fn position(setup: Setup, chess960: bool) -> Result<Chess, String> {
    // Rights that are impossible in standard chess (Shredder-FEN, X-FEN) are those of a Chess960 game.
    Chess::from_setup(setup.clone(), CastlingMode::from_chess960(chess960))
        .or_else(|error| {
            if !error.kinds().contains(PositionErrorKinds::INVALID_CASTLING_RIGHTS) {
                return Err(error);
            }
            Chess::from_setup(setup, CastlingMode::Chess960).or_else(PositionError::ignore_invalid_castling_rights)
        })
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|error| error.to_string())
}

/// Fills short and missing ranks with empty squares: `k/1R//K` is a board of four named ranks.
fn complete_board(board: &str) -> Result<String, String> {
    let ranks: Vec<&str> = board.split('/').collect();
    if ranks.len() > 8 {
        return Err(format!("the board has {} ranks", ranks.len()));
    }
    let mut complete = Vec::with_capacity(8);
    for (index, rank) in ranks.iter().chain(std::iter::repeat(&"")).take(8).enumerate() {
        let files: u32 = rank.chars().map(|c| c.to_digit(10).unwrap_or(1)).sum();
        if files > 8 {
            return Err(format!("rank {} has {files} files", 8 - index));
        }
        let mut rank = (*rank).to_owned();
        if files < 8 {
            rank.push_str(&(8 - files).to_string());
        }
        complete.push(rank);
    }
    Ok(complete.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;

    #[test]
    fn partial_boards_are_completed() {
        // docs/lc0.md, 6.1: "k/1R//K" has 19 moves, rule50 0.
        for text in ["k/1R//K", "  k/1R//K   w  - -  "] {
            let (chess, _) = parse(text, false).unwrap();
            assert_eq!(chess.legal_moves().len(), 19, "{text}");
            assert_eq!(chess.halfmoves(), 0);
        }
        assert_eq!(parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b", false).unwrap().0.turn(), Color::Black);
    }

    #[test]
    fn bad_fens_name_themselves_and_the_reason() {
        for (text, part) in [
            ("", "empty"),
            ("9/8/8/8/8/8/8/8 w - - 0 1", "9 files"),
            ("8/8/8/8/8/8/8/8/8 w - - 0 1", "9 ranks"),
            ("rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "9 files"),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR g KQkq - 0 1", "turn"),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq i6 0 1", "ep square"),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq A6 0 1", "ep square"),
            ("rnbqxbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "board"),
            ("8/8/8/8/8/8/8/K7 w - - 0 1", "king"),
            ("kK6/8/8/8/8/8/8/8 w - - 0 1", "check"),
            ("P6k/8/8/8/8/8/8/K7 w - - 0 1", "pawn"),
            ("k7/8/8/8/8/8/8/K7 w - - x 1", "halfmove"),
            ("k7/8/8/8/8/8/8/K7 w - - 0 1 2 3", "fields"),
        ] {
            let error = parse(text, false).unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid FEN \"{text}\": ")), "{error}");
            assert!(error.to_lowercase().contains(part), "{text}: {error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn a_check_by_the_side_to_move_is_taken() {
        let (chess, fullmoves) = parse("8/8/1k6/8/8/8/1QK5/8 w - - 7 30", false).unwrap();
        assert_eq!((chess.turn(), chess.legal_moves().len(), chess.halfmoves()), (Color::White, 22, 7));
        assert_eq!((chess.fullmoves(), fullmoves.get()), (fullmoves, 30));
        let (chess, fullmoves) = parse("8/8/1k6/8/8/8/1QK5/8 w - - 0 1", false).unwrap();
        assert_eq!((chess.halfmoves(), fullmoves.get()), (0, 1));
    }

    #[test]
    fn shredder_fen_is_chess960() {
        let (chess, _) = parse("nrk2bbr/ppppnqpp/4pp2/8/8/4PP2/PPPPNQPP/NRK2BBR w HBhb - 2 4", false).unwrap();
        assert_eq!(chess.castles().castling_rights().count(), 4);
    }
}
