//! `zeitnot time drive`: is a UCI engine that is another engine with a time manager of ours in front.

use crate::commands::flags::flag;
use crate::commands::interrupt;
use crate::commands::output::note;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use parking_lot::Mutex;
use std::io::{self, ErrorKind, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;
use zeitnot::uci::{Driver, Effect, Lines};
use zeitnot_base::files::{from_bytes, to_os};
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_engine::managers::{self, Patience};
use zeitnot_games::{DecisionLog, DrivenClock, Process, each_line};

/// Most lines that wait to be taken up; then no more are read. The manager is asked once about all of them.
const WAITING: usize = 1 << 10;
/// Milliseconds for the engine to end after `quit`.
const QUIT_MS: f64 = 2_000.0;
/// Most logs beside each other.
const MOST_LOGS: u32 = 100_000;

pub fn command() -> Command {
    Command::new("drive")
        .about("Be a UCI engine that is another one with a time manager in front")
        .arg(
            flag("manager", "SPEC")
                .default_value(zeitnot_time::DEFAULT_MANAGER)
                .help("Time manager; the UCI option TimeManager changes it"),
        )
        .arg(
            flag("log", "FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Log of every decision, for time verify; where there is one, FILE.2 is written, and so on"),
        )
        .arg(
            Arg::new("engine")
                .value_name("ENGINE")
                .required(true)
                .num_args(1..)
                .last(true)
                .help("The engine and its arguments"),
        )
}

/// A line that has come, and when, in milliseconds; `None`: the input has ended.
enum News {
    Gui(Option<String>, f64),
    /// A line of the process with this number, counted from the first.
    Engine(u32, Option<String>, f64),
}

/// The engine's process, which is started again where it has ended.
struct Engine {
    program: String,
    args: Vec<String>,
    clock: MonotonicClock,
    news: SyncSender<News>,
    starts: u32,
    process: Option<Process<()>>,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let spec = matches.get_one::<String>("manager").context("--manager has a default")?;
    managers::check(spec).context("--manager")?;
    let mut words = matches.get_many::<String>("engine").unwrap_or_default().cloned();
    let program = words.next().context("ENGINE is required")?;
    let errors = Arc::new(Mutex::new(Announcer::new(|line| {
        let _ = io::stdout().lock().write_all(format!("info string {line}\n").as_bytes());
    })));
    let mut time = DrivenClock::new(spec, managers::maker(Patience::UntilDue, errors))?;
    if let Some(path) = matches.get_one::<PathBuf>("log") {
        time.observe_by(Box::new(log(path)?));
    }
    time.new_game();
    let (news, comes) = sync_channel(WAITING);
    let clock = MonotonicClock::new();
    let mut engine = Engine { program, args: words.collect(), clock, news: news.clone(), starts: 0, process: None };
    engine.start().with_context(|| format!("cannot start {}", engine.program))?;
    let asks_to_end = news.clone();
    interrupt::on_request_do(move || {
        // A GUI that does not read keeps the queue full: the thread of signals must not wait, or a second one is not heard.
        let asks_to_end = asks_to_end.clone();
        let _ = Builder::new().spawn(move || asks_to_end.send(News::Gui(None, 0.0)));
    })?;
    Builder::new().name("input".to_owned()).spawn(move || read_gui(&news, clock))?;
    let held = hold_conversation(&mut engine, Driver::new(time, spec.clone()), &comes);
    if let Some(process) = engine.process.take() {
        process.quit(QUIT_MS);
    }
    match held {
        // A GUI that has gone does not read.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Passes lines on until the GUI ends the conversation.
fn hold_conversation(engine: &mut Engine, mut driver: Driver, comes: &Receiver<News>) -> io::Result<()> {
    loop {
        let wait_ms = driver.wakes_ms().map(|ms| (ms - engine.clock.now_ms()).max(0.0));
        let first = match wait_ms {
            Some(ms) => comes.recv_timeout(Duration::from_secs_f64(ms / 1e3)).ok(),
            None => comes.recv().ok(),
        };
        for news in first.into_iter().chain(comes.try_iter().take(WAITING)) {
            match news {
                News::Gui(Some(line), at_ms) => {
                    if !driver.gui(&line, at_ms) {
                        return Ok(());
                    }
                }
                News::Gui(None, _) => return Ok(()),
                News::Engine(start, ..) if start != engine.starts => {}
                News::Engine(_, Some(line), at_ms) => driver.engine(&line, at_ms),
                News::Engine(_, None, at_ms) => {
                    let process = engine.process.take();
                    if !driver.has_begun() {
                        let (status, words) = process.map(|mut process| process.end()).unwrap_or_default();
                        return Err(io::Error::other(format!(
                            "{} has ended at once ({status}) {words}",
                            engine.program
                        )));
                    }
                    driver.engine_ended(&format!("{} has ended", engine.program), at_ms);
                }
            }
        }
        driver.tick(engine.clock.now_ms());
        engine.carry_out(&mut driver)?;
    }
}

impl Engine {
    fn start(&mut self) -> io::Result<()> {
        self.process = None;
        self.starts += 1;
        let (start, clock, news) = (self.starts, self.clock, self.news.clone());
        let read = move |pipe: &mut _, _: &_| {
            each_line(pipe, clock, |line, at_ms| {
                let line = from_bytes(line);
                let line = line.trim_end();
                match !line.is_empty() && news.send(News::Engine(start, Some(line.to_owned()), at_ms)).is_err() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            let _ = news.send(News::Engine(start, None, clock.now_ms()));
        };
        self.process = Some(Process::start(&self.program, &self.args, clock, read)?);
        Ok(())
    }

    fn carry_out(&mut self, driver: &mut Driver) -> io::Result<()> {
        loop {
            let effects = driver.effects();
            if effects.is_empty() {
                return Ok(());
            }
            let mut told = String::new();
            for effect in effects {
                match effect {
                    Effect::Gui(line) => told += &(line + "\n"),
                    Effect::Engine(line) => self.process.iter().for_each(|process| process.tell(&line)),
                    Effect::Start => {
                        if let Err(error) = self.start() {
                            driver
                                .engine_ended(&format!("cannot start {}: {error}", self.program), self.clock.now_ms());
                        }
                    }
                }
            }
            let mut stdout = io::stdout().lock();
            stdout.write_all(to_os(&told).as_encoded_bytes()).and_then(|()| stdout.flush())?;
        }
    }
}

fn read_gui(news: &SyncSender<News>, clock: MonotonicClock) {
    let mut lines = Lines::of(io::stdin().lock());
    loop {
        let line = match lines.read() {
            Ok(Some(Ok(line))) => Some(line),
            Ok(Some(Err(error))) => {
                note!("{error}");
                continue;
            }
            Ok(None) | Err(_) => None,
        };
        let is_end = line.is_none();
        if news.send(News::Gui(line, clock.now_ms())).is_err() || is_end {
            return;
        }
    }
}

/// The log of this process: a runner may start several, and none writes into another's.
fn log(path: &Path) -> anyhow::Result<DecisionLog> {
    for number in 1..MOST_LOGS {
        let mut name = path.as_os_str().to_owned();
        if number > 1 {
            name.push(format!(".{number}"));
        }
        let announcer = Announcer::new(|line| note!("{line}"));
        match DecisionLog::create(PathBuf::from(&name), announcer) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            result => return result.with_context(|| format!("cannot write {}", Path::new(&name).display())),
        }
    }
    anyhow::bail!("--log {}: there are {MOST_LOGS} of them", path.display())
}
