//! Holds the start positions inside the program: openings of 6 to 10 plies that a search finds balanced.
//! `book/make_book.py` makes them.

use super::{Book, MOVES};
use zeitnot_engine::chess::Game;

/// The name of these start positions, in place of a file's.
pub(super) const NAME: &str = "builtin";
/// One opening a line, its moves in UCI notation without spaces.
static LINES: &str = include_str!("../../../book/openings.txt");
/// Characters of a move: none of these openings has a promotion.
const MOVE: usize = 4;

/// The openings, with at most `plies` moves each; `None` takes all moves.
pub(super) fn book(plies: Option<usize>) -> Book {
    let start = Game::new().fen();
    let opening = |line: &str| {
        let length = plies.map_or(line.len(), |plies| line.len().min(plies * MOVE));
        let moves: Vec<&str> = (0..length).step_by(MOVE).map(|at| &line[at..at + MOVE]).collect();
        format!("{start}{MOVES}{}", moves.join(" ")).into()
    };
    LINES.lines().map(opening).collect()
}

#[cfg(test)]
mod tests {
    use super::super::game;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn openings_are_legal_distinct_and_short() {
        let games: Vec<Game> = book(None).iter().map(|opening| game(opening)).collect();
        assert_eq!(games.len(), 1000);
        assert!(LINES.len() < 40_000, "{} bytes", LINES.len());
        assert!(games.iter().all(|game| (6..=10).contains(&game.moves().len())));
        let ends: BTreeSet<String> = games.iter().map(|game| game.fen()).collect();
        assert_eq!(ends.len(), games.len());
        assert!(book(Some(3)).iter().all(|opening| game(opening).moves().len() == 3));
    }
}
