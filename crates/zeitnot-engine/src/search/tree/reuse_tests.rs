use super::super::searcher::{START, Searcher, game};
use super::*;
use crate::search::tree::packed_move::PackedMove;
use proptest::prelude::*;
use std::collections::HashMap;

#[test]
fn steps_back_forth_and_aside_find_what_was_searched() {
    let mut searcher = Searcher::new(START);
    searcher.search(400, 4, false);
    for (moves, known, continues) in [
        ("e2e4 e7e5", 0, true),
        ("e2e4", 0, false),
        ("", 400, false),
        ("d2d4", 0, true),
        ("e2e4", 300, true),
        ("e2e4 e7e5", 300, true),
        ("", 400, false),
        ("c2c4 c7c5 g1f3", 0, true),
        ("", 400, false),
        ("c2c4 c7c5 g1f3", 300, true),
    ] {
        assert_eq!(searcher.tree.follow(game(START, moves)), continues, "{moves}");
        assert!(searcher.tree.visits() >= known && searcher.tree.has_own_visits(), "{moves}");
        searcher.search(u64::from(searcher.tree.visits()).max(300), 4, false);
    }
    searcher.audit(true);
}

#[test]
fn a_jump_finds_all_that_was_searched_there() {
    let mut searcher = Searcher::new(START);
    let (middle, deep) = ("e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6");
    for (moves, visits) in [(middle, 300), (deep, 900), ("", 1200), (deep, 900), (middle, 300), (deep, 900)] {
        searcher.tree.follow(game(START, moves));
        let known = searcher.tree.visits();
        searcher.search(visits, 4, false);
        assert!(known == 0 || known + 100 >= visits as u32, "{moves}: {known} of {visits}");
    }
    searcher.audit(true);
}

/// A move is played for the visits that its position gave it (E1).
#[test]
fn visits_below_a_position_are_no_visits_of_the_move_to_it() {
    let mut searcher = Searcher::new(START);
    searcher.search(400, 4, false);
    let (own, before) = (searcher.visits_of("a2a3"), searcher.tree.root_value());
    searcher.analyse("a2a3", 3000);
    searcher.analyse("a2a3 e7e5", 2000);
    searcher.analyse("", 1);
    assert_eq!((searcher.visits_of("a2a3"), searcher.tree.visits()), (own, 400));
    assert_ne!(searcher.tree.root_value(), before, "what it is worth is known here, too");
    let root = searcher.tree[searcher.tree.root()];
    let index = searcher.tree.move_index(&root, game(START, "").current(), game(START, "a2a3").moves()[0]).unwrap();
    let child = searcher.tree[searcher.tree.existing_child(&root, index).unwrap()];
    assert!(child.has_surplus() && searcher.tree.known_visits(&child) >= 3000);
    searcher.search(1000, 4, true);
    searcher.audit(true);
}

/// The mean of a position stays that of its moves when visits pass one with a surplus.
#[test]
fn a_value_is_the_mean_of_the_moves_also_where_one_is_known_better() {
    let mut searcher = Searcher::new(START);
    searcher.search(50, 1, false);
    searcher.analyse("e2e4", 2000);
    searcher.analyse("", 1);
    searcher.search(600, 1, false);
    let tree = &searcher.tree;
    let root = tree[tree.root()];
    let of_moves: f64 = tree.existing_children(&root).map(|id| -tree[id].wl * f64::from(tree[id].n)).sum();
    let own = root.wl * f64::from(root.n) - of_moves;
    assert!(own.abs() < 1.01, "the network's own value is what is left: {own}");
}

#[test]
fn a_position_that_was_searched_first_is_taken_up_from_above() {
    let mut searcher = Searcher::new(START);
    searcher.analyse("e2e4 e7e5", 1500);
    searcher.analyse("e2e4", 500);
    searcher.analyse("", 500);
    assert_eq!(searcher.tree.tops.len(), 1);
    for (moves, known) in [("e2e4 e7e5", 1500), ("e2e4", 500), ("", 500)] {
        searcher.tree.follow(game(START, moves));
        assert!(searcher.tree.visits() >= known, "{moves}");
    }
    searcher.audit(true);
}

#[test]
fn a_restriction_ends_where_its_root_is_left() {
    let mut searcher = Searcher::new(START);
    searcher.search(100, 4, false);
    let mv = searcher.tree.game().current().legal_moves()[0];
    searcher.tree.restrict_root(&[mv]);
    let root = searcher.tree.root();
    let child = searcher.tree.child(root, 0);
    searcher.tree[child].n += 50;
    searcher.tree[root].n += 50;
    searcher.tree.follow(game(START, "e2e4"));
    searcher.tree.follow(game(START, ""));
    assert_eq!(searcher.tree.visits(), 100);
}

#[test]
fn a_mate_found_at_a_root_is_known_a_step_back() {
    let before = "6k1/p4p2/6pP/8/4p2P/4P1b1/6R1/5q1K w - - 2 2";
    for first in ["g2g1", ""] {
        let mut searcher = Searcher::new(before);
        searcher.tree.follow(game(before, first));
        searcher.search(60, 4, true);
        searcher.tree.follow(game(before, "g2g1"));
        searcher.search(60, 4, true);
        let mates = |tree: &Tree| tree.existing_children(&tree[tree.root()]).any(|id| tree[id].bounds().is_win());
        assert!(mates(&searcher.tree));
        searcher.tree.follow(game(before, ""));
        searcher.search(8, 1, true);
        let root = searcher.tree[searcher.tree.root()];
        let only = searcher.tree.existing_child(&root, 0).unwrap();
        assert!(searcher.tree[only].bounds().is_loss(), "{:?}", searcher.tree[only]);
    }
}

/// History decides whether a position is drawn, and so a position is found again with its history alone.
#[test]
fn a_draw_by_history_is_no_draw_without_it() {
    let (fen, shuffle) = ("7k/8/8/8/8/8/Q7/K7 w - - 0 1", "a2b2 h8g8 b2a2 g8h8");
    let twice = format!("{shuffle} {shuffle}");
    let mut searcher = Searcher::new(fen);
    searcher.tree.follow(game(fen, &twice));
    searcher.search(500, 4, false);
    // Two plies back the drawn position is an end, though it was searched.
    let back = twice.strip_suffix(" b2a2 g8h8").unwrap();
    searcher.tree.follow(game(fen, back));
    searcher.search(500, 4, false);
    searcher.tree.follow(game(fen, &format!("{back} b2a2")));
    searcher.search(300, 4, false);
    let tree = &searcher.tree;
    let root = tree[tree.root()];
    let draw = tree.move_index(&root, tree.game().current(), game(fen, &twice).moves()[7]).unwrap();
    let draw = tree[tree.existing_child(&root, draw).unwrap()];
    assert_eq!((draw.terminal(), draw.wl, draw.d), (Terminal::End, 0.0, 1.0));
    // The board without the history is another position, on whichever counter.
    for other in ["7k/8/8/8/8/8/Q7/K7 w - - 8 5", "7k/8/8/8/8/8/Q7/K7 w - - 0 5", "7k/8/8/8/8/8/Q7/K7 w - - 99 99"] {
        searcher.tree.follow(game(other, ""));
        assert_eq!(searcher.tree.visits(), 0, "{other}");
    }
}

#[test]
fn roots_without_a_visit_are_not_kept() {
    let mut searcher = Searcher::new(START);
    for moves in ["e2e4", "d2d4", "c2c4", ""] {
        searcher.tree.follow(game(START, moves));
    }
    assert_eq!(searcher.tree.tops.len(), 1);
    searcher.tree.reset(game(START, "e2e4"));
    searcher.tree.keeps = true;
    searcher.search(50, 4, false);
    searcher.audit(true);
}

#[test]
fn a_game_gives_up_what_it_has_left() {
    let mut searcher = Searcher::new(START);
    searcher.tree.keeps = false;
    searcher.search(500, 4, false);
    let mv = searcher.tree.visited_moves()[0].0;
    let (mut after, visits) = (game(START, ""), searcher.tree.visited_moves()[0].1);
    after.push(mv);
    assert!(searcher.tree.follow(after));
    assert_eq!(searcher.tree.visits(), visits);
    searcher.tree.forget_alternatives();
    searcher.audit(true);
    assert_eq!((searcher.tree.tops.len(), searcher.tree.above.len()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_walk_finds_all_that_it_left(
        fen in 0usize..4, steps in prop::collection::vec(prop_oneof![Just(0usize), 1usize..5], 1..40)
    ) {
        let fen = [
            START,
            "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
            "8/8/8/4k3/8/8/4P3/4K3 w - - 96 90",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        ][fen];
        let mut searcher = Searcher::new(fen);
        let mut left: HashMap<Vec<u16>, u32> = HashMap::new();
        searcher.walk(&steps, 30, |searcher, known| {
            let way: Vec<_> = searcher.tree.game().moves().iter().map(|mv| PackedMove::new(*mv).0).collect();
            assert!(known >= left.get(&way).copied().unwrap_or(0), "{known}, {left:?}");
            left.insert(way, searcher.tree.visits());
        });
        searcher.audit(false);
    }
}

#[test]
fn the_tree_keeps_within_its_memory_and_keeps_the_best_line() {
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let mut searcher = Searcher::new(fen);
    let limit = 6_000_000;
    searcher.memory_limit = Some(limit);
    let steps: Vec<usize> = (0..60).map(|step| if step % 3 == 2 { 0 } else { 1 + step * 7 % 5 }).collect();
    searcher.walk(&steps, 2000, |searcher, _| {
        let tree = &searcher.tree;
        assert!(tree.bytes_reached() <= limit + limit / 16, "{} bytes", tree.bytes_reached());
    });
    searcher.tree.follow(game(fen, ""));
    for visits in (100_000..200_000).step_by(5000) {
        searcher.search(visits, 16, false);
        let tree = &searcher.tree;
        let (mut node, mut plies) = (tree[tree.root()], 0);
        while let Some(next) = tree.existing_children(&node).map(|id| tree[id]).max_by_key(|child| child.n) {
            (node, plies) = (next, plies + 1);
        }
        assert!(plies >= 4, "{plies} plies of the best line after {visits} visits");
    }
    assert_eq!(searcher.tree.fill(limit), 1000);
    searcher.audit(false);
}
