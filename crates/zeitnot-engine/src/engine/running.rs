//! Holds the running search of a move, its threads, and what waits for it.

use super::ponder::{Pondering, Unstarted};
use crate::search::{Search, SearchThreads};

/// The search that runs, and its threads.
pub(super) struct Running {
    pub search: Option<Search>,
    pub threads: SearchThreads,
    /// Time on the engine's clock at which the last batch of the last search on the caller's thread is over.
    pub busy_until_ms: f64,
    pub pondering: Option<Pondering>,
    pub unstarted: Option<Unstarted>,
}

impl Default for Running {
    fn default() -> Running {
        let (search, threads, pondering, unstarted) = (None, SearchThreads::default(), None, None);
        Running { search, threads, busy_until_ms: f64::NEG_INFINITY, pondering, unstarted }
    }
}
