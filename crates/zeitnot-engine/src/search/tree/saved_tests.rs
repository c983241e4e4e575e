use super::super::forest::tests::{START, forest, game};
use super::*;
use crate::search::tree::forest::tests::walk;

fn loaded(bytes: &[u8], game: Game) -> Result<Tree, NoForest> {
    Tree::load(game, bytes)
}

#[test]
fn a_search_goes_on_as_without_the_detour() {
    for fen in [START, "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1"] {
        let (mut straight, mut detour) = (forest(fen), forest(fen));
        let steps = [1, 3, 0, 2, 4, 0, 0];
        walk(&mut straight, &steps, 300, |_, _, _| ());
        walk(&mut detour, &steps, 300, |_, _, _| ());
        let (bytes, positions) = detour.tree.save().unwrap();
        assert!(positions > 100);
        detour.tree = loaded(&bytes, detour.tree.game().clone()).unwrap();
        assert_eq!(detour.tree.save().unwrap().0, bytes, "equal in every byte");
        let more = u64::from(straight.tree.visits()) + 1000;
        straight.search(more, 8, false);
        detour.search(more, 8, false);
        assert_eq!(straight.tree.visited_moves(), detour.tree.visited_moves());
        let back = detour.tree.game().moves().len().saturating_sub(1);
        let mut earlier = detour.tree.game().clone();
        earlier.truncate(back);
        assert_eq!(straight.tree.step_to(earlier.clone()), detour.tree.step_to(earlier));
        assert_eq!(straight.tree.visited_moves(), detour.tree.visited_moves());
        while detour.tree.fell_oldest() {}
        detour.audit(false);
    }
}

#[test]
fn a_restriction_is_saved_with_its_root() {
    let mut searcher = forest(START);
    searcher.search(100, 4, false);
    let mv = searcher.tree.game().current().legal_moves()[3];
    searcher.tree.restrict_root(&[mv]);
    let root = searcher.tree.root();
    let child = searcher.tree.child(root, 0);
    searcher.tree[child].n += 50;
    searcher.tree[root].n += 50;
    let mut tree = loaded(&searcher.tree.save().unwrap().0, game(START, "")).unwrap();
    assert_eq!(tree.visits(), 150);
    tree.restrict_root(&[]);
    assert_eq!(tree.visits(), 100, "what the restriction gave is taken back");
}

#[test]
fn other_bytes_are_refused() {
    let mut searcher = forest(START);
    searcher.search(200, 4, false);
    let bytes = searcher.tree.save().unwrap().0;
    assert_eq!(loaded(&bytes, game(START, "e2e4")).err(), Some(NoForest), "another root");
    for end in (0..bytes.len()).step_by(97) {
        assert!(loaded(&bytes[..end], game(START, "")).is_err(), "{end} bytes");
    }
    // What a checksum lets through may be a forest, and must not end the program.
    let mut refused = 0;
    for index in (0..bytes.len()).step_by(13) {
        for bit in [0, 3, 7] {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << bit;
            refused += usize::from(loaded(&damaged, game(START, "")).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
    assert!(Tree::new(game(START, "")).save().is_none(), "no forest");
}

#[test]
fn a_position_below_itself_is_refused() {
    let mut searcher = forest(START);
    searcher.search(200, 4, false);
    let tree = &mut searcher.tree;
    let root = tree.root();
    let below = tree.existing_children(&tree[root]).find_map(|child| tree[child].link()).unwrap();
    let cut = |tree: &Tree, id| tree.existing_children(&tree[id]).find(|child| tree[*child].link().is_some());
    let child = cut(tree, below).unwrap();
    let link = tree[child].link().unwrap();
    // Two links, one of them back to where it comes from.
    assert!(loaded(&tree.save().unwrap().0, game(START, "")).is_ok());
    tree[child].at = below.0;
    assert_eq!(loaded(&tree.save().unwrap().0, game(START, "")).err(), Some(NoForest));
    tree[child].at = link.0;
    assert!(loaded(&tree.save().unwrap().0, game(START, "")).is_ok());
}
