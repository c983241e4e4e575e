use super::super::searcher::{START, Searcher, game};
use super::*;

fn loaded(saved: &Saved, bytes: &[u8], game: Game, limit: usize) -> Result<Tree, NoTree> {
    Tree::load([(game, saved.tops.clone(), bytes)], limit)
}

#[test]
fn a_search_goes_on_as_without_the_detour() {
    for fen in [START, "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1"] {
        let (mut straight, mut detour) = (Searcher::new(fen), Searcher::new(fen));
        let steps = [1, 3, 0, 2, 4, 0, 0];
        straight.walk(&steps, 300, |_, _| ());
        detour.walk(&steps, 300, |_, _| ());
        let saved = detour.tree.save().unwrap();
        assert!(saved.positions > 100, "{}", saved.positions);
        let again = loaded(&saved, &saved.bytes, detour.tree.game().clone(), usize::MAX).unwrap();
        let resaved = again.save().unwrap();
        assert!(resaved.tops == saved.tops && resaved.positions == saved.positions);
        // Moves that memory has as numbers are written out when they are read.
        let twice = loaded(&resaved, &resaved.bytes, detour.tree.game().clone(), usize::MAX).unwrap();
        assert!(twice.save().unwrap() == resaved, "equal in every byte");
        detour.tree = again;
        let more = u64::from(straight.tree.visits()) + 1000;
        straight.search(more, 8, false);
        detour.search(more, 8, false);
        assert_eq!(straight.tree.visited_moves(), detour.tree.visited_moves());
        let back = detour.tree.game().moves().len().saturating_sub(1);
        let mut earlier = detour.tree.game().clone();
        earlier.truncate(back);
        assert_eq!(straight.tree.follow(earlier.clone()), detour.tree.follow(earlier));
        assert_eq!(straight.tree.visited_moves(), detour.tree.visited_moves());
        detour.audit(false);
    }
}

#[test]
fn a_restriction_is_saved_with_its_root() {
    let mut searcher = Searcher::new(START);
    searcher.search(100, 4, false);
    let mv = searcher.tree.game().current().legal_moves()[3];
    searcher.tree.restrict_root(&[mv]);
    let root = searcher.tree.root();
    let child = searcher.tree.child(root, 0);
    searcher.tree[child].n += 50;
    searcher.tree[root].n += 50;
    let saved = searcher.tree.save().unwrap();
    let mut tree = loaded(&saved, &saved.bytes, game(START, ""), usize::MAX).unwrap();
    assert_eq!(tree.visits(), 150);
    tree.restrict_root(&[]);
    assert_eq!(tree.visits(), 100, "what the restriction gave is taken back");
}

#[test]
fn two_analyses_become_one() {
    let (mut one, mut two) = (Searcher::new(START), Searcher::new(START));
    one.search(500, 4, false);
    one.analyse("e2e4", 100);
    two.search(50, 4, false);
    for moves in ["e2e4", "d2d4", "d2d4 d7d5"] {
        two.analyse(moves, 400);
    }
    let saved = [one.tree.save().unwrap(), two.tree.save().unwrap()];
    let games = [game(START, ""), game(START, "d2d4 d7d5")];
    let sources = saved.iter().zip(games).map(|(saved, game)| (game, saved.tops.clone(), &saved.bytes[..]));
    one.tree = Tree::load(sources, usize::MAX).unwrap();
    for (moves, least) in [("e2e4", 400), ("", 500), ("d2d4", 400), ("d2d4 d7d5", 400)] {
        one.tree.follow(game(START, moves));
        assert!(one.tree.visits() >= least && one.tree.has_own_visits(), "{moves}: {}", one.tree.visits());
        one.search(u64::from(one.tree.visits()) + 50, 4, false);
    }
    one.audit(false);
}

#[test]
fn a_tree_beyond_the_limit_is_refused() {
    let mut searcher = Searcher::new(START);
    searcher.search(30_000, 16, false);
    let saved = searcher.tree.save().unwrap();
    let whole = searcher.tree.bytes_reached();
    let tree = loaded(&saved, &saved.bytes, game(START, ""), whole).unwrap();
    assert!(tree.bytes_reached() <= whole && tree.visits() == 30_000);
    assert!(matches!(loaded(&saved, &saved.bytes, game(START, ""), whole / 2), Err(NoTree::TooLarge)));
}

#[test]
fn other_bytes_are_refused_or_are_a_tree() {
    let mut searcher = Searcher::new(START);
    searcher.search(100, 4, false);
    searcher.analyse("e2e4", 100);
    let saved = searcher.tree.save().unwrap();
    for end in (0..saved.bytes.len()).step_by(97) {
        assert!(loaded(&saved, &saved.bytes[..end], game(START, ""), usize::MAX).is_err(), "{end} bytes");
    }
    // A checksum does not tell who wrote it.
    let mut refused = 0;
    for index in (0..saved.bytes.len()).step_by(7) {
        for bit in [0, 3, 7] {
            let mut damaged = saved.bytes.clone();
            damaged[index] ^= 1 << bit;
            match loaded(&saved, &damaged, game(START, ""), usize::MAX) {
                Err(_) => refused += 1,
                Ok(tree) => {
                    searcher.tree = tree;
                    searcher.search(u64::from(searcher.tree.visits()).min(1 << 20) + 20, 4, false);
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
    assert!(Tree::new(game(START, "")).save().is_none(), "a game keeps nothing");
}
