//! Searches on the opponent's time.
//!
//! A GUI that ponders sets up the position after the reply it expects and says `go ponder`. What is searched is just
//! that position. At any end of the search, its answer waits for `ponderhit` or `stop`. At `ponderhit` the search that
//! runs gets a plan, and goes on as that of any other move: its clock starts then, and the time manager divides the
//! time that came with `go ponder`. Its answer waits for no thread that is just made, and for no batch. When another
//! reply is played, the tree below that one is still what the last search left there (see
//! [`Tree::follow`](crate::search::Tree::follow)).
//!
//! Lc0 searches the position before the reply instead (docs/lc0.md, 1.1). Then a miss finds more in the tree and a hit
//! less: the visits are shared among all replies. A GUI ponders on the move that the engine itself predicted, which is
//! played more often than not, and only then does the time thought come back at once.

use super::turn::Turn;
use super::{Engine, EngineError, GoParams, Options, SearchAlgorithm};
use crate::search::{Hit, Listener};
use std::sync::Arc;
use zeitnot_time::event_log::SearchStart;
use zeitnot_time::{MoveRequest, Plan};

/// A search on the opponent's time.
pub(super) struct Pondering {
    /// The parameters of `go ponder`.
    pub params: GoParams,
    /// The options that the search began with.
    pub options: Options,
    /// The listener that gets the answer.
    pub listener: Arc<dyn Listener>,
}

/// A search that only `stop` (or `ponderhit`) ends and that could not be started. Its answer still waits for one of
/// these.
pub(super) struct Unstarted {
    /// The listener that gets the answer.
    pub listener: Arc<dyn Listener>,
    /// The reason.
    pub error: EngineError,
}

/// The longest batch of analysis, in milliseconds: the user who stops it may want a move at once.
const LONGEST_BATCH_MS: f64 = 200.0;

/// The share of the clock that a batch may take while pondering. A move is planned to take about this share, too, and
/// may have to wait at its beginning for the batch under way.
const BATCH_SHARE: f64 = 1.0 / 32.0;

/// The longest batch of a search that only `stop` ends, in milliseconds: a share of the clock given with it, if any
/// is given.
pub(super) fn longest_batch_ms(clock_ms: Option<f64>, movetime_ms: Option<f64>) -> f64 {
    let given_ms = [clock_ms, movetime_ms].into_iter().flatten();
    given_ms.map(|ms| BATCH_SHARE * ms).fold(LONGEST_BATCH_MS, f64::min)
}

impl Engine {
    /// Handles that the pondered move is played: the search goes on as that of an ordinary move whose clock started at
    /// `start_ms`. `None` when the engine is not pondering; otherwise what [`Engine::go`] would return.
    pub fn ponder_hit(&mut self, start_ms: f64) -> Option<Result<Option<Plan>, EngineError>> {
        let Pondering { params, options, listener } = self.running.pondering.take()?;
        self.running.unstarted = None;
        // A book may answer, other options want another search, and a game that the clock tells from another one, too.
        let may_go_on = options == self.options && !self.options.own_book && self.state.next_by_board.is_none();
        let params = GoParams { ponder: false, ..params };
        if !may_go_on {
            // Another game is noted in its time, which the search has.
            self.abandon();
        }
        self.state.note_clock(&params, start_ms, self.options.keep_time_stats);
        let turn = self.turn(&params);
        let plan = if may_go_on { self.go_on(&turn, start_ms) } else { None };
        if let Some(Ok(plan)) = plan {
            return Some(Ok(plan));
        }
        self.abandon();
        Some(plan.unwrap_or_else(|| self.start(turn, start_ms, listener)))
    }

    /// Ends the search without an answer.
    fn abandon(&mut self) {
        if let Some(search) = self.running.search.take() {
            self.take_back(search.abandon());
        }
    }

    /// Gives the running search the plan of the move; `None` where a new search has to start instead.
    fn go_on(&mut self, turn: &Turn, start_ms: f64) -> Option<Result<Option<Plan>, EngineError>> {
        let is_other_tree = !turn.search.wdl_rescale.grows_as(&self.state.grown.rescaled);
        if is_other_tree || turn.options.algorithm != SearchAlgorithm::Classic {
            return None;
        }
        let (stoppers, limits) = (turn.options.stopper_params(), turn.limits.clone());
        let asked = turn.clock.map(|clock| self.move_request(clock, &turn.go));
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        let search = self.running.search.as_ref()?;
        search.ponder_hit(|tree, latency, time| {
            let asked = asked.map(|asked| MoveRequest {
                reused_nodes: u64::from(tree.visits() - tree.excluded_visits()),
                moves_left_plies: tree.moves_left().filter(|_| has_moves_left),
                ..asked
            });
            if asked.is_some() {
                time.choose(&turn.manager)?;
            }
            let start = SearchStart { evaluation_ms: latency.expected_ms(1), stoppers, limits };
            let begun = time.begin(&start, asked.as_ref());
            // What else there is of the tree stays until the next search: batches are under way in this one.
            tree.alternatives = None;
            Ok(Hit { limits: start.limits, start_ms, begun })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RuntimePolicy;
    use crate::search::{Report, SearchEnd};
    use parking_lot::Mutex;
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;
    use zeitnot_backend::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
    use zeitnot_base::clock::MonotonicClock;

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

        fn modelled_cost_ms(&self) -> Option<f64> {
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
    fn a_failure_while_pondering_is_reported_before_stop() {
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
