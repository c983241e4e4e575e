//! Serves requests with one engine, one at a time: a new one ends the search of the one before.

use super::poll::{self, Event};
use super::server::{Failure, Registration, Server};
use super::stream::{Ear, NO_MOVE, Stream};
use super::work::Job;
use crate::commands::interrupt;
use crate::commands::output::note;
use anyhow::bail;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::time::Duration;
use zeitnot::uci::Display;
use zeitnot_engine::engine::{Engine, Prepared};

/// Longest wait before the flag of Ctrl-C is looked at again.
const LOOK: Duration = Duration::from_millis(200);

/// A pause from which on a longer one is reported again, after the first failure in a row.
const LONG_PAUSE: Duration = Duration::from_secs(60);

/// Most requests whose lines are being sent: that of the running search, and a few whose end the broker still takes.
const MOST_SENT: usize = 8;
/// Most threads that send lines: connections that are still being opened cannot be closed.
const MOST_THREADS: usize = 4 * MOST_SENT;

/// The provider of analysis: serves lichess' requests with one engine.
pub struct Provider {
    engine: Engine,
    server: Arc<Server>,
    events: SyncSender<Event>,
    /// Most threads of a search.
    threads: u64,
    /// The line of status; hidden where standard error is no terminal.
    line: ProgressBar,
    /// Requests so far: the number of the last one.
    number: u64,
    /// Threads that send lines.
    sending: usize,
    /// The longest pause reported since lichess last answered, `None` while it does; `refused` since it last took
    /// lines.
    cut_off: Option<Duration>,
    refused: Option<Duration>,
}

impl Provider {
    pub fn new(engine: Engine, server: Arc<Server>, threads: u64, line: ProgressBar) -> (Provider, Receiver<Event>) {
        // Nothing waits in it: a broker that has requests without end is asked for the next one when there is time.
        let (events, receiver) = sync_channel(0);
        (
            Provider { engine, server, events, threads, line, number: 0, sending: 0, cut_off: None, refused: None },
            receiver,
        )
    }

    /// Serves requests until Ctrl-C.
    ///
    /// # Errors
    /// When lichess does not take the engine.
    pub fn serve(
        mut self,
        registration: Registration,
        events: &Receiver<Event>,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<()> {
        let name = registration.name.clone();
        self.line.enable_steady_tick(LOOK);
        self.line.set_message("registering");
        poll::start(Arc::clone(&self.server), registration, self.events.clone());
        loop {
            if interrupted.load(Ordering::SeqCst) {
                self.line.finish_and_clear();
                self.engine.save_tree_file();
                self.engine.finish();
                interrupt::exit(&format!("interrupted after {} requests", self.number));
            }
            let Ok(event) = events.recv_timeout(LOOK) else { continue };
            match event {
                Event::Registered => {
                    self.connected();
                    self.say(&format!("lichess lists the engine as {name}; it is there while this runs"));
                    self.line.set_message("waiting for a request");
                }
                Event::Idle => self.connected(),
                Event::Job(job) => {
                    self.connected();
                    self.start(&job);
                }
                Event::Over { number, failure } => {
                    self.sending -= 1;
                    if number == self.number {
                        self.engine.finish();
                        self.line.set_message(format!("waiting; requests so far: {number}"));
                    }
                    self.refused = failure.and_then(|failure| self.failed(&failure, self.refused));
                }
                Event::Trouble(failure) => self.cut_off = self.failed(&failure, self.cut_off),
                Event::Refused(reason) => {
                    self.line.finish_and_clear();
                    bail!("{reason}");
                }
            }
        }
    }

    fn say(&self, text: &str) {
        self.line.suspend(|| note!("{text}"));
    }

    /// Shows a failure on the status line, and reports the first of several in a row, and again when the pause grows
    /// long. `told` is the longest pause reported so far; returns the new one.
    fn failed(&self, Failure { reason, pause, .. }: &Failure, told: Option<Duration>) -> Option<Duration> {
        let seconds = pause.as_secs();
        self.line.set_message(format!("{reason}; next try in {seconds} s"));
        if told.is_some_and(|told| *pause <= told.max(LONG_PAUSE)) {
            return told;
        }
        self.say(&format!("{reason}; it is tried again in {seconds} s, and so on"));
        Some(*pause)
    }

    fn connected(&mut self) {
        if self.cut_off.take().is_some() {
            self.say("lichess answers again");
            self.line.set_message("waiting for a request");
        }
    }

    /// Starts the search of a request, and ends the one before.
    fn start(&mut self, job: &Job) {
        self.engine.finish();
        self.number += 1;
        if self.sending >= MOST_SENT {
            self.say(&format!("lichess takes no end of {} requests: their connections are closed", self.sending));
            self.server.stop_sending();
        }
        if self.sending >= MOST_THREADS {
            return self.say(&format!("request {} is left out", self.number));
        }
        self.sending += 1;
        let (sender, stream) = Stream::new();
        let (server, events, id, number) = (Arc::clone(&self.server), self.events.clone(), job.id.clone(), self.number);
        std::thread::spawn(move || {
            let failure = server.submit(&id, stream).err();
            // Nobody listens at the end.
            let _ = events.send(Event::Over { number, failure });
        });
        if let Err(reason) = self.search(job, &sender) {
            let line = format!("request {number} is refused: {reason}");
            self.say(&line);
            // The thread of the request has it.
            let _ = sender.send(NO_MOVE.to_owned());
        }
    }

    fn search(&mut self, job: &Job, sender: &Sender<String>) -> Result<(), String> {
        let (work, engine) = (&job.work, &mut self.engine);
        let game = work.game()?;
        let set = |engine: &mut Engine, name: &str, value: u64| {
            engine.set_option(name, &value.to_string()).map_err(|error| error.to_string())
        };
        set(engine, "MultiPV", work.multi_pv())?;
        set(engine, "Threads", work.threads.clamp(1, self.threads))?;
        // A device that failed in the search before is replaced.
        match engine.prepare_for_play() {
            Prepared::Ready(None) => {}
            Prepared::Ready(Some(news)) => self.line.suspend(|| note!("{news}")),
            Prepared::Substituted { error, news } => self.line.suspend(|| note!("{error}; playing on with {news}")),
            Prepared::Failed(error) => return Err(error.to_string()),
        }
        engine.set_game(game);
        let ear = Ear {
            sender: Mutex::new(Some(sender.clone())),
            display: Display::of(engine).strict(),
            line: self.line.clone(),
            about: format!("request {}", self.number),
        };
        engine.go(&work.go(), engine.now_ms(), Arc::new(ear)).map(drop).map_err(|error| error.to_string())
    }
}
