//! Makes the tree a graph: positions that several moves lead to share their statistics and the subtree below them
//! (`Transpositions`; docs/lc0.md, 3.9; Wu, "Monte-Carlo graph search from first principles", in the documents of
//! KataGo).
//!
//! A node is then a move: it counts the visits that went through it and has the value of its position as of the last of
//! them, and it is linked to the *shared position*, another node with a record behind it (see `position_table`), which
//! has the value, the moves and the children. A position is found by its board and its fifty-move counter. The counter
//! grows from a position to those below it unless a capture or pawn move makes return impossible, so that there are no
//! cycles.
//!
//! - The value of a position is the mean of the network's own opinion and of its moves, each by the visits through it.
//!   A backup does not hand a value up but what it changes in the sum: a move's visits are all worth what its position
//!   is worth now, the earlier ones included. So a move catches up with what was found out by other ways whenever a
//!   visit passes it, and nothing is counted twice. Where each position has one way to it this is the arithmetic of the
//!   tree.
//! - A move that is found to lead to a known position takes its value, without the network. A visit ends at a
//!   move whose position is by now worth something else than the move ([`LAG`], [`LAG_PLIES`]), or is proven.
//! - PUCT counts the visits through moves; its growth (cpuct) and first-play urgency go by the position's.
//! - Whether a position repeats another depends on the way to it. So it is looked up on every way, never kept in what
//!   is shared and never taken for proven: such a visit counts as a draw for the move it came by, which remembers how
//!   many of its visits did. What is shared above it is the mean over the ways that were taken: that much of the
//!   dependence on the history remains, as in Lc0 and KataGo. Proven ends (mates, the counter, three-folds with the
//!   game itself, what endgame tables say) depend on the position alone, and are shared as such.
//!
//! Left out: the network's opinion is that of the first way (its planes show seven earlier positions), as with the
//! cache; positions that differ in the counter alone are not shared; a move whose position was visited by other ways is
//! not corrected before a visit passes it.

use super::backup::{Below, PathEntry, bounds_below};
use super::node::{Bounds, Node, NodeId, Value};
use super::position_table::{self, Identity, Record, SharedPositions};
use super::terminal::{GameEnd, make_terminal};
use super::{PreviousRoot, Tree};

/// Difference of win minus loss or of the draw probability between a move and its position from which on a visit ends
/// at the move (Lc0's, docs/lc0.md, 3.9).
const LAG: f32 = 0.01;

/// Difference of the plies left from which on a visit likewise ends at the move.
const LAG_PLIES: f32 = 2.0;

/// Fewest plies since the last capture or pawn move at which a position can repeat another.
const SHORTEST_CYCLE: u32 = 4;

/// The value of a repetition.
const DRAW: Value = Value { wl: 0.0, d: 1.0, m: 0.0 };

impl Tree {
    /// Sets whether positions that several moves lead to share their statistics, and whether those that were searched
    /// are kept, which then share them, too. A tree of another kind is given up.
    pub(crate) fn take_kind(&mut self, share: bool, forest: bool) {
        if !self.is_kind(share, forest) {
            self.shared = (share || forest).then(SharedPositions::default);
            self.kept = forest.then(Vec::new);
            self.reset(self.game.clone());
        }
    }

    /// Whether the tree is of the kind that [`Tree::take_kind`] names.
    pub(crate) fn is_kind(&self, share: bool, forest: bool) -> bool {
        self.shared.is_some() == (share || forest) && self.kept.is_some() == forest
    }

    /// The node that has the moves of the position to which `node` leads.
    pub(crate) fn place<'a>(&'a self, node: &'a Node) -> &'a Node {
        node.link().map_or(node, |position| &self[position])
    }

    fn record(&self, position: NodeId) -> &Record {
        position_table::record(&self.nodes, position)
    }

    /// The network's own opinion of a position, if it is kept.
    pub(crate) fn own_value(&self, id: NodeId) -> Option<Value> {
        (self.shared.is_some() && id != self.home).then(|| self.record(id).own())
    }

    /// Links a node to its shared position, which is made if it is not known.
    pub(crate) fn link(&mut self, id: NodeId, identity: Identity) -> NodeId {
        if let Some(position) = self[id].link() {
            return position;
        }
        let known = self.shared.as_ref().and_then(|shared| shared.table.find(&self.nodes, identity));
        let position = known.unwrap_or_else(|| self.new_position(identity));
        position_table::record_mut(&mut self.nodes, position).references += 1;
        self[id].at = position.0;
        position
    }

    /// Takes an owner off a shared position; the position is freed with its last owner.
    pub(crate) fn release_position(&mut self, position: NodeId) {
        let record = position_table::record_mut(&mut self.nodes, position);
        record.references -= 1;
        if record.references > 0 {
            return;
        }
        if let Some(shared) = &mut self.shared {
            shared.table.remove(&mut self.nodes, position);
        }
        let node = self[position];
        self.discard(node);
        self.nodes.give(position.0, position_table::RUN);
    }

    /// Makes the position after the root move `next`, which follows `plies` moves, the root; the old root is kept as
    /// the previous one. Where the position was pruned, it is left to its other owners, and the root starts anew.
    pub(crate) fn root_at(&mut self, next: Option<NodeId>, plies: usize) {
        let of_use = |position: &NodeId| self[*position].n > 0 && !self[*position].is_pruned();
        let next = next.and_then(|next| self[next].link()).filter(of_use);
        let old = self.root;
        let node = self[old];
        self.root = next.unwrap_or(self.home);
        if let Some(position) = next {
            position_table::record_mut(&mut self.nodes, position).references += 1;
        }
        let home = self.home;
        self[home] = Node::new();
        // The previous root now owns the position that was owned as the root.
        self.previous_root = Some(if old == home {
            PreviousRoot { node, child: None, position: None, plies }
        } else {
            PreviousRoot { node: Node::new(), child: None, position: Some(old), plies }
        });
    }

    /// Makes the previous root the root again.
    pub(crate) fn root_back_at(&mut self, previous_root: PreviousRoot) {
        let (old, home) = (self.root, self.home);
        let node = std::mem::replace(&mut self[home], previous_root.node);
        self.root = previous_root.position.unwrap_or(home);
        if old == home { self.discard(node) } else { self.release_position(old) }
    }

    /// Notes which boards of the game can return, for [`Tree::repeats`].
    pub(crate) fn note_history(&mut self) {
        let Some(shared) = &mut self.shared else { return };
        let run = self.game.current().rule50() as usize;
        let earlier = self.game.positions().iter().rev().skip(1).take(run);
        (shared.history, shared.twice) = (Vec::new(), Vec::new());
        for position in earlier {
            let board = position.key();
            if shared.history.contains(&board) {
                shared.twice.push(board);
            } else {
                shared.history.push(board);
            }
        }
    }

    /// Whether a shared position is drawn by repetition on the way of a visit. `above`: the positions from its parent
    /// up to the root. `two_fold`: one earlier occurrence from the root on is enough.
    pub(crate) fn repeats(&self, position: NodeId, above: impl Iterator<Item = NodeId>, two_fold: bool) -> bool {
        let (Some(shared), Identity { board, rule50 }) = (&self.shared, self.record(position).identity()) else {
            return false;
        };
        if rule50 < SHORTEST_CYCLE {
            return false;
        }
        let mut found = 0;
        // Only every other position has the same side to move.
        for above in above.take(rule50 as usize).skip(SHORTEST_CYCLE as usize - 1).step_by(2) {
            let above =
                if above == self.home { self.game.current().key() } else { self.record(above).identity().board };
            found += u32::from(above == board);
            if found == 2 || found == 1 && two_fold {
                return true;
            }
        }
        found == 1 && shared.history.contains(&board) || shared.twice.contains(&board)
    }

    /// Forgets the repetitions of a node whose position has occurred in the game before the root: they were counted
    /// while that occurrence was still below the root.
    pub(crate) fn forget_stale_repeats(&mut self, id: NodeId, position: NodeId) {
        let Some(shared) = &self.shared else { return };
        if self[id].repeats() > 0 && shared.history.contains(&self.record(position).identity().board) {
            self[id].set_repeats(0);
        }
    }

    /// Whether a node's shared position has by now another value than the node, or more is proven of it.
    pub(crate) fn lags(&self, id: NodeId, position: NodeId) -> bool {
        let (node, position) = (&self[id], &self[position]);
        if position.n == 0 || node.n == 0 {
            return position.n > 0;
        }
        let (value, now) = (node.value(), blend(node, position));
        node.bounds() != position.bounds()
            || position.is_terminal()
            || (value.wl - now.wl).abs() >= LAG
            || (value.d - now.d).abs() >= LAG
            || (value.m - now.m).abs() >= LAG_PLIES
    }
}

/// The value of the visits through a node: a draw for those that repeated a position, else the value of its position.
fn blend(node: &Node, position: &Node) -> Value {
    if position.n == 0 {
        return DRAW;
    }
    let share = (node.repeats() as f32 / node.n as f32).min(1.0);
    let mix = |value: f32, draw: f32| value + share * (draw - value);
    Value { wl: mix(position.wl as f32, DRAW.wl), d: mix(position.d, DRAW.d), m: mix(position.m, DRAW.m) }
}

/// The result of a visit at its leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    /// The network's opinion of the leaf's position.
    Opinion(Value),
    /// A position that is known, or a proven end.
    Known,
    /// A repetition of a position on the way.
    Repetition,
}

/// The visits of a node times their value, as a sum.
#[derive(Clone, Copy)]
struct Sum {
    wl: f64,
    d: f64,
    m: f64,
}

impl Sum {
    fn of(node: &Node) -> Sum {
        let n = f64::from(node.n);
        Sum { wl: node.wl * n, d: f64::from(node.d) * n, m: f64::from(node.m) * n }
    }
}

/// Adds `visits` visits along `path`, leaf first, and takes them off the visits in flight. With `sticky`, proven
/// results bound the positions above, the root excepted.
pub(crate) fn backup(tree: &mut Tree, path: &[PathEntry], found: Found, visits: u32, sticky: bool) {
    let Some(leaf) = path.first() else { return };
    if leaf.position != leaf.node || path.len() == 1 {
        tree[leaf.position].in_flight -= visits;
    }
    if let Found::Opinion(value) = found {
        if tree[leaf.position].n == 0 && leaf.position != tree.home {
            position_table::record_mut(&mut tree.nodes, leaf.position).set_own(value);
        }
        tree[leaf.position].add_visits(value, visits);
    }
    let mut repeats = if found == Found::Repetition { visits } else { 0 };
    for (index, hops) in path.windows(2).enumerate() {
        let [entry, parent] = hops else { break };
        let before = tree[entry.node];
        let first_end = before.n == 0 && before.is_terminal();
        tree[entry.node].in_flight -= visits;
        count(tree, *entry, parent.position, visits, std::mem::take(&mut repeats), sticky);
        let after = tree[entry.node];
        // What was proven while its parent was a root of a forest did not bound that one.
        let is_open = after.is_terminal() && !tree[parent.position].is_terminal();
        let news = sticky && (first_end || before.bounds() != after.bounds() || is_open);
        let (old, new) = (Sum::of(&before), Sum::of(&after));
        let position = &mut tree[parent.position];
        position.in_flight -= visits;
        let n = position.n;
        position.n += visits;
        if !position.is_terminal() {
            let (n, all) = (f64::from(n), f64::from(n + visits));
            position.wl = (position.wl * n - (new.wl - old.wl)) / all;
            position.d = ((f64::from(position.d) * n + new.d - old.d) / all) as f32;
            position.m = ((f64::from(position.m) * n + new.m - old.m + f64::from(visits)) / all) as f32;
            let is_root = index + 2 == path.len();
            if news && !is_root {
                bound(tree, parent.position, after.m);
            }
        }
    }
}

/// Adds visits to a node, a move of the position `parent`, and takes over its shared position's value and bounds.
fn count(tree: &mut Tree, entry: PathEntry, parent: NodeId, visits: u32, repeats: u32, sticky: bool) {
    let node = &mut tree[entry.node];
    node.n += visits;
    if node.is_terminal() {
        return;
    }
    let Some(link) = node.link() else { return };
    node.set_repeats(node.repeats().saturating_add(repeats));
    let position = tree[link];
    if sticky && position.is_terminal() {
        let end = GameEnd { result: position.wl as i8, m: position.m, kind: position.terminal() };
        make_terminal(tree, entry.node, Some((parent, usize::from(entry.edge))), end);
        return;
    }
    let node = &mut tree[entry.node];
    if sticky {
        node.set_bounds(position.bounds());
    }
    if node.repeats() == 0 && position.n > 0 {
        (node.wl, node.d, node.m) = (position.wl, position.d, position.m);
    } else {
        let value = blend(node, &position);
        (node.wl, node.d, node.m) = (f64::from(value.wl), value.d, value.m);
    }
}

/// Bounds a position by what is proven of its moves; `m`: plies left after the one just visited.
fn bound(tree: &mut Tree, id: NodeId, m: f32) {
    let Some(below) = bounds_below(tree, &tree[id]) else { return };
    let Below { lower, upper, .. } = below;
    if lower < upper {
        tree[id].set_bounds(Bounds { lower: -upper, upper: -lower });
        return;
    }
    make_terminal(tree, id, None, below.end(m));
}

#[cfg(test)]
#[path = "transpositions_tests.rs"]
pub(super) mod tests;
