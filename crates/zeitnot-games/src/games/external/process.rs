//! Runs an engine as a child process, with a thread at each of its three streams: however much it writes and however
//! little it reads, it neither blocks this program nor fills its memory.

use super::info_line::Told;
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded, unbounded};
use parking_lot::Mutex;
use std::io::{self, ErrorKind, Read, Write as _};
use std::ops::ControlFlow;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;
use zeitnot_base::files::{from_any_encoding, to_os};
use zeitnot_engine::child::OwnedChild;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};

/// Bytes of a line that are kept: lines with a long `pv` have some thousands.
const LONGEST_LINE: usize = 1 << 14;
/// Most lines that wait in the queue until the match reads them; further lines are lost.
const LINES: usize = 1 << 10;
/// Most bytes of `id` and `option` lines that are read before `uciok`: an engine declares a few hundred options at
/// most, of a hundred bytes each.
pub(super) const MOST_DECLARED: usize = 1 << 19;
/// Bytes that each line counts towards [`MOST_DECLARED`] in addition to its length.
const LINE_COST: usize = 64;
/// Bytes of a `bestmove` line that are kept: two moves, and what an error quotes.
const LONGEST_ANSWER: usize = 1 << 10;
/// Bytes of the buffer for one read of an output stream.
const BUFFER: usize = 1 << 16;
/// Milliseconds for a process that has closed its output to end, and for its last words to arrive.
const END_MS: f64 = 3_000.0;

/// A line of output that the match has to see.
pub(super) enum Output {
    /// A line `id` or `option` before `uciok`, `uciok` itself, or `readyok`.
    Line(String),
    /// A line `info`, where they are wanted.
    Info(String),
    /// More bytes than [`MOST_DECLARED`] before `uciok`.
    Flood,
    /// A line `bestmove`, when it was read by the process's clock, and the values of the `info` lines before it.
    BestMove { line: String, at_ms: f64, told: Told },
}

/// Reason why no line of output came.
pub(super) enum Silence {
    /// The deadline has passed.
    Late,
    /// The process has closed its output.
    Ended,
}

struct Input {
    text: String,
    /// Receives the moment at which the writing of the text began.
    written: Option<Sender<f64>>,
}

/// An engine's process, which ends when this is dropped. Its output is read as values of `T`.
pub struct Process<T> {
    child: OwnedChild,
    clock: MonotonicClock,
    input: Sender<Input>,
    output: Receiver<T>,
    /// The last line of standard error.
    last_words: Arc<Mutex<String>>,
    /// Disconnected when standard error is closed.
    errors_open: Receiver<()>,
}

impl<T: Send + 'static> Process<T> {
    /// Starts a program. A thread runs `read` with its output, and with the sender of what `next` takes; what is
    /// not taken waits in a queue of 1,024.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn start(
        program: &str,
        args: &[String],
        clock: MonotonicClock,
        read: impl FnOnce(&mut ChildStdout, &Sender<T>) + Send + 'static,
    ) -> io::Result<Process<T>> {
        let mut child = OwnedChild::start(program, args, |command| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        })?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(mut stdout), Some(mut stderr)) = streams else { unreachable!("all three are pipes") };
        // No command may be lost, as an option would be, and few wait: an engine that does not read is given up at the
        // next wait for it.
        let (input, commands) = unbounded();
        let (lines, output) = bounded(LINES);
        let (open, errors_open) = bounded(0);
        let last_words = Arc::new(Mutex::new(String::new()));
        let words = Arc::clone(&last_words);
        // From here on dropping this value ends the process, also where a thread cannot be started.
        let process = Process { child, clock, input, output, last_words, errors_open };
        Builder::new().name("engine input".into()).spawn(move || write_input(stdin, &commands, clock))?;
        Builder::new().name("engine output".into()).spawn(move || read(&mut stdout, &lines))?;
        Builder::new().name("engine errors".into()).spawn(move || {
            let _open: Sender<()> = open;
            each_line(&mut stderr, clock, |line, _| {
                let line = from_any_encoding(line);
                if !line.trim().is_empty() {
                    *words.lock() = line;
                }
                ControlFlow::Continue(())
            });
        })?;
        Ok(process)
    }

    /// Sends a line. Where the engine does not take it, the answer will be missing.
    pub fn tell(&self, line: &str) {
        self.teller()(line);
    }

    /// Sends lines as [`Process::tell`] does, while this process is waited for.
    pub(super) fn teller(&self) -> impl Fn(&str) + use<T> {
        let input = self.input.clone();
        move |line| {
            let _ = input.send(Input { text: format!("{line}\n"), written: None });
        }
    }

    /// Sends a line and waits until it is written, but not beyond `deadline_ms`. Returns the moment at which the
    /// writing began; `None` when the engine does not read.
    pub(super) fn tell_and_stamp(&self, line: &str, deadline_ms: f64) -> Option<f64> {
        let (written, stamp) = bounded(1);
        self.input.send(Input { text: format!("{line}\n"), written: Some(written) }).ok()?;
        stamp.recv_timeout(self.until(deadline_ms)).ok()
    }

    /// The next line of output that matters.
    ///
    /// # Errors
    /// [`Silence`] when the output is closed, or no such line came before `deadline_ms`.
    pub(super) fn next(&self, deadline_ms: f64) -> Result<T, Silence> {
        self.output.recv_timeout(self.until(deadline_ms)).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::Late,
            RecvTimeoutError::Disconnected => Silence::Ended,
        })
    }

    /// The time now, in milliseconds on the clock that stamps outputs.
    pub fn now_ms(&self) -> f64 {
        self.clock.now_ms()
    }

    fn until(&self, deadline_ms: f64) -> Duration {
        let left_ms = (deadline_ms - self.now_ms()).max(0.0);
        Duration::try_from_secs_f64(left_ms / 1e3).unwrap_or(Duration::MAX)
    }

    /// The exit status of a process that has closed its output, in words, and the last line of its standard error.
    /// Waits a few seconds for both.
    pub fn end(&mut self) -> (String, String) {
        let deadline_ms = self.now_ms() + END_MS;
        let status = self.child.ended(self.until(deadline_ms)).map(|status| status.to_string());
        let _ = self.errors_open.recv_timeout(self.until(deadline_ms));
        (status.unwrap_or_else(|| "its output is closed".to_owned()), self.last_words.lock().clone())
    }

    /// Asks the engine to end, and gives it `grace_ms` milliseconds for that.
    pub fn quit(mut self, grace_ms: f64) {
        self.tell("quit");
        self.has_ended(self.now_ms() + grace_ms);
    }

    /// Whether the process has ended before `deadline_ms`; waits for it.
    pub fn has_ended(&mut self, deadline_ms: f64) -> bool {
        self.child.ended(self.until(deadline_ms)).is_some()
    }
}

fn write_input(mut pipe: ChildStdin, commands: &Receiver<Input>, clock: MonotonicClock) {
    for Input { text, written } in commands {
        let began_ms = clock.now_ms();
        if pipe.write_all(to_os(&text).as_encoded_bytes()).and_then(|()| pipe.flush()).is_err() {
            return;
        }
        if let Some(written) = written {
            let _ = written.send(began_ms);
        }
    }
}

/// Reads an engine's output for a match. `hears`: whether the lines `info` are wanted, too.
pub(super) fn read_output(pipe: &mut impl Read, lines: &Sender<Output>, clock: MonotonicClock, hears: bool) {
    let mut told = Told::default();
    // Bytes that may still be declared; `None` after `uciok` or a flood, when nothing is declared any more.
    let mut left = Some(MOST_DECLARED);
    each_line(pipe, clock, |line, at_ms| {
        let line = &*from_any_encoding(line);
        let output = match line.split_ascii_whitespace().next() {
            Some("info") => {
                told.update(line);
                // None may be lost: the moves of a game on a virtual clock depend on them.
                return match hears && lines.send(Output::Info(line.to_owned())).is_err() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                };
            }
            Some("bestmove") => {
                let line = line[..line.floor_char_boundary(LONGEST_ANSWER)].to_owned();
                Output::BestMove { line, at_ms, told: std::mem::take(&mut told) }
            }
            Some(word @ ("id" | "option" | "uciok")) if left.is_some() => {
                left = left.and_then(|bytes| bytes.checked_sub(line.len() + LINE_COST));
                let output = if left.is_some() { Output::Line(line.to_owned()) } else { Output::Flood };
                left = left.filter(|_| word != "uciok");
                // None of these few lines may be lost: this waits until the line is taken.
                return if lines.send(output).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            }
            Some(word @ ("uciok" | "readyok")) => Output::Line(word.to_owned()),
            _ => return ControlFlow::Continue(()),
        };
        match lines.try_send(output) {
            Err(TrySendError::Disconnected(_)) => ControlFlow::Break(()),
            // Lines beyond the limit are lost, or a flood would fill the memory.
            Ok(()) | Err(TrySendError::Full(_)) => ControlFlow::Continue(()),
        }
    });
}

/// Calls `take` with each line and the time at which its end was read, until the stream ends or `take` breaks. Lines
/// are cut off at 16,384 bytes.
pub fn each_line(pipe: &mut impl Read, clock: MonotonicClock, mut take: impl FnMut(&[u8], f64) -> ControlFlow<()>) {
    let mut buffer = vec![0; BUFFER];
    let mut line = Vec::new();
    loop {
        let count = match pipe.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let at_ms = clock.now_ms();
        let mut parts = buffer[..count].split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            line.extend_from_slice(&part[..part.len().min(LONGEST_LINE - line.len())]);
            if parts.peek().is_some() {
                if take(&line, at_ms).is_break() {
                    return;
                }
                line.clear();
            }
        }
    }
    // The last line may lack its end.
    let _ = take(&line, clock.now_ms());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time after the first piece.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            (self.0, self.1) = (&self.0[count..], 1);
            Ok(count)
        }
    }

    fn lines(text: &[u8], first: usize) -> Vec<String> {
        let mut lines = Vec::new();
        each_line(&mut Pieces(text, first), MonotonicClock::new(), |line, _| {
            lines.push(from_any_encoding(line));
            ControlFlow::Continue(())
        });
        lines
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        let text = "uciok\r\n\ninfo \u{e9}\nbestmove e2e4".as_bytes();
        for first in 1..text.len() {
            assert_eq!(lines(text, first), ["uciok\r", "", "info é", "bestmove e2e4"], "{first}");
        }
        assert_eq!(lines(b"\xff\n", 1), ["\u{ff}", ""]);
    }

    #[test]
    fn long_lines_keep_their_beginning() {
        let text = [vec![b'x'; 3 * LONGEST_LINE], b"\nreadyok\n".to_vec()].concat();
        let lines = lines(&text, BUFFER);
        assert_eq!((lines[0].len(), lines[1].as_str()), (LONGEST_LINE, "readyok"));
    }

    /// Number of lines taken from an engine, and whether it was reported that they are too many.
    fn taken(text: &str) -> (usize, bool) {
        let (sender, queue) = bounded(LINES);
        let text = text.to_owned();
        let reader =
            std::thread::spawn(move || read_output(&mut text.as_bytes(), &sender, MonotonicClock::new(), false));
        let outputs: Vec<Output> = queue.into_iter().collect();
        reader.join().unwrap();
        (outputs.len(), outputs.iter().any(|output| matches!(output, Output::Flood)))
    }

    #[test]
    fn declarations_are_all_taken_up_to_a_limit() {
        let option = "option name A type check default true\n";
        assert_eq!(taken(&format!("{}uciok\n", option.repeat(4 * LINES))), (4 * LINES + 1, false));
        let wide = format!("option name A type combo default a{}\n", " var a".repeat(LONGEST_LINE));
        for flood in [option, "id name A\n", "id\n", &wide] {
            let most = MOST_DECLARED / (flood.trim_end().len().min(LONGEST_LINE) + LINE_COST);
            assert_eq!(taken(&flood.repeat(2 * most + 2)), (most + 1, true), "{flood:.20}");
        }
        // Nobody reads them any more after uciok.
        assert_eq!(taken(&format!("uciok\n{}readyok\n", option.repeat(100_000))), (2, false));
    }

    #[test]
    fn answers_keep_their_beginning() {
        let (sender, queue) = bounded(LINES);
        let text = format!("bestmove e2e4 {}\nreadyok {}\n", "é".repeat(LONGEST_LINE), "x".repeat(LONGEST_LINE));
        read_output(&mut text.as_bytes(), &sender, MonotonicClock::new(), false);
        let lengths = queue.try_iter().map(|output| match output {
            Output::BestMove { line, .. } | Output::Line(line) | Output::Info(line) => line.len(),
            Output::Flood => 0,
        });
        assert_eq!(lengths.collect::<Vec<_>>(), [LONGEST_ANSWER, "readyok".len()]);
    }

    #[test]
    fn a_flood_is_lost_beyond_the_queue() {
        let (sender, queue) = bounded(LINES);
        let text = "bestmove e2e4\n".repeat(3 * LINES);
        read_output(&mut text.as_bytes(), &sender, MonotonicClock::new(), false);
        assert_eq!(queue.len(), LINES);
    }
}
