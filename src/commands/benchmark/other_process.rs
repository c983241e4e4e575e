//! Measures another backend in a process of its own: a process holds one ONNX Runtime, and each kind of device may need
//! its own.

use anyhow::Context as _;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use zeitnot_lab::measure::BenchmarkResult;

/// Switches that the other process does not take over.
const SWITCHES: [&str; 2] = ["--json", "--no-install"];
/// Flags with a value that the other process does not take over.
const FLAGS: [&str; 1] = ["--svg"];

/// Measures another backend with the command line of this process; the inner error says why it is not available.
pub fn measure(backend: &str) -> anyhow::Result<Result<BenchmarkResult, String>> {
    let output = Command::new(std::env::current_exe()?)
        .args(kept(std::env::args_os().skip(1)))
        .arg(format!("--backend={backend}"))
        // Its output is read only when it ends, so it must not download anything.
        .args(["--json", "--no-install"])
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().last().unwrap_or("it ended without a word");
        return Ok(Err(reason.trim_start_matches("zeitnot: ").to_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Ok(BenchmarkResult::from_json(&text).context("another process of this program")?))
}

/// The arguments that the other process takes over.
fn kept(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments;
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        let is = |flag: &&str| argument == OsStr::new(flag);
        let has_value = |flag: &&str| argument.to_string_lossy().starts_with(&format!("{flag}="));
        if FLAGS.iter().any(is) {
            // Its value is the next argument.
            arguments.next();
        } else if !SWITCHES.iter().any(is) && !FLAGS.iter().any(has_value) {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_process_writes_no_picture() {
        let arguments = ["benchmark", "--json", "--svg", "a.svg", "--threads=1", "--svg=c", "--svg"];
        assert_eq!(kept(arguments.map(OsString::from).into_iter()), ["benchmark", "--threads=1"]);
    }
}
