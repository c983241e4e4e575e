//! Plays with another engine: a process that speaks UCI, on the real clock.

mod declared_option;
mod error;
mod go_command;
pub(super) mod info_line;
mod process;
mod searching;

pub use error::ExternalError;
pub use process::{Process, each_line};

use super::record::Evaluation;
use declared_option::DeclaredOption;
use error::one_line;
use process::{MOST_DECLARED, Output, Silence, read_output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::chess::Move;
use zeitnot_engine::child;
pub use zeitnot_engine::child::program_file;
use zeitnot_engine::clock::MonotonicClock;

/// Name of the option that tells an engine that a game is Chess960.
const CHESS960: &str = "UCI_Chess960";
/// Name of the option that an engine which can ponder declares.
const PONDER: &str = "Ponder";
/// Milliseconds between two checks whether the wait for an engine was called off.
const LOOK_MS: f64 = 100.0;

/// The longest waits for an engine outside its searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// Milliseconds for `uciok` and for each `readyok`, in which an engine may have to load a network or to prepare a
    /// device.
    pub ready_ms: f64,
    /// Milliseconds between `quit` and the end of the process; then it is killed.
    pub quit_ms: f64,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { ready_ms: 120_000.0, quit_ms: 2_000.0 }
    }
}

/// An engine's answer to `go`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalAnswer {
    /// The move; it is legal.
    pub mv: Move,
    /// The answer that the engine expects, if it gave a legal one.
    pub ponder: Option<Move>,
    /// Milliseconds from just before `go` or `ponderhit` was written until `bestmove` was read.
    pub used_ms: f64,
    /// The last depth that was reported.
    pub depth: Option<u32>,
    /// The last number of nodes that was reported.
    pub nodes: Option<u64>,
    /// The last score that was reported, from the view of the side that moved.
    pub score: Option<Evaluation>,
}

/// Another engine, as a process. After any error the process is gone, and [`ExternalEngine::restart`] starts a new one.
/// On drop the engine is asked to quit, and killed if it does not.
pub struct ExternalEngine {
    program: String,
    args: Vec<String>,
    /// Options as they were given.
    options: Vec<(String, String)>,
    patience: Patience,
    /// Whether its `info` lines are read one by one.
    hears: bool,
    /// Calls off every wait for the engine.
    stop: Arc<AtomicBool>,
    /// The name that the engine gives itself, or else the program's.
    name: String,
    clock: MonotonicClock,
    running: Option<Running>,
}

/// An engine's process that has its options and was ready.
struct Running {
    process: Process<Output>,
    declared: Vec<DeclaredOption>,
    /// The value of the option `UCI_Chess960`.
    is_chess960: bool,
    /// The beginning of its thought on the opponent's time, by the process's clock; `None` where it does not ponder.
    pondering_since_ms: Option<f64>,
}

impl ExternalEngine {
    /// Starts an engine and sets its options. The command line is split into words as a shell splits it: quotes hold
    /// words together. Options are found in any case of letters; their values are checked against the kind that the
    /// engine declares.
    ///
    /// # Errors
    /// [`ExternalError`] when there is no such program, it does not speak UCI, or it lacks an option or its value.
    pub fn start(command: &str, options: &[(String, String)]) -> Result<ExternalEngine, ExternalError> {
        ExternalEngine::start_with(command, options, Patience::default(), Arc::default())
    }

    /// Starts an engine like [`ExternalEngine::start`], with this patience. Once `stop` is set, all waits end.
    ///
    /// # Errors
    /// The errors of [`ExternalEngine::start`], and [`ExternalError::CalledOff`].
    pub fn start_with(
        command: &str,
        options: &[(String, String)],
        patience: Patience,
        stop: Arc<AtomicBool>,
    ) -> Result<ExternalEngine, ExternalError> {
        ExternalEngine::start_heard(command, options, patience, stop, false)
    }

    /// Starts an engine like [`ExternalEngine::start_with`]. `hears`: whether
    /// [`ExternalEngine::go_nodes`](ExternalEngine::go_nodes) is to see its `info` lines.
    pub(super) fn start_heard(
        command: &str,
        options: &[(String, String)],
        patience: Patience,
        stop: Arc<AtomicBool>,
        hears: bool,
    ) -> Result<ExternalEngine, ExternalError> {
        let (program, args) =
            child::split(command).map_err(|reason| ExternalError::Command { command: one_line(command), reason })?;
        let mut engine = ExternalEngine {
            name: one_line(&program),
            program,
            args,
            options: options.to_vec(),
            patience,
            hears,
            stop,
            clock: MonotonicClock::new(),
            running: None,
        };
        engine.restart()?;
        Ok(engine)
    }

    /// The name that the engine gives itself; the program's name where it gives no name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends the process if there is one, starts another, and sets the options again.
    ///
    /// # Errors
    /// The errors of [`ExternalEngine::start`].
    pub fn restart(&mut self) -> Result<(), ExternalError> {
        self.quit();
        let (clock, hears) = (self.clock, self.hears);
        let read = move |pipe: &mut _, lines: &_| read_output(pipe, lines, clock, hears);
        let mut process = Process::start(&self.program, &self.args, clock, read)
            .map_err(|error| ExternalError::Start { program: self.name.clone(), error })?;
        let declared = self.shake_hands(&mut process)?;
        let mut is_chess960 = false;
        for (name, value) in &self.options {
            let fail = |reason| ExternalError::Option { engine: self.name.clone(), option: one_line(name), reason };
            let option = declared.iter().find(|option| option.is_called(name));
            let option = option.ok_or_else(|| fail("the engine has no such option".to_owned()))?;
            if let Some(command) = option.command(value).map_err(|reason| fail(one_line(&reason)))? {
                process.tell(&command);
            }
            if option.is_called(CHESS960) {
                is_chess960 = value.eq_ignore_ascii_case("true");
            }
        }
        self.wait_ready(&mut process)?;
        self.running = Some(Running { process, declared, is_chess960, pondering_since_ms: None });
        Ok(())
    }

    /// Informs the engine that the next position is of another game, and whether it will ponder, and waits until it is
    /// ready. Without the option `Ponder` an engine does not ponder.
    ///
    /// # Errors
    /// When the engine does not run, ends, or does not get ready.
    pub fn new_game(&mut self, ponders: bool) -> Result<(), ExternalError> {
        let mut running = self.take_running()?;
        self.stop_pondering(&mut running)?;
        if ponders && let Some(command) = running.command(PONDER, "true") {
            running.process.tell(&command);
        }
        running.process.tell("ucinewgame");
        self.wait_ready(&mut running.process)?;
        self.running = Some(running);
        Ok(())
    }

    /// Ends the engine. It can be started again.
    pub fn quit(&mut self) {
        if let Some(running) = self.running.take() {
            running.process.quit(self.patience.quit_ms);
        }
    }

    /// Takes the running process out of this engine: an error before it is put back drops it, and so ends it.
    fn take_running(&mut self) -> Result<Running, ExternalError> {
        self.running.take().ok_or_else(|| ExternalError::NotRunning { engine: self.name.clone() })
    }

    /// Sends `uci`, takes over the engine's name and returns the options that it declares until `uciok`.
    fn shake_hands(&mut self, process: &mut Process<Output>) -> Result<Vec<DeclaredOption>, ExternalError> {
        let (mut declared, mut name) = (Vec::new(), None);
        process.tell("uci");
        let flood = || Err(ExternalError::Flood { engine: self.name.clone(), limit_kib: MOST_DECLARED >> 10 });
        self.wait(process, "uciok", self.patience.ready_ms, |output| {
            let line = match output {
                Output::Line(line) => line,
                Output::Flood => return Some(flood()),
                Output::BestMove { .. } | Output::Info(_) => return None,
            };
            if let Some(text) = line.trim().strip_prefix("id name ") {
                name = Some(one_line(text)).filter(|name| !name.is_empty());
            }
            declared.extend(DeclaredOption::parse(&line));
            (line.split_ascii_whitespace().next() == Some("uciok")).then_some(Ok(()))
        })??;
        if let Some(name) = name {
            self.name = name;
        }
        Ok(declared)
    }

    fn wait_ready(&self, process: &mut Process<Output>) -> Result<(), ExternalError> {
        process.tell("isready");
        self.wait(process, "readyok", self.patience.ready_ms, |output| match output {
            Output::Line(line) if line.split_ascii_whitespace().next() == Some("readyok") => Some(()),
            _ => None,
        })
    }

    /// Waits at most `limit_ms` for an output that `pick` turns into an answer, and skips others. `awaited` names the
    /// answer in errors.
    fn wait<T>(
        &self,
        process: &mut Process<Output>,
        awaited: &'static str,
        limit_ms: f64,
        mut pick: impl FnMut(Output) -> Option<T>,
    ) -> Result<T, ExternalError> {
        let deadline_ms = process.now_ms() + limit_ms;
        loop {
            if self.stop.load(Ordering::SeqCst) {
                return Err(ExternalError::CalledOff { engine: self.name.clone(), awaited });
            }
            let look_ms = process.now_ms() + LOOK_MS;
            match process.next(deadline_ms.min(look_ms)) {
                Ok(output) => {
                    if let Some(answer) = pick(output) {
                        return Ok(answer);
                    }
                }
                Err(Silence::Ended) => return Err(self.ended(process, awaited)),
                Err(Silence::Late) => {}
            }
            // An engine may be silent, write without an end, or have left its output to a child.
            let now_ms = process.now_ms();
            if now_ms >= deadline_ms {
                let has_ended = process.has_ended(now_ms);
                return Err(if has_ended { self.ended(process, awaited) } else { self.stalled(awaited, limit_ms) });
            }
        }
    }

    fn ended(&self, process: &mut Process<Output>, awaited: &'static str) -> ExternalError {
        let (status, said) = process.end();
        let said = if said.is_empty() { said } else { format!(": {}", one_line(&said)) };
        ExternalError::Ended { engine: self.name.clone(), awaited, status, said }
    }

    fn stalled(&self, awaited: &'static str, waited_ms: f64) -> ExternalError {
        ExternalError::Stalled { engine: self.name.clone(), awaited, waited_ms }
    }
}

impl Running {
    /// The command that sets an option; `None` where the engine lacks the option or does not take the value.
    fn command(&self, option: &str, value: &str) -> Option<String> {
        self.declared.iter().find(|declared| declared.is_called(option))?.command(value).ok()?
    }
}

impl Drop for ExternalEngine {
    fn drop(&mut self) {
        self.quit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_without_a_program_is_refused() {
        for (command, reason) in
            [("", "no program"), ("  ", "no program"), ("\"\" x", "no program"), ("a 'b", "quotation mark")]
        {
            let error = ExternalEngine::start(command, &[]).err().unwrap().to_string();
            assert!(error.contains(reason) && !error.contains('\n'), "{error}");
        }
        let error = ExternalEngine::start("/nowhere/engine --fast", &[]).err().unwrap().to_string();
        assert!(error.starts_with("cannot start /nowhere/engine: "), "{error}");
    }
}
