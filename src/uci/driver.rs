//! Speaks UCI between a GUI and an engine whose clock a time manager of ours keeps: lines in, lines out.
//!
//! A `go` with a clock is `go infinite` for the engine (or `go ponder`, which ends with `stop` like it), with the limits on
//! nodes, depth and mate that it has; the manager says when `stop` follows. Every other command and line goes on as it is.

use super::parse::{self, Command};
use super::print;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::GoParams;
use zeitnot_games::{DRIVEN_OVERHEAD_MS, DrivenClock, told_move};

/// The options of the driver, which hide the engine's own of these names.
const MANAGER: &str = "TimeManager";
const OVERHEAD: &str = "Move Overhead";
const CHESS960: &str = "UCI_Chess960";
/// Largest overhead, in milliseconds.
const MOST_OVERHEAD_MS: u32 = 10_000;
/// Longest wait for the answer to `stop`, in milliseconds, and the share of the clock that it may take.
const STOP_MS: f64 = 1_000.0;
const STOP_SHARE: f64 = 0.25;
/// Shortest wait for it: Stockfish 15.1 needs some milliseconds.
const LEAST_STOP_MS: f64 = 10.0;
/// Least time between two looks that the manager asks for. A limit and a start late in the day add up to a hair less
/// than the limit, and the next look would be due at once, without end.
const LEAST_WAIT_MS: f64 = 0.01;
/// The words of `go` that are not for the engine; each has a number behind it.
const CLOCK_WORDS: [&str; 5] = ["wtime", "btime", "winc", "binc", "movestogo"];

/// What is to be done next, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Starts the engine anew, and ends the process that there may be.
    Start,
    /// Passes a line to the engine.
    Engine(String),
    /// Passes a line to the GUI.
    Gui(String),
}

/// The search that runs. Times are in milliseconds on the caller's clock.
#[derive(Debug)]
enum Stage {
    Idle,
    /// A search of the engine's own; `waits`: whether its answer has to wait for `stop` or `ponderhit`.
    Passed {
        waits: bool,
    },
    /// A search on the opponent's time, with the clocks that count after `ponderhit`.
    Pondering(GoParams),
    /// A search on a clock of `clock_ms`. The next look is due at `wakes_ms`; once `stop` is sent, the answer is.
    Driven {
        start_ms: f64,
        clock_ms: f64,
        wakes_ms: f64,
        is_stopped: bool,
    },
}

/// The state of the conversation.
pub struct Driver {
    clock: DrivenClock,
    manager: String,
    overhead_ms: u32,
    chess960: bool,
    /// Words of the last `position`, and the commands of the options that were set, for an engine that is started again.
    position: String,
    settings: Vec<(String, String)>,
    game: Game,
    stage: Stage,
    /// The engine's answer that has come before it may be given.
    held: Option<String>,
    /// The last line `info` with a `pv` while the engine ponders.
    pondered: Option<String>,
    /// Whether a line `info` has come since the last look.
    is_news: bool,
    /// Answers of the engine that are not wanted any more.
    owed: u32,
    /// `isready` that the engine has not answered.
    pings: u32,
    is_alive: bool,
    /// Whether the engine was started again and has not said `uciok`.
    is_greeting: bool,
    /// Whether an engine has ever told anything.
    has_begun: bool,
    effects: Vec<Effect>,
}

impl Driver {
    /// The conversation with an engine that was just started. `manager` is the specification of the clock's manager.
    pub fn new(clock: DrivenClock, manager: String) -> Driver {
        Driver {
            clock,
            manager,
            overhead_ms: DRIVEN_OVERHEAD_MS,
            chess960: false,
            position: "startpos".to_owned(),
            settings: Vec::new(),
            game: Game::new(),
            stage: Stage::Idle,
            held: None,
            pondered: None,
            is_news: false,
            owed: 0,
            pings: 0,
            is_alive: true,
            is_greeting: false,
            has_begun: false,
            effects: Vec::new(),
        }
    }

    /// Whether an engine has ever told anything: a program that never did is no engine.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The effects since the last call.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The time of the next [`Driver::tick`]; `None` where only lines go on.
    pub fn wakes_ms(&self) -> Option<f64> {
        match self.stage {
            Stage::Driven { wakes_ms, .. } => Some(wakes_ms),
            _ => None,
        }
    }

    /// Takes in a line of the GUI that came at `now_ms`. Returns whether the conversation goes on.
    pub fn gui(&mut self, line: &str, now_ms: f64) -> bool {
        match parse::command(line) {
            Ok(Command::Quit) => return false,
            Ok(Command::SetOption { name, value }) if name.eq_ignore_ascii_case(MANAGER) => self.choose(value),
            Ok(Command::SetOption { name, value }) if name.eq_ignore_ascii_case(OVERHEAD) => match value.parse() {
                Ok(ms) if ms <= MOST_OVERHEAD_MS => self.overhead_ms = ms,
                _ => self.complain(&format!("{OVERHEAD}: \"{value}\" is no number from 0 to {MOST_OVERHEAD_MS}")),
            },
            Ok(Command::SetOption { name, value }) => {
                if name.eq_ignore_ascii_case(CHESS960) {
                    self.chess960 = value.eq_ignore_ascii_case("true");
                }
                self.pass(line);
                self.settings.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
                self.settings.push((name, line.to_owned()));
            }
            Ok(Command::NewGame) => {
                // Stockfish reads on when its search has ended, and one without a clock would not end.
                if matches!(self.stage, Stage::Driven { is_stopped: false, .. }) {
                    self.end_search(now_ms);
                }
                self.clock.new_game();
                self.pass(line);
            }
            Ok(Command::Position(rest)) => {
                rest.clone_into(&mut self.position);
                self.pass(line);
            }
            Ok(Command::Go(rest)) => self.go(line, rest, now_ms),
            Ok(Command::Stop) => self.stop(line, now_ms),
            Ok(Command::PonderHit) => self.ponder_hit(line, now_ms),
            Ok(Command::IsReady) => {
                // A runner may ask before each `go`, and an engine that hangs would not answer.
                self.give_up_late_search();
                self.pings += 1;
                self.pass(line);
            }
            Ok(Command::Empty) => {}
            _ => self.pass(line),
        }
        true
    }

    /// Takes in a line of the engine that came at `now_ms`.
    pub fn engine(&mut self, line: &str, now_ms: f64) {
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        self.has_begun = true;
        if self.is_greeting {
            self.is_greeting = word != "uciok";
            return;
        }
        match word {
            "id" => {
                let suffix =
                    if line.starts_with("id name ") { format!(" ({MANAGER}={})", self.manager) } else { String::new() };
                self.tell(format!("{line}{suffix}"));
            }
            "option" if [MANAGER, OVERHEAD].iter().any(|name| is_option(line, name)) => {}
            "uciok" => {
                self.tell(format!("option name {MANAGER} type string default {}", self.manager));
                let default = DRIVEN_OVERHEAD_MS;
                self.tell(format!("option name {OVERHEAD} type spin default {default} min 0 max {MOST_OVERHEAD_MS}"));
                self.tell(line.to_owned());
            }
            // Of a search that has had its answer.
            "info" if self.owed > 0 => {}
            "info" => {
                match self.stage {
                    Stage::Driven { start_ms, .. } => {
                        self.clock.hear(line, now_ms - start_ms);
                        self.is_news = true;
                    }
                    Stage::Pondering(_) if told_move(&self.game, line).is_some() => {
                        self.pondered = Some(line.to_owned())
                    }
                    _ => {}
                }
                self.tell(line.to_owned());
            }
            "bestmove" if self.owed > 0 => self.owed -= 1,
            "bestmove" => match self.stage {
                Stage::Idle => {}
                Stage::Pondering(_) => self.held = Some(line.to_owned()),
                Stage::Passed { .. } | Stage::Driven { .. } => self.answer(line.to_owned(), now_ms),
            },
            _ => {
                self.pings -= u32::from(word == "readyok" && self.pings > 0);
                self.tell(line.to_owned());
            }
        }
    }

    /// Asks the manager about the search, where it is time or the engine has told something.
    pub fn tick(&mut self, now_ms: f64) {
        let Stage::Driven { start_ms, wakes_ms, is_stopped, .. } = self.stage else { return };
        let is_due = now_ms >= wakes_ms;
        if is_stopped {
            if is_due {
                self.complain("the engine has not answered stop: its last line is played");
                self.owed += 1;
                self.answer_for_engine(now_ms);
            }
        } else if is_due || std::mem::take(&mut self.is_news) {
            let look = self.clock.look(now_ms - start_ms);
            match &mut self.stage {
                _ if look.stops => self.end_search(now_ms),
                Stage::Driven { wakes_ms, .. } => *wakes_ms = (start_ms + look.next_ms).max(now_ms + LEAST_WAIT_MS),
                _ => {}
            }
        }
    }

    /// Takes in that the engine's process has ended; `how` says it in a line.
    pub fn engine_ended(&mut self, how: &str, now_ms: f64) {
        (self.is_alive, self.is_greeting, self.owed) = (false, false, 0);
        self.complain(how);
        // A GUI would wait for it before the next move, at which the engine is started again.
        self.answer_pings();
        match self.stage {
            Stage::Idle => {}
            Stage::Passed { waits: true } | Stage::Pondering(_) => self.held = Some(self.own_answer()),
            Stage::Passed { waits: false } | Stage::Driven { .. } => self.answer_for_engine(now_ms),
        }
    }

    fn go(&mut self, line: &str, rest: &str, now_ms: f64) {
        if !matches!(self.stage, Stage::Idle) {
            self.effects.push(Effect::Engine("stop".to_owned()));
            self.owed += u32::from(self.held.take().is_none());
            self.end(now_ms);
        } else {
            self.give_up_late_search();
        }
        (self.held, self.pondered) = (None, None);
        match parse::position(&self.position, self.chess960) {
            Ok(game) => self.game = game,
            Err(error) => {
                self.complain(&format!("{error}: the engine keeps its own time"));
                self.stage = Stage::Passed { waits: false };
                return self.pass(line);
            }
        }
        let (go, _) = parse::go(rest, &self.game);
        let clock = GoParams { ponder: false, ..go.clone() }.clock(self.game.current().turn());
        if clock.is_none() || go.movetime.is_some() || self.game.current().legal_moves().is_empty() {
            let is_limited = go.movetime.or(clock.map(|clock| clock.time_ms)).is_some()
                || go.nodes.is_some()
                || go.depth.is_some()
                || go.mate.is_some();
            self.stage = Stage::Passed { waits: go.ponder || go.infinite || !is_limited };
            return self.pass(line);
        }
        let command = without_clock(rest, go.nodes.is_some() || go.depth.is_some() || go.mate.is_some());
        self.stage = Stage::Pondering(go.clone());
        self.pass(&command);
        if !go.ponder {
            self.start_clock(go, now_ms);
        }
    }

    /// Gives up an engine that has not ended a search that was answered for: it would not begin another.
    fn give_up_late_search(&mut self) {
        if self.owed > 0 && matches!(self.stage, Stage::Idle) {
            self.complain("the engine searches on: it is started again");
            (self.is_alive, self.owed) = (false, 0);
            self.answer_pings();
        }
    }

    fn answer_pings(&mut self) {
        (0..std::mem::take(&mut self.pings)).for_each(|_| self.tell("readyok".to_owned()));
    }

    /// Starts the clock of the search that runs.
    fn start_clock(&mut self, go: GoParams, now_ms: f64) {
        let go = GoParams { ponder: false, ..go };
        let clock_ms = go.clock(self.game.current().turn()).map_or(0.0, |clock| clock.time_ms);
        let overhead_ms = f64::from(self.overhead_ms);
        self.clock.begin(&self.game, &go, overhead_ms, self.pondered.take().as_deref());
        self.is_news = true;
        self.stage = Stage::Driven { start_ms: now_ms, clock_ms, wakes_ms: now_ms, is_stopped: false };
    }

    fn stop(&mut self, line: &str, now_ms: f64) {
        match (self.held.take(), &self.stage) {
            (Some(held), _) => self.answer(held, now_ms),
            (None, Stage::Driven { is_stopped: false, .. }) => self.end_search(now_ms),
            // A second `stop` changes nothing.
            (None, Stage::Driven { .. }) => {}
            (None, Stage::Pondering(_)) => {
                self.stage =
                    Stage::Driven { start_ms: now_ms, clock_ms: f64::INFINITY, wakes_ms: now_ms, is_stopped: false };
                self.end_search(now_ms);
            }
            (None, _) => self.pass(line),
        }
    }

    fn ponder_hit(&mut self, line: &str, now_ms: f64) {
        match (self.held.take(), &self.stage) {
            (Some(held), _) => self.answer(held, now_ms),
            (None, Stage::Pondering(go)) => {
                let go = go.clone();
                self.start_clock(go, now_ms);
            }
            (None, _) => self.pass(line),
        }
    }

    /// Sends `stop` to the engine, and sets the time at which its answer is due.
    fn end_search(&mut self, now_ms: f64) {
        if let Stage::Driven { start_ms, clock_ms, wakes_ms, is_stopped } = &mut self.stage {
            let left_ms = *clock_ms - (now_ms - *start_ms);
            // With no clock left nothing is lost by waiting, but a game may be by a move that nobody has searched.
            let wait_ms = if left_ms > 0.0 { (left_ms * STOP_SHARE).clamp(LEAST_STOP_MS, STOP_MS) } else { STOP_MS };
            (*wakes_ms, *is_stopped) = (now_ms + wait_ms, true);
            self.effects.push(Effect::Engine("stop".to_owned()));
        }
    }

    /// Answers with the engine's last best move, or with a legal one.
    fn answer_for_engine(&mut self, now_ms: f64) {
        let answer = self.own_answer();
        self.answer(answer, now_ms);
    }

    fn own_answer(&self) -> String {
        let legal = self.game.current().legal_moves();
        let pondered = || told_move(&self.game, self.pondered.as_deref()?);
        match self.clock.best_move().or_else(pondered).or(legal.first().copied()) {
            Some(mv) => format!("bestmove {}", to_uci(mv, self.chess960)),
            None => "bestmove (none)".to_owned(),
        }
    }

    fn answer(&mut self, line: String, now_ms: f64) {
        self.tell(line);
        self.end(now_ms);
    }

    /// Ends the search that runs, for the clock too.
    fn end(&mut self, now_ms: f64) {
        if let Stage::Driven { start_ms, .. } = std::mem::replace(&mut self.stage, Stage::Idle) {
            self.clock.end(now_ms - start_ms);
        }
    }

    fn choose(&mut self, spec: String) {
        match self.clock.choose(&spec) {
            Ok(()) => self.manager = spec,
            Err(error) => self.complain(&format!("{MANAGER}: {error}")),
        }
    }

    /// Passes a line to the engine. One that has ended is started again, with its options and its position.
    fn pass(&mut self, line: &str) {
        if !std::mem::replace(&mut self.is_alive, true) {
            self.is_greeting = true;
            self.effects.extend([Effect::Start, Effect::Engine("uci".to_owned())]);
            self.effects.extend(self.settings.iter().map(|(_, line)| Effect::Engine(line.clone())));
            self.effects.push(Effect::Engine(format!("position {}", self.position)));
        }
        self.effects.push(Effect::Engine(line.to_owned()));
    }

    fn tell(&mut self, line: String) {
        self.effects.push(Effect::Gui(line));
    }

    fn complain(&mut self, text: &str) {
        self.tell(print::info(&print::error(&text)));
    }
}

/// Whether a line `option` declares the option `name`.
fn is_option(line: &str, name: &str) -> bool {
    let words = line.split_ascii_whitespace().skip(2).take_while(|word| *word != "type");
    words.collect::<Vec<_>>().join(" ").eq_ignore_ascii_case(name)
}

/// The command `go` without clocks: infinite, unless it has other limits.
fn without_clock(rest: &str, is_limited: bool) -> String {
    let mut text = "go".to_owned();
    let mut words = rest.split_ascii_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if CLOCK_WORDS.contains(&word) {
            words.next();
        } else {
            kept.push(word);
        }
    }
    // In front: behind `searchmoves` it might be read as a move.
    if !is_limited && !kept.contains(&"ponder") {
        text += " infinite";
    }
    kept.iter().fold(text, |text, word| format!("{text} {word}"))
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
