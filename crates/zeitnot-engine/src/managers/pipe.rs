//! Holds the process of a time manager: one line in, one line out.

use crate::child::{OwnedChild, split};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Most bytes of an answer; an answer has a hundred.
const LONGEST_ANSWER: u64 = 1 << 16;
/// Most answers that wait to be taken: more than a process can owe.
const ANSWERS: usize = 16;
/// Time for a process that has closed its output to end.
const END: Duration = Duration::from_secs(3);
/// Time without a line after which a program that answered wrongly has said all.
const SETTLED: Duration = Duration::from_millis(100);

/// A reason why a line has no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// The time for it is over; the event whose answer did not come.
    Late(&'static str),
    /// The process ended, in words, or closed its output.
    Ended(String),
}

/// A process that answers lines with lines.
#[derive(Debug)]
pub(super) struct Pipe {
    child: OwnedChild,
    input: ChildStdin,
    answers: Receiver<String>,
    /// The events whose answers are still to come.
    owed: VecDeque<&'static str>,
}

impl Pipe {
    /// Starts the process of a command line.
    ///
    /// # Errors
    /// The problem, in words.
    pub fn start(command: &str) -> Result<Pipe, String> {
        let (program, args) = words(command)?;
        let cannot = |error: io::Error| format!("cannot start {program}: {error}");
        let streams = |command: &mut std::process::Command| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
        };
        let mut child = OwnedChild::start(&program, &args, streams).map_err(cannot)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes")
        };
        let (found, answers) = bounded(ANSWERS);
        Builder::new().name("time manager".into()).spawn(move || read(output, &found)).map_err(cannot)?;
        Ok(Pipe { child, input, answers, owed: VecDeque::new() })
    }

    /// The answer to an event, within `patience`. Answers to earlier events and lines that answer nothing are passed
    /// over. Until all earlier answers have come nothing more is written: so no more waits to be read than a pipe holds.
    pub fn ask(&mut self, event: &'static str, line: &str, patience: Duration) -> Result<String, Silence> {
        let deadline = Instant::now() + patience;
        while !self.owed.is_empty() {
            self.take(deadline)?;
        }
        while self.answers.try_recv().is_ok() {}
        self.tell(event, line)?;
        self.take(deadline)
    }

    /// Writes an event whose answer nobody waits for.
    pub fn tell(&mut self, event: &'static str, line: &str) -> Result<(), Silence> {
        if self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush()).is_err() {
            return Err(self.end());
        }
        self.owed.push_back(event);
        Ok(())
    }

    /// Passes over all that the program says until it is quiet: a line that nobody asked for would be taken for the next
    /// answer.
    pub fn settle(&mut self) {
        while self.answers.recv_timeout(SETTLED).is_ok() {}
        self.owed.clear();
    }

    fn take(&mut self, deadline: Instant) -> Result<String, Silence> {
        match self.answers.recv_deadline(deadline) {
            Ok(answer) => {
                self.owed.pop_front();
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late(self.owed.front().copied().unwrap_or_default())),
            Err(RecvTimeoutError::Disconnected) => Err(self.end()),
        }
    }

    fn end(&mut self) -> Silence {
        let deadline = Instant::now() + END;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Silence::Ended(status.to_string()),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                _ => return Silence::Ended("its output is closed".to_owned()),
            }
        }
    }
}

/// The program of a command line and its arguments.
///
/// # Errors
/// The problem, in words.
pub(super) fn words(command: &str) -> Result<(String, Vec<String>), String> {
    split(command).map_err(|problem| format!("{command:?} is no command line: {problem}"))
}

/// Passes on each line that begins an object; whatever else a program prints is no answer.
fn read(output: ChildStdout, found: &Sender<String>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        if !matches!(output.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line), Ok(1..)) {
            return;
        }
        let is_answer = line.trim_ascii_start().starts_with(b"{");
        let mut rest = Vec::new();
        while line.len() as u64 == LONGEST_ANSWER && !line.ends_with(b"\n") && !rest.ends_with(b"\n") {
            rest.clear();
            if !matches!(output.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut rest), Ok(1..)) {
                break;
            }
        }
        if is_answer && found.send(String::from_utf8_lossy(&line).trim().to_owned()).is_err() {
            return;
        }
    }
}
