//! Starts a search without an engine around it, on any evaluator, for tests of the search's threads.

use crate::search::{Listener, Report, Search, SearchEnd, SearchParams, SearchRequest, SearchThreads, Tree};
use crate::tablebase::Probes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeitnot_backend::{Attributes, Backend, BackendError, EvaluationCache, Evaluator, EvaluatorPool, UniformBackend};
use zeitnot_base::clock::Clock;
use zeitnot_chess::Game;
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{Plan, SearchLimits, StopperParams, Timekeeper};

/// The longest that a test waits for an answer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Keeps what a search said.
#[derive(Default)]
pub struct Answer {
    /// Reports before the end.
    pub reports: Mutex<Vec<Report>>,
    /// The end.
    pub end: Mutex<Option<SearchEnd>>,
}

impl Listener for Answer {
    fn planned(&self, _: &Plan) {}
    fn failed(&self, _: &str) {}
    fn report(&self, report: &Report) {
        self.reports.lock().push(report.clone());
    }
    fn finished(&self, end: &SearchEnd) {
        assert!(self.end.lock().replace(end.clone()).is_none(), "a search ends once");
    }
}

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
        let evaluator = self.1.lock().take();
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

impl Started {
    /// The end that the listener was told. (Whichever thread sees first that an answer is due gives it: the caller of
    /// `stop` or `ponder_hit`, or the watchdog beside it.)
    pub fn answered(&self) -> SearchEnd {
        let since = Instant::now();
        loop {
            if let Some(end) = self.answer.end.lock().take() {
                return end;
            }
            assert!(since.elapsed() < LONGEST_WAIT, "the search does not answer");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A pool of this one evaluator.
pub fn pool_of(evaluator: Box<dyn Evaluator>) -> Arc<EvaluatorPool> {
    let evaluators = Arc::new(EvaluatorPool::default());
    evaluators.ensure(&Single(Uncached::new(), Mutex::new(Some(evaluator))), 1).unwrap();
    evaluators
}

/// A request for a search of `game`, with the account of its time.
pub fn request(
    game: Game,
    limits: SearchLimits,
    stoppers: &StopperParams,
    params: SearchParams,
    due_ms: Option<f64>,
) -> SearchRequest {
    let mut time = Timekeeper::new("smooth").unwrap();
    let start = SearchStart { limits: limits.clone(), stoppers: stoppers.clone(), evaluation_ms: None };
    let begun = time.begin(&start, None);
    SearchRequest {
        game,
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
        hard_limit_ms: begun.hard_limit_ms,
        due_ms: due_ms.or(begun.due_ms),
        longest_batch_ms: None,
        busy_until_ms: 0.0,
    }
}

/// A search of the start position with one thread.
pub fn start(
    evaluators: Arc<EvaluatorPool>,
    clock: Arc<dyn Clock>,
    limits: SearchLimits,
    stoppers: &StopperParams,
    params: SearchParams,
    due_ms: Option<f64>,
) -> Started {
    let answer = Arc::new(Answer::default());
    let request = request(Game::new(), limits, stoppers, params, due_ms);
    let listener = Arc::clone(&answer) as Arc<dyn Listener>;
    let (tree, backend, mut threads) = (Tree::new(Game::new()), Arc::new(Uncached::new()), SearchThreads::default());
    let search = Search::start(&mut threads, Arc::clone(&evaluators), tree, backend, clock, request, listener);
    Started { search: search.ok().unwrap(), answer, evaluators, threads }
}
