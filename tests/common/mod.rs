//! Holds what the integration tests share.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part, and helpers of tests fail as tests do")]

pub mod golden;

use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, GoParams, Options, RuntimePolicy};
use zeitnot_engine::search::{Listener, Report, SearchEnd};
use zeitnot_time::Plan;

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

/// An engine with these options, loaded.
pub fn engine(options: &[(&str, &str)]) -> Engine {
    let policy = RuntimePolicy::Install(|line| eprintln!("{line}"));
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), policy);
    for (name, value) in options {
        engine.set_option(name, value).unwrap();
    }
    engine.prepare().unwrap();
    engine
}

/// Searches the engine's position to the search's own end.
pub fn search(engine: &mut Engine, go: &GoParams) -> SearchEnd {
    let answer = Arc::new(Answer::default());
    engine.go(go, engine.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>).unwrap();
    engine.wait();
    answer.end.lock().take().unwrap()
}

/// The folder `shared` beside the checkout (or where `ZEITNOT_SHARED` says), with all of Lc0's records, networks and
/// tables. It is not public. A test that needs it has the attribute
/// `#[cfg_attr(not(shared), ignore = "needs ../shared")]`, so that its result says where it did not run (`build.rs`).
pub fn shared() -> PathBuf {
    let path = std::env::var_os("ZEITNOT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    assert!(path.join("golden").is_dir(), "this test needs the folder ../shared (or ZEITNOT_SHARED)");
    path
}

/// The folder with the small set of records that every clone has (`tests/golden/README.md`). What is in it has the same
/// names as in [`shared`].
pub fn small_set() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}
