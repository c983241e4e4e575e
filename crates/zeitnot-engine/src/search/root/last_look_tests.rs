//! Checks what a look finds, and what it leaves as it is.

use super::*;
use zeitnot_chess::to_uci;

fn game(fen: &str, moves: &[&str]) -> Game {
    let mut game = if fen.is_empty() { Game::new() } else { Game::from_fen(fen, false).unwrap() };
    moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

/// The move that is played where `liked` are liked best, in this order.
fn played(game: &Game, liked: &[&str], is_better: bool) -> String {
    let moves = game.current().legal_moves();
    let rank = |mv: &Move| liked.iter().position(|liked| *liked == to_uci(*mv, false)).unwrap_or(usize::MAX);
    let pick = |left: &[Move]| left.iter().copied().min_by_key(rank);
    to_uci(look(game, &moves, pick(&moves).unwrap(), pick, |_| is_better).0, false)
}

#[test]
fn a_move_that_draws_is_not_played_while_better() {
    let won = game("5K2/8/4Q3/8/8/8/8/k7 w - - 0 1", &[]);
    assert_eq!(played(&won, &["e6b3", "e6e2"], true), "e6e2", "stalemate");
    assert_eq!(played(&won, &["e6b3", "e6e2"], false), "e6b3", "a draw is what is wanted");
    assert_eq!(played(&won, &["e6a2", "e6b3", "e6d5"], true), "e6d5", "the queen hangs, then stalemate");
    let shuffled = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(2);
    let repeated = game("", &shuffled[..7]);
    assert_eq!(played(&repeated, &["f6g8", "e7e5"], true), "e7e5", "the third time");
    assert_eq!(played(&game("", &shuffled[..3]), &["f6g8", "e7e5"], true), "f6g8", "the second time");
    assert_eq!(played(&game("", &shuffled[..6]), &["f3g1", "e2e4"], true), "e2e4", "the reply is the third time");
    assert_eq!(played(&game("", &shuffled[..6]), &["f3g1", "e2e4"], false), "f3g1", "a draw is what is wanted");
    assert_eq!(played(&game("", &shuffled[..2]), &["f3g1", "e2e4"], true), "f3g1", "the reply is the second time");
    let chased = ["b4b5", "f3f4", "b5b4", "f4f3"].repeat(2);
    let won = |plies| game("8/8/6p1/8/1R6/2K2k2/8/8 w - - 0 1", &chased[..plies]);
    assert_eq!(played(&won(6), &["b5b4", "b5b6"], true), "b5b6", "Black would repeat it, f4f3");
    assert_eq!(played(&won(2), &["b5b4", "b5b6"], true), "b5b4", "the second time");
    let fifty = game("7k/8/8/8/8/8/P7/KR6 w - - 99 90", &[]);
    assert_eq!(played(&fifty, &["b1b5", "a2a3"], true), "a2a3", "fifty moves");
}

#[test]
fn a_mate_is_played_and_none_is_allowed() {
    let mate = game("6k1/5ppp/8/8/8/8/q7/1R5K w - - 0 1", &[]);
    assert_eq!(played(&mate, &["b1b2"], false), "b1b8");
    let two = game("k7/8/1K6/8/8/8/8/6QR w - - 0 1", &[]);
    assert_eq!(played(&two, &["h1h8"], false), "h1h8", "the mate that is liked");
    // Black mates on the back rank, unless the king has air.
    let open = game("4r1k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", &[]);
    for is_better in [true, false] {
        assert_eq!(played(&open, &["a1a7", "a1a5", "h2h3"], is_better), "h2h3");
    }
    let lost = game("k7/8/8/8/8/2q5/8/K1r5 w - - 0 1", &[]);
    assert_eq!(played(&lost, &["a1a2"], true), "a1a2", "there is nothing better");
}

#[test]
fn a_choice_by_material_looks_too() {
    let shuffled = ["a8a7", "d2d1", "a7a8", "d1d2"].repeat(2);
    let game = game("k7/8/8/8/8/8/3Q4/K7 b - - 0 1", &shuffled[..7]);
    let moves = game.current().legal_moves();
    let repeats = moves.iter().copied().find(|mv| to_uci(*mv, false) == "d1d2").unwrap();
    assert_eq!(effect(&game, repeats), Ordering::Equal);
    let (chosen, _) = look_by_material(&game, &moves).unwrap();
    assert!(chosen != repeats && effect(&game, chosen) == Ordering::Greater);
    assert_eq!(look_by_material(&game, &[repeats]), Some((repeats, false)), "there is no other");
    assert_eq!(look_by_material(&game, &[]), None);
}
