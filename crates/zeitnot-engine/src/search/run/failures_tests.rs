//! Checks that a search whose evaluator fails, panics or does not come back still answers.

use super::bare_tests::{Started, Uncached, pool_of};
use crate::search::{EndReason, Finished, Hit, SearchEnd, SearchParams};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use zeitnot_backend::{Backend, BackendError, Evaluation, Evaluator, Query};
use zeitnot_base::clock::MonotonicClock;
use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{SearchLimits, StopReason, StopperParams};

/// An evaluator that does what a function says.
struct Does<F>(F);

impl<F: FnMut(&[Query]) -> Result<Vec<Evaluation>, BackendError> + Send> Evaluator for Does<F> {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        (self.0)(batch)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

fn start(evaluator: impl Evaluator + 'static, limits: SearchLimits, due_ms: Option<f64>) -> Started {
    let clock = Arc::new(MonotonicClock::new());
    super::bare_tests::start(
        pool_of(Box::new(evaluator)),
        clock,
        limits,
        &StopperParams::default(),
        SearchParams::LC0,
        due_ms,
    )
}

/// The end of the search, what it leaves, and the evaluators that are fit for another one.
fn end_of(started: Started) -> (SearchEnd, Finished, usize) {
    let end = started.answered();
    let Started { search, evaluators, threads, .. } = started;
    let finished = search.wait();
    drop(threads);
    (end, finished, evaluators.count())
}

fn a_thousand_nodes() -> SearchLimits {
    SearchLimits { nodes: Some(1000), ..SearchLimits::default() }
}

#[test]
fn a_failing_evaluator_ends_the_search_with_its_words() {
    let mut inner = Uncached::new().evaluator().unwrap();
    let mut calls = 0;
    let evaluator = Does(move |batch: &[Query]| {
        calls += 1;
        if calls > 3 { Err(BackendError::NoNetwork("faulty".to_owned())) } else { inner.evaluate(batch) }
    });
    let (end, _, evaluators) = end_of(start(evaluator, a_thousand_nodes(), None));
    assert_eq!(end.reason, EndReason::Failed);
    assert!(end.error.unwrap().contains("faulty"));
    assert!(end.best.is_some() && end.report.nodes > 1, "what was searched before counts");
    assert_eq!(evaluators, 1);
}

#[test]
fn a_panicking_evaluator_ends_the_search_with_an_error() {
    let evaluator = Does(|_: &[Query]| panic!("a panic on purpose: the test is about what follows"));
    let (end, finished, evaluators) = end_of(start(evaluator, a_thousand_nodes(), None));
    assert_eq!(end.reason, EndReason::Failed);
    assert!(end.error.unwrap().contains("panicked"));
    assert!(end.best.is_some());
    assert!(evaluators == 0 && finished.tree.is_empty());
}

#[test]
fn a_search_whose_evaluator_an_earlier_one_broke_says_so() {
    let evaluators = pool_of(Uncached::new().evaluator().unwrap());
    let (word, heard) = channel::<()>();
    let (lent, is_lent) = channel();
    let late_batch = std::thread::spawn({
        let evaluators = Arc::clone(&evaluators);
        move || {
            let _lent = evaluators.lend(|| true);
            lent.send(()).unwrap();
            heard.recv().unwrap();
            panic!("a panic on purpose: the test is about what follows");
        }
    });
    is_lent.recv().unwrap();
    let clock = Arc::new(MonotonicClock::new());
    let stoppers = StopperParams::default();
    let started = super::bare_tests::start(evaluators, clock, a_thousand_nodes(), &stoppers, SearchParams::LC0, None);
    word.send(()).unwrap();
    let (end, ..) = end_of(started);
    assert!(late_batch.join().is_err());
    assert_eq!(end.reason, EndReason::Failed);
    assert!(end.error.unwrap().contains("no evaluator is left"));
}

/// The word that a held evaluator waits for, and the batches that wait for it.
struct Word {
    sender: Sender<()>,
    arrivals: Receiver<()>,
}

impl Word {
    /// Lets one batch through, when it has come.
    fn let_one_through(&self) {
        self.arrivals.recv().unwrap();
        self.sender.send(()).unwrap();
    }

    /// Waits until a batch waits for the word.
    fn wait_for_a_batch(&self) {
        self.arrivals.recv().unwrap();
    }
}

/// An evaluator that waits for a word before each batch. (When a test fails, the word goes first: the evaluator waits
/// for it.)
fn held() -> (Word, impl Evaluator + 'static) {
    let (sender, receiver): (_, Receiver<()>) = channel();
    let (arrives, arrivals) = channel();
    let mut inner = Uncached::new().evaluator().unwrap();
    let evaluator = Does(move |batch: &[Query]| {
        let _ = arrives.send(());
        let _ = receiver.recv();
        inner.evaluate(batch)
    });
    (Word { sender, arrivals }, evaluator)
}

#[test]
fn stop_is_answered_while_a_batch_is_still_evaluated() {
    let (word, evaluator) = held();
    let limits = SearchLimits { infinite: true, ..SearchLimits::default() };
    let started = start(evaluator, limits, None);
    word.let_one_through();
    word.wait_for_a_batch();
    started.search.stop();
    let end = started.answered();
    assert!(end.best.is_some() && end.report.nodes == 1, "the second batch is still out");
    // The next move has the tree, and waits for nothing.
    let Started { search, evaluators, threads, .. } = started;
    let finished = search.finish();
    assert_eq!(finished.tree.visits(), 1);
    drop(word);
    drop(threads);
    let late = evaluators.take_late_batches();
    assert!(late.len() == 1 && evaluators.count() == 1, "the late batch still reports its time: {late:?}");
}

#[test]
fn a_clock_that_runs_out_is_answered_before_the_first_evaluation() {
    let (word, evaluator) = held();
    let started = start(evaluator, SearchLimits::default(), Some(30.0));
    let end = started.answered();
    let Started { search, evaluators, threads, .. } = started;
    assert!(end.best.is_some() && end.report.nodes == 0);
    drop(word);
    search.wait();
    drop(threads);
    assert_eq!(evaluators.count(), 1);
}

#[test]
fn an_answer_that_is_due_at_once_needs_no_thread() {
    let (_word, evaluator) = held();
    let Started { search, answer, .. } = start(evaluator, SearchLimits::default(), Some(0.0));
    let end = answer.end.lock().take().expect("it is there when the search has been started");
    assert!(end.best.is_some() && end.report.nodes == 0 && search.is_finished());
    search.finish();
}

/// The search of a position that is pondered on, with one visit and a batch that is still evaluated.
fn pondering() -> (Started, Word) {
    let (word, evaluator) = held();
    let started = start(evaluator, SearchLimits { ponder: true, ..SearchLimits::default() }, None);
    word.let_one_through();
    word.wait_for_a_batch();
    (started, word)
}

/// The move that is pondered on is played, on a clock that has started long ago.
fn hit(started: &Started, movetime_ms: f64) {
    let plan = started.search.ponder_hit(|_, latency, time| {
        let limits = SearchLimits { movetime_ms: Some(movetime_ms), ..SearchLimits::default() };
        let evaluation_ms = latency.expected_ms(1);
        let start = SearchStart { limits: limits.clone(), stoppers: StopperParams::default(), evaluation_ms };
        Ok::<_, ()>(Hit { limits, start_ms: 0.0, begun: time.begin(&start, None) })
    });
    assert_eq!(plan, Some(Ok(None)), "the search goes on, and a time for the move has no plan");
}

#[test]
fn a_ponder_hit_waits_for_no_batch() {
    let (started, word) = pondering();
    hit(&started, 1e-6);
    let end = started.answered();
    assert!(end.reason == EndReason::Stopper(StopReason::MoveTime) && end.report.nodes == 1, "{end:?}");
    drop(word);
    started.search.wait();
}

#[test]
fn after_a_ponder_hit_the_search_goes_on() {
    let (started, word) = pondering();
    hit(&started, 1e9);
    assert!(!started.search.is_finished());
    let more = 5;
    while started.answer.reports.lock().last().is_none_or(|report| report.nodes < more) {
        let _ = word.sender.send(());
        std::thread::yield_now();
    }
    started.search.stop();
    let end = started.answered();
    assert!(end.reason == EndReason::Stopped && end.report.nodes >= more);
    drop(word);
    let late = started.search.ponder_hit(|_, _, _| Err::<Hit, ()>(()));
    assert!(late.is_none(), "a search that has answered does not go on");
    started.search.wait();
}

#[test]
fn pondering_that_is_stopped_before_its_first_evaluation_answers_at_once() {
    let (word, evaluator) = held();
    let started = start(evaluator, SearchLimits { ponder: true, ..SearchLimits::default() }, None);
    started.search.stop();
    let end = started.answered();
    assert!(end.best.is_some() && end.report.nodes == 0);
    started.search.finish();
    drop(word);
}
