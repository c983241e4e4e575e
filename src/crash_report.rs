//! Writes a report of a panic, with the lines that the engine read before it.
//!
//! A panic of a search's thread does not end the engine, which still answers with a legal move; the report says what
//! the engine was doing.

use std::backtrace::Backtrace;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;

use parking_lot::Mutex;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use zeitnot_base::printable;

/// Number of protocol lines that are kept: several moves of a game, with their clocks.
const KEPT: usize = 60;
/// Number of `setoption` lines that are kept besides, however old.
const KEPT_OPTIONS: usize = 200;
/// Characters of a line that are kept: a `position` of a long game.
const LONGEST: usize = 4_000;
/// Most reports that a process writes: a defect that comes again at each move says nothing new.
const MOST_REPORTS: usize = 5;

/// The last lines read, and the folder for the report of a panic.
struct Before {
    options: VecDeque<String>,
    lines: VecDeque<String>,
    folder: Option<PathBuf>,
}

static BEFORE: Mutex<Before> = Mutex::new(Before { options: VecDeque::new(), lines: VecDeque::new(), folder: None });
static REPORTS: AtomicUsize = AtomicUsize::new(0);

/// Reports every later panic of this process on standard error and in a file in `folder`. Without a folder, or if it
/// cannot be written, the file goes to the system's folder for temporary files.
pub fn install(folder: Option<PathBuf>) {
    set_folder(folder);
    std::panic::set_hook(Box::new(move |panic| {
        tell(&format!("\nthread {} {panic}", thread_name(&std::thread::current())));
        let number = REPORTS.fetch_add(1, Ordering::Relaxed) + 1;
        if number <= MOST_REPORTS {
            let text = report(panic, &Backtrace::force_capture());
            let told = match write(&text, number) {
                Some(path) => format!("its report is {}", path.display()),
                None => format!("its report can be written nowhere:\n{text}"),
            };
            tell(&format!("zeitnot: this is a defect; {told}"));
        }
    }));
}

/// Prints a text on standard error. Where nobody reads any more `eprintln` would panic, and a panic in here would abort
/// the process.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable::lines(text));
}

fn thread_name(thread: &Thread) -> &str {
    thread.name().unwrap_or("without a name")
}

/// Sets the folder of later reports: the log's, if there is a log.
pub fn set_folder(folder: Option<PathBuf>) {
    BEFORE.lock().folder = folder;
}

/// Keeps a line that was sent to the engine, for a report.
pub fn remember(line: &str) {
    let kept: String = line.chars().take(LONGEST).collect();
    let before = &mut *BEFORE.lock();
    let (lines, most) = match line.trim_start().starts_with("setoption") {
        true => (&mut before.options, KEPT_OPTIONS),
        false => (&mut before.lines, KEPT),
    };
    if lines.len() == most {
        lines.pop_front();
    }
    lines.push_back(kept);
}

/// The text of a report.
fn report(panic: &PanicHookInfo<'_>, backtrace: &Backtrace) -> String {
    let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
    let (os, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let thread = std::thread::current();
    let mut text = format!(
        "zeitnot {}, {os} {architecture}, {now}\nthread {}: {panic}\n\ncommand line:",
        env!("CARGO_PKG_VERSION"),
        thread_name(&thread)
    );
    let mut line = |line: std::fmt::Arguments<'_>| text.write_fmt(line).expect("a string takes every text");
    for argument in std::env::args_os() {
        line(format_args!(" {:?}", printable::without_password(&argument.to_string_lossy())));
    }
    // A panic while the lines were held must not wait for them.
    match BEFORE.try_lock() {
        Some(before) => {
            line(format_args!("\n\noptions set:\n"));
            before.options.iter().for_each(|option| line(format_args!("{option}\n")));
            line(format_args!("\nlast lines read:\n"));
            before.lines.iter().for_each(|read| line(format_args!("{read}\n")));
        }
        None => line(format_args!("\n\nwhat was read cannot be told\n")),
    }
    line(format_args!("\nbacktrace:\n{backtrace}\n"));
    printable::lines(&text).into_owned()
}

/// Writes a report and returns its path; `None` if no folder can be written.
fn write(text: &str, number: usize) -> Option<PathBuf> {
    let folder = BEFORE.try_lock().and_then(|before| before.folder.clone());
    let seconds = OffsetDateTime::now_utc().unix_timestamp();
    let name = format!("zeitnot-crash-{seconds}-{}-{}.txt", std::process::id(), number);
    folder.into_iter().chain([std::env::temp_dir()]).find_map(|folder| {
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(&name);
        // A file that is there, or a link, is somebody else's.
        let mut file = File::options().write(true).create_new(true).open(&path).ok()?;
        file.write_all(text.as_bytes()).ok().map(|()| path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_and_all_options_are_kept() {
        remember("setoption name Threads value 2");
        for index in 0..2 * KEPT {
            remember(&format!("go nodes {index}"));
        }
        remember(&"x".repeat(2 * LONGEST));
        let before = BEFORE.lock();
        assert!(before.options.iter().any(|line| line == "setoption name Threads value 2"));
        assert_eq!((before.lines.len(), before.lines.back().unwrap().len()), (KEPT, LONGEST));
        assert!(before.lines.contains(&format!("go nodes {}", 2 * KEPT - 1)));
    }
}
