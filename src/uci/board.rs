//! Draws a board for people.

use zeitnot_engine::chess::{Color, Position, Role, Square};

/// The signs of the pieces on a board that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// Letters as in a FEN: White's are large.
    Letters,
    /// The chess pieces of Unicode.
    Pictures,
}

impl Signs {
    fn of(self, color: Color, role: Role) -> char {
        match self {
            Signs::Letters if color.is_white() => role.upper_char(),
            Signs::Letters => role.char(),
            Signs::Pictures => {
                let place = match role {
                    Role::King => 0,
                    Role::Queen => 1,
                    Role::Rook => 2,
                    Role::Bishop => 3,
                    Role::Knight => 4,
                    Role::Pawn => 5,
                };
                let [white, black] = [['♔', '♕', '♖', '♗', '♘', '♙'], ['♚', '♛', '♜', '♝', '♞', '♟']];
                if color.is_white() { white[place] } else { black[place] }
            }
        }
    }
}

/// The lines of a board that is seen from the side of `viewer`.
pub fn board(position: &Position, signs: Signs, viewer: Color) -> Vec<String> {
    let along = |at: u32| if viewer.is_white() { at } else { 7 - at };
    let sign = |file: u32, rank: u32| {
        let piece = position.board().piece_at(Square::new(8 * rank + file));
        piece.map_or('.', |piece| signs.of(piece.color, piece.role))
    };
    let row = |down: u32| {
        let rank = along(7 - down);
        let signs: String = (0..8).map(|at| format!(" {}", sign(along(at), rank))).collect();
        format!("{} {signs}", rank + 1)
    };
    let files = (0..8).map(|at| char::from(b'a' + along(at) as u8));
    let files: String = files.map(|file| format!(" {file}")).collect();
    (0..8).map(row).chain([format!("  {files}")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::chess::Game;

    #[test]
    fn black_sees_the_board_from_the_other_side() {
        let game = Game::from_fen("r1bqk3/7p/8/8/8/8/P7/4KBNR w - - 0 1", false).unwrap();
        assert_eq!(
            board(game.current(), Signs::Pictures, Color::Black),
            [
                "1  ♖ ♘ ♗ ♔ . . . .",
                "2  . . . . . . . ♙",
                "3  . . . . . . . .",
                "4  . . . . . . . .",
                "5  . . . . . . . .",
                "6  . . . . . . . .",
                "7  ♟ . . . . . . .",
                "8  . . . ♚ ♛ ♝ . ♜",
                "   h g f e d c b a",
            ]
        );
        let letters = board(game.current(), Signs::Letters, Color::White);
        assert_eq!((&*letters[0], &*letters[8]), ("8  r . b q k . . .", "   a b c d e f g h"));
    }
}
