//! Ranks the root's moves for the side to move.

use super::temperature::Choice;
use crate::search::context::SearchContext;
use crate::search::gather::puct::Selector;
use crate::search::root::observer::RootMove;
use crate::search::tree::Tree;
use crate::search::tree::edges::EdgeView;
use crate::search::tree::node::Node;
use crate::search::tree::packed_move::PackedMove;
use std::cmp::Ordering;

/// Reads and ranks the root's moves of a tree, from the side to move there.
pub(crate) struct RootReader<'a> {
    pub tree: &'a Tree,
    pub context: &'a SearchContext,
}

/// An expanded node with its children.
pub(crate) struct ExpandedNode<'a> {
    pub(crate) view: EdgeView<'a>,
    pub(crate) children: Vec<&'a Node>,
}

impl ExpandedNode<'_> {
    /// The child by the move with this index, if it was visited.
    pub(crate) fn visited(&self, index: usize) -> Option<&Node> {
        self.children.get(index).copied().filter(|child| child.n > 0)
    }

    /// The moves, packed.
    pub(crate) fn moves(&self) -> &[u16] {
        self.view.moves
    }
}

impl<'a> RootReader<'a> {
    pub(crate) fn new(tree: &'a Tree, context: &'a SearchContext) -> RootReader<'a> {
        RootReader { tree, context }
    }

    pub(crate) fn expanded(&self, node: &'a Node) -> Option<ExpandedNode<'a>> {
        let view = self.tree.view(node)?;
        Some(ExpandedNode { view, children: self.tree.children(&view, node).flatten().collect() })
    }

    pub(crate) fn root(&self) -> &'a Node {
        &self.tree[self.tree.root()]
    }

    /// The root and its moves; `None` before its first visit.
    pub(crate) fn expanded_root(&self) -> Option<ExpandedNode<'a>> {
        self.expanded(self.root())
    }

    /// The root's moves that may be searched, by their numbers in the order of the tree.
    pub(crate) fn allowed(&self, root: &ExpandedNode) -> Vec<usize> {
        (0..root.moves().len()).filter(|index| self.context.allows(root.moves()[*index])).collect()
    }

    /// The root's moves `moves`, with the counts and values that an observer sees.
    pub(crate) fn root_moves(&self, root: &ExpandedNode, moves: &[usize]) -> Vec<RootMove> {
        let draw = self.context.draw.at(1);
        let board = self.context.position().board();
        let root_move = |index: &usize| {
            let child = root.visited(*index);
            RootMove {
                mv: PackedMove(root.moves()[*index]).unpack(board),
                visits: child.map_or(0, |child| child.n),
                q: child.map(|child| child.q(draw)),
                prior: self.prior(root, *index),
            }
        };
        moves.iter().map(root_move).collect()
    }

    /// The root's moves from best to worst, without those that `go searchmoves` leaves out.
    pub(crate) fn ranked(&self) -> Vec<usize> {
        let Some(root) = self.expanded_root() else { return Vec::new() };
        let mut ranked = self.allowed(&root);
        ranked.sort_by(|a, b| self.compare(&root, 0, *a, *b));
        ranked
    }

    /// The best of the root moves `moves`.
    pub(crate) fn best_of(&self, root: &ExpandedNode, moves: &[usize]) -> Option<usize> {
        moves.iter().copied().min_by(|a, b| self.compare(root, 0, *a, *b))
    }

    /// `Less` when move `a` of the node is to be preferred to `b` (Lc0's order, docs/lc0.md, 3.6): mates (the shortest
    /// first), then wins by the tables, then open moves and draws by visits, value and prior, then losses by the tables
    /// and mates (the longest first).
    ///
    /// Lc0 also prefers the shorter of two drawn ends at any visits; that is no order (it contradicts the order by
    /// visits through an open move between them), so here it decides between equal visits and values.
    pub(crate) fn compare(&self, expanded: &ExpandedNode, depth: u32, a: usize, b: usize) -> Ordering {
        let (node_a, node_b) = (expanded.visited(a), expanded.visited(b));
        let rank = |node: Option<&Node>| match node {
            Some(node) if node.is_terminal() && node.wl != 0.0 => {
                (if node.is_played_out() { 2 } else { 1 }) * node.wl.signum() as i32
            }
            _ => 0,
        };
        // Plies to a proven result; all of a rank but 0 have them.
        let plies = |node: Option<&Node>| node.filter(|node| node.is_terminal()).map_or(f32::INFINITY, |node| node.m);
        let visits = |node: Option<&Node>| node.map_or(0, |node| node.n);
        let draw = self.context.draw.at(depth + 1);
        let q = |node: Option<&Node>| node.map_or(0.0, |node| node.q(draw));
        let shortest = plies(node_a).total_cmp(&plies(node_b));
        let within_rank = match rank(node_a) {
            1.. => shortest,
            ..=-1 => shortest.reverse(),
            _ => visits(node_b).cmp(&visits(node_a)).then(q(node_b).total_cmp(&q(node_a))).then(shortest),
        };
        let p = |index| expanded.view.p(index);
        rank(node_b).cmp(&rank(node_a)).then(within_rank).then(p(b).total_cmp(&p(a))).then(a.cmp(&b))
    }

    /// The root moves that may be searched: their indices in the tree, and their visits, values and priors.
    pub(crate) fn choices(&self) -> (Vec<usize>, Vec<Choice>) {
        let Some(root) = self.expanded_root() else { return (Vec::new(), Vec::new()) };
        let selector = self.selector();
        let unvisited = selector.unvisited(self.visited_policy(&root));
        let choice = |index: &usize| {
            let child = root.visited(*index);
            let q = child.map_or(unvisited, |child| child.q(selector.draw_score));
            Choice { n: child.map_or(0, |child| child.n), q, p: self.prior(&root, *index) }
        };
        let allowed = self.allowed(&root);
        let choices = allowed.iter().map(choice).collect();
        (allowed, choices)
    }

    /// The prior of a root move.
    pub(crate) fn prior(&self, root: &ExpandedNode, index: usize) -> f32 {
        self.tree.root_prior(&root.view, index, root.children.get(index).copied())
    }

    /// Sum of the priors of the root moves that were visited.
    pub(crate) fn visited_policy(&self, root: &ExpandedNode) -> f32 {
        (0..root.children.len())
            .filter(|index| root.visited(*index).is_some())
            .map(|index| self.prior(root, index))
            // The sum of nothing is -0, which would be printed.
            .fold(0.0, |sum, prior| sum + prior)
    }

    /// Whether the best-ranked move does not have the highest value: the search then wants more time.
    pub(crate) fn wants_more_time(&self, root: &ExpandedNode, allowed: &[usize], best: usize) -> bool {
        let selector = self.selector();
        let value = |index: usize| root.visited(index).map_or(f32::NEG_INFINITY, |child| selector.visited(child));
        // Equal values are no reason to think on.
        allowed.iter().any(|index| value(*index) > value(best))
    }

    pub(crate) fn selector(&self) -> Selector {
        let root = self.root();
        Selector::new(root, root.n, 0, &self.context.params, self.context.draw, self.context.has_moves_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::params::SearchParams;
    use crate::search::tree::node::{Terminal, Value};
    use crate::search::tree::terminal::{GameEnd, make_terminal};
    use zeitnot_backend::BackendSettings;
    use zeitnot_chess::Game;

    /// Sorting panics where the comparison is no order: a long search in a drawish endgame once died of it.
    #[test]
    fn ranking_is_an_order() {
        let game = Game::new();
        let mut tree = Tree::new(game.clone());
        let root = tree.root();
        let moves = game.current().legal_moves().len();
        tree.set_priors(root, &vec![255; moves]);
        tree.prepare_root(game.current());
        // Every mix of visits, results and lengths, the unvisited among them.
        for index in 0..moves - 1 {
            let child = tree.child(root, index);
            let (visits, m) = (1 + index as u32 % 3, (index * 7 % 5) as f32);
            tree[child].add_visits(Value { wl: 0.0, d: 1.0, m }, visits);
            let result = match index % 5 {
                0 => 1,
                1 => -1,
                2 | 3 => 0,
                _ => continue,
            };
            let kind = if index % 2 == 0 { Terminal::End } else { Terminal::Tablebase };
            make_terminal(&mut tree, child, Some((root, index)), GameEnd { result, m, kind });
        }
        let backend = zeitnot_backend::create("uniform", None, &BackendSettings::default()).unwrap();
        let mut context = SearchContext::of_test(SearchParams::LC0, backend, game);
        context.has_moves_left = true;
        let reader = RootReader::new(&tree, &context);
        let expanded = reader.expanded_root().unwrap();
        let before = |a, b| reader.compare(&expanded, 0, a, b).is_lt();
        let all = 0..moves;
        for a in all.clone() {
            for b in all.clone() {
                assert_eq!(before(a, b), reader.compare(&expanded, 0, b, a).is_gt(), "{a} {b}");
                for c in all.clone() {
                    assert!(!(before(a, b) && before(b, c)) || before(a, c), "{a} {b} {c}");
                }
            }
        }
        assert_eq!(reader.ranked().len(), moves);
        let score = |index: usize| reader.line(index).mate;
        let mates: Vec<i32> = reader.ranked().into_iter().filter_map(score).collect();
        let (won, lost): (Vec<i32>, Vec<i32>) = mates.iter().partition(|mate| **mate > 0);
        assert!(
            won.is_sorted() && won[0] < 100 && *won.last().unwrap() > 100,
            "a mate before what tables promise: {won:?}"
        );
        assert!(
            lost.is_sorted() && lost[0] < -100 && *lost.last().unwrap() > -100,
            "the other way when lost: {lost:?}"
        );
    }
}
