//! `--config FILE`: options of the engine from a file, one flag a line as on the command line, its dashes and its `=`
//! optional; `#` begins a comment, on a line of its own (docs/lc0.md, 5.3) or after a blank and outside quotation
//! marks. The command line overrides the file.

use super::switches;
use anyhow::Context as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use zeitnot::uci::Switches;
use zeitnot_base::files::{self, OtherKind};
use zeitnot_engine::engine::options::SPECS;
use zeitnot_engine::engine::{Engine, Kind, ignored_options};

/// The most bytes of a file: all options with their comments are a few thousand.
const LARGEST: u64 = 1 << 20;
/// The longest line, in bytes: complaints quote lines.
const LONGEST_LINE: usize = 8 << 10;

/// Sets the options that the file names. Options without effect are reported to `note`. Switches that are no
/// options of the engine are set in `switches`.
///
/// # Errors
/// When the file cannot be read, or a line of it is no option and value; the line is named.
pub fn apply(engine: &mut Engine, path: &Path, note: impl Fn(String), switches: &mut Switches) -> anyhow::Result<()> {
    let bytes = read(path).with_context(|| format!("--config {}", path.display()))?;
    // Comments are in whatever encoding the editor had, and paths are whatever bytes the system takes.
    let text =
        files::from_bytes(&files::without_marks(&bytes).with_context(|| format!("--config {}", path.display()))?);
    for (index, line) in text.lines().enumerate() {
        apply_line(engine, line, &note, switches).with_context(|| format!("{}, line {}", path.display(), index + 1))?;
    }
    Ok(())
}

/// The content of a file, or of a pipe (`--config <(command)`): a device may be without end.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if let Some(kind) = OtherKind::of(metadata.file_type()).filter(|kind| *kind != OtherKind::Pipe) {
        return Err(kind.not_a_file().into());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(bytes.len() as u64 <= LARGEST, "it is larger than {} KiB", LARGEST >> 10);
    Ok(bytes)
}

/// Sets the option or the switch of a line.
fn apply_line(engine: &mut Engine, line: &str, note: &impl Fn(String), switches: &mut Switches) -> anyhow::Result<()> {
    anyhow::ensure!(line.len() <= LONGEST_LINE, "it is longer than {LONGEST_LINE} bytes");
    let line = without_comment(line).trim();
    if line.is_empty() {
        return Ok(());
    }
    let line = line.trim_start_matches('-');
    // `--flag=VALUE`, `--flag VALUE` or `flag = VALUE`.
    let (flag, rest) = line.split_at(line.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(line.len()));
    let rest = rest.trim_start();
    if rest.contains(" --") && unquoted(rest) == rest && !rest.starts_with('=') {
        anyhow::bail!("--{flag} {rest}: one flag a line, or --flag=VALUE where a value has dashes after a blank");
    }
    let value = (!rest.is_empty()).then(|| unquoted(rest.strip_prefix('=').unwrap_or(rest).trim_start()));
    let negated = flag.strip_prefix("no-").filter(|_| value.is_none());
    let ignored = ignored_options::find_flag(flag);
    if let Some(option) = ignored.or_else(|| ignored_options::find_flag(negated?).filter(|option| option.is_switch)) {
        note(format!("option {} has no effect: {}", option.name, option.why));
        return Ok(());
    }
    // Lc0's way to switch something off.
    let (flag, switch) = match negated {
        Some(positive) => (positive, "false"),
        None => (flag, "true"),
    };
    if switches::set(flag, value.unwrap_or(switch), switches)? {
        return Ok(());
    }
    let named = |spec: &&zeitnot_engine::engine::OptionSpec| {
        spec.flag == flag || spec.short.is_some_and(|short| flag.chars().eq([short]))
    };
    let spec =
        SPECS.iter().find(named).with_context(|| format!("no option of the engine has the flag \"--{flag}\""))?;
    let value = match value {
        Some(value) => value,
        None if spec.kind == Kind::Check => switch,
        None => anyhow::bail!("--{flag} lacks its value: --{flag}=VALUE"),
    };
    engine.set_flag(spec.name, value)?;
    Ok(())
}

/// The line up to its comment. A `#` within a word or between quotation marks is part of a value: of a file's name,
/// say.
fn without_comment(line: &str) -> &str {
    let (mut quoted, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quoted, c) {
            (None, '#') if before.is_whitespace() => return &line[..at],
            (None, '"' | '\'') if before == '=' || before.is_whitespace() => quoted = Some(c),
            (Some(mark), _) if mark == c => quoted = None,
            _ => {}
        }
        before = c;
    }
    line
}

/// The value without quotation marks around it: they are the shell's, and people copy them.
fn unquoted(value: &str) -> &str {
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;
    use zeitnot_engine::clock::MonotonicClock;
    use zeitnot_engine::engine::{Options, RuntimePolicy};

    fn read(text: impl AsRef<[u8]>) -> (Options, Vec<String>, Option<String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
        let notes = RefCell::new(Vec::new());
        let result = apply(&mut engine, file.path(), |line| notes.borrow_mut().push(line), &mut Switches::default());
        (engine.options().clone(), notes.into_inner(), result.err().map(|error| format!("{:#}", error.root_cause())))
    }

    #[test]
    fn flags_of_a_file() {
        let (options, notes, error) = read(
            "# ours\n\n--backend uniform\nthreads = 3\n  show-wdl\n--no-sticky-endgames\n-w=\"my net.pb.gz\"\r\n--max-prefetch=0\n",
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
    fn comments_and_what_editors_leave() {
        let text = b"\xef\xbb\xbfthreads=2 # two\nshow-wdl\t# both\n# gr\xfc\xdfe\nbackend=uniform # gr\xfc\xdfe\n";
        let (options, notes, error) = read(text);
        assert_eq!((error, notes), (None, vec![]));
        assert_eq!((options.threads, options.show_wdl, options.backend.as_str()), (2, true, "uniform"));
        for (line, weights) in [
            ("weights=my#1.pb.gz", "my#1.pb.gz"),
            ("weights=\"my #1.pb.gz\" # \"mine\"", "my #1.pb.gz"),
            ("weights = 'my #1.pb.gz'", "my #1.pb.gz"),
            ("weights=its' net.pb.gz # it's", "its' net.pb.gz"),
            ("--weights 'my #1.pb.gz'", "my #1.pb.gz"),
            ("--weights 'my --1.pb.gz'", "my --1.pb.gz"),
            ("weights=my --1.pb.gz", "my --1.pb.gz"),
            ("weights= # none", ""),
        ] {
            let (options, _, error) = read(line);
            assert_eq!((options.weights.as_str(), error), (weights, None), "{line}");
        }
    }

    #[test]
    fn what_has_no_effect_can_be_switched_off() {
        let (_, notes, error) = read("no-strict-uci-timing\n--no-search-spin-backoff\n");
        assert_eq!(error, None);
        assert!(notes.len() == 2 && notes[0].starts_with("option StrictTiming has no effect: "), "{notes:?}");
        assert_eq!(
            read("no-max-prefetch").2.as_deref(),
            Some("no option of the engine has the flag \"--max-prefetch\""),
            "a number"
        );
    }

    // docs/lc0.md, 5.3: flags that are no UCI options.
    #[test]
    fn switches_are_read() {
        let switches = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
            let mut switches = Switches::default();
            apply(&mut engine, file.path(), |line| panic!("{line}"), &mut switches)
                .map(|()| (switches.preload, switches.show_hidden))
                .map_err(|error| format!("{:#}", error.root_cause()))
        };
        for (text, expected) in [
            ("threads=2", (false, false)),
            ("preload", (true, false)),
            ("--preload # at once\nthreads=2", (true, false)),
            ("preload = True\n--show-hidden", (true, true)),
            ("show-hidden=true", (false, true)),
            ("preload=false", (false, false)),
            ("--no-preload", (false, false)),
            ("preload\npreload=false", (false, false)),
        ] {
            assert_eq!(switches(text), Ok(expected), "{text}");
        }
        assert_eq!(switches("preload=maybe"), Err("--preload: \"maybe\" is not true or false".to_owned()));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, expected) in [
            ("nonsense=1", "no option of the engine has the flag \"--nonsense\""),
            ("threads", "--threads lacks its value: --threads=VALUE"),
            (
                "--logfile log.txt --show-wdl=true",
                "--logfile log.txt --show-wdl=true: one flag a line, or --flag=VALUE where a value has dashes after a blank",
            ),
            ("threads=many", "option Threads: \"many\" is not a whole number from 0 to 128"),
        ] {
            assert_eq!(read(text).2.as_deref(), Some(expected));
        }
    }
}
