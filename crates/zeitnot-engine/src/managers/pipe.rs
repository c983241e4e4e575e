//! Holds the process of a time manager, with a thread at each of its two streams: one line in, one line out. However much
//! it writes and however little it reads, it neither blocks this program nor fills its memory.

use crossbeam::channel::{Receiver, Sender, TrySendError, bounded};
use crossbeam::sync::WaitGroup;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use zeitnot_base::child::{OwnedChild, split};

/// Most bytes of an answer; usual ones have about a hundred.
const LONGEST_ANSWER: u64 = 1 << 16;
/// Most lines in each of the two queues, to the process and from it: more answers than it can owe.
const LINES: usize = 16;
/// Most bytes of output without an answer that are skipped before the program is given up.
const MOST_PASSED_OVER: usize = 1 << 25;
const ENDLESS: &str = "the program writes without end";
const NO_INPUT: &str = "the program has closed its input";
/// Time that a process has to end once its input is closed.
const GRACE: Duration = Duration::from_millis(300);

/// A reason why a line has no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// The time for the answer is over. The text: the event that was not answered, and what came instead.
    Late(String),
    /// No answer will come any more, for this reason.
    Ended(&'static str),
}

/// A running process that answers each line with a line.
#[derive(Debug)]
pub(super) struct Pipe {
    child: OwnedChild,
    /// Lines for the process's input; `None` once that is closed.
    input: Option<Sender<String>>,
    answers: Receiver<Result<String, &'static str>>,
    /// The events whose answers are still to come, and when each was sent.
    owed: VecDeque<(&'static str, Instant)>,
    /// Whether the process has written a line of any kind since the last event.
    spoke: Arc<AtomicBool>,
    /// Bytes of lines skipped since the last answer, with 64 more for each line.
    passed_over: usize,
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
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes")
        };
        let ((input, lines), (found, answers)) = (bounded::<String>(LINES), bounded(LINES));
        let (ended, spoke) = (found.clone(), Arc::new(AtomicBool::new(false)));
        let speaks = Arc::clone(&spoke);
        let thread = || Builder::new().name("time manager".into());
        thread().spawn(move || write(stdin, &lines).or_else(|why| ended.send(Err(why)))).map_err(cannot)?;
        thread().spawn(move || found.send(Err(read(stdout, &found, &speaks)))).map_err(cannot)?;
        Ok(Pipe { child, input: Some(input), answers, owed: VecDeque::new(), spoke, passed_over: 0 })
    }

    /// Writes an event, after all earlier answers have come: one of them could be taken for the answer to this event.
    pub fn ask(&mut self, event: &'static str, line: String, deadline: Instant) -> Result<(), Silence> {
        while !self.owed.is_empty() {
            self.answer(deadline)?;
        }
        // What nobody asked for is forgotten.
        self.answers.try_iter().take(LINES).collect::<Result<Vec<_>, _>>().map_err(Silence::Ended)?;
        self.tell(event, line)
    }

    /// Writes an event whose answer nobody waits for.
    pub fn tell(&mut self, event: &'static str, line: String) -> Result<(), Silence> {
        self.spoke.store(false, Ordering::Relaxed);
        match self.input.as_ref().map(|input| input.try_send(line)) {
            Some(Ok(())) => self.owed.push_back((event, Instant::now())),
            Some(Err(TrySendError::Full(_))) => return Err(Silence::Late(format!("{event}: it is not read"))),
            _ => return Err(Silence::Ended(NO_INPUT)),
        }
        Ok(())
    }

    /// Waits for the answer to the oldest event without one, known by its key or by `error`. Lines that are no answer
    /// are skipped.
    pub fn answer(&mut self, deadline: Instant) -> Result<String, Silence> {
        let (event, told) = self.owed.front().copied().unwrap_or(("an event", deadline));
        let key = [("plan", "budget_ms"), ("observe", "stop")].into_iter().find(|of| of.0 == event).map(|of| of.1);
        let mut other = String::new();
        // After the deadline no talker is heard out.
        for count in 1_usize.. {
            let Ok(line) = self.answers.recv_deadline(deadline) else { break };
            let line = line.map_err(Silence::Ended)?;
            if key.is_none_or(|key| is_answer(&line, key)) {
                self.passed_over = 0;
                self.owed.pop_front();
                return Ok(line);
            }
            self.passed_over += line.len() + 64;
            other = format!(" but {line:.100}");
            if self.passed_over > MOST_PASSED_OVER {
                return Err(Silence::Ended(ENDLESS));
            } else if count.is_multiple_of(LINES) && Instant::now() > deadline {
                break;
            }
        }
        Err(Silence::Late(format!("{event} for {} ms{other}", told.elapsed().as_millis())))
    }

    /// Takes whatever the process has written since the last event for all its late answers, so that a wrong answer is
    /// not awaited for ever. Returns whether it has; `false` also while lines still wait to be read.
    pub fn settle(&mut self) -> bool {
        let is_answered = self.spoke.load(Ordering::Relaxed) && self.answers.is_empty();
        self.owed.retain(|_| !is_answered);
        is_answered
    }

    /// Kills the process, unless it ends by itself `within` a time; another thread waits for its end. Returns
    /// `problem`, or the exit status in words if the process had ended by itself.
    pub fn give_up(mut self, problem: String, within: Duration) -> String {
        let status = if problem == ENDLESS { None } else { self.child.ended(within) };
        self.child.kill_all();
        // Where there is no thread, this one waits.
        let _ = Builder::new().spawn(move || drop(self));
        status.map_or(problem, |status| format!("the program has ended ({status})"))
    }
}

impl Drop for Pipe {
    /// Closes the process's input, and kills the process if it does not end then.
    fn drop(&mut self) {
        self.input = None;
        self.child.ended(GRACE);
    }
}

/// Processes that are being ended, each by a thread of its own; dropping this waits for all of them.
#[derive(Debug, Default)]
pub(super) struct Ending(WaitGroup);

impl Ending {
    /// Drops a pipe on a thread of its own, which ends its process.
    pub fn add(&self, pipe: Pipe) {
        let is_over = self.0.clone();
        // Where there is no thread, this one waits.
        let _ = Builder::new().spawn(move || drop((pipe, is_over)));
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        std::mem::take(&mut self.0).wait();
    }
}

/// The program of a command line and its arguments.
///
/// # Errors
/// The problem, in words.
pub(super) fn words(command: &str) -> Result<(String, Vec<String>), String> {
    split(command).map_err(|problem| format!("{command:?} is no command line: {problem}"))
}

/// Whether a line is the answer with this key, right or wrong: an object that has it or tells of an error, or a line that
/// cannot be read and names them.
fn is_answer(line: &str, key: &str) -> bool {
    match serde_json::from_str::<Map<String, Value>>(line) {
        Ok(said) => said.contains_key(key) || said.get("error").is_some_and(|error| !error.is_null()),
        Err(_) => line.contains(key) || line.contains("\"error\""),
    }
}

/// Writes lines to the process until their sender is gone.
fn write(mut stdin: ChildStdin, lines: &Receiver<String>) -> Result<(), &'static str> {
    lines.iter().try_for_each(|line| stdin.write_all(line.as_bytes()).map_err(|_| NO_INPUT))
}

/// Passes on each line that begins an object or a field of one; whatever else a program prints is no answer. Returns
/// why no more lines come.
fn read(stdout: ChildStdout, found: &Sender<Result<String, &'static str>>, spoke: &AtomicBool) -> &'static str {
    let mut output = BufReader::new(stdout);
    let (mut line, mut is_rest, mut bytes) = (Vec::new(), false, 0);
    while bytes < MOST_PASSED_OVER {
        line.clear();
        if !matches!(output.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line), Ok(1..)) {
            return "the program has closed its output";
        }
        spoke.store(true, Ordering::Relaxed);
        bytes += line.len();
        // The rest of a line that is too long is no line.
        let begins = matches!(line.trim_ascii_start(), [b'{' | b'"', ..]);
        if !std::mem::replace(&mut is_rest, !line.ends_with(b"\n")) && begins {
            bytes = 0;
            if found.send(Ok(String::from_utf8_lossy(&line).trim().to_owned())).is_err() {
                break;
            }
        }
    }
    ENDLESS
}
