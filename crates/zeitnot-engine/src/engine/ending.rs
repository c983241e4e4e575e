//! Ends searches: `stop`, waiting for the answer, and taking the tree, the timekeeper and the measured latency back.

use super::Engine;
use super::ponder::Unstarted;
use crate::search::{EndReason, Finished, Report, Search, SearchEnd, look_by_material};
use zeitnot_chess::Move;

impl Engine {
    /// Whether there is a search that only [`Engine::stop`] is sure to end.
    pub fn is_endless(&self) -> bool {
        let is_endless = |search: &Search| search.is_endless() && !search.is_finished();
        self.running.unstarted.is_some() || self.running.search.as_ref().is_some_and(is_endless)
    }

    /// Whether a search, or the failure of one, has still to be answered.
    pub fn is_searching(&self) -> bool {
        self.running.unstarted.is_some() || self.running.search.as_ref().is_some_and(|search| !search.is_finished())
    }

    /// Makes the search answer now.
    pub fn stop(&mut self) {
        if let Some(search) = &self.running.search {
            search.stop();
        }
        self.running.pondering = None;
        if let Some(Unstarted { listener, error }) = self.running.unstarted.take() {
            listener.finished(&SearchEnd {
                best: self.unsearched(),
                ponder: None,
                report: Report::default(),
                not_drawn: None,
                move_stats: Vec::new(),
                reason: EndReason::Failed,
                error: Some(format!("{error}: the move is chosen by material")),
                time: None,
            });
        }
    }

    /// The move to play when no search is possible: a mate, or the best by material. `None` without a legal move.
    pub fn unsearched(&self) -> Option<Move> {
        look_by_material(&self.state.game, &self.state.game.current().legal_moves()).map(|(mv, _)| mv)
    }

    /// Ends the search, if there is one: its answer is given now. Batches still under evaluation are not waited for.
    pub fn finish(&mut self) {
        if let Some(search) = self.running.search.take() {
            self.take_back(search.finish());
        }
        self.stop();
    }

    /// Waits until the search has given its answer of its own accord. Its threads may still be busy with a last batch.
    pub fn wait_for_answer(&self) {
        if let Some(search) = &self.running.search {
            search.wait_for_answer();
        }
    }

    /// Waits until the search has ended of its own accord, its last batches included.
    pub fn wait(&mut self) {
        if let Some(search) = self.running.search.take() {
            self.take_back(search.wait());
        }
    }

    pub(super) fn take_back(&mut self, finished: Finished) {
        self.running.busy_until_ms = finished.busy_until_ms;
        self.state.tree = Some(finished.tree);
        self.state.time = Some(finished.time);
        if let Some(loaded) = &mut self.device.loaded {
            loaded.latency = finished.latency;
        }
    }

    /// Takes the tree, the timekeeper and the measured latency back from the search, if it has answered.
    pub(super) fn collect(&mut self) {
        if self.running.search.as_ref().is_some_and(Search::is_finished) {
            self.finish();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.finish();
    }
}
