//! A UCI engine as a child process: lines in, lines out, and no wait without an end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zeitnot_engine::chess::{Game, to_uci};

/// Only what hangs takes so long, even on a machine that is busy with something else.
const HANG: Duration = Duration::from_secs(60);

/// The binary under test.
pub fn zeitnot() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zeitnot"))
}

/// A command whose working folder, home and data folders are `folder`, and which no variable leads to a library: it
/// finds neither a network nor ONNX Runtime.
pub fn lonely(executable: &Path, folder: &Path) -> Command {
    let mut command = Command::new(executable);
    command.current_dir(folder).env("HOME", folder);
    for variable in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "ORT_DYLIB_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    for variable in ["APPDATA", "LOCALAPPDATA", "USERPROFILE"] {
        command.env(variable, folder);
    }
    command
}

/// An engine that runs.
pub struct Uci {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    /// The lines that were sent and received, for the message of a failure.
    transcript: String,
}

impl Uci {
    /// Starts the binary under test.
    pub fn start(args: &[impl AsRef<OsStr>]) -> Uci {
        let mut command = zeitnot();
        command.args(args);
        Uci::spawn(command)
    }

    /// Starts it with the backend `uniform`, and waits until it is ready.
    pub fn uniform() -> Uci {
        Uci::ready_with(&["--backend=uniform"])
    }

    /// Starts it and waits until it is ready; no error may be reported.
    pub fn ready_with(args: &[impl AsRef<OsStr>]) -> Uci {
        let mut engine = Uci::start(args);
        let news = engine.ask("isready", "readyok");
        assert!(errors(&news).is_empty(), "{news:?}");
        engine
    }

    /// Starts a command.
    pub fn spawn(mut command: Command) -> Uci {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("RUST_LOG");
        let mut child = command.spawn().unwrap();
        let (sender, output) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                // A test that has seen enough hangs up.
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        });
        let input = child.stdin.take();
        Uci { child, input, output, errors: Some(errors), transcript: String::new() }
    }

    /// Threads that it has now, by Linux' account.
    #[cfg(target_os = "linux")]
    pub fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    /// Sends bytes that need not be text, as a line.
    pub fn send_bytes(&mut self, line: &[u8]) {
        self.note("> ", &String::from_utf8_lossy(line));
        let input = self.input.as_mut().unwrap();
        let sent = input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush());
        if let Err(error) = sent {
            self.fail(&format!("the engine does not read: {error}"));
        }
    }

    /// The next line; `None` when the output is closed. Past the deadline the test fails with `late`.
    fn next_line(&mut self, deadline: Instant, late: &str) -> Option<String> {
        match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.note("< ", &line);
                Some(line)
            }
            Err(RecvTimeoutError::Timeout) => self.fail(late),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The lines up to the first whose first word is `last`, that one included.
    pub fn until(&mut self, last: &str) -> Vec<String> {
        self.read_until(last, |line| line.split(' ').next() == Some(last))
    }

    /// The lines up to the first that `is_last` holds for, that one included. It is asked of each line once.
    pub fn until_line(&mut self, is_last: impl FnMut(&str) -> bool) -> Vec<String> {
        self.read_until("end of the answer", is_last)
    }

    fn read_until(&mut self, wanted: &str, mut is_last: impl FnMut(&str) -> bool) -> Vec<String> {
        let deadline = Instant::now() + HANG;
        let mut lines = Vec::new();
        loop {
            let Some(line) = self.next_line(deadline, &format!("no {wanted}")) else {
                self.fail(&format!("the engine ended before {wanted}"));
            };
            let found = is_last(&line);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// Sends a line and takes the lines up to the first whose first word is `last`.
    pub fn ask(&mut self, line: &str, last: &str) -> Vec<String> {
        self.send(line);
        self.until(last)
    }

    /// Sends a line that has no answer; returns the engine's lines before it is ready again.
    pub fn tell(&mut self, line: &str) -> Vec<String> {
        self.send(line);
        self.reply()
    }

    /// Sends a line for which nothing is loaded; returns the engine's lines before it complains of another one.
    pub fn tell_at_once(&mut self, line: &str) -> Vec<String> {
        const MARK: &str = "xyzzy";
        self.send(line);
        self.send(MARK);
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.ends_with(&format!("unknown command \"{MARK}\""))) {
            lines.extend(self.until("info"));
        }
        lines.pop();
        lines
    }

    /// The lines before it is ready again.
    pub fn reply(&mut self) -> Vec<String> {
        let mut lines = self.ask("isready", "readyok");
        lines.pop();
        lines
    }

    /// Sends a line that one error line must answer, which must hold each of `parts`.
    pub fn complains(&mut self, line: &str, parts: &[&str]) {
        let lines = self.tell(line);
        assert_eq!(errors(&lines).len(), 1, "to {line:?}: {lines:?}");
        for part in parts {
            assert!(errors(&lines)[0].contains(part), "to {line:?}, without {part:?}: {lines:?}");
        }
    }

    /// Searches a position (`startpos`, or a FEN) and checks the answer.
    pub fn search(&mut self, position: &str, go: &str) -> Answer {
        self.send(&position_command(position));
        self.send(go);
        self.answer(&game(position))
    }

    /// The answer of the search under way in `game`; every move in it must be legal.
    pub fn answer(&mut self, game: &Game) -> Answer {
        Answer::read(self.until("bestmove"), game)
    }

    /// The engine still plays: ten nodes give a legal move of the start position.
    pub fn plays(&mut self) {
        let answer = self.search("startpos", "go nodes 10");
        assert!(errors(&answer.lines).is_empty(), "{:?}", answer.lines);
        assert_ne!(answer.best, "(none)");
    }

    /// Collects the lines that come within `time` although nothing was asked.
    pub fn listen(&mut self, time: Duration) -> Vec<String> {
        let deadline = Instant::now() + time;
        let mut lines = Vec::new();
        while let Ok(line) = self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.note("< ", &line);
            lines.push(line);
        }
        lines
    }

    /// Says `quit`, and then see [`Uci::ends`].
    pub fn quit(mut self) -> Vec<String> {
        self.send("quit");
        self.ends()
    }

    /// Closes the input, and then see [`Uci::ends`].
    pub fn hang_up(mut self) -> Vec<String> {
        self.input = None;
        self.ends()
    }

    /// Sends SIGTERM, and then see [`Uci::ends`].
    #[cfg(unix)]
    pub fn end_by_signal(self) -> Vec<String> {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
        self.ends()
    }

    /// The process must end by itself, with the exit code 0, and nothing on standard error but its name and what it told
    /// the GUI, too. What it still said.
    fn ends(mut self) -> Vec<String> {
        let deadline = Instant::now() + HANG;
        let mut lines = Vec::new();
        // The output closes when the process ends.
        while let Some(line) = self.next_line(deadline, "the engine does not end") {
            lines.push(line);
        }
        let status = self.child.wait().unwrap();
        let errors = self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default();
        let is_known = |line: &str| {
            let start: String = line.chars().take(300).collect();
            line.starts_with("Zeitnot ") || self.transcript.contains(&format!("info string {start}"))
        };
        if !status.success() || !errors.lines().all(is_known) {
            self.fail(&format!("{status}; standard error: {errors}"));
        }
        lines
    }

    fn note(&mut self, mark: &str, line: &str) {
        let line: String = line.chars().take(400).collect();
        self.transcript.push_str(&format!("{mark}{line}\n"));
    }

    fn fail(&mut self, what: &str) -> ! {
        let _ = self.child.kill();
        let errors = self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default();
        let start = self.transcript.len().saturating_sub(4000);
        let end = self.transcript.get(start..).unwrap_or(&self.transcript);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("uci-{}.txt", self.child.id()));
        let whole = match std::fs::write(&file, &self.transcript) {
            Ok(()) => format!("the whole exchange is in {}", file.display()),
            Err(error) => format!("the exchange cannot be kept: {error}"),
        };
        panic!("{what}\n{end}\nstandard error: {errors}\n{whole}");
    }
}

impl Drop for Uci {
    fn drop(&mut self) {
        // Whatever the test was about, it is over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The error lines among `lines`.
pub fn errors(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.starts_with("info string ERROR: ")).collect()
}

/// `position` for `startpos` or a FEN, either perhaps followed by `moves ...`.
pub fn position_command(position: &str) -> String {
    if position.starts_with("startpos") { format!("position {position}") } else { format!("position fen {position}") }
}

/// The game that [`position_command`] sets up.
pub fn game(position: &str) -> Game {
    let (start, moves) = position.split_once(" moves ").unwrap_or((position, ""));
    let mut game = if start == "startpos" { Game::new() } else { Game::from_fen(start, false).unwrap() };
    for mv in moves.split_whitespace() {
        game.push_uci(mv).unwrap();
    }
    game
}

/// The output of a search.
pub struct Answer {
    /// Everything, `bestmove` last.
    pub lines: Vec<String>,
    /// The move, or `(none)`.
    pub best: String,
    /// The reply expected.
    pub ponder: Option<String>,
}

impl Answer {
    /// The answer of a search in `game`; every move in it must be legal.
    pub fn read(lines: Vec<String>, game: &Game) -> Answer {
        let words: Vec<String> = lines.last().unwrap().split(' ').map(str::to_owned).collect();
        let ponder = match &words[2..] {
            [word, mv] if word == "ponder" => Some(mv.clone()),
            rest => {
                assert!(rest.is_empty(), "{words:?}");
                None
            }
        };
        let answer = Answer { best: words[1].clone(), ponder, lines };
        answer.check(game);
        answer
    }

    /// Every move must be legal where it is to be played, and a position that has one must get one.
    fn check(&self, game: &Game) {
        let legal = game.current().legal_moves();
        if legal.is_empty() {
            assert_eq!((self.best.as_str(), &self.ponder), ("(none)", &None), "{}", game.fen());
        } else {
            let mut after = game.clone();
            let moves = [Some(&self.best), self.ponder.as_ref()];
            for mv in moves.into_iter().flatten() {
                after.push_uci(mv).unwrap_or_else(|error| panic!("bestmove: {error}: {:?}", self.lines.last()));
            }
        }
        for line in self.infos() {
            let mut after = game.clone();
            for mv in words_after(line, "pv") {
                after.push_uci(mv).unwrap_or_else(|error| panic!("pv: {error}: {line}"));
            }
        }
    }

    /// The lines of analysis.
    pub fn infos(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(|line| line.starts_with("info depth "))
    }

    /// The number after `key` in the last line of analysis.
    pub fn number(&self, key: &str) -> i64 {
        let last = self.infos().last().unwrap_or_else(|| panic!("no analysis: {:?}", self.lines));
        words_after(last, key).next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no {key}: {last}"))
    }

    /// The lines of `VerboseMoveStats`, without their `info string`.
    pub fn move_stats(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| line.strip_prefix("info string "))
            .filter(|line| line.contains(" N: "))
            .collect()
    }
}

/// The words of `line` after the first `key`.
pub fn words_after<'a>(line: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    let key = key.to_owned();
    line.split(' ').skip_while(move |word| *word != key).skip(1)
}

/// The moves of a game in the notation of the protocol.
pub fn legal_moves(game: &Game) -> Vec<String> {
    game.current().legal_moves().into_iter().map(|mv| to_uci(mv, false)).collect()
}
