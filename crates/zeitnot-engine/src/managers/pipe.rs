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

/// Most bytes of an answer; an answer has a hundred.
const LONGEST_ANSWER: u64 = 1 << 16;
/// Most lines that wait to be written or to be taken: more than a process can owe.
const LINES: usize = 16;
/// Most bytes that are passed over in a row.
const MOST_PASSED_OVER: usize = 1 << 25;
const ENDLESS: &str = "the program writes without end";
const NO_INPUT: &str = "the program has closed its input";
/// Time for a process to end when its input does.
const GRACE: Duration = Duration::from_millis(300);

/// A reason why a line has no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// The time for it is over; the event whose answer did not come, and what came instead.
    Late(String),
    /// There will be none, for this reason.
    Ended(&'static str),
}

/// A process that answers lines with lines.
#[derive(Debug)]
pub(super) struct Pipe {
    child: OwnedChild,
    /// `None`: its input is at its end.
    input: Option<Sender<String>>,
    answers: Receiver<Result<String, &'static str>>,
    /// The events whose answers are still to come, and when they were told.
    owed: VecDeque<(&'static str, Instant)>,
    /// Whether it has written a line of any kind since the last event.
    spoke: Arc<AtomicBool>,
    /// Bytes since the last answer, each line counted as 64 more.
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

    /// Writes an event, after all earlier answers have come: they would be taken for its own.
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

    /// The answer to the first event that has none, known by its key, or its error. Lines that answer nothing are passed
    /// over.
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

    /// Takes whatever has come since the last event for all late answers, so that a wrong one is not awaited for ever. Returns
    /// whether anything has come; of who writes without end that is not known.
    pub fn settle(&mut self) -> bool {
        let is_answered = self.spoke.load(Ordering::Relaxed) && self.answers.is_empty();
        self.owed.retain(|_| !is_answered);
        is_answered
    }

    /// Ends the process at once; another thread waits for its end. Returns the problem, which is its exit status if it has
    /// ended by itself within a time.
    pub fn give_up(mut self, problem: String, within: Duration) -> String {
        let status = if problem == ENDLESS { None } else { self.child.ended(within) };
        self.child.kill_all();
        // Where there is no thread, this one waits.
        let _ = Builder::new().spawn(move || drop(self));
        status.map_or(problem, |status| format!("the program has ended ({status})"))
    }
}

impl Drop for Pipe {
    /// Ends the game: the process sees the end of its input, and is killed where it does not end then.
    fn drop(&mut self) {
        self.input = None;
        self.child.ended(GRACE);
    }
}

/// Processes that end on threads of their own; whoever drops this waits for them.
#[derive(Debug, Default)]
pub(super) struct Ending(WaitGroup);

impl Ending {
    /// Ends the game of a process.
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

/// Writes the lines until there will be no more.
fn write(mut stdin: ChildStdin, lines: &Receiver<String>) -> Result<(), &'static str> {
    lines.iter().try_for_each(|line| stdin.write_all(line.as_bytes()).map_err(|_| NO_INPUT))
}

/// Passes on each line that begins an object or a field of one; whatever else a program prints is no answer. Returns why
/// there are no more.
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
