//! `--config FILE`: options of the engine from a file, one flag a line as on the command line, its dashes optional; `#` begins
//! a comment (lc0.md E). The command line goes before the file.

use anyhow::Context as _;
use std::path::Path;
use zeitnot::engine::options::SPECS;
use zeitnot::engine::{Engine, Kind, inert};

/// Sets the options that the file names. Options without effect are told to `note`.
///
/// # Errors
/// When the file cannot be read, or a line of it is no option and value; the line is named.
pub fn apply(engine: &mut Engine, path: &Path, note: impl Fn(String)) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("--config {}", path.display()))?;
    for (index, line) in text.lines().enumerate() {
        apply_line(engine, line, &note).with_context(|| format!("{}, line {}", path.display(), index + 1))?;
    }
    Ok(())
}

fn apply_line(engine: &mut Engine, line: &str, note: &impl Fn(String)) -> anyhow::Result<()> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let (flag, value) = match line.trim_start_matches('-').split_once('=') {
        Some((flag, value)) => (flag.trim_end(), Some(unquoted(value.trim()))),
        None => (line.trim_start_matches('-'), None),
    };
    if let Some(inert) = inert::find_flag(flag) {
        note(format!("option {} has no effect: {}", inert.name, inert.why));
        return Ok(());
    }
    // Lc0's way to switch something off.
    let (flag, switch) = match flag.strip_prefix("no-") {
        Some(positive) if value.is_none() => (positive, "false"),
        _ => (flag, "true"),
    };
    let named = |spec: &&zeitnot::engine::OptionSpec| {
        spec.flag == flag || spec.short.is_some_and(|short| flag.chars().eq([short]))
    };
    let spec = SPECS.iter().find(named).with_context(|| format!("no option has the flag \"--{flag}\""))?;
    let value = match value {
        Some(value) => value,
        None if spec.kind == Kind::Check => switch,
        None => anyhow::bail!("--{flag} lacks its value: --{flag}=VALUE"),
    };
    Ok(engine.set_option(spec.name, value)?)
}

/// Quotation marks around a value are the shell's, and people copy them.
fn unquoted(value: &str) -> &str {
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;
    use zeitnot::engine::{Options, RuntimePolicy};
    use zeitnot::search::MonotonicClock;

    fn read(text: &str) -> (Options, Vec<String>, Option<String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
        let notes = RefCell::new(Vec::new());
        let result = apply(&mut engine, file.path(), |line| notes.borrow_mut().push(line));
        (engine.options().clone(), notes.into_inner(), result.err().map(|error| format!("{:#}", error.root_cause())))
    }

    #[test]
    fn flags_of_a_file() {
        let (options, notes, error) = read(
            "# ours\n\n--backend=uniform\nthreads = 3\n  show-wdl\n--no-sticky-endgames\n-w=\"my net.pb.gz\"\r\n--max-prefetch=0\n",
        );
        assert_eq!(error, None);
        assert_eq!((options.backend.as_str(), options.threads), ("uniform", 3));
        assert_eq!(
            (options.show_wdl, options.sticky_endgames, options.weights.as_str()),
            (true, false, "my net.pb.gz")
        );
        assert!(notes.len() == 1 && notes[0].starts_with("option MaxPrefetch has no effect: "), "{notes:?}");
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("nonsense=1", "no option has the flag \"--nonsense\""),
            ("threads", "--threads lacks its value: --threads=VALUE"),
            ("threads=many", "option Threads: \"many\" is not a whole number from 0 to 128"),
        ] {
            assert_eq!(read(text).2.as_deref(), Some(expected));
        }
    }
}
