//! Loads what the options name (network, evaluators, books and endgame tables), or a substitute where a game must go
//! on.

use super::loading::{self, Failure, Loaded};
use super::{Engine, EngineError, GoParams, NetworkEvaluator, Options, RuntimePolicy, tree_file};
use std::sync::Arc;
use zeitnot_backend::{Attributes, Backend, DeviceOptions};
use zeitnot_network::{BUILT_IN, Location};

/// Line for the user where the system refused memory to the tree.
const SHORT_OF_MEMORY: &str =
    "the system has no memory for more of the tree: the positions visited least are forgotten (option RamLimitMb)";

/// The substitutes for options that cannot be loaded, in order: network (`None`: the one that was asked for) and
/// backend. A network already in use is kept rather than replaced by the last of them.
const SUBSTITUTES: &[(Option<&str>, &str)] = &[(None, "native"), (None, "onnxruntime"), (Some(BUILT_IN), "native")];

/// The outcome of [`Engine::prepare_for_play`].
#[derive(Debug)]
pub enum Prepared {
    /// The engine plays as the options say; the line names the network and device that were loaded now.
    Ready(Option<String>),
    /// The options could not be loaded, and a substitute plays.
    Substituted {
        /// The reason.
        error: EngineError,
        /// A line with the network and device that play.
        news: String,
    },
    /// Failure to load: there is no network to search with.
    Failed(EngineError),
}

impl Engine {
    /// Loads what the options name, if it is not loaded yet, and says in a line what runs where. Does nothing during a
    /// search. Endgame tables and books are opened, too; errors in them are announced. So are, once each, the effect of
    /// `Slowmover`, and those parameters of `smooth` that mean something else than on Lc0's page.
    ///
    /// # Errors
    /// [`EngineError`]; what was loaded before stays in use.
    pub fn prepare(&mut self) -> Result<Option<String>, EngineError> {
        self.collect();
        if self.running.search.is_some() {
            return Ok(None);
        }
        self.open_books_and_tables();
        let options = self.device.options(&self.options);
        self.load(&options)
    }

    /// Prepares as [`Engine::prepare`] does, for a game that must go on. A failure to load is reported once, and
    /// loading is not tried again until an option or a file changes. Instead plays the network that was asked for, on
    /// the CPU, where it can run there; else the network already in use, so that a slip costs nothing; else the one
    /// built into the program. A device that failed in the search before is replaced in the same way.
    pub fn prepare_for_play(&mut self) -> Prepared {
        self.collect();
        if self.running.search.is_some() {
            return Prepared::Ready(None);
        }
        self.open_books_and_tables();
        let options = self.device.options(&self.options);
        let is_known_to_fail = self.device.failed.is_some() && self.device.failed == Some(Failure::of(&options));
        let lost = self.device.loaded.as_ref().and_then(Loaded::take_failure);
        if let Some(error) = lost.filter(|_| !is_known_to_fail) {
            self.device.loaded = None;
            return self.substitute(EngineError::Device(error));
        }
        if is_known_to_fail {
            let again = self.device.loaded.as_mut().map_or(Ok(()), |loaded| loaded.ensure_evaluators(&self.options));
            return again.map_or_else(Prepared::Failed, |()| Prepared::Ready(None));
        }
        let error = match self.load(&options) {
            Ok(news) => {
                self.device.failed = None;
                return Prepared::Ready(news);
            }
            Err(error) => error,
        };
        self.substitute(error)
    }

    /// Waits until a time manager that is a program answers, before a clock runs; once a game, and five seconds at most.
    pub fn await_manager(&mut self) {
        if let Some(time) = &mut self.state.time {
            time.get_ready();
        }
    }

    /// Loads a substitute for what the options name, which fails with `error`.
    fn substitute(&mut self, error: EngineError) -> Prepared {
        let options = self.device.options(&self.options);
        self.device.failed = Some(Failure::of(&options));
        // A substitute backend reads the network in the same input format: with another one it would play nonsense.
        let interface = options.backend_options.parse().map(|device: DeviceOptions| device.interface_text());
        let interface = interface.unwrap_or_default();
        for (weights, backend) in SUBSTITUTES {
            let backend_options = if weights.is_none() { interface.clone() } else { String::new() };
            let weights = weights.unwrap_or(&options.weights).to_owned();
            let substitute = Options { weights, backend: (*backend).to_owned(), backend_options, ..options.clone() };
            if substitute.weights == BUILT_IN
                && let Some(attributes) = self.attributes()
            {
                return Prepared::Substituted { error, news: attributes.to_string() };
            }
            // Nothing is downloaded for it.
            let policy = std::mem::replace(&mut self.device.policy, RuntimePolicy::FindOnly);
            let news = self.load(&substitute);
            self.device.policy = policy;
            if let Ok(news) = news {
                // Where the substitute was loaded already, the line names it all the same.
                let news = news.or_else(|| self.attributes().map(ToString::to_string)).unwrap_or_default();
                return Prepared::Substituted { error, news };
            }
        }
        self.device.loaded = None;
        Prepared::Failed(error)
    }

    fn load(&mut self, options: &Options) -> Result<Option<String>, EngineError> {
        let before = self.device.loaded.as_ref().map(Loaded::computes);
        let news = loading::load(&mut self.device.loaded, options, &self.options, self.device.policy, &self.announcer)?;
        if news.is_some() && self.device.loaded.as_ref().map(Loaded::computes) != before {
            self.reset_tree();
        }
        Ok(news)
    }

    /// Opens endgame tables and books, and reports faults in them and in the options.
    fn open_books_and_tables(&mut self) {
        let spec = self.options.time_manager_spec();
        let notes = [
            self.options.slowmover_note(),
            zeitnot_time::managers::smooth::preset_note(&spec),
            self.options.memory_note(),
            self.state.tree.as_ref().filter(|tree| tree.is_short_of_memory()).map(|_| SHORT_OF_MEMORY.to_owned()),
            self.options.devices_note(),
            tree_file::note(&self.options),
        ];
        for (note, said) in notes.into_iter().zip(&mut self.notes.said) {
            if note != *said {
                note.iter().for_each(|note| self.announcer.say(note));
                *said = note;
            }
        }
        // The manager of the moves that come: another one would forget the game.
        let on_clock = GoParams { wtime: Some(0.0), btime: Some(0.0), ..GoParams::default() };
        let spec = self.turn(&on_clock).manager;
        // A program that is the manager starts before a clock runs. A wrong specification is an error of the first move.
        if let Some(time) = &mut self.state.time {
            let _ = time.choose(&spec);
        }
        if self.shelf.books_and_tables.open(&self.options, &self.announcer) {
            self.reset_tree();
        }
    }

    /// The attributes of the loaded backend; `None` before [`Engine::prepare`].
    pub fn attributes(&self) -> Option<&Attributes> {
        self.device.loaded.as_ref().map(|loaded| loaded.backend.attributes())
    }

    /// The loaded backend; `None` before [`Engine::prepare`].
    pub fn backend(&self) -> Option<Arc<dyn Backend>> {
        self.device.loaded.as_ref().map(|loaded| Arc::clone(&loaded.backend))
    }

    /// Location of the loaded network; `None` before [`Engine::prepare`] and where the backend needs no network.
    pub fn network_location(&self) -> Option<&Location> {
        self.device.loaded.as_ref()?.location.as_ref()
    }

    /// Puts a decorator around the loaded backend; searches go through it until another backend is loaded.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`] before [`Engine::prepare`], or the backend's when it makes its new evaluators.
    pub fn decorate(
        &mut self,
        decorator: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>,
    ) -> Result<(), EngineError> {
        self.finish();
        let loaded = self.device.loaded.as_mut().ok_or(EngineError::NothingLoaded)?;
        loaded.backend = decorator(Arc::clone(&loaded.backend));
        // The evaluators at hand are the bare backend's.
        loaded.forget_evaluators();
        loaded.ensure_evaluators(&self.options)
    }

    /// An evaluator of the network alone, without a search.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`] before [`Engine::prepare`], or the backend's.
    pub fn network_evaluator(&self) -> Result<NetworkEvaluator, EngineError> {
        let loaded = self.device.loaded.as_ref().ok_or(EngineError::NothingLoaded)?;
        Ok(NetworkEvaluator::new(Arc::clone(&loaded.backend))?.rated(self.options.player_ratings()))
    }
}

#[cfg(test)]
#[path = "device_failure_tests.rs"]
mod tests;
