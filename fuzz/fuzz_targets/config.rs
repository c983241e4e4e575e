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
mod switches {
    pub fn set(name: &str, text: &str, switches: &mut zeitnot::uci::Switches) -> anyhow::Result<bool> {
        if name == "preload" {
            switches.preload = text.parse()?;
        }
        Ok(name == "preload")
    }
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    zeitnot_fuzz::with_file(".config", data, |path| _ = config_file::apply(&mut engine, path, |_| {}, &mut Default::default()));
    let options = engine.options().clone();
    engine.set_options(options.clone()).expect("what was set is in its range");
    for (name, value) in options.changed() {
        engine.set_option(name, &value).expect("its own text");
    }
    assert_eq!(*engine.options(), options);
});
