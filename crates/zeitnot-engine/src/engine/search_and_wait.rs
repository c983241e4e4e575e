//! Searches a move with threads and waits for the answer; ponders until the move is known.

use super::{Engine, EngineError, GoParams};
use crate::search::{Listener, Report, SearchEnd};
use parking_lot::Mutex;
use std::sync::Arc;
use zeitnot_time::Plan;

/// A listener that stores how the search ended, for the caller who waits.
#[derive(Default)]
struct Answer(Mutex<Option<SearchEnd>>);

impl Answer {
    /// Takes out the end of the search, which must be over.
    fn take(&self) -> Result<SearchEnd, EngineError> {
        let end = self.0.lock().take().expect("a search gives its end before it can be waited for");
        match end.error {
            Some(error) => Err(EngineError::Search(error)),
            None => Ok(end),
        }
    }
}

impl Listener for Answer {
    fn planned(&self, _: &Plan) {}
    // It is in the end's error, too.
    fn failed(&self, _: &str) {}
    fn report(&self, _: &Report) {}
    fn finished(&self, end: &SearchEnd) {
        *self.0.lock() = Some(end.clone());
    }
}

/// A search on the opponent's time. [`Engine::set_game`] ends it where another move was played.
pub struct Pondered(Arc<Answer>);

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
        Ok((answer.take()?, plan))
    }

    /// Starts to search the position on the opponent's time, as `go ponder` with these limits and clocks does.
    ///
    /// # Errors
    /// [`EngineError`] when nothing can be searched with.
    pub fn start_pondering(&mut self, params: &GoParams) -> Result<Pondered, EngineError> {
        let answer = Arc::new(Answer::default());
        let params = GoParams { ponder: true, ..params.clone() };
        self.go(&params, self.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>)?;
        Ok(Pondered(answer))
    }

    /// Goes on with a pondered position as with an ordinary move whose clock started at `start_ms`, and waits for the
    /// answer. The limits are those of [`Engine::start_pondering`], with the clocks of now.
    ///
    /// # Errors
    /// As [`Engine::search_and_wait`], and when the engine is not pondering.
    pub fn ponder_hit_and_wait(
        &mut self,
        pondered: &Pondered,
        params: &GoParams,
        start_ms: f64,
    ) -> Result<(SearchEnd, Option<Plan>), EngineError> {
        if let Some(pondering) = &mut self.running.pondering {
            pondering.params = GoParams { ponder: true, ..params.clone() };
        }
        let plan = self.ponder_hit(start_ms).ok_or(EngineError::NothingLoaded)??;
        self.wait_for_answer();
        Ok((pondered.0.take()?, plan))
    }
}
