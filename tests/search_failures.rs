//! A search whose evaluator fails, panics or does not come back still answers.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Answer;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use zeitnot::backend::{Attributes, Backend, BackendError, Evaluation, Evaluator, Query, UniformBackend};
use zeitnot::chess::Game;
use zeitnot::search::{
    EndReason, Finished, Listener, MonotonicClock, Search, SearchEnd, SearchParams, SearchRequest, Tree,
};
use zeitnot::tablebase::Probes;
use zeitnot::time_manager::estimators::batch::BatchLatency;
use zeitnot::time_manager::{SearchLimits, StopperParams, Stoppers};

/// A backend that is `uniform` to look at; its evaluators do what a function says.
struct Faulty(UniformBackend);

impl Backend for Faulty {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        self.0.evaluator()
    }
}

struct Does<F>(F);

impl<F: FnMut(&[Query]) -> Result<Vec<Evaluation>, BackendError> + Send> Evaluator for Does<F> {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        (self.0)(batch)
    }
}

fn start(evaluator: impl Evaluator + 'static, limits: SearchLimits, due_ms: Option<f64>) -> (Search, Arc<Answer>) {
    let game = Game::new();
    let answer = Arc::new(Answer::default());
    let request = SearchRequest {
        game: game.clone(),
        stoppers: Stoppers::new(&limits, &StopperParams::default()),
        limits,
        manager: None,
        search_moves: Vec::new(),
        params: SearchParams::LC0,
        multi_pv: 1,
        with_move_stats: false,
        with_live_stats: false,
        latency: BatchLatency::default(),
        seed: 0,
        probes: Probes::default(),
        start_ms: 0.0,
        due_ms,
    };
    let backend = Arc::new(Faulty(UniformBackend::new()));
    let evaluators: Vec<Box<dyn Evaluator>> = vec![Box::new(evaluator)];
    let clock = Arc::new(MonotonicClock::new());
    let listener = Arc::clone(&answer) as Arc<dyn Listener>;
    (Search::start(Tree::new(game), backend, evaluators, clock, request, listener).ok().unwrap(), answer)
}

fn end_of(search: Search, answer: &Answer) -> (SearchEnd, Finished) {
    search.wait_for_answer();
    let end = answer.end.lock().take().unwrap();
    (end, search.wait())
}

fn a_thousand_nodes() -> SearchLimits {
    SearchLimits { nodes: Some(1000), ..SearchLimits::default() }
}

#[test]
fn a_failing_evaluator_ends_the_search_with_its_words() {
    let mut inner = UniformBackend::new().evaluator().unwrap();
    let mut calls = 0;
    let evaluator = Does(move |batch: &[Query]| {
        calls += 1;
        if calls > 3 { Err(BackendError::NoNetwork("faulty".to_owned())) } else { inner.evaluate(batch) }
    });
    let (search, answer) = start(evaluator, a_thousand_nodes(), None);
    let (end, finished) = end_of(search, &answer);
    assert_eq!(end.reason, EndReason::Failed);
    assert!(end.error.unwrap().contains("faulty"));
    assert!(end.best.is_some() && end.report.nodes > 1, "what was searched before counts");
    assert_eq!(finished.evaluators.len(), 1);
}

#[test]
fn a_panicking_evaluator_ends_the_search_with_an_error() {
    let evaluator = Does(|_: &[Query]| panic!("a panic on purpose: the test is about what follows"));
    let (search, answer) = start(evaluator, a_thousand_nodes(), None);
    let (end, finished) = end_of(search, &answer);
    assert_eq!(end.reason, EndReason::Failed);
    assert!(end.error.unwrap().contains("panicked"));
    assert!(end.best.is_some());
    assert!(finished.evaluators.is_empty() && finished.tree.is_empty());
}

/// An evaluator that waits for a word before each batch.
fn held() -> (Sender<()>, impl Evaluator + 'static) {
    let (sender, receiver): (_, Receiver<()>) = channel();
    let receiver = Mutex::new(receiver);
    let mut inner = UniformBackend::new().evaluator().unwrap();
    let evaluator = Does(move |batch: &[Query]| {
        let _ = receiver.lock().unwrap().recv();
        inner.evaluate(batch)
    });
    (sender, evaluator)
}

#[test]
fn stop_is_answered_while_a_batch_is_still_evaluated() {
    let (word, evaluator) = held();
    let limits = SearchLimits { infinite: true, ..SearchLimits::default() };
    let (search, answer) = start(evaluator, limits, None);
    word.send(()).unwrap();
    while answer.reports.lock().is_empty() {
        std::thread::yield_now();
    }
    search.stop();
    search.wait_for_answer();
    let end = answer.end.lock().take().unwrap();
    assert!(end.best.is_some() && end.report.nodes == 1, "the second batch is still out");
    drop(word);
    search.wait();
}

#[test]
fn a_clock_that_runs_out_is_answered_before_the_first_evaluation() {
    let (word, evaluator) = held();
    let (search, answer) = start(evaluator, SearchLimits::default(), Some(30.0));
    search.wait_for_answer();
    let end = answer.end.lock().take().unwrap();
    assert!(end.best.is_some() && end.report.nodes == 0);
    drop(word);
    let finished = search.wait();
    assert!(finished.evaluators.len() == 1);
}
