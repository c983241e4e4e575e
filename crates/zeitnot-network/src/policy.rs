//! Indexes the 1858 moves of Lc0's policy, and maps them to the outputs of each head (docs/lc0.md, 4.2 and 4.3).
//!
//! A move is seen from the mover's side: Black's moves have their ranks mirrored. Castling is the king taking its rook,
//! a promotion to a knight the plain move to the last rank.

use std::sync::LazyLock;

use shakmaty::{Color, Move, Role, Square};

use super::Transform;

/// Moves of the policy.
pub const MOVES: usize = 1858;
/// Planes of a convolutional policy head; the last seven of them are padding.
pub const CONVOLUTION_PLANES: usize = 80;

/// One move of the policy, squares counted from a1 = 0 by rank and file, from the mover's side.
#[derive(Clone, Copy)]
struct PolicyMove {
    from: u8,
    to: u8,
    /// Queen 0, rook 1, bishop 2; `PLAIN` for every other move.
    promotion: u8,
}

const PLAIN: u8 = 3;
/// Entry of [`INDEX`] for moves that no piece can make.
const NO_MOVE: u16 = u16::MAX;

/// The moves in the order of the policy: those of a queen and of a knight on an empty board, then the promotions to
/// queen, rook and bishop.
const MOVE_LIST: [PolicyMove; MOVES] = {
    let mut list = [PolicyMove { from: 0, to: 0, promotion: PLAIN }; MOVES];
    let mut length = 0;
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            let (files, ranks) = step(from, to);
            let (far, near) = (max(files.abs(), ranks.abs()), min(files.abs(), ranks.abs()));
            let queen = far != 0 && (near == 0 || near == far);
            let knight = far == 2 && near == 1;
            if queen || knight {
                list[length] = PolicyMove { from, to, promotion: PLAIN };
                length += 1;
            }
            to += 1;
        }
        from += 1;
    }
    let mut file = 0;
    while file < 8 {
        let mut target = if file == 0 { 0 } else { file - 1 };
        while target <= file + 1 && target < 8 {
            let mut promotion = 0;
            while promotion < PLAIN {
                list[length] = PolicyMove { from: 48 + file, to: 56 + target, promotion };
                length += 1;
                promotion += 1;
            }
            target += 1;
        }
        file += 1;
    }
    assert!(length == MOVES);
    list
};

/// Files and ranks from one square to another.
const fn step(from: u8, to: u8) -> (i8, i8) {
    ((to % 8) as i8 - (from % 8) as i8, (to / 8) as i8 - (from / 8) as i8)
}

const fn max(a: i8, b: i8) -> i8 {
    if a > b { a } else { b }
}

const fn min(a: i8, b: i8) -> i8 {
    if a < b { a } else { b }
}

/// The index of each move: `[promotion][from][to]`.
static INDEX: [[[u16; 64]; 64]; 4] = {
    let mut table = [[[NO_MOVE; 64]; 64]; 4];
    let mut index = 0;
    while index < MOVES {
        let entry = MOVE_LIST[index];
        table[entry.promotion as usize][entry.from as usize][entry.to as usize] = index as u16;
        index += 1;
    }
    table
};

/// The policy index, 0..1858, of a legal move of the side `turn`, for planes shown under `transform`.
pub fn policy_index(mv: Move, turn: Color, transform: Transform) -> u16 {
    let seen = |square: Square| {
        let square = if turn.is_white() { square } else { square.flip_vertical() };
        usize::from(transform.square(square))
    };
    let to = seen(mv.to());
    // A move without an origin exists only in chess variants.
    let from = mv.from().map_or(to, seen);
    let promotion = match mv.promotion() {
        Some(Role::Queen) => 0,
        Some(Role::Rook) => 1,
        Some(Role::Bishop) => 2,
        _ => PLAIN,
    };
    let index = INDEX[usize::from(promotion)][from][to];
    debug_assert_ne!(index, NO_MOVE, "{mv:?} is a move of chess");
    index
}

/// The move of a policy index in UCI notation, from the mover's side (`e1h1` is castling); `0000` past the last index.
pub fn index_to_uci(index: u16) -> &'static str {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| MOVE_LIST.iter().map(uci).collect());
    NAMES.get(usize::from(index)).map_or("0000", String::as_str)
}

fn uci(mv: &PolicyMove) -> String {
    let [from, to] = [mv.from, mv.to].map(|square| Square::new(u32::from(square)));
    let suffix = ["q", "r", "b", ""][usize::from(mv.promotion)];
    format!("{from}{to}{suffix}")
}

/// Place of each move in the convolutional head: `plane * 64 + from` for each policy index.
pub static CONVOLUTION_MAP: [u16; MOVES] = {
    let mut map = [0; MOVES];
    let mut index = 0;
    while index < MOVES {
        let entry = MOVE_LIST[index];
        map[index] = convolution_plane(entry) as u16 * 64 + entry.from as u16;
        index += 1;
    }
    map
};

/// The first policy index of a promotion to queen, rook or bishop. Promotions between the same squares are adjacent.
pub const FIRST_PROMOTION: usize = 1792;
/// Kinds of promotion that have an index of their own.
pub const PROMOTIONS: usize = PLAIN as usize;

/// The from-square and the to-square of each policy index.
pub fn squares() -> impl ExactSizeIterator<Item = (usize, usize)> {
    MOVE_LIST.iter().map(|mv| (usize::from(mv.from), usize::from(mv.to)))
}

/// The constants of a positional map, `from * 64 + to`: 1 where a queen or a knight moves, -1 from a square to itself
/// (docs/lc0.md, 4.8).
pub fn positional_map() -> [f32; 64 * 64] {
    let mut map = [0.0; 64 * 64];
    for square in 0..64 {
        map[square * 64 + square] = -1.0;
    }
    for (from, to) in squares().take(FIRST_PROMOTION) {
        map[from * 64 + to] = 1.0;
    }
    map
}

/// The plane of a move in the convolutional head: 56 planes of queen moves (eight directions clockwise from north,
/// distances 1 to 7), eight of knight moves, nine of promotions.
const fn convolution_plane(mv: PolicyMove) -> u8 {
    /// File and rank steps of the knight planes.
    const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    /// Direction of the queen planes by the signs of the rank step (south, level, north) and the file step.
    const DIRECTION: [[u8; 3]; 3] = [[5, 4, 3], [6, 0, 2], [7, 0, 1]];
    /// Place of queen, rook and bishop within the promotion planes.
    const PROMOTION: [u8; 3] = [2, 0, 1];

    let (files, ranks) = step(mv.from, mv.to);
    if mv.promotion != PLAIN {
        return 64 + (files + 1) as u8 * 3 + PROMOTION[mv.promotion as usize];
    }
    let mut knight = 0;
    while knight < KNIGHT.len() {
        if KNIGHT[knight].0 == files && KNIGHT[knight].1 == ranks {
            return 56 + knight as u8;
        }
        knight += 1;
    }
    let direction = DIRECTION[(ranks.signum() + 1) as usize][(files.signum() + 1) as usize];
    direction * 7 + max(files.abs(), ranks.abs()) as u8 - 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use shakmaty::uci::UciMove;
    use shakmaty::{CastlingMode, Chess, Position as _};

    use super::*;

    #[test]
    fn the_moves_are_distinct_and_found_again() {
        let names: HashSet<&str> = (0..MOVES as u16).map(index_to_uci).collect();
        assert_eq!(names.len(), MOVES);
        for (index, mv) in MOVE_LIST.iter().enumerate() {
            assert_eq!(usize::from(INDEX[usize::from(mv.promotion)][usize::from(mv.from)][usize::from(mv.to)]), index);
        }
    }

    #[test]
    fn policy_index_of_known_moves() {
        // From the golden evaluations of Lc0 and its published table.
        for (index, uci) in [
            (0, "a1b1"),
            (34, "b1a3"),
            (36, "b1c3"),
            (159, "g1f3"),
            (322, "e2e4"),
            (293, "d2d4"),
            (1791, "h8g8"),
            (1792, "a7a8q"),
            (1793, "a7a8r"),
            (1794, "a7a8b"),
            (1795, "a7b8q"),
            (1857, "h7h8b"),
        ] {
            assert_eq!(index_to_uci(index), uci);
        }
        assert_eq!(index_to_uci(1858), "0000");
    }

    #[test]
    fn promotions_come_last_and_in_threes() {
        let names: Vec<&str> = (0..MOVES as u16).map(index_to_uci).collect();
        assert!(names[..FIRST_PROMOTION].iter().all(|name| name.len() == 4));
        for three in names[FIRST_PROMOTION..].chunks(PROMOTIONS) {
            assert_eq!([0, 1, 2].map(|kind| &three[kind][..4]), [&three[0][..4]; 3]);
            assert_eq!([0, 1, 2].map(|kind| &three[kind][4..]), ["q", "r", "b"]);
        }
    }

    #[test]
    fn the_positional_map_of_a_corner() {
        let map = positional_map();
        let reached: Vec<usize> = (0..64).filter(|&to| map[to] == 1.0).collect();
        assert_eq!(reached, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 24, 27, 32, 36, 40, 45, 48, 54, 56, 63]);
        assert_eq!((map[0], map[11], map.iter().filter(|&&value| value == 1.0).count()), (-1.0, 0.0, FIRST_PROMOTION));
    }

    #[test]
    fn the_convolution_map_is_injective_and_within_73_planes() {
        let places: HashSet<u16> = CONVOLUTION_MAP.iter().copied().collect();
        assert_eq!(places.len(), MOVES);
        assert!(places.iter().all(|&place| place < 73 * 64));
    }

    #[test]
    fn convolution_planes_follow_the_rule() {
        let place = |uci: &str| {
            let index = (0..MOVES as u16).find(|&index| index_to_uci(index) == uci).unwrap();
            let place = CONVOLUTION_MAP[usize::from(index)];
            (place / 64, Square::new(u32::from(place % 64)).to_string())
        };
        for (uci, plane) in [
            ("e2e4", 1),
            ("a1h8", 13),
            ("a1h1", 20),
            ("a8h1", 27),
            ("a8a1", 34),
            ("h8a1", 41),
            ("h1a1", 48),
            ("h1a8", 55),
            ("g1h3", 56),
            ("g1f3", 63),
            ("b7a8r", 64),
            ("b7a8b", 65),
            ("b7a8q", 66),
            ("b7b8q", 69),
            ("b7c8r", 70),
            ("b7b8", 0),
            ("e1h1", 16),
        ] {
            assert_eq!(place(uci), (plane, uci[..2].to_owned()), "{uci}");
        }
    }

    fn index(fen: &str, uci: &str, transform: Transform) -> &'static str {
        let setup: shakmaty::fen::Fen = fen.parse().unwrap();
        let position: Chess = setup.into_position(CastlingMode::Standard).unwrap();
        let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        index_to_uci(policy_index(mv, position.turn(), transform))
    }

    #[test]
    fn moves_are_seen_from_the_mover() {
        let castling = "r3k2r/pppqbppp/2npbn2/4p3/4P3/2NPBN2/PPPQBPPP/R3K2R b KQkq - 6 9";
        assert_eq!(index(castling, "e8g8", Transform::NONE), "e1h1");
        assert_eq!(index(castling, "e8c8", Transform::NONE), "e1a1");
        let promotion = "8/8/8/8/8/k7/6p1/2K5 b - - 0 1";
        assert_eq!(index(promotion, "g2g1n", Transform::NONE), "g7g8");
        assert_eq!(index(promotion, "g2g1q", Transform::NONE), "g7g8q");
        assert_eq!(index(promotion, "g2g1q", Transform::from_bits(1)), "b7b8q");
    }

    #[test]
    fn a_transposed_move_keeps_its_piece() {
        // docs/lc0.md, 7.1: b5 goes over g5 and g4 to e2, b4 over g4 and g5 to d2.
        assert_eq!(index("3r4/4k3/8/1K6/8/8/8/8 w - - 0 1", "b5b4", Transform::from_bits(7)), "e2d2");
    }
}
