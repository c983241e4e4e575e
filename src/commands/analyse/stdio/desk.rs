//! Holds the requests under way, and serves them with engines.

use super::answer;
use super::request::{Asked, Fault};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use zeitnot_engine::engine::{Engine, Listener, Report, SearchEnd};
use zeitnot_time::Plan;

/// The requests that have no answer yet, by the text of their ids.
#[derive(Default)]
pub struct Desk(Mutex<HashMap<String, Sender<Told>>>);

/// A request that waits for an engine.
pub struct Job {
    asked: Box<Asked>,
    told: Receiver<Told>,
}

/// News about a request.
enum Told {
    /// Its search is to end.
    Stop,
    /// Its search has ended.
    End(Box<SearchEnd>),
}

impl Desk {
    /// Takes a request in.
    ///
    /// # Errors
    /// When another one with its id has no answer yet.
    pub fn take(&self, asked: Box<Asked>) -> Result<Job, Fault> {
        let (sender, told) = channel();
        let mut desk = self.0.lock();
        if desk.contains_key(&asked.id.to_string()) {
            let error = "another request with this id has no answer yet".to_owned();
            return Err(Fault { id: Some(asked.id), error });
        }
        desk.insert(asked.id.to_string(), sender);
        Ok(Job { asked, told })
    }

    /// Lets the search of a request end with what it has; does nothing where there is none.
    pub fn stop(&self, id: &Value) {
        if let Some(request) = self.0.lock().get(&id.to_string()) {
            // It may have ended already.
            let _ = request.send(Told::Stop);
        }
    }

    fn sender(&self, id: &Value) -> Option<Sender<Told>> {
        self.0.lock().get(&id.to_string()).cloned()
    }

    /// Gives the answer to a request, whose id is free then.
    fn answer(&self, id: &Value, answer: &Value) {
        self.0.lock().remove(&id.to_string());
        answer::print(answer);
    }
}

/// Tells the desk about the end of a search.
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
    /// Lines of analysis where a request does not say.
    multi_pv: u64,
}

impl Station<'_> {
    pub fn new(engine: Engine, desk: &Desk) -> Station<'_> {
        let multi_pv = engine.options().multi_pv;
        Station { engine, desk, multi_pv }
    }

    /// Serves requests until there are no more.
    pub fn work(mut self, next: impl Fn() -> Option<Job>) {
        while let Some(Job { asked, told }) = next() {
            let answer = self.serve(&asked, &told);
            let fault = |error| Fault { id: Some(asked.id.clone()), error }.json();
            self.desk.answer(&asked.id, &answer.unwrap_or_else(fault));
        }
    }

    fn serve(&mut self, asked: &Asked, told: &Receiver<Told>) -> Result<Value, String> {
        let Some(sender) = self.desk.sender(&asked.id).filter(|_| told.try_recv().is_err()) else {
            return Ok(answer::of_nothing(asked));
        };
        let end = self.search(asked, sender, told).map_err(|error| error.to_string())?;
        let Some(end) = end else { return Err("the search ended without an answer".to_owned()) };
        if let Some(error) = end.error {
            return Err(error);
        }
        let has_wdl = self.engine.attributes().is_some_and(|attributes| attributes.has_wdl);
        Ok(answer::of_search(asked, &end, self.engine.options().score_type, has_wdl))
    }

    /// Searches as an engine does that has just been started.
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
