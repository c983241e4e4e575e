use super::*;
use crate::search::tree::node::{Terminal, Value};
use zeitnot_chess::Move;

fn give_moves(tree: &mut Tree, id: NodeId, game: &Game) {
    let moves: Vec<u16> = game.current().legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
    tree.set_priors(id, &vec![255; moves.len()]);
    tree.expand(id);
    tree.resolve(id, &moves);
}

fn move_of(tree: &Tree, id: NodeId, index: usize, game: &Game) -> Move {
    PackedMove(tree.view(&tree[id]).unwrap().moves[index]).unpack(game.current().board())
}

/// Nodes below and at `id`.
fn size(tree: &Tree, id: NodeId) -> usize {
    let node = tree[id];
    let children = (0..usize::from(node.children)).filter_map(|index| tree.existing_child(&node, index));
    1 + children.map(|child| size(tree, child)).sum::<usize>()
}

fn grown() -> Tree {
    let mut tree = Tree::new(Game::new());
    let game = Game::new();
    let root = tree.root();
    give_moves(&mut tree, root, &game);
    tree[root].n = 7;
    for index in 0..3 {
        let child = tree.child(root, index);
        tree[child].add_visits(Value { wl: 0.5, d: 0.25, m: 9.0 }, 2);
        let mut below = game.clone();
        below.push(move_of(&tree, root, index, &game));
        give_moves(&mut tree, child, &below);
        let below = tree.child(child, 0);
        tree[below].n = 1;
    }
    tree
}

#[test]
fn moves_are_sorted_by_prior() {
    let game = Game::new();
    let mut tree = Tree::new(game.clone());
    let root = tree.root();
    let mut codes = vec![7; 20];
    (codes[3], codes[11], codes[19]) = (255, 100, 255);
    tree.set_priors(root, &codes);
    assert_eq!(tree.first_move(&tree[root]), Some(PackedMove::unresolved(3)));
    tree.prepare_root(game.current());
    let legal = game.current().legal_moves();
    let first: Vec<Move> = (0..5).map(|index| move_of(&tree, root, index, &game)).collect();
    assert_eq!(first, [3, 19, 11, 0, 1].map(|number: usize| legal[number]));
    let view = tree.view(&tree[root]).unwrap();
    assert!((view.p(0) - view.p(1)).abs() < 1e-9 && view.p(2) < view.p(1) && view.p(3) == view.p(19));
    assert!(((0..20).map(|index| view.p(index)).sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn every_child_is_another_node_and_stays_where_it_is() {
    let mut tree = Tree::new(Game::new());
    let root = tree.root();
    tree.set_priors(root, &[255; 60]);
    tree.expand(root);
    let ids: Vec<NodeId> = (0..60).map(|index| tree.child(root, index)).collect();
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(tree.child(root, index), *id);
        tree[*id].n = index as u32 + 1;
    }
    let node = tree[root];
    let view = tree.view(&node).unwrap();
    let visits: Vec<u32> = tree.children(&view, &node).flatten().map(|child| child.n).collect();
    assert_eq!(visits, (1..=60).collect::<Vec<u32>>());
}

#[test]
fn the_root_follows_the_game_and_the_rest_is_recycled() {
    let mut tree = grown();
    assert_eq!(size(&tree, tree.root()), 7);
    let in_use = |tree: &Tree| (tree.nodes.in_use(), tree.words.in_use());
    let before = in_use(&tree);
    let mv = move_of(&tree, tree.root(), 1, &Game::new());
    let mut game = Game::new();
    game.push(mv);
    assert!(tree.follow(game.clone()));
    assert_eq!((size(&tree, tree.root()), tree.visits()), (2, 2));
    assert_eq!(in_use(&tree), before, "the other moves might still be played");
    tree.forget_alternatives();
    while tree.free_discarded() {}
    let after = in_use(&tree);
    // The root's own slot, and its one child.
    assert_eq!(after.0, 2);
    assert!(after.1 < before.1 / 3, "the moves of one node are left of those of four: {after:?} of {before:?}");
    // The same position again changes nothing; an unsearched move or another game starts anew.
    assert!(tree.follow(game.clone()) && tree.visits() == 2);
    game.push_uci("h7h5").unwrap();
    assert!(tree.follow(game) && tree.is_empty() && size(&tree, tree.root()) == 1);
    tree.forget_alternatives();
    while tree.free_discarded() {}
    assert_eq!(in_use(&tree), (1, 0), "nothing is lost");
    assert!(!tree.follow(Game::new()) && tree.is_empty());
}

/// Pondering relies on it: the predicted move is searched, and another one is played.
#[test]
fn the_last_move_may_have_been_another() {
    let mut tree = grown();
    let start = Game::new();
    let after = |tree: &Tree, index| {
        let mut game = start.clone();
        game.push(move_of(tree, tree.root(), index, &start));
        game
    };
    let (predicted, played) = (after(&tree, 1), after(&tree, 2));
    let in_use = |tree: &Tree| (tree.nodes.in_use(), tree.words.in_use());
    let before = in_use(&tree);
    assert!(tree.follow(predicted.clone()));
    let root = tree.root();
    let below = tree.child(root, 0);
    (tree[root].n, tree[below].n) = (102, 101);
    assert!(tree.follow(played.clone()));
    assert_eq!((tree.visits(), size(&tree, tree.root()), in_use(&tree)), (2, 2, before), "as it was searched before");
    assert!(tree.follow(predicted.clone()));
    assert_eq!(tree.visits(), 102, "what was searched meanwhile is still there");
    tree.forget_alternatives();
    assert!(!tree.follow(played), "once it is certain, another move is another game");
}

#[test]
fn a_game_taken_back_is_another_game() {
    let mut game = Game::new();
    game.push_uci("e2e4").unwrap();
    let mut tree = Tree::new(game);
    assert!(!tree.follow(Game::new()));
}

#[test]
fn a_terminal_root_is_opened_from_its_children() {
    let mut tree = grown();
    let mv = move_of(&tree, tree.root(), 0, &Game::new());
    let child = tree.child(tree.root(), 0);
    let grandchild = tree.child(child, 0);
    tree[grandchild].n = 0;
    tree[grandchild].add_visits(Value { wl: 1.0, d: 0.0, m: 3.0 }, 4);
    tree[child].make_terminal(-1, 4.0, Terminal::End);
    let mut game = Game::new();
    game.push(mv);
    assert!(tree.follow(game));
    let root = &tree[tree.root()];
    assert_eq!((root.terminal(), root.n, root.wl, root.m), (Terminal::No, 5, -1.0, 4.0));
}

#[test]
fn a_stale_repetition_gives_its_visits_back() {
    let mut tree = grown();
    let root = tree.root();
    let child = tree.child(root, 0);
    let draw = tree.child(child, 0);
    tree[draw].make_terminal(0, 4.0, Terminal::TwoFold);
    for id in [draw, child, root] {
        tree[id].n += 3;
    }
    tree[draw].n = 3;
    let above = || [child, root].into_iter();
    tree.reopen_stale_repetition(draw, 4, above());
    assert_eq!(tree[draw].terminal(), Terminal::TwoFold, "deep enough below the root, it stays a draw");
    let before = (tree[child].n, tree[root].n);
    tree.reopen_stale_repetition(draw, 2, above());
    assert_eq!((tree[child].n, tree[root].n), (before.0 - 3, before.1 - 3));
    assert_eq!((tree[draw].n, tree[draw].terminal()), (0, Terminal::No));
}

#[test]
fn a_new_tree_takes_over_the_memory_of_the_old_one() {
    let mut tree = grown();
    let (before, visits) = (tree.bytes(), tree.visits());
    tree.start_anew(Game::new());
    assert!(visits > 0 && tree.is_empty() && size(&tree, tree.root()) == 1);
    // It begins in the chunks of the old one, which count as empty.
    let (reached, new) = (tree.bytes_reached(), Tree::new(Game::new()).bytes_reached());
    assert_eq!(reached, new);
    assert!(reached < before / 2, "{reached} of {before}");
    tree.spare.free();
    assert_eq!(tree.spare.bytes(), 0);
}
