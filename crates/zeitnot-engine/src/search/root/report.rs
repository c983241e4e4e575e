//! Reports the search: statistics of the root's moves, the best lines, the score.

use super::ranking::RootReader;
use crate::search::tree::node::{Node, Terminal};
use crate::search::tree::packed_move::PackedMove;
use shakmaty::Position as _;
use zeitnot_chess::Move;

/// Moves added to the mate distance of a win that is only known from endgame tables (as in Lc0, docs/lc0.md, 3.8).
const TABLEBASE_MATE: i32 = 100;

/// One line of analysis: a root move, its continuation and its worth to the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The moves, the root's first.
    pub moves: Vec<Move>,
    /// Win minus loss, -1 to 1, as a GUI is shown it: contempt is taken back as far as `WDLEvalObjectivity` says.
    pub wl: f32,
    /// Draw probability, 0 to 1, as a GUI is shown it.
    pub d: f32,
    /// The strength `mu` that win, draw and loss imply, as a GUI is shown it: at 1 the chance to win is even. `None`
    /// where a result is all but certain or excluded.
    pub mu: Option<f32>,
    /// Win minus loss with draws counted by `DrawScore`, as the search values it, contempt included.
    pub q: f32,
    /// Plies left from the root; `None` when the network does not say.
    pub m: Option<f32>,
    /// Moves to mate, negative when being mated; only for proven results. For results by endgame tables a hundred moves
    /// are added (docs/lc0.md, 3.8).
    pub mate: Option<i32>,
    /// Visits of the root move.
    pub visits: u32,
}

/// The state of a search at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Mean depth of the visits of this search, in plies.
    pub depth: u32,
    /// The greatest mean depth of a search since the tree was empty, in plies. It does not fall while a game goes on in
    /// its tree: GUIs show nothing of a search that is not as deep as the one before.
    pub tree_depth: u32,
    /// Greatest depth of this search, in plies, and no less than `tree_depth`.
    pub seldepth: u32,
    /// Time since the clock of the move started, in milliseconds.
    pub elapsed_ms: f64,
    /// Visits of the root, those found in the reused tree included.
    pub nodes: u64,
    /// Visits of this search.
    pub playouts: u64,
    /// Visits that collided: they ended at a leaf where another visit waits for the network, and do not count.
    pub collisions: u64,
    /// Playouts a second since the first batch ended; `None` before.
    pub nps: Option<f64>,
    /// Evaluations a second by the network since the first batch ended; `None` before.
    pub eps: Option<f64>,
    /// Share of the memory limit that the tree has in use, or, without a limit, that of the evaluation cache, in permille.
    pub hashfull: Option<u32>,
    /// Positions found in the endgame tables.
    pub tb_hits: u64,
    /// The best lines, best first; as many as asked for.
    pub lines: Vec<Line>,
    /// Statistics of the root's moves, when they were asked for while the search goes on.
    pub move_stats: Vec<MoveStats>,
}

/// Statistics of a root move (or of the root itself), as `VerboseMoveStats` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveStats {
    /// The move; `None` for the root itself.
    pub mv: Option<Move>,
    /// Visits.
    pub n: u32,
    /// Visits in flight.
    pub in_flight: u32,
    /// Prior; for the root the sum over its visited moves.
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
    /// The worst and the best result still possible for the side to move at the root: 1 win, 0 draw, -1 loss. Equal
    /// when the result is proven.
    pub bounds: (i8, i8),
    /// Number of the node's moves (the root's line prints it).
    pub edges: usize,
}

impl RootReader<'_> {
    /// The line that starts with the root's move of this index.
    pub(crate) fn line(&self, first: usize) -> Line {
        let root = self.root();
        let child = self.expanded_root().and_then(|expanded| expanded.visited(first).copied());
        // Before its first visit a move is worth what its parent is.
        let (node, sign) = child.as_ref().map_or((root, -1.0), |child| (child, 1.0));
        let by_tables = if node.terminal() == Terminal::Tablebase { TABLEBASE_MATE } else { 0 };
        let mate = |plies: f32| (plies.round() as i32 / 2 + 1 + by_tables) * if node.wl > 0.0 { 1 } else { -1 };
        let shown =
            self.context.params.wdl_rescale.shown(sign * node.wl as f32, node.d, self.context.position().turn());
        Line {
            moves: self.moves_from(first),
            wl: shown.wl,
            d: shown.d,
            mu: shown.mu,
            q: sign * node.q(sign * self.context.draw.at(1)),
            m: self.context.has_moves_left.then_some(node.m + if child.is_some() { 1.0 } else { 0.0 }),
            mate: child.filter(|child| child.is_terminal() && child.wl != 0.0).map(|child| mate(child.m)),
            visits: child.map_or(0, |child| child.n),
        }
    }

    /// The best moves from the root's move of this index on, up to the first that was not visited.
    fn moves_from(&self, first: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut chess = self.context.position().chess().clone();
        let (mut node, mut depth) = (self.root(), 0);
        loop {
            let (packed, next) = match self.expanded(node) {
                Some(expanded) => {
                    let best = (0..expanded.moves().len()).min_by(|a, b| self.compare(&expanded, depth, *a, *b));
                    let Some(index) = Some(first).filter(|_| depth == 0).or(best) else { break };
                    let next = expanded.children.get(index).copied().filter(|child| child.n > 0);
                    (expanded.moves().get(index).map(|mv| PackedMove(*mv)), next)
                }
                None => (self.tree.first_move(node), None),
            };
            let Some(packed) = packed else { break };
            let mv = match packed.number() {
                Some(number) => chess.legal_moves().get(number).copied(),
                None => Some(packed.unpack(chess.board())),
            };
            let Some(mv) = mv else { break };
            moves.push(mv);
            // A position may have moves all the same where it was a root.
            let Some(next) = next.filter(|next| !next.is_end_by_rule()) else { break };
            chess.play_unchecked(mv);
            (node, depth) = (next, depth + 1);
        }
        moves
    }

    /// Statistics of every root move, the fewest visits first, and last those of the root itself. `value_of`: the
    /// cached network value of the position after a move (`None`: of the root), for the side to move there.
    pub(crate) fn move_stats(&self, value_of: impl Fn(Option<Move>) -> Option<f32>) -> Vec<MoveStats> {
        let root = self.root();
        let selector = self.selector();
        let (rescale, turn) = (&self.context.params.wdl_rescale, self.context.position().turn());
        let mut visited_policy = 0.0;
        let mut stats = Vec::new();
        if let Some(expanded) = self.expanded_root() {
            visited_policy = self.visited_policy(&expanded);
            for (index, mv) in expanded.moves().iter().enumerate() {
                let mv = PackedMove(*mv).unpack(self.context.position().board());
                let child = expanded.children.get(index).copied();
                let visited = expanded.visited(index);
                let (q, m) = visited.map_or((selector.unvisited(visited_policy), 0.0), |child| selector.q_and_m(child));
                let p = self.prior(&expanded, index);
                let shown = visited.map(|child| rescale.shown(child.wl as f32, child.d, turn));
                let u = selector.u_numerator(p) / (1 + child.map_or(0, Node::n_started)) as f32;
                let terminal = visited.filter(|child| child.is_terminal()).map(|child| child.q(selector.draw_score));
                stats.push(MoveStats {
                    mv: Some(mv),
                    n: child.map_or(0, |child| child.n),
                    in_flight: child.map_or(0, |child| child.in_flight),
                    p,
                    wl: shown.map(|shown| shown.wl),
                    d: shown.map(|shown| shown.d),
                    m: visited.map(|child| child.m),
                    // As shown, too; the score goes by what the search has.
                    q: shown.map_or(q, |shown| shown.wl + selector.draw_score * shown.d),
                    u: Some(u),
                    s: Some(q + u + m),
                    v: terminal.or_else(|| value_of(Some(mv)).filter(|_| visited.is_some()).map(|value| -value)),
                    bounds: visited.map_or((-1, 1), |child| (child.bounds().lower, child.bounds().upper)),
                    edges: child.map_or(0, |child| usize::from(child.moves)),
                });
            }
        }
        stats.sort_by(|a, b| a.n.cmp(&b.n).then(a.s.unwrap_or_default().total_cmp(&b.s.unwrap_or_default())));
        let visited = root.n > 0;
        let shown = rescale.shown(-root.wl as f32, root.d, turn);
        stats.push(MoveStats {
            mv: None,
            n: root.n,
            in_flight: root.in_flight,
            p: visited_policy,
            wl: visited.then_some(shown.wl),
            d: visited.then_some(shown.d),
            m: visited.then_some(root.m),
            q: shown.wl + self.context.draw.at(1) * shown.d,
            u: None,
            s: None,
            v: value_of(None),
            bounds: (-root.bounds().upper, -root.bounds().lower),
            edges: usize::from(root.moves),
        });
        stats
    }
}
