//! Holds the process of a time manager: one line in, one line out.

use crate::child::{OwnedChild, split};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Most bytes of an answer; an answer has a hundred.
const LONGEST_ANSWER: u64 = 1 << 16;
/// Most answers that wait to be taken: more than a process can owe.
const ANSWERS: usize = 16;
/// Time for a process that has closed its output to end.
const END: Duration = Duration::from_millis(200);

/// A reason why a line has no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// The time for it is over.
    Late,
    /// The process ended, in words, or closed its output.
    Ended(String),
}

/// A process that answers lines with lines.
#[derive(Debug)]
pub(super) struct Pipe {
    child: OwnedChild,
    input: ChildStdin,
    answers: Receiver<String>,
    /// Answers that are still to come.
    owed: usize,
}

impl Pipe {
    /// Starts the process of a command line.
    ///
    /// # Errors
    /// The problem, in words.
    pub fn start(command: &str) -> Result<Pipe, String> {
        let (program, args) = split(command).map_err(|problem| format!("{command:?} is no command line: {problem}"))?;
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
        Ok(Pipe { child, input, answers, owed: 0 })
    }

    /// The answer to a line, within `patience`. Late answers to earlier lines are passed over, and until they have come
    /// nothing more is written: so the process is never owed more than a pipe holds.
    pub fn ask(&mut self, line: &str, patience: Duration) -> Result<String, Silence> {
        let deadline = Instant::now() + patience;
        while self.owed > 0 {
            self.take(deadline)?;
        }
        self.tell(line)?;
        self.take(deadline)
    }

    /// Writes a line whose answer nobody waits for.
    pub fn tell(&mut self, line: &str) -> Result<(), Silence> {
        if self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush()).is_err() {
            return Err(self.end());
        }
        self.owed += 1;
        Ok(())
    }

    fn take(&mut self, deadline: Instant) -> Result<String, Silence> {
        match self.answers.recv_deadline(deadline) {
            Ok(answer) => {
                self.owed -= 1;
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
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
