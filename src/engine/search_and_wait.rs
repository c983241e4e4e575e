//! Searches a move with threads and waits for the answer.

use super::{Engine, EngineError, GoParams};
use crate::search::{Listener, Report, SearchEnd};
use crate::time_manager::Plan;
use parking_lot::Mutex;
use std::sync::Arc;

/// A listener that keeps the end of the search.
#[derive(Default)]
struct Answer(Mutex<Option<SearchEnd>>);

impl Listener for Answer {
    fn planned(&self, _: &Plan) {}
    // It is in the end's error, too.
    fn failed(&self, _: &str) {}
    fn report(&self, _: &Report) {}
    fn finished(&self, end: &SearchEnd) {
        *self.0.lock() = Some(end.clone());
    }
}

impl Engine {
    /// Searches the position as [`Engine::go`] does and waits for the answer; the threads may still be busy with a last
    /// batch. Returns the end and the plan of a timed move.
    ///
    /// # Errors
    /// [`EngineError`] when nothing can be searched with, or when the evaluator failed.
    pub fn search_and_wait(
        &mut self,
        params: &GoParams,
        start_ms: f64,
    ) -> Result<(SearchEnd, Option<Plan>), EngineError> {
        let answer = Arc::new(Answer::default());
        let plan = self.go(params, start_ms, Arc::clone(&answer) as Arc<dyn Listener>)?;
        self.wait_for_answer();
        let end = answer.0.lock().take().expect("a search gives its end before it can be waited for");
        match end.error {
            Some(error) => Err(EngineError::Search(error)),
            None => Ok((end, plan)),
        }
    }
}
