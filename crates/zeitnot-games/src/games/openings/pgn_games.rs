//! Reads openings from games of PGN: the main line, from the position of the FEN tag or the standard one.

use super::{Book, BookError, MOVES, check_begins, check_goes_on};
use crate::games::pgn_reader::{PgnGame, PgnGames};
use std::io::Read;
use zeitnot_engine::chess::to_uci;

/// Reads a file, at most `plies` plies of each game. An error has the number of the game, from 1.
pub(super) fn read(source: impl Read, plies: Option<usize>) -> Result<Book, BookError> {
    let mut book = Book::new();
    for game in PgnGames::new(source) {
        let game = game?;
        let number = game.number;
        book.push(opening(game, plies.unwrap_or(usize::MAX)).map_err(|reason| BookError::Entry(number, reason))?);
    }
    Ok(book)
}

fn opening(game: PgnGame, plies: usize) -> Result<Box<str>, String> {
    let PgnGame { mut game, problem, result, .. } = game;
    // Damage behind the plies that are taken does not matter.
    match problem {
        Some(problem) if game.moves().len() < plies || game.moves().is_empty() => return Err(problem),
        None if result.is_none() => return Err("no result ends it (is the file cut off?)".to_owned()),
        _ => {}
    }
    game.truncate(plies.min(game.moves().len()));
    check_begins(&game)?;
    check_goes_on(&game)?;
    // Castling as king takes rook is read alike in all positions.
    let moves: Vec<String> = game.moves().iter().map(|mv| to_uci(*mv, true)).collect();
    let start = game.start_fen();
    Ok(if moves.is_empty() { start } else { start + MOVES + &moves.join(" ") }.into())
}
