use super::super::transpositions::tests::Searcher;
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

pub(in crate::search::tree) const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

pub(in crate::search::tree) fn forest(fen: &str) -> Searcher {
    let mut searcher = Searcher::new(fen, true);
    searcher.tree.take_kind(false, true);
    assert!(searcher.tree.is_kind(true, true) && !searcher.tree.is_kind(true, false));
    searcher
}

pub(in crate::search::tree) fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::from_fen(fen, false).unwrap();
    moves.split_whitespace().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

#[test]
fn steps_back_forth_and_aside_find_what_was_searched() {
    let mut searcher = forest(START);
    searcher.search(400, 4, false);
    for (moves, known, continues) in [
        ("e2e4 e7e5", 0, true),
        ("e2e4", 0, false),
        ("", 400, false),
        ("d2d4", 0, true),
        ("e2e4", 300, false),
        ("e2e4 e7e5", 300, true),
        ("", 400, false),
        // The same position by another way.
        ("g1f3 g8f6 f3g1 f6g8", 0, true),
    ] {
        assert_eq!(searcher.tree.step_to(game(START, moves)), continues, "{moves}");
        assert!(searcher.tree.visits() >= known && searcher.tree.has_own_visits(), "{moves}");
        searcher.search(u64::from(searcher.tree.visits()).max(300), 4, false);
    }
}

#[test]
fn a_restriction_ends_where_its_root_is_left() {
    let mut searcher = forest(START);
    searcher.search(100, 4, false);
    let mv = searcher.tree.game().current().legal_moves()[0];
    searcher.tree.restrict_root(&[mv]);
    let root = searcher.tree.root();
    let child = searcher.tree.child(root, 0);
    searcher.tree[child].n += 50;
    searcher.tree[root].n += 50;
    searcher.tree.step_to(game(START, "e2e4"));
    searcher.tree.step_to(game(START, ""));
    assert_eq!(searcher.tree.visits(), 100);
}

#[test]
fn a_mate_found_at_a_root_is_known_a_step_back() {
    let before = "6k1/p4p2/6pP/8/4p2P/4P1b1/6R1/5q1K w - - 2 2";
    let mut searcher = forest(before);
    searcher.tree.step_to(game(before, "g2g1"));
    searcher.search(60, 4, true);
    let mates = |searcher: &Searcher| {
        let root = searcher.tree[searcher.tree.root()];
        searcher.tree.existing_children(&root).any(|child| searcher.tree[child].bounds().is_win())
    };
    assert!(mates(&searcher));
    searcher.tree.step_to(game(before, ""));
    searcher.search(8, 1, true);
    let root = searcher.tree[searcher.tree.root()];
    let only = searcher.tree.existing_child(&root, 0).unwrap();
    assert!(searcher.tree[only].bounds().is_loss(), "{:?}", searcher.tree[only]);
}

#[test]
fn roots_without_a_visit_are_not_kept() {
    let mut searcher = forest(START);
    for moves in ["e2e4", "d2d4", "c2c4", ""] {
        searcher.tree.step_to(game(START, moves));
    }
    assert_eq!(searcher.tree.kept.as_deref(), Some(&[][..]));
    searcher.tree.reset(game(START, "e2e4"));
    searcher.search(50, 4, false);
    assert_eq!(searcher.audit(true), 0);
}

/// A walk by moves of these numbers; 0 steps back.
pub(in crate::search::tree) fn walk(
    searcher: &mut Searcher,
    steps: &[usize],
    visits: u64,
    mut looked_at: impl FnMut(&mut Searcher, u64, u32),
) {
    let start = searcher.tree.game().clone();
    for step in steps {
        let mut game = searcher.tree.game().clone();
        let legal = game.current().legal_moves();
        match step {
            0 => game.truncate(game.moves().len().saturating_sub(1)),
            _ if legal.is_empty() => game = start.clone(),
            step => game.push(legal[(step - 1) % legal.len()]),
        }
        searcher.tree.step_to(game);
        assert!(searcher.tree.has_own_visits());
        let (position, known) = (searcher.tree.game().current(), searcher.tree.visits());
        let (is_over, key) = (position.legal_moves().is_empty(), position.key() ^ u64::from(position.rule50()));
        if !is_over {
            searcher.search(u64::from(known) + visits, 4, false);
        }
        looked_at(searcher, key, known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_walk_finds_all_that_it_left(
        fen in 0usize..3, steps in prop::collection::vec(prop_oneof![Just(0usize), 1usize..5], 1..40)
    ) {
        let fen = [START, "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1", "8/8/8/4k3/8/8/4P3/4K3 w - - 96 90"][fen];
        let mut searcher = forest(fen);
        let mut left: HashMap<u64, u32> = HashMap::new();
        walk(&mut searcher, &steps, 30, |searcher, key, known| {
            // Ends of the game apart, where the root is a mate or a draw at once.
            assert!(known >= left.get(&key).copied().unwrap_or(0), "{known}, {left:?}");
            left.insert(key, searcher.tree.visits());
        });
        while searcher.tree.fell_oldest() {}
        searcher.audit(false);
    }
}

#[test]
fn the_forest_keeps_within_its_memory() {
    let mut searcher = forest("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let limit = 6_000_000;
    searcher.memory_limit = Some(limit);
    let steps: Vec<usize> = (0..200).map(|step| if step % 3 == 2 { 0 } else { 1 + step * 7 % 5 }).collect();
    let mut most = 0;
    walk(&mut searcher, &steps, 2000, |searcher, _, _| {
        let tree = &searcher.tree;
        most = most.max(tree.kept.as_ref().unwrap().len());
        assert!(tree.bytes_reached() <= limit + limit / 16, "{} bytes", tree.bytes_reached());
    });
    let kept = searcher.tree.kept.as_ref().unwrap().len();
    assert!(kept < most && kept > 0, "{kept} of {most}: the oldest were felled, the others kept");
    while searcher.tree.fell_oldest() {}
    searcher.audit(false);
}
