//! Names a move of a game for people.

use zeitnot_engine::chess::Game;

/// The move after `ply` plies with its number, such as `12... Nf6`; past the last move the number alone.
pub fn move_name(game: &Game, ply: usize) -> String {
    let position = &game.positions()[ply];
    let dots = if position.turn().is_white() { "." } else { "..." };
    let san = game.moves().get(ply).map_or_else(String::new, |mv| format!(" {}", position.san(*mv)));
    format!("{}{dots}{san}", position.fullmoves())
}
