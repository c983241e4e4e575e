//! Starts the program: settings of the process first, then the command line (`commands/`).

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    // ONNX Runtime reports its use to its makers, and its interface's switch does not stop all of it; this does.
    // SAFETY: nothing else runs yet, so no other thread reads or writes the environment.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
    zeitnot_engine::memory::share_arenas();
    commands::run()
}
