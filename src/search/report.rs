//! What a search says of itself: statistics of the root's moves, the best line, the score.

use super::node::{Node, NodeId};
use super::params::SearchParams;
use super::puct::{DrawScore, Selector, visited_policy};
use super::tree::Tree;
use crate::chess::Move;
use std::cmp::Ordering;

/// One line of analysis: a root move, where it leads and what it is worth to the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The moves, the root's first.
    pub moves: Vec<Move>,
    /// Win minus loss, -1 to 1.
    pub wl: f32,
    /// Draw probability, 0 to 1.
    pub d: f32,
    /// Win minus loss with draws counted by `DrawScore`.
    pub q: f32,
    /// Plies left from the root; `None` when the network does not say.
    pub m: Option<f32>,
    /// Moves to mate, negative when being mated; only for proven results.
    pub mate: Option<i32>,
    /// Visits of the root move.
    pub visits: u32,
}

/// The state of a search at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Mean depth of the visits of this search, in plies.
    pub depth: u32,
    /// Greatest depth, in plies.
    pub seldepth: u32,
    /// Since the clock of the move started, in milliseconds.
    pub elapsed_ms: f64,
    /// Visits of the root, those found in the reused tree included.
    pub nodes: u64,
    /// Visits of this search.
    pub playouts: u64,
    /// Playouts a second since the first batch ended; `None` before.
    pub nps: Option<f64>,
    /// Share of the evaluation cache in use, in permille.
    pub hashfull: Option<u32>,
    /// The best lines, best first; as many as asked for.
    pub lines: Vec<Line>,
}

/// Statistics of a root move (or of the root itself), as `VerboseMoveStats` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveStats {
    /// The move; `None` for the root itself.
    pub mv: Option<Move>,
    /// Visits.
    pub n: u32,
    /// Visits on their way.
    pub in_flight: u32,
    /// Prior; for the root the prior visited so far.
    pub p: f32,
    /// Win minus loss for the side to move at the root; `None` before the first visit.
    pub wl: Option<f32>,
    /// Draw probability.
    pub d: Option<f32>,
    /// Plies left.
    pub m: Option<f32>,
    /// Value with the draw score; the first-play urgency before the first visit.
    pub q: f32,
    /// Exploration term; `None` for the root.
    pub u: Option<f32>,
    /// Q + U + moves-left utility; `None` for the root.
    pub s: Option<f32>,
    /// The value of the move's own position: the network's from the cache, or the result of a terminal.
    pub v: Option<f32>,
    /// The worst and the best result still possible for the side to move at the root: 1 win, 0 draw, -1 loss. Equal when
    /// the result is proven.
    pub bounds: (i8, i8),
    /// Moves the node has (the root's line prints it).
    pub edges: usize,
}

/// Reads a tree for its root's side to move.
pub(super) struct Reader<'a> {
    pub tree: &'a Tree,
    pub params: &'a SearchParams,
    pub draw: DrawScore,
    pub has_moves_left: bool,
    pub search_moves: &'a [Move],
}

impl Reader<'_> {
    /// The root's edges from best to worst; `go searchmoves` leaves the others out.
    pub fn ranked(&self) -> Vec<usize> {
        let edges = &self.tree[self.tree.root()].edges;
        let allowed = |index: &usize| self.search_moves.is_empty() || self.search_moves.contains(&edges[*index].mv);
        let mut ranked: Vec<usize> = (0..edges.len()).filter(allowed).collect();
        ranked.sort_by(|a, b| self.compare(self.tree.root(), 0, *a, *b));
        ranked
    }

    /// The edge to play at a node: Lc0's order (lc0.md C.7).
    fn best_edge(&self, id: NodeId, depth: u32) -> Option<usize> {
        (0..self.tree[id].edges.len()).min_by(|a, b| self.compare(id, depth, *a, *b))
    }

    /// `Less` when edge `a` of the node is to be preferred to `b`: proven wins (the shortest first), then open moves and
    /// draws by visits, value and prior, then proven losses (the longest first).
    ///
    /// Lc0 also prefers the shorter of two drawn ends whatever their visits; that is no order (it contradicts the order by
    /// visits through an open move between them), so here it decides between equal visits and values.
    fn compare(&self, id: NodeId, depth: u32, a: usize, b: usize) -> Ordering {
        let edges = &self.tree[id].edges;
        let child = |index: usize| edges[index].child.map(|child| &self.tree[child]).filter(|child| child.n > 0);
        let (node_a, node_b) = (child(a), child(b));
        let rank = |node: Option<&Node>| match node {
            Some(node) if node.is_terminal() && node.wl != 0.0 => node.wl.signum() as i32,
            _ => 0,
        };
        // Plies to a proven result; all of a rank but 0 have them.
        let plies = |node: Option<&Node>| node.filter(|node| node.is_terminal()).map_or(f32::INFINITY, |node| node.m);
        let visits = |node: Option<&Node>| node.map_or(0, |node| node.n);
        let draw = self.draw.at(depth + 1);
        let q = |node: Option<&Node>| node.map_or(0.0, |node| node.q(draw));
        let shortest = plies(node_a).total_cmp(&plies(node_b));
        let within_rank = match rank(node_a) {
            1 => shortest,
            -1 => shortest.reverse(),
            _ => visits(node_b).cmp(&visits(node_a)).then(q(node_b).total_cmp(&q(node_a))).then(shortest),
        };
        rank(node_b).cmp(&rank(node_a)).then(within_rank).then(edges[b].p.total_cmp(&edges[a].p)).then(a.cmp(&b))
    }

    /// The line that starts with the root's edge.
    pub fn line(&self, edge_index: usize) -> Line {
        let root = self.tree.root();
        let mut moves = Vec::new();
        let (mut id, mut index, mut depth) = (root, Some(edge_index), 0);
        while let Some(edge) = index.map(|index| &self.tree[id].edges[index]) {
            moves.push(edge.mv);
            let Some(child) = edge.child.filter(|child| self.tree[*child].n > 0) else { break };
            id = child;
            depth += 1;
            index = self.best_edge(id, depth);
        }
        let child = self.tree[root].edges[edge_index].child.map(|child| &self.tree[child]).filter(|child| child.n > 0);
        // Before its first visit a move is worth what its parent is.
        let (node, sign) = child.map_or((&self.tree[root], -1.0), |child| (child, 1.0));
        let mate = |plies: f32| (plies.round() as i32 / 2 + 1) * if node.wl > 0.0 { 1 } else { -1 };
        Line {
            moves,
            wl: sign * node.wl as f32,
            d: node.d,
            q: sign * node.q(sign * self.draw.at(1)),
            m: self.has_moves_left.then_some(node.m + if child.is_some() { 1.0 } else { 0.0 }),
            mate: child.filter(|child| child.is_terminal() && child.wl != 0.0).map(|child| mate(child.m)),
            visits: child.map_or(0, |child| child.n),
        }
    }

    /// Whether the most visited move is not the best valued: the search then wants more time.
    pub fn wants_more_time(&self, best: usize) -> bool {
        let root = self.tree.root();
        let selector = self.selector();
        let mut highest: Option<(usize, f32)> = None;
        for index in self.ranked() {
            let child = self.tree[root].edges[index].child.map(|child| &self.tree[child]).filter(|child| child.n > 0);
            let Some(child) = child else { continue };
            let (q, m) = selector.utility(Some(child));
            // Ties go to the better ranked: they are no reason to think on.
            if highest.is_none_or(|(_, value)| q + m > value) {
                highest = Some((index, q + m));
            }
        }
        highest.is_some_and(|(index, _)| index != best)
    }

    fn selector(&self) -> Selector {
        Selector::new(self.tree, self.tree.root(), 0, self.params, self.draw, self.has_moves_left)
    }

    /// Statistics of every root move, the fewest visits first, and last those of the root itself.
    /// `value_of`: the cached network value of the position after a move, for the side to move there.
    pub fn move_stats(&self, value_of: impl Fn(Option<Move>) -> Option<f32>) -> Vec<MoveStats> {
        let root_id = self.tree.root();
        let root = &self.tree[root_id];
        let selector = self.selector();
        let mut stats: Vec<MoveStats> = Vec::with_capacity(root.edges.len() + 1);
        for edge in &root.edges {
            let child = edge.child.map(|child| &self.tree[child]);
            let visited = child.filter(|child| child.n > 0);
            let (q, m) = selector.utility(child);
            let u = selector.u(edge.p, child.map_or(0, Node::n_started));
            let terminal = visited.filter(|child| child.is_terminal()).map(|child| child.q(selector.draw_score));
            stats.push(MoveStats {
                mv: Some(edge.mv),
                n: child.map_or(0, |child| child.n),
                in_flight: child.map_or(0, |child| child.in_flight),
                p: edge.p,
                wl: visited.map(|child| child.wl as f32),
                d: visited.map(|child| child.d),
                m: visited.map(|child| child.m),
                q,
                u: Some(u),
                s: Some(q + u + m),
                v: terminal.or_else(|| value_of(Some(edge.mv)).filter(|_| visited.is_some()).map(|value| -value)),
                bounds: visited.map_or((-1, 1), |child| (child.bounds.lower, child.bounds.upper)),
                edges: child.map_or(0, |child| child.edges.len()),
            });
        }
        stats.sort_by(|a, b| a.n.cmp(&b.n).then(a.s.unwrap_or_default().total_cmp(&b.s.unwrap_or_default())));
        let visited = root.n > 0;
        stats.push(MoveStats {
            mv: None,
            n: root.n,
            in_flight: root.in_flight,
            p: visited_policy(self.tree, root_id),
            wl: visited.then_some(-root.wl as f32),
            d: visited.then_some(root.d),
            m: visited.then_some(root.m),
            q: -root.q(self.draw.at(0)),
            u: None,
            s: None,
            v: value_of(None),
            bounds: (-root.bounds.upper, -root.bounds.lower),
            edges: root.edges.len(),
        });
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::super::expand::{edges, make_terminal};
    use super::super::node::{Terminal, Value};
    use super::*;
    use crate::chess::{Color, Game};

    /// Sorting panics where the comparison is no order: a long search in a drawish endgame once died of it.
    #[test]
    fn ranking_is_an_order() {
        let moves: Vec<Move> = Game::new().current().legal_moves().into_iter().collect();
        let mut tree = Tree::new(Game::new());
        let root = tree.root();
        tree[root].edges = edges(&moves, &vec![0.0; moves.len()], 1.0);
        // Every mix of visits, results and lengths, the unvisited among them.
        for index in 0..moves.len() - 1 {
            let child = tree.child(root, index);
            let (visits, m) = (1 + index as u32 % 3, (index * 7 % 5) as f32);
            tree[child].add_visits(Value { wl: 0.0, d: 1.0, m }, visits);
            match index % 5 {
                0 => make_terminal(&mut tree, child, 1, m, Terminal::End),
                1 => make_terminal(&mut tree, child, -1, m, Terminal::End),
                2 | 3 => make_terminal(&mut tree, child, 0, m, Terminal::End),
                _ => {}
            }
        }
        let params = SearchParams::LC0;
        let draw = DrawScore::new(0.0, Color::White);
        let reader = Reader { tree: &tree, params: &params, draw, has_moves_left: true, search_moves: &[] };
        let before = |a, b| reader.compare(root, 0, a, b).is_lt();
        let all = 0..moves.len();
        for a in all.clone() {
            for b in all.clone() {
                assert_eq!(before(a, b), reader.compare(root, 0, b, a).is_gt(), "{a} {b}");
                for c in all.clone() {
                    assert!(!(before(a, b) && before(b, c)) || before(a, c), "{a} {b} {c}");
                }
            }
        }
        assert_eq!(reader.ranked().len(), moves.len());
    }
}
