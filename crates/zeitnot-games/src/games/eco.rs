//! Names the opening of a game, with its code in the Encyclopaedia of Chess Openings. The table, `book/eco.txt`, has
//! main openings alone; it was written by hand, with names in common use.

use std::collections::HashMap;
use std::sync::LazyLock;
use zeitnot_engine::chess::{Game, parse_san};

/// One opening a line: code, name, and its moves behind a colon, in the notation of PGN.
static LINES: &str = include_str!("../../book/eco.txt");
/// Characters of a code.
const CODE: usize = 3;

/// An opening of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The code, such as `B90`.
    pub eco: &'static str,
    pub name: &'static str,
}

/// The last opening of the table that a game of standard chess passes through, whatever the order of its moves; `None`
/// for a game that meets none. The moves are in the notation of PGN, from the position of `start_fen` or the standard
/// one.
pub fn opening<'m>(start_fen: Option<&str>, moves: impl Iterator<Item = &'m str>) -> Option<Opening> {
    static OPENINGS: LazyLock<HashMap<u64, Opening>> = LazyLock::new(|| table().collect());
    let mut game = match start_fen {
        None => Game::new(),
        Some(fen) => Game::from_fen(fen, false).ok()?,
    };
    let mut found = OPENINGS.get(&game.current().key());
    for san in moves {
        let Ok(mv) = parse_san(game.current().chess(), san) else { break };
        game.push(mv);
        found = OPENINGS.get(&game.current().key()).or(found);
    }
    found.copied()
}

/// The openings of the table, by the keys of their positions.
fn table() -> impl Iterator<Item = (u64, Opening)> {
    LINES.lines().map(|line| {
        let (head, moves) = line.rsplit_once(": ").expect("a colon stands before the moves");
        let mut game = Game::new();
        for san in moves.split(' ') {
            game.push(parse_san(game.current().chess(), san).expect("a test plays the moves of all lines"));
        }
        (game.current().key(), Opening { eco: &head[..CODE], name: &head[CODE + 1..] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(fen: Option<&str>, moves: &str) -> Option<&'static str> {
        opening(fen, moves.split_whitespace()).map(|opening| opening.eco)
    }

    #[test]
    fn openings_are_legal_and_distinct() {
        let all: Vec<(u64, Opening)> = table().collect();
        let distinct: HashMap<u64, Opening> = all.iter().copied().collect();
        assert_eq!((all.len(), distinct.len()), (216, 216));
        for (_, Opening { eco, name }) in all {
            let is_code = matches!(eco.as_bytes(), [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']);
            assert!(is_code && !name.is_empty() && !name.contains('"'), "{eco} {name}");
        }
    }

    #[test]
    fn the_last_opening_counts_and_the_order_of_moves_does_not() {
        assert_eq!(code(None, ""), None);
        assert_eq!(code(None, "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O"), Some("C84"));
        assert_eq!(code(None, "Nf3 d6 d4 Nf6 Nc3 c5 e4 cxd4 Nxd4 a6 Bg5"), Some("B94"));
        let moves = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3";
        let name = opening(None, moves.split(' ')).map(|opening| opening.name);
        assert_eq!(name, Some("Sicilian Defence, Open"));
        // As from a book of positions, after 1. e4 e6.
        let fen = "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        assert_eq!((code(Some(fen), ""), code(Some(fen), "d4 d5 e5")), (Some("C00"), Some("C02")));
        assert_eq!(code(Some("8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"), "e4"), None);
    }
}
