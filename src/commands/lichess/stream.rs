//! The lines of a search on their way to the broker.

use crate::commands::output::note;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use zeitnot::uci::Display;
use zeitnot_engine::engine::{Listener, Report, SearchEnd};
use zeitnot_time::Plan;

/// The last line where nothing was searched.
pub const NO_MOVE: &str = "bestmove (none)\n";

/// The body of a request to the broker: the lines of a search, read while they come from its [`Ear`].
pub struct Stream {
    lines: Receiver<String>,
    /// Bytes that are not read yet.
    rest: io::Cursor<Vec<u8>>,
}

impl Stream {
    /// A body, and the sender of its lines.
    pub fn new() -> (Sender<String>, Stream) {
        let (sender, lines) = channel();
        (sender, Stream { lines, rest: io::Cursor::default() })
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.position() == self.rest.get_ref().len() as u64 {
            match self.lines.recv() {
                Ok(lines) => self.rest = io::Cursor::new(lines.into_bytes()),
                Err(_) => return Ok(0),
            }
        }
        self.rest.read(into)
    }
}

/// A listener to a search, which sends its lines to the broker and shows its progress on the status line.
pub struct Ear {
    /// `None` once the search has ended: then the body ends, too.
    pub sender: Mutex<Option<Sender<String>>>,
    pub display: Display,
    pub line: ProgressBar,
    /// The beginning of the line of status.
    pub about: String,
}

impl Ear {
    fn write(&self, report: &Report, last: Option<&str>) {
        let lines: String = self.display.report(report).iter().map(|line| format!("{line}\n")).collect();
        let last = last.map(|last| format!("{last}\n")).unwrap_or_default();
        if let Some(sender) = &*self.sender.lock() {
            // Who asked may have gone.
            let _ = sender.send(lines + &last);
        }
        self.line.set_message(format!("{}, depth {}, {} nodes", self.about, report.tree_depth, report.nodes));
    }
}

impl Listener for Ear {
    fn planned(&self, _: &Plan) {}

    fn failed(&self, error: &str) {
        // The search would wait for `stop`, and so would who asked.
        if let Some(sender) = self.sender.lock().take() {
            self.line.suspend(|| note!("{error}"));
            let _ = sender.send(NO_MOVE.to_owned());
        }
    }

    fn report(&self, report: &Report) {
        self.write(report, None);
    }

    fn finished(&self, end: &SearchEnd) {
        match &end.error {
            Some(error) => self.failed(error),
            None => self.write(&end.report, Some(&self.display.best_move(end))),
        }
        *self.sender.lock() = None;
    }
}
