//! Reads what a person types, line by line and on a thread, so that clocks run and Ctrl-C is heard.

use crate::commands::output;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use zeitnot::uci::{Lines, PassedOver};

/// Longest time until Ctrl-C is heard.
pub const LOOK: Duration = Duration::from_millis(100);

/// The lines of the standard input.
pub struct Keyboard {
    lines: Receiver<(Result<String, PassedOver>, Instant)>,
    interrupted: Arc<AtomicBool>,
    is_terminal: bool,
}

/// The reason why a wait for the person ended.
pub enum Heard {
    /// A line, and when it was read.
    Line { text: String, at: Instant },
    /// A line that cannot be read, and why.
    PassedOver(PassedOver),
    /// The time is over.
    Late,
    /// Ctrl-C.
    Interrupted,
    /// The end of the input.
    End,
}

impl Keyboard {
    /// Begins to read standard input on a thread of its own. `interrupted` is the flag that Ctrl-C sets.
    pub fn listen(interrupted: Arc<AtomicBool>) -> Keyboard {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut lines = Lines::of(io::stdin().lock());
            // An input that fails is over.
            while let Ok(Some(line)) = lines.read() {
                if sender.send((line, Instant::now())).is_err() {
                    break;
                }
            }
        });
        Keyboard { lines, interrupted, is_terminal: io::stdin().is_terminal() }
    }

    /// Whether standard input is a terminal, at which a person types.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether Ctrl-C was typed.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Prints a prompt, if a person types.
    pub fn prompt(&self, text: &str) {
        if self.is_terminal {
            output::text(text);
        }
    }

    /// Ends the line of the prompt, if a person types, where no typed line has ended it.
    pub fn leave_prompt(&self) {
        self.prompt("\n");
    }

    /// Waits for a line that is read before `until`, or for any line.
    pub fn wait(&self, until: Option<Instant>) -> Heard {
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            match self.lines.recv_timeout(left.min(LOOK)) {
                _ if self.is_interrupted() => return Heard::Interrupted,
                Ok((_, at)) if until.is_some_and(|until| at > until) => return Heard::Late,
                Ok((Ok(text), at)) => return Heard::Line { text, at },
                Ok((Err(why), _)) => return Heard::PassedOver(why),
                Err(RecvTimeoutError::Disconnected) => return Heard::End,
                Err(RecvTimeoutError::Timeout) if until.is_some_and(|until| Instant::now() >= until) => {
                    return Heard::Late;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
