//! Writes lines to the GUI, the console and the log, one whole line at a time.

use super::log::{Log, LogError};
use super::print;
use crate::crash_report;
use parking_lot::Mutex;
use std::io::Write;
use std::sync::Arc;
use zeitnot_base::printable;

/// The output to the GUI, with copies to console and log. The loop and the search's threads share it; lines stay whole.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Sinks>>);

struct Sinks {
    gui: Box<dyn Write + Send>,
    /// Standard error: bots and match runners show it, and nothing of what an engine says to a GUI.
    console: Option<Box<dyn Write + Send>>,
    log: Option<Log>,
    /// Lines that go out together with the next one.
    held: String,
}

impl Output {
    /// An output to `sink`, which the GUI reads.
    pub fn new(sink: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(Sinks { gui: Box::new(sink), console: None, log: None, held: String::new() })))
    }

    /// Copies errors, and the news of what plays, to `console`.
    #[must_use]
    pub fn with_console(self, console: impl Write + Send + 'static) -> Output {
        self.0.lock().console = Some(Box::new(console));
        self
    }

    /// Writes an `info string` for the GUI, and the same text to the console.
    pub(super) fn tell(&self, text: &str) {
        self.line(&print::info(&text));
        self.say_on_console(text);
    }

    pub(super) fn say_on_console(&self, text: &str) {
        if let Some(console) = &mut self.0.lock().console {
            // Nobody may read it.
            let _ = writeln!(console, "{}", printable::line(text));
        }
    }

    pub(super) fn line(&self, text: &str) {
        self.lines(std::iter::once(text));
    }

    /// Writes all lines in one go: a GUI that wakes up at the first might take the processor from the engine while its
    /// clock runs.
    pub(super) fn lines<'a>(&self, lines: impl Iterator<Item = &'a str>) {
        let mut sinks = self.0.lock();
        lines.for_each(|line| sinks.hold(line));
        let Sinks { gui, held, .. } = &mut *sinks;
        // A GUI that has gone does not read; the end of its input ends the loop.
        let _ = gui.write_all(held.as_bytes()).and_then(|()| gui.flush());
        held.clear();
    }

    /// Keeps a line back until the next one is written.
    pub(super) fn hold(&self, line: &str) {
        self.0.lock().hold(line);
    }

    /// Writes a line to the log alone, if there is one.
    pub(super) fn log(&self, mark: &str, text: &str) {
        let logged = self.0.lock().log.as_mut().map(|log| log.line(mark, &printable::line(text)));
        self.tell_of(logged);
    }

    /// Reports an error of the log, if there is one.
    fn tell_of(&self, logged: Option<Result<(), LogError>>) {
        if let Some(Err(error)) = logged {
            self.error(&error);
        }
    }

    /// Changes to the log at `path`, unless that log is in use already.
    pub(super) fn log_to(&self, path: &str) {
        if self.0.lock().log.as_ref().map_or("", Log::path) == path {
            return;
        }
        match Log::open(path) {
            Ok(log) => {
                if let Some(folder) = log.as_ref().and_then(Log::folder) {
                    crash_report::set_folder(Some(folder));
                }
                self.0.lock().log = log;
            }
            Err(error) => self.error(&error),
        }
    }

    pub(super) fn error(&self, error: &dyn std::fmt::Display) {
        self.tell(&print::error(error));
    }
}

impl Sinks {
    fn hold(&mut self, line: &str) {
        // What it quotes (a complaint the input, a default a path) must not speak in the engine's name.
        let line = printable::line(line);
        self.held.push_str(&line);
        self.held.push('\n');
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.line("<<", &line)) {
            // The log complains once.
            self.hold(&print::info(&print::error(&error)));
        }
    }
}
