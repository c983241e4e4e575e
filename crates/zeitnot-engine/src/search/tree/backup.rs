//! Backs values up along the path of a visit, and proves results on the way (docs/lc0.md, 3.5).

use super::Tree;
use super::node::{Bounds, Node, NodeId, Terminal, Value};
use super::terminal::{GameEnd, make_terminal};

/// A node on the path of a visit, and the index of the move that led to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathEntry {
    pub node: NodeId,
    pub edge: u8,
}

/// Adds `visits` visits of `value` (for the player who moved into the leaf) along `path`, leaf first, and takes them
/// off the visits in flight. With `sticky`, a terminal node visited for the first time bounds its ancestors, the root
/// excepted; an ancestor that is thereby proven becomes terminal, and the visits it already had are corrected above it.
/// A node with a surplus of visits (see `allocation`) passes up its old value, moved towards the new one by the share
/// of its visits that came through it.
pub(crate) fn backup(tree: &mut Tree, path: &[PathEntry], value: Value, visits: u32, sticky: bool) {
    let Some(leaf) = path.first() else { return };
    let mut value = value;
    let mut bounding = sticky && tree[leaf.node].is_terminal() && tree[leaf.node].n == 0;
    let mut correction: Option<Correction> = None;
    for (index, entry) in path.iter().enumerate() {
        let before = tree[entry.node];
        let is_known_better = before.has_surplus() && !before.is_terminal();
        let n = before.n + visits;
        let all = if is_known_better { tree.known_visits(&before).max(n) } else { n };
        let node = &mut tree[entry.node];
        if node.is_terminal() {
            // It may have been proven from another descendant meanwhile.
            value = node.value();
        }
        node.add_visits_of(all, value, visits);
        node.in_flight -= visits;
        if let Some(correction) = &correction
            && !node.is_terminal()
        {
            node.adjust(correction.0, correction.1, all);
        }
        if is_known_better {
            let share = n as f32 / all as f32;
            value = before.value().towards(value, share);
            if let Some(correction) = &mut correction {
                correction.1 *= share;
            }
        }
        let Some(parent) = path.get(index + 1) else { break };
        if correction.is_some() && tree[parent.node].is_terminal() {
            correction = None;
        }
        // The root, the last of the path, is never proven.
        if bounding {
            bounding = path.get(index + 2).is_some_and(|above| {
                !tree[parent.node].is_terminal() && bound(tree, *parent, above.node, value.m, &mut correction)
            });
        }
        value = value.one_ply_up();
        if let Some(correction) = &mut correction {
            correction.0.wl = -correction.0.wl;
        }
    }
}

/// Correction of the nodes above a newly proven one: the change of its value, from the side to move at that node (`wl`
/// changes sign at each ply up), and the number of visits counted with the old value.
type Correction = (Value, f32);

/// Bounds the node of `entry`, whose parent is `above`, by its children's bounds. Returns whether they prove any bound.
/// `m`: plies left at the child just visited. A node that is proven sets `correction`.
fn bound(tree: &mut Tree, entry: PathEntry, above: NodeId, m: f32, correction: &mut Option<Correction>) -> bool {
    let before = tree[entry.node];
    let is_bounded = tree.prove(entry.node, Some((above, usize::from(entry.edge))), Some(m));
    let after = &tree[entry.node];
    if after.is_terminal() {
        let delta = Value { wl: -(after.wl - before.wl) as f32, d: after.d - before.d, m: after.m - before.m };
        *correction = Some((delta, before.n as f32));
    }
    is_bounded
}

/// Cancels visits: takes them off the visits in flight along `path`.
pub(crate) fn cancel(tree: &mut Tree, path: &[PathEntry], visits: u32) {
    for entry in path {
        tree[entry.node].in_flight -= visits;
    }
}

impl Tree {
    /// Bounds a node by what is proven of its moves, and makes it terminal where the bounds meet. Returns whether any
    /// bound is proven. `parent`: the move that leads to the node; `m`: plies left at the child just visited, `None`:
    /// the fewest of the best children.
    pub(super) fn prove(&mut self, id: NodeId, parent: Option<(NodeId, usize)>, m: Option<f32>) -> bool {
        let node = self[id];
        let Some(view) = self.view(&node) else { return false };
        // A move that was never tried may lead to anything.
        let untried = node.children < node.moves;
        // A mate beats what the tables say; everything else needs all of its parts.
        let (mut lower, mut upper, mut longest_loss, mut by_tables) =
            (-1, if untried { 1 } else { -1 }, 0.0_f32, false);
        for child in self.children(&view, &node).flatten() {
            let bounds = child.bounds();
            lower = lower.max(bounds.lower);
            upper = upper.max(bounds.upper);
            if bounds.is_win() && child.is_played_out() {
                by_tables = false;
                break;
            }
            if bounds.is_loss() {
                longest_loss = longest_loss.max(child.m);
            }
            by_tables |= child.terminal() == Terminal::Tablebase;
        }
        if (lower, upper) == (-1, 1) {
            return false;
        }
        if lower < upper {
            self[id].set_bounds(Bounds { lower: -upper, upper: -lower });
            return true;
        }
        let is_best = |child: &Node| child.is_terminal() && child.wl == f64::from(lower);
        let best = self.existing_children(&node).map(|child| self[child]).filter(is_best);
        let m = m.unwrap_or_else(|| best.map(|child| child.m).fold(f32::INFINITY, f32::min));
        let plies = if upper == -1 { longest_loss.max(m) } else { m };
        let kind = if by_tables { Terminal::Tablebase } else { Terminal::End };
        make_terminal(self, id, parent, GameEnd { result: -upper, m: plies + 1.0, kind });
        true
    }

    /// Takes all visits off those in flight: nobody waits any more for the batches that they belong to.
    pub(crate) fn forget_visits_in_flight(&mut self) {
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            if std::mem::take(&mut self[id].in_flight) == 0 {
                continue;
            }
            let node = self[id];
            open.extend(self.existing_children(&node));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_chess::Game;

    /// Codes of three priors, the first the largest.
    const THREE: [u8; 3] = [255, 200, 150];

    fn end(result: i8, m: f32) -> GameEnd {
        GameEnd { result, m, kind: Terminal::End }
    }

    /// Leaf first.
    fn hops(path: &[NodeId]) -> Vec<PathEntry> {
        path.iter().rev().map(|node| PathEntry { node: *node, edge: 0 }).collect()
    }

    fn give_moves(tree: &mut Tree, id: NodeId) {
        tree.set_priors(id, &THREE);
        tree.expand(id);
    }

    /// A root with a line of children below it, three moves each, every node of it visited once with value 0.
    fn line(length: usize) -> (Tree, Vec<NodeId>) {
        let mut tree = Tree::new(Game::new());
        let mut path = vec![tree.root()];
        for _ in 0..length {
            let id = *path.last().unwrap();
            give_moves(&mut tree, id);
            visit(&mut tree, &hops(&path), Value::default());
            path.push(tree.child(id, 0));
        }
        (tree, path)
    }

    fn visit(tree: &mut Tree, path: &[PathEntry], value: Value) {
        for entry in path {
            tree[entry.node].in_flight += 1;
        }
        backup(tree, path, value, 1, true);
    }

    #[test]
    fn values_flip_and_moves_left_grow_on_the_way_up() {
        let (mut tree, path) = line(2);
        visit(&mut tree, &hops(&path), Value { wl: 0.5, d: 0.25, m: 10.0 });
        // The root: two visits of 0 with m 0 and 1, and this one seen from its side, two plies further.
        let root = &tree[path[0]];
        assert_eq!((root.n, root.in_flight), (3, 0));
        assert!((root.wl - 0.5 / 3.0).abs() < 1e-6 && (root.m - 13.0 / 3.0).abs() < 1e-5);
        let child = &tree[path[1]];
        assert!((child.wl + 0.25).abs() < 1e-6 && (child.m - 5.5).abs() < 1e-6);
    }

    #[test]
    fn several_visits_count_as_so_many() {
        let (mut tree, path) = line(1);
        for id in &path {
            tree[*id].in_flight += 3;
        }
        backup(&mut tree, &hops(&path), Value { wl: 1.0, d: 0.0, m: 0.0 }, 3, true);
        assert_eq!((tree[path[0]].n, tree[path[0]].in_flight, tree[path[0]].wl), (4, 0, -0.75));
    }

    #[test]
    fn a_mate_proves_the_move_before_it_lost() {
        let (mut tree, path) = line(3);
        make_terminal(&mut tree, path[3], Some((path[2], 0)), end(1, 0.0));
        visit(&mut tree, &hops(&path), Value { wl: 1.0, d: 0.0, m: 0.0 });
        let lost = &tree[path[2]];
        assert_eq!((lost.terminal(), lost.wl, lost.m, lost.n), (Terminal::End, -1.0, 1.0, 2));
        let open = &tree[path[1]];
        assert_eq!(tree.view(open).unwrap().p(0), 0.0, "a lost move has no prior left");
        // Its parent has other moves: only bounded by nothing, an open node; both earlier visits count as corrected.
        assert_eq!(open.terminal(), Terminal::No);
        assert!((open.wl - 2.0 / 3.0).abs() < 1e-6, "{}", open.wl);
        assert!((tree[path[0]].wl + 2.0 / 4.0).abs() < 1e-6, "{}", tree[path[0]].wl);
    }

    #[test]
    fn what_tables_help_to_prove_is_no_mate() {
        let proven_by = |kinds: &[(i8, Terminal)]| {
            let (mut tree, path) = line(2);
            let node = path[1];
            for (index, (result, kind)) in kinds.iter().enumerate() {
                let child = tree.child(node, index);
                make_terminal(&mut tree, child, Some((node, index)), GameEnd { result: *result, m: 2.0, kind: *kind });
                let value = Value { wl: f32::from(*result), d: 0.0, m: 2.0 };
                visit(&mut tree, &hops(&[path[0], node, child]), value);
            }
            (tree[node].terminal(), tree[node].wl)
        };
        let (end, tables) = (Terminal::End, Terminal::Tablebase);
        assert_eq!(proven_by(&[(1, tables)]), (tables, -1.0));
        assert_eq!(proven_by(&[(1, end)]), (end, -1.0));
        assert_eq!(proven_by(&[(-1, end), (-1, tables), (-1, end)]), (tables, 1.0));
        assert_eq!(proven_by(&[(-1, tables), (0, end), (-1, end)]), (tables, 0.0));
        assert_eq!(proven_by(&[(-1, tables), (1, end)]), (end, -1.0), "a mate needs no tables");
    }

    #[test]
    fn a_node_whose_moves_all_lose_is_won_for_the_other() {
        let (mut tree, path) = line(2);
        let node = path[1];
        give_moves(&mut tree, node);
        for index in 0..3 {
            let child = tree.child(node, index);
            make_terminal(&mut tree, child, Some((node, index)), end(-1, index as f32));
            let line = hops(&[path[0], node, child]);
            visit(&mut tree, &line, Value { wl: -1.0, d: 0.0, m: index as f32 });
        }
        let won = &tree[node];
        // The longest resistance counts: two plies, and one to get there.
        assert_eq!((won.terminal(), won.wl, won.m, won.bounds().is_win()), (Terminal::End, 1.0, 3.0, true));
        assert_eq!(tree[path[0]].terminal(), Terminal::No, "the root is never proven");
    }

    #[test]
    fn a_draw_in_hand_bounds_the_opponent() {
        let (mut tree, path) = line(3);
        make_terminal(&mut tree, path[3], Some((path[2], 0)), end(0, 0.0));
        visit(&mut tree, &hops(&path), Value { wl: 0.0, d: 1.0, m: 0.0 });
        assert_eq!(tree[path[2]].bounds(), Bounds { lower: -1, upper: 0 });
        assert_eq!(tree[path[1]].bounds(), Bounds::UNKNOWN);
    }

    #[test]
    fn visits_in_flight_are_forgotten_on_every_way() {
        let (mut tree, path) = line(3);
        let aside = tree.child(path[1], 2);
        for id in path.iter().chain([&path[0], &path[1], &aside]) {
            tree[*id].in_flight += 2;
        }
        tree.forget_visits_in_flight();
        assert!(path.iter().chain([&aside]).all(|id| tree[*id].in_flight == 0));
    }

    #[test]
    fn cancelled_visits_leave_no_trace() {
        let (mut tree, path) = line(2);
        for id in &path {
            tree[*id].in_flight += 2;
        }
        cancel(&mut tree, &hops(&path), 2);
        assert!(path.iter().all(|id| tree[*id].in_flight == 0));
    }
}
