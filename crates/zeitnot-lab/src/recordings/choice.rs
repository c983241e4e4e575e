//! Searches recorded positions anew, shortly and with other parameters of the search, and keeps the chosen moves: the
//! record, which went on far longer, shows what each choice loses.

use super::recorded_search::RecordedSearch;
use super::recorder::{RecordError, engine_for, search};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;
use zeitnot_engine::backend::Backend;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::{Engine, Options};

/// An engine that chooses moves in recorded positions.
pub struct Chooser {
    engine: Engine,
    nodes: u64,
}

impl Chooser {
    /// A chooser on a loaded network, whose searches have `nodes` playouts. Of `options` only those of the search are
    /// used; nothing but the playouts ends a search, and it has one thread.
    ///
    /// # Errors
    /// When the backend has no room for another engine.
    pub fn new(options: &Options, backend: Arc<dyn Backend>, nodes: u64) -> Result<Chooser, RecordError> {
        Ok(Chooser { engine: engine_for(options, backend)?, nodes })
    }

    /// Searches the position of a record in a new tree, without the moves that led to it. Returns the index of the
    /// chosen move among the moves of the record; `None` where the record lacks it.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn choose(&mut self, trace: &RecordedSearch) -> Result<Option<usize>, RecordError> {
        let failed = |reason: String| RecordError::Search { game: trace.game + 1, ply: trace.ply as usize, reason };
        let game = Game::from_fen(&trace.fen, true).map_err(|error| failed(error.to_string()))?;
        self.engine.new_game();
        self.engine.set_game(game);
        let best = search(&mut self.engine, self.nodes).map_err(failed)?;
        let uci = best.map(|mv| to_uci(mv, true));
        Ok(uci.and_then(|uci| trace.moves.iter().position(|mv| mv.uci == uci)))
    }
}

/// Chooses in every record, on `threads` threads; calls `done` after each. `None` when it was `interrupted`.
///
/// # Errors
/// The first error of a chooser.
pub fn choose_all(
    traces: &[RecordedSearch],
    threads: usize,
    make: &(dyn Fn() -> Result<Chooser, RecordError> + Sync),
    interrupted: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Result<Option<Vec<Option<usize>>>, RecordError> {
    let choices = Mutex::new(vec![None; traces.len()]);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || -> Result<(), RecordError> {
        let mut chooser = make()?;
        while !failed.load(Ordering::SeqCst) && !interrupted.load(Ordering::SeqCst) {
            let place = next.fetch_add(1, Ordering::SeqCst);
            let Some(trace) = traces.get(place) else { break };
            let choice = chooser.choose(trace)?;
            choices.lock()[place] = choice;
            done();
        }
        Ok(())
    };
    let watched = || work().inspect_err(|_| failed.store(true, Ordering::SeqCst));
    std::thread::scope(|scope| {
        let spawn = |_| {
            let thread = Builder::new().name("chooser".into());
            thread.spawn_scoped(scope, watched).map_err(RecordError::Thread)
        };
        let threads: Vec<_> = (0..threads.max(1)).map(spawn).collect();
        for thread in threads {
            thread?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok::<(), RecordError>(())
    })?;
    Ok((!interrupted.load(Ordering::SeqCst)).then(|| choices.into_inner()))
}
