//! Reads moves in the notation of PGN, in the spellings that programs and people use.

use super::moves::king_step_castling;
use super::position::has_king;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Chess, File, Move, Position as _, Rank, Role, Square};
use thiserror::Error;

/// Why a word is no move; displays as the rest of a sentence that begins with the word.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SanError {
    /// Text that is not in the notation.
    #[error("is no move")]
    Syntax,
    /// A null move (the side to move passes), which analyses write.
    #[error("is a null move")]
    Null,
    /// A move that the rules do not allow.
    #[error("is illegal")]
    Illegal,
    /// A word that fits more than one legal move.
    #[error("is ambiguous")]
    Ambiguous,
}

/// Words for check, mate and en passant capture that may stand behind a move.
const SUFFIXES: [&[u8]; 4] = [b"e.p", b"ep", b"mate", b"ch"];

/// A move as it is written.
enum Written {
    Castling(CastlingSide),
    /// Any move but castling; `role` is a pawn where no piece is named.
    Normal {
        is_named: bool,
        role: Role,
        file: Option<File>,
        rank: Option<Rank>,
        to: Square,
        promotion: Option<Role>,
    },
}

/// Reads a move: `Nf3`, `exd5`, `O-O`, `e8=Q`, and what python-chess and other readers take for these, such as
/// `Ng1-f3`, `e2e4`, `0-0`, `e8Q`, `e8(Q)`, `Pe4`, `exf6 e.p.` in one word, a capture without its `x`, and any signs
/// behind the move.
///
/// # Errors
/// [`SanError`].
pub fn parse_san(chess: &Chess, text: &str) -> Result<Move, SanError> {
    let written = written(text.as_bytes())?;
    // Without its king a side has no move, and shakmaty would panic.
    if !has_king(chess) {
        return Err(SanError::Illegal);
    }
    let candidates = match written {
        Written::Castling(side) => chess.castling_moves(side),
        Written::Normal { is_named: false, file: Some(file), rank: Some(rank), to, promotion, .. } => {
            let uci = UciMove::Normal { from: Square::from_coords(file, rank), to, promotion };
            return uci.to_move(chess).ok().or_else(|| king_step_castling(chess, uci)).ok_or(SanError::Illegal);
        }
        Written::Normal { role, file, rank, to, promotion, .. } => {
            // A pawn that leaves its file says so.
            let file = file.or((role == Role::Pawn).then(|| to.file()));
            let mut moves = chess.san_candidates(role, to);
            moves.retain(|mv| {
                let is_from = |from: Square| {
                    file.is_none_or(|file| file == from.file()) && rank.is_none_or(|rank| rank == from.rank())
                };
                mv.from().is_some_and(is_from) && mv.promotion() == promotion
            });
            if let (Role::King, true, Some(from)) = (role, moves.is_empty(), chess.board().king_of(chess.turn())) {
                moves.extend(king_step_castling(chess, UciMove::Normal { from, to, promotion }));
            }
            moves
        }
    };
    match candidates[..] {
        [] => Err(SanError::Illegal),
        [mv] => Ok(mv),
        _ => Err(SanError::Ambiguous),
    }
}

/// Whether a word is written as a move, legal or not.
pub fn is_san(text: &str) -> bool {
    !matches!(written(text.as_bytes()), Err(SanError::Syntax))
}

fn written(text: &[u8]) -> Result<Written, SanError> {
    if text.starts_with(b"--") || [&b"Z0"[..], b"0000", b"@@@@", b"null"].contains(&text) {
        return Err(SanError::Null);
    }
    let text = without_suffixes(text);
    match text {
        b"O-O" | b"0-0" | b"o-o" => Ok(Written::Castling(CastlingSide::KingSide)),
        b"O-O-O" | b"0-0-0" | b"o-o-o" => Ok(Written::Castling(CastlingSide::QueenSide)),
        _ => normal(text).ok_or(SanError::Syntax),
    }
}

fn without_suffixes(mut text: &[u8]) -> &[u8] {
    while let Some(last) = text.last() {
        let word = SUFFIXES.into_iter().find_map(|suffix| text.strip_suffix(suffix));
        match word {
            Some(rest) => text = rest,
            None if last.is_ascii_alphanumeric() => break,
            None => text = &text[..text.len() - 1],
        }
    }
    text
}

/// The move of a piece or a pawn, read from the end of its text; `None` for any other text.
fn normal(text: &[u8]) -> Option<Written> {
    let role_of = |letter: u8| Role::from_char(letter.into());
    let is_named = text.first().is_some_and(|first| b"NBRQK".contains(first));
    let (role, text) =
        if is_named { (role_of(text[0])?, &text[1..]) } else { (Role::Pawn, text.strip_prefix(b"P").unwrap_or(text)) };
    let (promotion, text) = match text.split_last() {
        Some((last, rest)) if last.is_ascii_alphabetic() => {
            let rest =
                [&b"=("[..], b"(", b"=", b"/"].into_iter().find_map(|sign| rest.strip_suffix(sign)).unwrap_or(rest);
            (Some(role_of(*last).filter(|role| *role != Role::Pawn)?), rest)
        }
        _ => (None, text),
    };
    let (from, to) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let to = Square::from_ascii(to).ok()?;
    let mut from =
        from.strip_suffix(b"x").or_else(|| from.strip_suffix(b"-")).unwrap_or(from).iter().copied().peekable();
    let file = from.next_if(|byte| byte.is_ascii_lowercase()).map(|byte| File::from_char(byte.into()));
    let rank = from.next_if(u8::is_ascii_digit).map(|byte| Rank::from_char(byte.into()));
    if from.next().is_some() || file == Some(None) || rank == Some(None) {
        return None;
    }
    Some(Written::Normal { is_named, role, file: file.flatten(), rank: rank.flatten(), to, promotion })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, Position, to_uci};

    fn position(fen: &str) -> Position {
        Game::from_fen(fen, false).unwrap().current().clone()
    }

    /// The move in UCI notation, or the error.
    fn read(fen: &str, text: &str) -> String {
        parse_san(position(fen).chess(), text).map_or_else(|error| error.to_string(), |mv| to_uci(mv, true))
    }

    const POSITIONS: [&str; 5] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/4P1k1/8/8/8/8/6K1/8 w - - 0 1",
        "3r1n1k/2P1P3/8/1pP5/8/8/8/K7 w - b6 0 1",
        "N6N/8/8/2N1k1N1/8/8/N3K2N/8 w - - 0 1",
        "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w BGbg - 0 1",
    ];

    #[test]
    fn a_move_is_one_in_every_spelling() {
        for fen in POSITIONS {
            let (game, position) = (Game::from_fen(fen, false).unwrap(), position(fen));
            for mv in position.legal_moves() {
                let san = game.san(mv);
                let bare = san.trim_end_matches(['+', '#']);
                let from = mv.from().unwrap();
                let promotion = mv.promotion().map_or(String::new(), |role| role.char().to_string());
                let mut spellings = vec![san.clone(), to_uci(mv, false), to_uci(mv, true)];
                match mv {
                    Move::Castle { king, .. } => {
                        let file = if mv.castling_side() == Some(CastlingSide::KingSide) { File::G } else { File::C };
                        let to = Square::from_coords(file, king.rank());
                        spellings.extend([
                            bare.replace('O', "0"),
                            bare.to_lowercase(),
                            format!("Ke1-{to}"),
                            format!("K{to}"),
                        ]);
                    }
                    mv => {
                        let letter = if mv.role() == Role::Pawn { "" } else { &san[..1] };
                        spellings
                            .extend(["", "-", "x"].map(|sign| format!("{letter}{from}{sign}{}{promotion}", mv.to())));
                        spellings.push(format!("{from}-{}{promotion}", mv.to()));
                        spellings.push(bare.replace('x', ""));
                        spellings.push(bare.replace('=', ""));
                        if let Some((mv, role)) = bare.split_once('=') {
                            spellings.extend(["=(", "(", "/"].map(|sign| format!("{mv}{sign}{role})")));
                        }
                        if letter.is_empty() {
                            spellings.push(format!("P{bare}"));
                        }
                    }
                }
                for suffix in ["+", "#", "++", "+=", "e.p.", "ep", "mate", "ch", "±", "†", ",", "-/+"] {
                    spellings.push(format!("{bare}{suffix}"));
                }
                for spelling in spellings {
                    assert_eq!(parse_san(position.chess(), &spelling), Ok(mv), "{fen}: {spelling}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_legal_move_says_so() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (fen, text, said) in [
            (start, "e5", "is illegal"),
            (start, "O-O", "is illegal"),
            (start, "0-0-0", "is illegal"),
            (start, "Kg1", "is illegal"),
            (start, "Nf3=Q", "is illegal"),
            (start, "exd3", "is illegal"),
            (start, "e7e5", "is illegal"),
            (POSITIONS[1], "e8", "is illegal"),
            (POSITIONS[1], "e8=K", "is illegal"),
            (POSITIONS[1], "e8=P", "is no move"),
            (POSITIONS[3], "Nf3", "is ambiguous"),
            (POSITIONS[3], "Nc4", "is illegal"),
            (POSITIONS[3], "N1f3", "is illegal"),
            ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "Kg1", "is illegal"),
        ] {
            assert_eq!(read(fen, text), said, "{fen}: {text}");
        }
        for text in ["--", "---", "--+", "--x", "Z0", "0000", "@@@@", "null"] {
            assert_eq!(read(start, text), "is a null move", "{text}");
        }
        for text in
            ["", "e", "x", "=", "+", "ed", "exd", "Nf9", "Sf3", "nf3", "N:f3", "Nf3xyz", "P@e4", "\u{2658}f3", "e4e5e6"]
        {
            assert_eq!(read(start, text), "is no move", "{text}");
            assert!(!is_san(text), "{text}");
        }
    }

    #[test]
    fn no_side_moves_without_its_king() {
        let mut game = Game::from_fen("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", false).unwrap();
        game.push(parse_san(game.current().chess(), "Rxe8").unwrap());
        for text in ["Ke1", "e8e7", "O-O", "a8=Q"] {
            assert_eq!(parse_san(game.current().chess(), text), Err(SanError::Illegal), "{text}");
        }
    }
}
