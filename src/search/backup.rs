//! Values on their way up, and what they prove (lc0.md C.6).

use super::expand::make_terminal;
use super::node::{Bounds, NodeId, Terminal, Value};
use super::tree::Tree;

/// Counts one visit of `value` (for the player who moved into the leaf) along `path`, root first, and takes it off the
/// visits on their way. With `sticky`, a terminal visited for the first time bounds its ancestors, the root excepted;
/// an ancestor that is thereby proven becomes terminal, and the visits it already had are corrected above it.
pub(super) fn backup(tree: &mut Tree, path: &[NodeId], value: Value, sticky: bool) {
    let Some(leaf) = path.last() else { return };
    let mut value = value;
    let mut bounding = sticky && tree[*leaf].is_terminal() && tree[*leaf].n == 0;
    let mut correction: Option<Correction> = None;
    for (index, &id) in path.iter().enumerate().rev() {
        let node = &mut tree[id];
        if node.is_terminal() {
            // It may have been proven from another descendant meanwhile.
            value = Value { wl: node.wl as f32, d: node.d, m: node.m };
        }
        node.add_visits(value, 1);
        node.in_flight -= 1;
        if let Some(correction) = &correction
            && !node.is_terminal()
        {
            node.adjust(correction.delta, correction.visits);
        }
        let Some(&parent) = index.checked_sub(1).and_then(|above| path.get(above)) else { break };
        if tree[parent].is_terminal() {
            correction = None;
        }
        bounding =
            bounding && index > 1 && !tree[parent].is_terminal() && bound(tree, parent, value.m, &mut correction);
        value = value.one_ply_up();
        if let Some(correction) = &mut correction {
            correction.delta.wl = -correction.delta.wl;
        }
    }
}

/// What the visits already counted above a newly proven node lack.
struct Correction {
    /// For the player who moved into the proven node's child; flipped on the way.
    delta: Value,
    visits: u32,
}

/// Bounds a node by its children's. Returns whether anything is known now. `m`: plies left at the child just visited.
fn bound(tree: &mut Tree, id: NodeId, m: f32, correction: &mut Option<Correction>) -> bool {
    let (mut lower, mut upper, mut longest_loss) = (-1, -1, 0.0f32);
    for edge in &tree[id].edges {
        let child = edge.child.map(|child| &tree[child]);
        let bounds = child.map_or(Bounds::UNKNOWN, |child| child.bounds);
        lower = lower.max(bounds.lower);
        upper = upper.max(bounds.upper);
        if bounds.is_win() {
            break;
        }
        if bounds.is_loss() {
            longest_loss = longest_loss.max(child.map_or(0.0, |child| child.m));
        }
    }
    if (lower, upper) == (-1, 1) {
        return false;
    }
    if lower < upper {
        tree[id].bounds = Bounds { lower: -upper, upper: -lower };
        return true;
    }
    let before = &tree[id];
    let (wl, d, old_m, visits) = (before.wl, before.d, before.m, before.n);
    let plies = if upper == -1 { longest_loss.max(m) } else { m };
    make_terminal(tree, id, -upper, plies + 1.0, Terminal::End);
    let after = &tree[id];
    let delta = Value { wl: -(after.wl - wl) as f32, d: after.d - d, m: after.m - old_m };
    *correction = Some(Correction { delta, visits });
    true
}

/// Takes a visit that comes to nothing off the visits on their way.
pub(super) fn cancel(tree: &mut Tree, path: &[NodeId]) {
    for &id in path {
        tree[id].in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::expand::edges;
    use super::*;
    use crate::chess::{Game, Move};

    /// A root with a line of children below it, three edges each, every node of it visited once with value 0.
    fn line(length: usize) -> (Tree, Vec<NodeId>) {
        let moves: Vec<Move> = Game::new().current().legal_moves().into_iter().take(3).collect();
        let mut tree = Tree::new(Game::new());
        let mut path = vec![tree.root()];
        for _ in 0..length {
            let id = *path.last().unwrap();
            tree[id].edges = edges(&moves, &[2.0, 1.0, 0.0], 1.0);
            visit(&mut tree, &path, Value::default());
            path.push(tree.child(id, 0));
        }
        (tree, path)
    }

    fn visit(tree: &mut Tree, path: &[NodeId], value: Value) {
        for id in path {
            tree[*id].in_flight += 1;
        }
        backup(tree, path, value, true);
    }

    #[test]
    fn values_flip_and_moves_left_grow_on_the_way_up() {
        let (mut tree, path) = line(2);
        visit(&mut tree, &path, Value { wl: 0.5, d: 0.25, m: 10.0 });
        // The root: two visits of 0 with m 0 and 1, and this one seen from its side, two plies further.
        let root = &tree[path[0]];
        assert_eq!((root.n, root.in_flight), (3, 0));
        assert!((root.wl - 0.5 / 3.0).abs() < 1e-6 && (root.m - 13.0 / 3.0).abs() < 1e-5);
        let child = &tree[path[1]];
        assert!((child.wl + 0.25).abs() < 1e-6 && (child.m - 5.5).abs() < 1e-6);
    }

    #[test]
    fn a_mate_proves_the_move_before_it_lost() {
        let (mut tree, path) = line(3);
        let leaf = path[3];
        make_terminal(&mut tree, leaf, 1, 0.0, Terminal::End);
        visit(&mut tree, &path, Value { wl: 1.0, d: 0.0, m: 0.0 });
        let lost = &tree[path[2]];
        assert_eq!((lost.terminal, lost.wl, lost.m, lost.n), (Terminal::End, -1.0, 1.0, 2));
        assert_eq!(tree[path[1]].edges[0].p, 0.0, "a lost move has no prior left");
        // Its parent has other moves: only bounded by nothing, an open node; both earlier visits count as corrected.
        let open = &tree[path[1]];
        assert_eq!(open.terminal, Terminal::No);
        assert!((open.wl - 2.0 / 3.0).abs() < 1e-6, "{}", open.wl);
        assert!((tree[path[0]].wl + 2.0 / 4.0).abs() < 1e-6, "{}", tree[path[0]].wl);
    }

    #[test]
    fn a_node_whose_moves_all_lose_is_won_for_the_other() {
        let (mut tree, path) = line(2);
        let node = path[1];
        let moves: Vec<Move> = Game::new().current().legal_moves().into_iter().take(3).collect();
        tree[node].edges = edges(&moves, &[2.0, 1.0, 0.0], 1.0);
        for index in 0..3 {
            let child = tree.child(node, index);
            make_terminal(&mut tree, child, -1, index as f32, Terminal::End);
            let line = [path[0], node, child];
            visit(&mut tree, &line, Value { wl: -1.0, d: 0.0, m: index as f32 });
        }
        let won = &tree[node];
        // The longest resistance counts: two plies, and one to get there.
        assert_eq!((won.terminal, won.wl, won.m, won.bounds.is_win()), (Terminal::End, 1.0, 3.0, true));
        assert_eq!(tree[path[0]].terminal, Terminal::No, "the root is never proven");
    }

    #[test]
    fn a_draw_in_hand_bounds_the_opponent() {
        let (mut tree, path) = line(3);
        make_terminal(&mut tree, path[3], 0, 0.0, Terminal::End);
        visit(&mut tree, &path, Value { wl: 0.0, d: 1.0, m: 0.0 });
        assert_eq!(tree[path[2]].bounds, Bounds { lower: -1, upper: 0 });
        assert_eq!(tree[path[1]].bounds, Bounds::UNKNOWN);
    }

    #[test]
    fn cancelled_visits_leave_no_trace() {
        let (mut tree, path) = line(2);
        for id in &path {
            tree[*id].in_flight += 1;
        }
        cancel(&mut tree, &path);
        assert!(path.iter().all(|id| tree[*id].in_flight == 0));
    }
}
