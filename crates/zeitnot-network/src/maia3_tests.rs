//! Tests the input of Maia-3 by hand: tokens, history, ratings and policy.

use super::*;
use zeitnot_chess::parse_uci;

fn game(fen: Option<&str>, moves: &[&str]) -> Game {
    let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
    moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

/// The features that a square has, in a model of eight boards.
fn features(game: &Game, square: Square) -> Vec<usize> {
    let mut tokens = vec![7.0; SQUARES * FEATURES];
    write_tokens(&encode(game), HISTORY, &mut tokens);
    let row = &tokens[usize::from(square) * FEATURES..][..FEATURES];
    assert!(row.iter().all(|number| [0.0, 1.0].contains(number)));
    (0..FEATURES).filter(|&feature| row[feature] == 1.0).collect()
}

#[test]
fn a_position_without_history_repeats_itself() {
    let start = game(None, &[]);
    let everywhere = |feature: usize| (0..HISTORY).map(|slot| slot * PIECES + feature).collect::<Vec<_>>();
    // Own pawn, knight, bishop, rook, queen, king, then the other side's.
    for (square, feature) in [
        (Square::E2, 0),
        (Square::B1, 1),
        (Square::C1, 2),
        (Square::A1, 3),
        (Square::D1, 4),
        (Square::E1, 5),
        (Square::A7, 6),
        (Square::G8, 7),
        (Square::F8, 8),
        (Square::H8, 9),
        (Square::D8, 10),
        (Square::E8, 11),
    ] {
        assert_eq!(features(&start, square), everywhere(feature), "{square}");
    }
    assert!(features(&start, Square::E4).is_empty());
    // Black to move sees the board from the other side, as its own.
    let black = game(Some("4k3/8/8/8/8/8/P7/R3K3 b Q - 3 9"), &[]);
    assert_eq!(features(&black, Square::E1), everywhere(5), "its king");
    assert_eq!(features(&black, Square::A7), everywhere(6), "White's pawn");
}

#[test]
fn each_position_of_the_history_is_seen_from_its_own_side_to_move() {
    let one = game(None, &["e2e4"]);
    // Seven times the start, by White, then the board after the move, by Black: e4 is e5 to it, and a pawn of the other.
    assert_eq!(features(&one, Square::E2), [0, 12, 24, 36, 48, 60, 72, 84], "Black's own pawn stands on e7 at last");
    assert_eq!(features(&one, Square::E5), [90]);
    assert_eq!(features(&one, Square::E7), (0..7).map(|slot| slot * PIECES + 6).collect::<Vec<_>>());
    let two = game(None, &["e2e4", "c7c5"]);
    assert_eq!(features(&two, Square::E5), [78], "the board before");
    assert_eq!((features(&two, Square::E4), features(&two, Square::C5)), (vec![84], vec![90]));
    // Of a longer game the last eight positions count.
    let long = game(None, &[&["a2a3"][..], &["g8f6", "g1f3", "f6g8", "f3g1"].repeat(2)].concat());
    assert_eq!(features(&long, Square::A2), [12, 36, 60, 84], "Black's own pawn; White's has left a2 before");
}

#[test]
fn a_model_of_fewer_boards_sees_the_last_ones() {
    let two = encode(&game(None, &["e2e4", "c7c5"]));
    let mut tokens = vec![7.0; SQUARES * PIECES];
    write_tokens(&two, 1, &mut tokens);
    let set =
        |square: Square| (0..PIECES).filter(|at| tokens[usize::from(square) * PIECES + at] == 1.0).collect::<Vec<_>>();
    assert_eq!([Square::E4, Square::C5, Square::E5, Square::E2].map(set), [vec![0], vec![6], vec![], vec![]]);
}

#[test]
fn ratings_are_those_of_the_side_to_move_and_the_other() {
    let game = game(None, &[]);
    let of = |planes: &Planes| [OWN_RATING, OPPONENT_RATING].map(|plane| (planes.masks[plane], planes.values[plane]));
    let mut planes = encode(&game);
    assert_eq!(of(&planes), [(u64::MAX, 1500.0); 2], "where nothing is known");
    let ratings = Ratings::of(Color::White, 1100, 2000);
    write_ratings(&mut planes, Color::White, ratings);
    assert_eq!(of(&planes), [(u64::MAX, 1100.0), (u64::MAX, 2000.0)]);
    write_ratings(&mut planes, Color::Black, ratings);
    assert_eq!(of(&planes), [(u64::MAX, 2000.0), (u64::MAX, 1100.0)]);
    assert_eq!(Ratings::of(Color::Black, 2000, 1100), ratings);
}

#[test]
fn moves_have_the_indices_of_the_reference() {
    let castling = "r3k2r/8/8/8/8/8/8/R3K2R";
    let promotion = "1n2k3/P7/8/8/8/8/6p1/K6R";
    for (fen, mv, index) in [
        (format!("{castling} w KQkq - 0 1"), "e1g1", 4 * 64 + 6),
        (format!("{castling} w KQkq - 0 1"), "e1c1", 4 * 64 + 2),
        (format!("{castling} b KQkq - 0 1"), "e8g8", 4 * 64 + 6),
        (format!("{castling} b KQkq - 0 1"), "a8a1", 56),
        (format!("{promotion} w - - 0 1"), "a7a8q", 4096),
        (format!("{promotion} w - - 0 1"), "a7a8n", 4099),
        (format!("{promotion} w - - 0 1"), "a7b8r", 4096 + 5),
        (format!("{promotion} b - - 0 1"), "g2h1b", 4096 + (6 * 8 + 7) * 4 + 2),
        (format!("{promotion} b - - 0 1"), "g2g1q", 4096 + (6 * 8 + 6) * 4),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1".to_owned(), "e5d6", 36 * 64 + 43),
    ] {
        let game = game(Some(&fen), &[]);
        let position = game.current();
        assert_eq!(policy_index(parse_uci(position.chess(), mv).unwrap(), position.turn()), index, "{fen} {mv}");
    }
    let last = game(Some("k7/7P/8/8/8/8/8/K7 w - - 0 1"), &[]);
    let mv = parse_uci(last.current().chess(), "h7h8n").unwrap();
    assert_eq!(usize::from(policy_index(mv, Color::White)), MOVES - 1);
}
