//! Asks the stoppers whether a search goes on: the time manager sees the root as it stands after each batch.

use super::State;
use crate::search::context::SearchContext;
use crate::search::root::ranking::RootReader;
use zeitnot_time::{MoveOutcome, SearchSnapshot, ShownLines, TimeReport};

/// Q at which a side may as well resign (Lc0's threshold): where no root move has more, nothing is pruned, so that a
/// lost engine still finds the longest resistance.
const RESIGN_Q: f32 = -0.98;

impl State {
    /// Notes the end of a batch and asks the stoppers.
    pub(crate) fn batch_done(&mut self, context: &SearchContext) {
        self.batches += 1;
        let now = self.elapsed_ms(context);
        self.first_batch_end_ms.get_or_insert(now);
        self.check(context);
    }

    /// Asks the stoppers, unless the search is over or has not evaluated its root yet.
    pub(crate) fn check(&mut self, context: &SearchContext) {
        if self.stop.is_some() || self.tree.is_empty() {
            return;
        }
        let reader = RootReader::new(&self.tree, context);
        let Some(root) = reader.expanded_root() else { return };
        // In the order of the tree, which stays: KLD gain compares the visits with those of its last look.
        let allowed = reader.allowed(&root);
        self.best_edge = reader.best_of(&root, &allowed);
        self.root_visits.clear();
        self.root_visits.extend(allowed.iter().map(|index| root.visited(*index).map_or(0, |child| child.n)));
        let children = || allowed.iter().filter_map(|index| root.visited(*index));
        let draw = context.draw.at(1);
        let all_decided = children().filter(|child| child.is_terminal()).count() == allowed.len();
        let is_out_of_reach =
            context.depth_limit.is_some_and(|depth| self.depth_growth.excludes(&self.progress, depth));
        let lines = context.multi_pv.min(allowed.len());
        let all_visited = children().count() == allowed.len();
        let mates = children().filter(|child| child.is_played_out() && child.wl == 1.0);
        let mut mates: Vec<u32> = mates.map(|child| child.m.round() as u32 / 2 + 1).collect();
        mates.sort_unstable();
        let mate_of_last_line = mates.get(lines.saturating_sub(1)).copied();
        // Proven losses are ranked behind moves without a visit.
        let before_unvisited = || children().filter(|child| !(child.is_terminal() && child.wl == -1.0)).count();
        let shown_lines = || match mate_of_last_line {
            Some(1) => ShownLines::Proven,
            _ if all_decided => ShownLines::Proven,
            _ if all_visited || before_unvisited() >= lines => ShownLines::Visited,
            _ => ShownLines::Unvisited,
        };
        let best = self.best_edge;
        let value = |index: &usize| root.visited(*index).map(|child| f64::from(child.q(draw)));
        let root_priors: Vec<f32> = match self.time.wants_root_priors() {
            true => allowed.iter().map(|index| reader.prior(&root, *index)).collect(),
            false => Vec::new(),
        };
        let snapshot = SearchSnapshot {
            elapsed_ms: self.elapsed_ms(context),
            since_first_batch_ms: self.first_batch_end_ms.map(|end| self.elapsed_ms(context) - end),
            new_nodes: self.progress.playouts,
            total_nodes: self.nodes(),
            batches: self.batches,
            average_depth: match all_decided || is_out_of_reach {
                // There is nothing deeper to be found, and `go depth` and `go mate` would wait for it for ever.
                true => u32::MAX,
                false => self.mean_depth(),
            },
            mate_depth: if all_visited { mates.first().copied() } else { mate_of_last_line },
            root_visits: (&self.root_visits).into(),
            root_priors: root_priors.into(),
            win_found: children().any(|child| child.is_terminal() && child.wl == 1.0),
            // An unvisited move may still save the game.
            may_resign: all_visited && children().all(|child| child.q(draw) <= RESIGN_Q),
            losing_edges: children().filter(|child| child.is_terminal() && child.wl == -1.0).count() as u32,
            need_more_time: best.is_some_and(|best| reader.wants_more_time(&root, &allowed, best)),
            best_move: best.and_then(|best| allowed.iter().position(|index| *index == best)),
            best_value: best.as_ref().and_then(value),
            second_value: allowed.iter().filter(|index| Some(**index) != best).filter_map(value).max_by(f64::total_cmp),
            moves_left_plies: context
                .backend
                .attributes()
                .has_moves_left
                .then(|| f64::from(self.tree[self.tree.root()].m)),
            lines: (context.multi_pv > 1).then(shown_lines),
        };
        if let Some(observer) = &self.root_observer {
            let mut observer = observer.lock();
            if snapshot.total_nodes >= observer.next_visits() {
                observer.observe(&snapshot, &reader.root_moves(&root, &allowed));
            }
        }
        let verdict = self.time.observe(&snapshot);
        self.playouts_expected = verdict.remaining_playouts.unwrap_or(f64::INFINITY);
        self.limit_ms = verdict.remaining_ms.map(|remaining| snapshot.elapsed_ms + remaining);
        self.answer_from_ms = verdict.answer_from_ms;
        self.stop = verdict.stop;
    }

    /// Gives the timekeeper the outcome of the move.
    pub(crate) fn end_move(&mut self, elapsed_ms: f64, total_nodes: u64) -> Option<TimeReport> {
        self.time.end(&MoveOutcome {
            elapsed_ms,
            total_nodes,
            stop: self.stop,
            first_evaluation_ms: self.first_batch_end_ms.filter(|_| self.began_empty),
            ..MoveOutcome::default()
        })
    }
}
