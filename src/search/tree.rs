//! The tree: an arena of nodes whose root follows the game.

use super::node::{Bounds, Node, NodeId, Terminal, Value};
use crate::chess::{Game, Move};
use std::ops::{Index, IndexMut};

/// The search tree. It outlives a search: when the game goes on, the part below the moves played is kept.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Roots of subtrees that are not needed any more. Their nodes are taken apart one by one as new ones are made:
    /// starting a move costs the same however much of the tree it gives up.
    abandoned: Vec<NodeId>,
    root: NodeId,
    game: Game,
}

impl Index<NodeId> for Tree {
    type Output = Node;
    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl IndexMut<NodeId> for Tree {
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }
}

impl Tree {
    /// An empty tree at the end of `game`.
    pub fn new(game: Game) -> Tree {
        Tree { nodes: vec![Node::new(None, 0)], free: Vec::new(), abandoned: Vec::new(), root: NodeId(0), game }
    }

    /// The game at whose end the root stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Visits of the root: what a new search finds.
    pub fn visits(&self) -> u32 {
        self[self.root].n
    }

    /// Plies the game is expected to go on from the root; `None` before the first visit.
    pub fn moves_left(&self) -> Option<f64> {
        (!self.is_empty()).then(|| f64::from(self[self.root].m))
    }

    /// Whether nothing was searched yet.
    pub fn is_empty(&self) -> bool {
        self.visits() == 0
    }

    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    /// Moves the root to the end of `game`, keeping what lies below it. Returns whether it was the same game going on:
    /// the same start position, and all the moves of the old game followed by none or more new ones.
    pub fn follow(&mut self, game: Game) -> bool {
        let (old, new) = (&self.game, &game);
        let same = old.positions()[0].key() == new.positions()[0].key()
            && old.positions()[0].rule50() == new.positions()[0].rule50()
            && new.moves().starts_with(old.moves());
        if !same {
            self.reset(game);
            return false;
        }
        let played = game.moves()[self.game.moves().len()..].to_vec();
        for mv in played {
            self.descend(mv);
        }
        self.game = game;
        if self[self.root].is_terminal() {
            self.reopen(self.root);
        }
        true
    }

    /// Starts anew at the end of `game`. The old nodes are freed in the background: that takes a second for some millions.
    pub fn reset(&mut self, game: Game) {
        let old = std::mem::replace(self, Tree::new(game));
        // Without a thread to do it they are freed here.
        let _ = std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(old));
    }

    /// Makes the child by `mv` the root and abandons the rest.
    fn descend(&mut self, mv: Move) {
        let old = self.root;
        let edges = std::mem::take(&mut self[old].edges);
        let next = edges.iter().find(|edge| edge.mv == mv).and_then(|edge| edge.child);
        self.abandoned.extend(edges.iter().filter_map(|edge| edge.child).filter(|child| Some(*child) != next));
        match next {
            Some(next) => {
                self[next].parent = None;
                self.free.push(old);
                self.root = next;
            }
            None => self[old] = Node::new(None, 0),
        }
    }

    /// A slot for a new node: one given back, one of an abandoned subtree, or a new one.
    fn slot(&mut self, node: Node) -> NodeId {
        let used = self.free.pop().or_else(|| {
            let id = self.abandoned.pop()?;
            let edges = std::mem::take(&mut self[id].edges);
            self.abandoned.extend(edges.iter().filter_map(|edge| edge.child));
            Some(id)
        });
        if let Some(id) = used {
            self[id] = node;
            return id;
        }
        self.nodes.push(node);
        NodeId(u32::try_from(self.nodes.len() - 1).expect("visits are limited to 4e9, nodes are fewer"))
    }

    /// The child by that edge, made if it is not there yet.
    pub(super) fn child(&mut self, parent: NodeId, edge_index: usize) -> NodeId {
        if let Some(child) = self[parent].edges[edge_index].child {
            return child;
        }
        let id = self.slot(Node::new(Some(parent), edge_index as u16));
        self[parent].edges[edge_index].child = Some(id);
        id
    }

    /// A terminal that is not one any more: a root, which has to be searched, or a two-fold draw whose first occurrence
    /// is now above the root. Its values come from its children again, if it has any.
    fn reopen(&mut self, id: NodeId) {
        let node = &mut self[id];
        node.terminal = Terminal::No;
        node.bounds = Bounds::UNKNOWN;
        (node.wl, node.d, node.m, node.n) = (0.0, 0.0, 0.0, 0);
        if node.edges.is_empty() {
            return;
        }
        let children: Vec<NodeId> = node.edges.iter().filter_map(|edge| edge.child).collect();
        let (mut sum, mut visits) = ((0.0, 0.0, 0.0), 0);
        for child in children {
            let child = &self[child];
            let n = f64::from(child.n);
            sum.0 -= child.wl * n;
            sum.1 += f64::from(child.d) * n;
            sum.2 += (f64::from(child.m) + 1.0) * n;
            visits += child.n;
        }
        let node = &mut self[id];
        // The node's own first visit counts again, but its network value is not kept: the children's mean stands for it.
        node.n = visits + 1;
        if visits > 0 {
            let n = f64::from(visits);
            (node.wl, node.d, node.m) = (sum.0 / n, (sum.1 / n) as f32, (sum.2 / n) as f32);
        }
    }

    /// Makes a two-fold draw an open node when the root has passed its first occurrence, and takes its visits out of the
    /// path above it. `depth` is the node's distance from the root in plies.
    pub(super) fn reopen_stale_repetition(&mut self, id: NodeId, depth: u32) {
        let node = &self[id];
        if node.terminal != Terminal::TwoFold || depth as f32 >= node.m {
            return;
        }
        let visits = node.n;
        let mut value = Value { wl: node.wl as f32, d: node.d, m: node.m };
        let mut next = node.parent;
        while let Some(above) = next {
            value = value.one_ply_up();
            self[above].remove_visits(value, visits);
            next = self[above].parent;
        }
        self.reopen(id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::Edge;
    use super::*;

    fn give_edges(tree: &mut Tree, id: NodeId, game: &Game) {
        let moves = game.current().legal_moves();
        let p = 1.0 / moves.len() as f32;
        tree[id].edges = moves.into_iter().map(|mv| Edge { mv, p, child: None }).collect();
    }

    /// Nodes below and at `id`.
    fn size(tree: &Tree, id: NodeId) -> usize {
        1 + tree[id].edges.iter().filter_map(|edge| edge.child).map(|child| size(tree, child)).sum::<usize>()
    }

    fn grown() -> Tree {
        let mut tree = Tree::new(Game::new());
        let game = Game::new();
        let root = tree.root();
        give_edges(&mut tree, root, &game);
        tree[root].n = 8;
        for index in 0..3 {
            let child = tree.child(root, index);
            tree[child].add_visits(Value { wl: 0.5, d: 0.25, m: 9.0 }, 2);
            let mut below = game.clone();
            below.push(tree[root].edges[index].mv);
            give_edges(&mut tree, child, &below);
            tree.child(child, 0);
        }
        tree
    }

    #[test]
    fn the_root_follows_the_game_and_the_rest_is_recycled() {
        let mut tree = grown();
        assert_eq!(size(&tree, tree.root()), 7);
        let mv = tree[tree.root()].edges[1].mv;
        let mut game = Game::new();
        game.push(mv);
        assert!(tree.follow(game.clone()));
        assert_eq!((size(&tree, tree.root()), tree.visits()), (2, 2));
        let slots = tree.nodes.len();
        let root = tree.root();
        for index in 1..6 {
            tree.child(root, index);
        }
        assert_eq!(tree.nodes.len(), slots, "the five nodes given up are used again");
        assert!(tree.free.is_empty() && tree.abandoned.is_empty());
        assert_eq!(size(&tree, root), 7, "and each once");
        // The same position again changes nothing; an unsearched move or another game starts anew.
        assert!(tree.follow(game.clone()) && tree.visits() == 2);
        game.push_uci("h7h5").unwrap();
        assert!(tree.follow(game) && tree.is_empty() && size(&tree, tree.root()) == 1);
        assert!(!tree.follow(Game::new()) && tree.is_empty());
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
        let mv = tree[tree.root()].edges[0].mv;
        let child = tree.child(tree.root(), 0);
        let grandchild = tree.child(child, 0);
        tree[grandchild].add_visits(Value { wl: 1.0, d: 0.0, m: 3.0 }, 4);
        tree[child].make_terminal(-1, 4.0, Terminal::End);
        let mut game = Game::new();
        game.push(mv);
        assert!(tree.follow(game));
        let root = &tree[tree.root()];
        assert_eq!((root.terminal, root.n, root.wl, root.m), (Terminal::No, 5, -1.0, 4.0));
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
        tree.reopen_stale_repetition(draw, 4);
        assert_eq!(tree[draw].terminal, Terminal::TwoFold, "deep enough below the root, it stays a draw");
        let before = (tree[child].n, tree[root].n);
        tree.reopen_stale_repetition(draw, 2);
        assert_eq!((tree[child].n, tree[root].n), (before.0 - 3, before.1 - 3));
        assert_eq!((tree[draw].n, tree[draw].terminal), (0, Terminal::No));
    }
}
