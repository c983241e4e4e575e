//! Searches on the opponent's time.
//!
//! A GUI that ponders sets up the position after the reply it expects and says `go ponder`. What is searched is just that
//! position. Whatever ends the search, its answer waits for `ponderhit` or `stop`. After `ponderhit` a new search goes on
//! with the same tree: its clock starts then, and the time manager divides the time that came with `go ponder` as it would
//! for any other move. When another reply is played, the tree below that one is still what the last search left there
//! (see [`Tree::follow`](crate::search::Tree::follow)).
//!
//! Lc0 searches the position before the reply instead (docs/lc0.md, 1.1). Then a miss finds more in the tree and a hit
//! less: the visits are shared among all replies. A GUI ponders on the move that the engine itself predicted, which is
//! played more often than not, and only then does the time thought come back at once.

use super::{EngineError, GoParams};
use crate::search::{Listener, Report, SearchEnd};
use crate::time_manager::Plan;
use parking_lot::Mutex;
use std::sync::Arc;

/// A search on the opponent's time.
pub(super) struct Pondering {
    /// The parameters of `go ponder`.
    pub params: GoParams,
    /// The listener of the search, until the move is played.
    pub listener: Arc<dyn Listener>,
    /// Forwards the search's events to it.
    pub forwarding: Arc<ForwardingListener>,
    /// Why there is no search; that, too, is only said when it is asked for.
    pub failure: Option<EngineError>,
}

/// A listener that forwards the events of a search to another one until it is told to stop.
pub(super) struct ForwardingListener(Mutex<Option<Arc<dyn Listener>>>);

impl ForwardingListener {
    pub fn new(listener: Arc<dyn Listener>) -> Arc<ForwardingListener> {
        Arc::new(ForwardingListener(Mutex::new(Some(listener))))
    }

    /// Forwards nothing from now on.
    pub fn stop_forwarding(&self) {
        self.0.lock().take();
    }
}

impl Listener for ForwardingListener {
    fn planned(&self, plan: &Plan) {
        if let Some(listener) = self.0.lock().as_ref() {
            listener.planned(plan);
        }
    }

    fn failed(&self, error: &str) {
        if let Some(listener) = self.0.lock().as_ref() {
            listener.failed(error);
        }
    }

    fn report(&self, report: &Report) {
        if let Some(listener) = self.0.lock().as_ref() {
            listener.report(report);
        }
    }

    fn finished(&self, end: &SearchEnd) {
        if let Some(listener) = self.0.lock().take() {
            listener.finished(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
    use crate::clock::MonotonicClock;
    use crate::engine::{Engine, Options, RuntimePolicy};
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    /// A backend whose every evaluation fails.
    struct Faulty(Arc<dyn Backend>);

    struct FaultyEvaluator;

    impl Backend for Faulty {
        fn attributes(&self) -> &Attributes {
            self.0.attributes()
        }
        fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
            Ok(Box::new(FaultyEvaluator))
        }
        fn cache(&self) -> Option<&dyn EvaluationCache> {
            self.0.cache()
        }
    }

    impl Evaluator for FaultyEvaluator {
        fn evaluate(&mut self, _: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
            Err(BackendError::NoNetwork("faulty".to_owned()))
        }

        fn told_ms(&self) -> Option<f64> {
            None
        }
    }

    /// Writes down what it hears, by the name of the method.
    struct Scribe(Mutex<Sender<&'static str>>);

    impl Listener for Scribe {
        fn planned(&self, _: &Plan) {
            self.0.lock().send("planned").unwrap();
        }
        fn failed(&self, error: &str) {
            assert!(error.contains("faulty"), "{error}");
            self.0.lock().send("failed").unwrap();
        }
        fn report(&self, _: &Report) {
            self.0.lock().send("report").unwrap();
        }
        fn finished(&self, _: &SearchEnd) {
            self.0.lock().send("finished").unwrap();
        }
    }

    #[test]
    fn a_failure_while_pondering_is_told_before_stop() {
        let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
        engine.set_option("Backend", "uniform").unwrap();
        engine.prepare().unwrap();
        engine.decorate(|inner| Arc::new(Faulty(inner))).unwrap();
        let (sender, heard) = channel();
        let go = GoParams { ponder: true, ..GoParams::default() };
        engine.go(&go, engine.now_ms(), Arc::new(Scribe(Mutex::new(sender)))).unwrap();
        // The patience is for a failing test alone.
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok("failed"));
        engine.stop();
        engine.wait();
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["finished"]);
    }
}
