//! A search without an engine around it, on any evaluator.

use super::Answer;
use std::sync::Arc;
use zeitnot::backend::{Attributes, Backend, BackendError, EvaluationCache, Evaluator, UniformBackend};
use zeitnot::chess::Game;
use zeitnot::clock::Clock;
use zeitnot::search::{Listener, Search, SearchParams, SearchRequest, Tree};
use zeitnot::tablebase::Probes;
use zeitnot::time_manager::estimators::batch_latency::BatchLatency;
use zeitnot::time_manager::trace::SearchStart;
use zeitnot::time_manager::{Begun, SearchLimits, StopperParams, Timekeeper};

/// `uniform` to look at, and without the cache that would save evaluations.
pub struct Uncached(UniformBackend);

impl Uncached {
    pub fn new() -> Uncached {
        Uncached(UniformBackend::new())
    }
}

impl Backend for Uncached {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        self.0.evaluator()
    }
    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

/// A search of the start position with one thread.
pub fn start(
    evaluator: impl Evaluator + 'static,
    clock: Arc<dyn Clock>,
    limits: SearchLimits,
    stoppers: &StopperParams,
    params: SearchParams,
    due: Option<f64>,
) -> (Search, Arc<Answer>) {
    let answer = Arc::new(Answer::default());
    let mut time = Timekeeper::new("smooth").unwrap();
    let start = SearchStart { limits: limits.clone(), stoppers: stoppers.clone(), evaluation_ms: None };
    let Begun { limit_ms, due_ms, .. } = time.begin(&start, None);
    let request = SearchRequest {
        game: Game::new(),
        limits,
        time,
        search_moves: Vec::new(),
        params,
        multi_pv: 1,
        with_move_stats: false,
        with_live_stats: false,
        root_observer: None,
        latency: BatchLatency::default(),
        seed: 0,
        probes: Probes::default(),
        start_ms: 0.0,
        limit_ms,
        due_ms: due.or(due_ms),
    };
    let evaluators: Vec<Box<dyn Evaluator>> = vec![Box::new(evaluator)];
    let listener = Arc::clone(&answer) as Arc<dyn Listener>;
    let tree = Tree::new(Game::new());
    (Search::start(tree, Arc::new(Uncached::new()), evaluators, clock, request, listener).ok().unwrap(), answer)
}
