//! Reads the results of a search from its tree: reports, lines, statistics of moves, and a move at random.

use super::State;
use crate::search::context::SearchContext;
use crate::search::params::SearchParams;
use crate::search::root::last_look::look;
use crate::search::root::ranking::RootReader;
use crate::search::root::report::{Line, MoveStats, Report};
use crate::search::root::temperature::Choice;
use rand::RngExt as _;
use zeitnot_chess::Move;

/// Nodes below which a search with a time limit is so small that its move gets a last look (`last_look.rs`) before it
/// is played.
const REAL_SEARCH: u64 = 100;

impl State {
    /// The line of the root move to play where a temperature draws it, or a last look may replace it; `None` where the
    /// best move is played.
    pub(crate) fn line_to_play(&mut self, context: &SearchContext) -> Option<Line> {
        let SearchParams { temperature, overlooks, .. } = &context.params;
        let heat = temperature.at(context.game.current().ply());
        let few = if self.limits.hard_limit_ms.is_some() { REAL_SEARCH } else { 2 };
        let looks = !self.limits.is_infinite && (overlooks.is_some() || self.nodes() < few);
        let reader = RootReader::new(&self.tree, context);
        let root = reader.expanded_root().filter(|_| heat > 0.0 || looks)?;
        let (numbers, choices) = reader.choices();
        let moves: Vec<Move> = reader.root_moves(&root, &numbers).into_iter().map(|root_move| root_move.mv).collect();
        let number = |mv: &Move| moves.iter().position(|other| other == mv).unwrap_or_default();
        let mut pick = |left: &[Move]| {
            let of_left: Vec<Choice> = left.iter().map(|mv| choices[number(mv)]).collect();
            let drawn = if heat > 0.0 { temperature.choose(&of_left, heat, self.random.random()) } else { None };
            let order = |a: &&Move, b: &&Move| reader.compare(&root, 0, numbers[number(a)], numbers[number(b)]);
            drawn.map_or_else(|| left.iter().min_by(order), |drawn| left.get(drawn)).copied()
        };
        let first = pick(&moves)?;
        let line = |mv: Move| reader.line(numbers[number(&mv)]);
        if !looks {
            return Some(line(first));
        }
        let better = |mv: Move| choices[number(&mv)].q > context.draw.at(1);
        let (chosen, mates) = look(&context.game, &moves, first, pick, better);
        // A player of a level who stands worse plays on.
        let mut overlooks = |chance| reader.root().wl >= 0.0 && !mates || self.random.random::<f32>() < chance;
        if chosen != first && context.params.overlooks.is_some_and(&mut overlooks) {
            return Some(line(first));
        }
        // Before its first visit a move is worth what its parent is.
        let mate = |line: Line| Line { wl: 1.0, d: 0.0, mu: None, q: 1.0, mate: Some(1), ..line };
        Some(if mates { mate(line(chosen)) } else { line(chosen) })
    }

    /// Visits of the root, without those of excluded moves.
    pub(crate) fn nodes(&self) -> u64 {
        u64::from(self.tree.visits() - self.tree.excluded_visits())
    }

    /// Playouts of this search so far.
    pub(crate) fn playouts(&self) -> u64 {
        self.progress.playouts
    }

    /// The search as it stands.
    pub(crate) fn report(&self, context: &SearchContext) -> Report {
        let reader = RootReader::new(&self.tree, context);
        let elapsed_ms = self.elapsed_ms(context);
        let since_first = self.first_batch_end_ms.map(|end| elapsed_ms - end).filter(|ms| *ms > 0.0);
        let playouts = self.progress.playouts;
        let lines: Vec<Line> =
            reader.ranked().into_iter().take(context.multi_pv.max(1)).map(|index| reader.line(index)).collect();
        let tree_depth = self.tree.depth.max(1);
        Report {
            depth: self.mean_depth().max(1),
            tree_depth,
            seldepth: self.progress.deepest.max(tree_depth),
            elapsed_ms,
            nodes: self.nodes(),
            playouts,
            collisions: self.progress.collisions,
            nps: since_first.map(|ms| playouts as f64 * 1e3 / ms),
            eps: since_first.map(|ms| self.evaluations as f64 * 1e3 / ms),
            hashfull: context
                .tree_limit()
                .map_or_else(|| context.backend.cache_fill(), |limit| Some(self.tree.fill(limit))),
            tb_hits: context.probes.hits(),
            lines,
            move_stats: Vec::new(),
        }
    }

    /// Statistics of the root's moves and of the root.
    pub(crate) fn move_stats(&self, context: &SearchContext) -> Vec<MoveStats> {
        RootReader::new(&self.tree, context).move_stats(|mv| {
            let mut game = context.game.clone();
            if let Some(mv) = mv {
                game.push(mv);
            }
            context.cached(&game).map(|evaluation| evaluation.q)
        })
    }
}
