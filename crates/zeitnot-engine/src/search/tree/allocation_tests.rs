use super::*;
use crate::search::tree::node::Value;
use zeitnot_chess::{Game, Move};

const GOOD: Value = Value { wl: 0.5, d: 0.25, m: 9.0 };

fn give_moves(tree: &mut Tree, id: NodeId, game: &Game) {
    let moves: Vec<u16> = game.current().legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
    tree.set_priors(id, &vec![255; moves.len()]);
    tree.expand(id);
    tree.resolve(id, &moves);
}

/// A root whose first moves have `visits`, all but the first of them below their own first children.
fn grown(visits: &[u32]) -> (Tree, Vec<Move>) {
    let game = Game::new();
    let mut tree = Tree::new(game.clone());
    let root = tree.root();
    give_moves(&mut tree, root, &game);
    tree[root].add_visits(Value::default(), 1);
    let view = tree.view(&tree[root]).unwrap();
    let moves: Vec<Move> = view.moves.iter().map(|mv| PackedMove(*mv).unpack(game.current().board())).collect();
    for (index, n) in visits.iter().enumerate() {
        visit(&mut tree, &moves, index, *n);
    }
    (tree, moves)
}

/// Gives a root move visits of one value; those below it go to three children in turn.
fn visit(tree: &mut Tree, moves: &[Move], index: usize, visits: u32) {
    let root = tree.root();
    let child = tree.child(root, index);
    for _ in 0..visits {
        if tree[child].n == 0 {
            let mut game = Game::new();
            game.push(moves[index]);
            give_moves(tree, child, &game);
        } else {
            let below = tree.child(child, (tree[child].n as usize - 1) % 3);
            tree[below].add_visits(GOOD, 1);
        }
        tree[child].add_visits(GOOD.one_ply_up(), 1);
        tree[root].add_visits(GOOD, 1);
    }
}

fn counts(tree: &Tree) -> Vec<u32> {
    tree.root_visits()
}

#[test]
fn visits_of_a_restricted_search_are_taken_back() {
    let (mut tree, moves) = grown(&[10, 5, 0, 2]);
    let value = tree[tree.root()].wl;
    tree.restrict_root(&moves[1..3]);
    assert_eq!((tree.visits(), tree.excluded_visits()), (18, 12));
    visit(&mut tree, &moves, 1, 1000);
    visit(&mut tree, &moves, 2, 70);
    assert_eq!(counts(&tree), [10, 1005, 70, 2]);
    tree.restrict_root(&[moves[2], moves[1]]);
    assert_eq!(counts(&tree), [10, 1005, 70, 2], "in another order they are the same moves");
    tree.restrict_root(&[]);
    assert_eq!((counts(&tree), tree.visits(), tree.excluded_visits()), (vec![10, 5, 0, 2], 18, 0));
    assert!((tree[tree.root()].wl - value).abs() < 1e-6, "{} is not {value}", tree[tree.root()].wl);
}

#[test]
fn one_restriction_after_another_keeps_the_visits_before_both() {
    let (mut tree, moves) = grown(&[10, 5]);
    tree.restrict_root(&moves[..1]);
    visit(&mut tree, &moves, 0, 90);
    tree.restrict_root(&moves[1..2]);
    visit(&mut tree, &moves, 1, 60);
    assert_eq!(counts(&tree), [10, 65]);
    tree.restrict_root(&[]);
    visit(&mut tree, &moves, 1, 1);
    assert!(counts(&tree) == [10, 6] && tree.has_own_visits());
}

#[test]
fn what_a_restricted_search_has_found_stays_known() {
    let (mut tree, moves) = grown(&[4]);
    tree.restrict_root(&moves[..1]);
    visit(&mut tree, &moves, 0, 297);
    tree.restrict_root(&[]);
    let child = tree.child(tree.root(), 0);
    let child = tree[child];
    assert_eq!((child.n, child.has_surplus(), tree.known_visits(&child)), (4, true, 301));
    let mut game = Game::new();
    game.push(moves[0]);
    tree.follow(game);
    assert_eq!(tree.visits(), 301);
}

#[test]
fn another_root_forgets_the_restriction() {
    let (mut tree, moves) = grown(&[10, 5]);
    tree.restrict_root(&moves[..1]);
    visit(&mut tree, &moves, 0, 90);
    let mut game = Game::new();
    game.push(moves[0]);
    assert!(tree.follow(game));
    tree.restrict_root(&[]);
    assert!(tree.visits() == 100 && tree.has_own_visits());
}

#[test]
fn a_root_counts_the_visits_of_its_moves_alone() {
    let (mut tree, moves) = grown(&[10, 5]);
    let child = tree.child(tree.root(), 0);
    // As after a pruned subtree has grown anew.
    tree[child].n = 500;
    let mut game = Game::new();
    game.push(moves[0]);
    assert!(tree.follow(game));
    assert_eq!(tree.visits(), 10);
}
