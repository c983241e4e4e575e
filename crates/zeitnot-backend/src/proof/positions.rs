//! Lists the positions by which a device is proved, and the rows in which a batch has them. By them and the positions on
//! the way to them `native` rounds weights to 8 bits, too: others would change its evaluations.

use crate::{Attributes, Query};
use zeitnot_base::splitmix::SplitMix64;
use zeitnot_chess::{Game, Move};

/// Number of the positions.
pub(super) const COUNT: usize = 16;

/// The positions: a FEN, and the moves from there. Thirteen are from games of this engine against itself, chosen so that
/// what a network may be shown or asked comes for White and for Black: castling to either side and rights to it that
/// differ, en passant, promotions, also by a capture, check, all eight boards of the history with moves of each piece at
/// each distance, repetitions of all boards and of some, the fifty-move counter at 83, endings and full boards. No plane
/// is empty in all of them, but for those that a format leaves empty.
pub(super) const POSITIONS: [(&str, &str); COUNT] = [
    ("rn2kb1r/5ppp/p1b1pn2/q1ppN1B1/3P4/PQ2PN2/1P3PPP/R3KB1R w KQkq - 4 11", "b3c3 a5c3 b2c3 f6e4 f1d3 f7f6 e5c6 b8c6"),
    ("r2qk2r/pp3ppp/2pp1n2/2b1P3/2BnP3/2NP3P/PPP3P1/R1BQK2R b KQkq - 0 10", "d6e5 c3e2 b7b5 c4b3 a7a5 e2d4 d8d4 d1f3"),
    ("8/5K2/8/2b5/6B1/2k5/8/8 w - - 75 114", "g4f5 c5b4 f7g7 c3b2 g7h7 b4a3 h7g7 a3f8"),
    ("5rk1/pPp3pp/3r4/6p1/P2bQ1P1/2P4P/2P2q2/R3R2K w - - 0 24", "c3d4 d6d4 e4e3 f2e3 e1e3 d4b4 e3b3 b4b3"),
    ("8/3K4/2P5/1n4p1/7k/8/8/8 b - - 1 84", "g5g4 c6c7 b5c7 d7c7 g4g3 c7d6 g3g2 d6c5"),
    ("r2qk2r/1b1n1ppp/p2bpn2/3pN1B1/Q7/P3PN2/1P3PPP/2R1KB1R w Kkq - 4 13", "g5f4 a8c8 c1c8 d8c8 e5d7 c8d7 a4d7 e8d7"),
    ("8/4k2p/2R2b2/p1P2p2/P5p1/6P1/4KP1P/3r4 b - - 2 44", "d1d4 c6c7 e7e6 c7a7 d4a4 a7a6 e6e5 f2f4"),
    ("r1b1k2r/2p1npp1/p1pb2q1/3p3p/2PP4/1P3N2/P5PP/R1BQR1NK b kq c3 0 16", "h5h4 c4c5 d6g3 h2g3 h4g3 g1h3 c8h3 g2h3"),
    (
        "r2qk2r/ppp2ppp/2np1n2/2b1p3/2B1PPb1/2NP1N2/PPP3PP/R1BQK2R w KQkq - 2 7",
        "h2h3 g4f3 d1f3 c6d4 f3d1 c7c6 f4e5 d6e5",
    ),
    ("8/5p2/8/6k1/8/4P1K1/4r2p/R7 b - - 14 54", "g5f5 g3f3 e2d2 a1f1 f5e5 f1h1 d2c2 h1d1"),
    ("r1b1k2r/ppNp1ppp/2n1p3/q7/4nB2/P1P5/2P2PPP/R2QKB1R b KQkq - 1 10", "e8e7 c7a8 a5c3 f4d2 e4d2 d1d2 c3a1 d2d1"),
    ("3kbR2/p2p2Rp/2p1p3/2P5/1P1K4/1r6/6PP/8 w - - 4 43", "g7g8 b3b4 d4e5 d8e7 f8e8 e7f7 e8d8 d7d5"),
    ("8/5R2/6pk/3B3p/3p3P/2bP2P1/4rPK1/8 w - - 1 53", "d5e4 c3e1 g2f1 e2f2 f7f2 e1f2 f1f2 h6g7"),
    (
        "r1b1k2r/1P1p1ppp/2n2n2/8/8/2N2N2/P2P1PPP/R3K2R w KQkq - 6 20",
        "f3h4 f6h5 h4f3 h5f6 f3h4 f6h5 h4f3 h5f6 f3h4 f6h5 h4f3 h5f6",
    ),
    (
        "r3k2r/pp3ppp/2n2n2/3q4/3P4/2N2N2/P1p2PPP/RQ1BK2R b Kkq - 3 18",
        "c6a5 c3a4 a5c6 a4c3 c6a5 c3a4 a5c6 a4c3 c6a5 c3a4",
    ),
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3 g8f6 f3g1 f6g8 g1f3 d7d5"),
];

/// Positions for the last row of a full batch, one after the other by round: those with the most to see for White and
/// for Black.
const LAST: [usize; 3] = [13, 14, 7];

/// The game of the position with this index, and its legal moves.
pub(super) fn game(index: usize) -> (Game, Vec<Move>) {
    let (fen, moves) = POSITIONS[index];
    let mut game = Game::from_fen(fen, false).expect("a test plays through all of them");
    for text in moves.split(' ') {
        game.push_uci(text).expect("a test plays through all of them");
    }
    let moves = game.current().legal_moves().into_iter().collect();
    (game, moves)
}

/// Fifty-move counter from which a position is not a usual one: the network reads the counter, and a single position
/// with 83 shifted the mean of the inputs so that 8 bits became worse in all others.
const UNUSUAL_RULE50: u32 = 50;

/// The games that lead to the positions, each at its beginning, halfway and at its end; positions with a high
/// fifty-move counter are left out.
pub(crate) fn usual_games() -> impl Iterator<Item = Game> {
    let on_the_way = |game: Game| {
        let plies = game.moves().len();
        [0, plies / 2, plies].map(|ply| {
            let mut game = game.clone();
            game.truncate(ply);
            game
        })
    };
    let games = (0..COUNT).flat_map(move |index| on_the_way(game(index).0));
    games.filter(|game| game.current().rule50() < UNUSUAL_RULE50)
}

/// The queries about all positions, for backends with these attributes.
pub(super) fn queries(attributes: &Attributes) -> Vec<Query> {
    let query = |index| {
        let (game, moves) = game(index);
        Query::new(&game, &moves, attributes)
    };
    (0..COUNT).map(query).collect()
}

/// Indices of positions for the `rows` rows of a batch, in an order that depends on `round`. A row nearly always gets
/// another position than in other rounds, and than other rows at a given distance in this one.
pub(super) fn order(round: usize, rows: usize) -> Vec<usize> {
    let mut random = SplitMix64(round as u64);
    let mut order = Vec::with_capacity(rows + COUNT);
    while order.len() < rows {
        let first = order.len();
        order.extend(0..COUNT);
        for at in (1..COUNT).rev() {
            order.swap(first + at, first + random.below(at + 1));
        }
    }
    order.truncate(rows);
    let last = LAST[round % LAST.len()];
    if let Some(at) = order.iter().rposition(|&index| index == last) {
        order.swap(at, rows - 1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_chess::{Color, Role};
    use zeitnot_network::{HistoryFill, InputFormat, PLANES, Planes, encode};

    fn planes(format: InputFormat) -> Vec<Planes> {
        (0..COUNT).map(|index| encode(&game(index).0, format, HistoryFill::FenOnly).0).collect()
    }

    #[test]
    fn every_plane_has_something_to_show_for_each_side() {
        for (format, unused) in
            [(InputFormat::Classical, &[110][..]), (InputFormat::WithCastlingPlane, &[106, 107, 110])]
        {
            let all = planes(format);
            for plane in (0..PLANES).filter(|plane| !unused.contains(plane)) {
                let shown = all.iter().filter(|planes| planes.masks[plane] != 0).count();
                assert!(shown > 0, "{format}: plane {plane}");
            }
        }
    }

    /// Boards one ply apart differ in the pieces of the side that moved in some position, for each piece and distance.
    #[test]
    fn no_two_boards_of_the_history_can_be_exchanged_unseen() {
        let all = planes(InputFormat::Classical);
        let mut same = Vec::new();
        for board in 0..7 {
            // The other side made the last move.
            let first = if board % 2 == 0 { 6 } else { 0 };
            for piece in first..first + 6 {
                let [newer, older] = [board, board + 1].map(|board| board * 13 + piece);
                if all.iter().all(|planes| planes.masks[newer] == planes.masks[older]) {
                    same.push((board, piece));
                }
            }
        }
        assert!(same.len() <= 2, "{same:?}");
    }

    #[test]
    fn both_sides_have_moves_of_each_kind() {
        let mut counts = [[0; 4]; 2];
        for index in 0..COUNT {
            let (game, moves) = game(index);
            let side = usize::from(game.current().turn() == Color::Black);
            let has = |is: &dyn Fn(&Move) -> bool| u32::from(moves.iter().any(is));
            counts[side][0] += 1;
            counts[side][1] += has(&|mv| matches!(mv, Move::Castle { .. }));
            counts[side][2] += has(&|mv| matches!(mv, Move::EnPassant { .. }));
            counts[side][3] += has(&|mv| mv.promotion() == Some(Role::Rook) && mv.is_capture());
        }
        assert!(counts.iter().all(|side| side[0] >= 7 && side[1..].iter().all(|&count| count > 0)), "{counts:?}");
    }

    #[test]
    fn rows_have_other_positions_in_each_round_and_at_each_distance() {
        for rows in [16, 19, 256, 1024] {
            let [first, second] = [1, 2].map(|round| order(round, rows));
            assert!((0..COUNT).all(|index| first.contains(&index)) && first.len() == rows);
            let other = |a: &[usize], b: &[usize]| a.iter().zip(b).filter(|(a, b)| a != b).count();
            assert!(other(&first, &second) >= rows * 3 / 4, "{rows}");
            for distance in 1..rows {
                let turned = [&first[distance..], &first[..distance]].concat();
                assert!(other(&first, &turned) >= rows * 3 / 4, "{rows}, {distance}");
            }
        }
        assert_ne!(order(1, 256).last(), order(2, 256).last());
        assert_eq!(order(1, 1).len(), 1);
    }
}
