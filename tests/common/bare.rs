//! A search without an engine around it, on any evaluator.

use super::Answer;
use std::sync::Arc;
use std::sync::Mutex;
use zeitnot_engine::backend::{
    Attributes, Backend, BackendError, EvaluationCache, Evaluator, EvaluatorPool, UniformBackend,
};
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::Clock;
use zeitnot_engine::search::{Listener, Search, SearchParams, SearchRequest, SearchThreads, Tree};
use zeitnot_engine::tablebase::Probes;
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{Begun, SearchLimits, StopperParams, Timekeeper};

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

/// A backend that has the one evaluator that it is given.
struct Single(Uncached, Mutex<Option<Box<dyn Evaluator>>>);

impl Backend for Single {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        let evaluator = self.1.lock().unwrap().take();
        evaluator.ok_or_else(|| BackendError::NoNetwork("the evaluator is taken".to_owned()))
    }
    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

/// A search that was started, with what it runs on.
pub struct Started {
    pub search: Search,
    pub answer: Arc<Answer>,
    pub evaluators: Arc<EvaluatorPool>,
    pub threads: SearchThreads,
}

/// A pool of this one evaluator.
pub fn pool_of(evaluator: Box<dyn Evaluator>) -> Arc<EvaluatorPool> {
    let evaluators = Arc::new(EvaluatorPool::default());
    evaluators.ensure(&Single(Uncached::new(), Mutex::new(Some(evaluator))), 1).unwrap();
    evaluators
}

/// A search of the start position with one thread.
pub fn start(
    evaluators: Arc<EvaluatorPool>,
    clock: Arc<dyn Clock>,
    limits: SearchLimits,
    stoppers: &StopperParams,
    params: SearchParams,
    due: Option<f64>,
) -> Started {
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
        longest_batch_ms: None,
        busy_until_ms: 0.0,
    };
    let listener = Arc::clone(&answer) as Arc<dyn Listener>;
    let (tree, backend, mut threads) = (Tree::new(Game::new()), Arc::new(Uncached::new()), SearchThreads::default());
    let search = Search::start(&mut threads, Arc::clone(&evaluators), tree, backend, clock, request, listener);
    Started { search: search.ok().unwrap(), answer, evaluators, threads }
}
