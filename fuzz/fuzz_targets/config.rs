//! Reads a file of options, as `--config` does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, Options, RuntimePolicy};

// The program's own reader, which no library has.
#[path = "../../src/commands/config_file.rs"]
mod config_file;

/// What it takes from the program beside it.
mod preload {
    pub const PRELOAD: &str = "preload";

    pub fn read(text: &str) -> anyhow::Result<bool> {
        Ok(text.parse()?)
    }
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    zeitnot_fuzz::with_file(".config", data, |path| _ = config_file::apply(&mut engine, path, |_| {}));
    let options = engine.options().clone();
    options.check().expect("what was set is in its range");
    // What it says and what it does with them.
    let _ = (options.memory_note(), options.devices_note(), options.slowmover_note(), options.memory_limit());
    let _ = (options.search_params(), options.stopper_params(), options.cache_positions());
    for (name, value) in options.changed() {
        engine.set_option(name, &value).expect("its own text");
    }
    assert_eq!(*engine.options(), options);
});
