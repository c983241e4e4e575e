//! The symmetries of the board under which canonical input formats show a position (docs/lc0.md, 4.1 and 4.2).

use shakmaty::{Bitboard, Board, Color, Square};

/// A symmetry of the board: any of mirroring the files, mirroring the ranks and reflecting in the diagonal h1-a8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transform(u8);

impl Transform {
    /// The board as it is.
    pub const NONE: Transform = Transform(0);
    const FLIP: u8 = 1;
    const MIRROR: u8 = 2;
    const TRANSPOSE: u8 = 4;

    /// The symmetry with these bits of Lc0: 1 mirrors the files, 2 the ranks, 4 reflects in the diagonal h1-a8.
    #[cfg(test)]
    pub(crate) const fn from_bits(bits: u8) -> Transform {
        Transform(bits & (Transform::FLIP | Transform::MIRROR | Transform::TRANSPOSE))
    }

    /// Lc0's bits of this symmetry.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the board is reflected in the diagonal.
    const fn transposes(self) -> bool {
        self.0 & Transform::TRANSPOSE != 0
    }

    /// The image of a square.
    pub(crate) const fn square(self, mut square: Square) -> Square {
        if self.0 & Transform::FLIP != 0 {
            square = square.flip_horizontal();
        }
        if self.0 & Transform::MIRROR != 0 {
            square = square.flip_vertical();
        }
        if self.transposes() {
            square = reflect(square);
        }
        square
    }

    /// The image of a set of squares.
    pub(crate) const fn mask(self, mask: u64) -> u64 {
        let mut board = Bitboard(mask);
        if self.0 & Transform::FLIP != 0 {
            board = board.flip_horizontal();
        }
        if self.0 & Transform::MIRROR != 0 {
            board = board.flip_vertical();
        }
        if self.transposes() {
            board = board.flip_anti_diagonal();
        }
        board.0
    }

    /// The symmetry that brings a board without castling rights to its canonical orientation, seen by `view`: our king
    /// on the files e to h and, without pawns, on the ranks 1 to 4 and not above the diagonal from h1.
    pub(crate) fn canonical(board: &Board, view: Color) -> Transform {
        let seen = |mask: Bitboard| if view.is_white() { mask.0 } else { mask.flip_vertical().0 };
        let king = seen(board.kings() & board.by_color(view));
        let mut bits = 0;
        if king & FILES_A_TO_D != 0 {
            bits |= Transform::FLIP;
        }
        if board.pawns().any() {
            return Transform(bits);
        }
        if king & RANKS_5_TO_8 != 0 {
            bits |= Transform::MIRROR;
        }
        let corner = Transform(bits);
        let king = corner.mask(king);
        let transpose = if king & ABOVE_DIAGONAL != 0 {
            true
        } else if king & ON_DIAGONAL != 0 {
            // The first of these sets that is not its own reflection decides.
            let sets = [
                board.occupied(),
                board.by_color(view),
                board.kings(),
                board.queens(),
                board.rooks(),
                board.knights(),
                board.bishops(),
            ];
            (sets.into_iter().map(|set| corner.mask(seen(set))))
                .map(|set| (set, Transform(Transform::TRANSPOSE).mask(set)))
                .find(|(set, reflected)| set != reflected)
                .is_some_and(|(set, reflected)| reflected < set)
        } else {
            false
        };
        if transpose { Transform(bits | Transform::TRANSPOSE) } else { corner }
    }
}

/// Reflection in the diagonal h1-a8: (file, rank) becomes (7 - rank, 7 - file), counted from 0.
const fn reflect(square: Square) -> Square {
    Square::new((7 - square.file() as u32) * 8 + 7 - square.rank() as u32)
}

const FILES_A_TO_D: u64 = 0x0f0f_0f0f_0f0f_0f0f;
const RANKS_5_TO_8: u64 = 0xffff_ffff_0000_0000;
/// Squares above the line h1-g2-f3-e4, within the files e to h and the ranks 1 to 4.
const ABOVE_DIAGONAL: u64 = 0xe0c0_8000;
/// The line h1-g2-f3-e4.
const ON_DIAGONAL: u64 = 0x1020_4080;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_squares_agree() {
        for bits in 0..8 {
            let transform = Transform::from_bits(bits);
            for square in Square::ALL {
                assert_eq!(transform.mask(1 << u32::from(square)), 1 << u32::from(transform.square(square)));
            }
        }
    }

    #[test]
    fn the_diagonal_is_h1_a8() {
        let transpose = Transform::from_bits(Transform::TRANSPOSE);
        assert_eq!(transpose.square(Square::H1), Square::H1);
        assert_eq!(transpose.square(Square::A8), Square::A8);
        assert_eq!(transpose.square(Square::A1), Square::H8);
        assert_eq!(transpose.square(Square::F4), Square::E3);
    }

    fn canonical(board: &str) -> Transform {
        Transform::canonical(&Board::from_ascii_board_fen(board.as_bytes()).unwrap(), Color::White)
    }

    #[test]
    fn kings_go_to_their_triangle() {
        // The example of docs/lc0.md, 7.1.
        assert_eq!(canonical("3r4/4k3/8/1K6/8/8/8/8").bits(), 7);
        for square in Square::ALL {
            let mut board = Board::empty();
            board.set_piece_at(square, Color::White.king());
            let king = Transform::canonical(&board, Color::White).mask(1 << u32::from(square));
            assert_ne!(king & 0x1030_70f0, 0, "{square}");
        }
        // A pawn leaves only the mirror of the files.
        assert_eq!(canonical("8/8/8/1K6/8/8/P7/8").bits(), 1);
    }

    #[test]
    fn canonical_boards_of_a_symmetry_class_are_equal() {
        let mut board = Board::empty();
        for (square, piece) in [
            (Square::B2, Color::White.king()),
            (Square::G7, Color::Black.king()),
            (Square::C5, Color::White.rook()),
            (Square::F1, Color::Black.knight()),
        ] {
            board.set_piece_at(square, piece);
        }
        let shown = |board: &Board| {
            let transform = Transform::canonical(board, Color::White);
            [board.kings(), board.rooks(), board.knights()].map(|set| transform.mask(set.0))
        };
        let wanted = shown(&board);
        for bits in 1..8 {
            let transform = Transform::from_bits(bits);
            let moved = board.iter().map(|(square, piece)| (transform.square(square), piece)).collect::<Board>();
            assert_eq!(shown(&moved), wanted, "{bits}");
        }
    }
}
