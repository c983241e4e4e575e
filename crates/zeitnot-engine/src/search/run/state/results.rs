//! Reads the results of a search from its tree: reports, lines, statistics of moves, and a move at random.

use super::State;
use crate::backend::cache_key;
use crate::search::context::SearchContext;
use crate::search::root::ranking::RootReader;
use crate::search::root::report::{Line, MoveStats, Report};
use rand::RngExt as _;

impl State {
    /// The index of the root move that is played at random; `None` where the temperature is 0 or no move may be played.
    pub(crate) fn move_at_random(&mut self, context: &SearchContext) -> Option<usize> {
        let temperature = &context.params.temperature;
        let heat = temperature.at(context.game.current().ply());
        if heat == 0.0 {
            return None;
        }
        let (numbers, choices) = RootReader::new(&self.tree, context).choices();
        let chosen = temperature.choose(&choices, heat, self.random.random())?;
        numbers.get(chosen).copied()
    }

    /// The line of the root move with this index.
    pub(crate) fn line(&self, context: &SearchContext, index: usize) -> Line {
        RootReader::new(&self.tree, context).line(index)
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
            context.backend.cached(cache_key(&game)).map(|evaluation| evaluation.q)
        })
    }
}
