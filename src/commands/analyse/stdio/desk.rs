//! Holds the requests under way, and serves them with engines.

use super::answer;
use super::request::{self, Asked, Fault, Request};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use zeitnot_engine::engine::{Engine, Listener, Report, SearchEnd};
use zeitnot_time::Plan;

/// Most memory of the requests that wait, in bytes. Each takes `BESIDE_LINE` bytes besides its line.
const MOST_BYTES: usize = 24 << 20;
const BESIDE_LINE: usize = 200;

/// The requests that have no answer yet, by the [`key`]s of their ids, and the bytes of those that wait.
#[derive(Default)]
pub struct Desk(Mutex<(HashMap<String, Standing>, usize)>);

enum Standing {
    Waits,
    IsCalledOff,
    IsSearched(Sender<Told>),
}

/// News for the thread that serves a request, while its search runs.
enum Told {
    /// The request's search is to end now.
    Stop,
    End(Box<SearchEnd>),
}

/// An id as the key of a map: the same string counts as one id, however it is escaped.
fn key(id: &RawValue) -> String {
    serde_json::from_str::<String>(id.get()).map_or_else(|_| id.to_string(), |text| json!(text).to_string())
}

impl Desk {
    /// Takes a request in. It waits as its line, which needs less memory than its game. Fails where its id is in use or
    /// there is no room.
    pub fn take(&self, asked: &Asked, line: &str) -> Result<(), Fault> {
        let fault = |error: &str| Err(Fault { id: Some(asked.id.clone()), error: error.to_owned() });
        let (requests, bytes) = &mut *self.0.lock();
        match requests.entry(key(&asked.id)) {
            Entry::Occupied(_) => return fault("another request with this id has no answer yet"),
            _ if *bytes + line.len() > MOST_BYTES => {
                return fault("too many requests wait: send it again when others have been answered");
            }
            Entry::Vacant(entry) => entry.insert(Standing::Waits),
        };
        *bytes += line.len() + BESIDE_LINE;
        Ok(())
    }

    /// Waits until there is room for a request with a line of this length.
    pub fn wait_for_room(&self, line: &str) {
        while self.0.lock().1 + line.len() > MOST_BYTES {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the search of a request, which keeps what it has found, or calls off a request that waits.
    pub fn stop(&self, id: &RawValue) {
        match self.0.lock().0.get_mut(&key(id)) {
            // It may have ended already.
            Some(Standing::IsSearched(search)) => drop(search.send(Told::Stop)),
            Some(standing) => *standing = Standing::IsCalledOff,
            None => {}
        }
    }

    /// Notes that the search of a request begins; returns the channel for news about it, `None` if it was called off.
    fn begin(&self, asked: &Asked, line: &str) -> Option<(Sender<Told>, Receiver<Told>)> {
        let (requests, bytes) = &mut *self.0.lock();
        *bytes -= line.len() + BESIDE_LINE;
        let standing = requests.get_mut(&key(&asked.id)).filter(|standing| matches!(standing, Standing::Waits))?;
        let (sender, told) = channel();
        *standing = Standing::IsSearched(sender.clone());
        Some((sender, told))
    }

    /// Prints the answer to a request, whose id may then be used again.
    fn answer(&self, id: &RawValue, answer: &Value) {
        self.0.lock().0.remove(&key(id));
        answer::print(answer::json(Some(id), answer));
    }
}

/// A listener that tells the station about the end of its search.
struct Ear(Sender<Told>);

impl Listener for Ear {
    fn planned(&self, _: &Plan) {}
    // It is in the end's error, too.
    fn failed(&self, _: &str) {}
    fn report(&self, _: &Report) {}
    fn finished(&self, end: &SearchEnd) {
        // The station waits for it.
        let _ = self.0.send(Told::End(Box::new(end.clone())));
    }
}

/// An engine that serves requests.
pub struct Station<'a> {
    engine: Engine,
    desk: &'a Desk,
    /// Lines of analysis for requests that do not set a number.
    multi_pv: u64,
    /// Whether requests that do not say so are about Chess960.
    chess960: bool,
}

impl Station<'_> {
    pub fn new(engine: Engine, desk: &Desk) -> Station<'_> {
        let (multi_pv, chess960) = (engine.options().multi_pv, engine.options().chess960);
        Station { engine, desk, multi_pv, chess960 }
    }

    /// Serves requests until there are no more.
    pub fn work(mut self, next: impl Fn() -> Option<String>) {
        while let Some(line) = next() {
            // The desk took it in.
            let Ok(Request::Search(asked)) = request::read(&line, self.chess960) else { continue };
            let answer = self.serve(&asked, &line).unwrap_or_else(|error| json!({ "error": error }));
            self.desk.answer(&asked.id, &answer);
        }
    }

    fn serve(&mut self, asked: &Asked, line: &str) -> Result<Value, String> {
        let Some((sender, told)) = self.desk.begin(asked, line) else { return Ok(answer::of_nothing()) };
        let end = self.search(asked, sender, &told).map_err(|error| error.to_string())?;
        let Some(end) = end else { return Err("the search ended without an answer".to_owned()) };
        if let Some(error) = end.error {
            return Err(error);
        }
        let has_wdl = self.engine.attributes().is_some_and(|attributes| attributes.has_wdl);
        Ok(answer::of_search(asked, &end, self.engine.options().score_type, has_wdl))
    }

    /// Searches a request with a fresh tree and cache, as a newly started engine would.
    fn search(
        &mut self,
        asked: &Asked,
        sender: Sender<Told>,
        told: &Receiver<Told>,
    ) -> anyhow::Result<Option<Box<SearchEnd>>> {
        let engine = &mut self.engine;
        engine.new_game();
        let lines = asked.multi_pv.map_or(self.multi_pv, u64::from);
        engine.set_option("MultiPV", &lines.to_string())?;
        engine.set_option("VerboseMoveStats", &asked.stats.to_string())?;
        engine.set_game(asked.game.clone());
        engine.go(&asked.go, engine.now_ms(), Arc::new(Ear(sender)))?;
        for told in told {
            match told {
                Told::Stop => engine.stop(),
                Told::End(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }
}
