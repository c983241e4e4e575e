//! Makes the players of a match: configurations of this engine, with each network loaded once and an engine for each
//! thread, and other engines.

use super::{MatchClock, SetupError};
use crate::games::{DecisionLog, DrivenPlayer, EnginePlayer, ExternalPlayer, Player, PlayerError, program_file};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::backend::CostedBackend;
use zeitnot_engine::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_engine::digest::sha256;
use zeitnot_engine::engine::{Engine, EngineError, LoadedNetwork, Options};
use zeitnot_engine::network::{Location, NetworkError};

/// A player of a match.
#[derive(Clone)]
pub struct Contestant {
    /// The player's name in results.
    pub name: String,
    /// The player's rating in Elo, where it is known.
    pub rating: Option<f64>,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    /// This engine.
    Own { options: Box<Options>, network: Option<LoadedNetwork> },
    /// Another engine: its command line and options, whether it ponders where it can, and the flag that calls off every
    /// wait for it.
    External { command: String, options: Vec<(String, String)>, ponders: bool, stop: Arc<AtomicBool> },
    /// Another engine with a time manager in front: the driver's command line on the machine's clock, and the engine's
    /// own, which plays on a virtual one.
    Driven { driver: String, command: String, options: Vec<(String, String)>, manager: String, stop: Arc<AtomicBool> },
}

impl Contestant {
    /// This engine with these options. It can play once [`load`](super::load) has given it its network.
    pub fn own(options: Options, name: String) -> Contestant {
        Contestant { name, rating: None, kind: Kind::Own { options: Box::new(options), network: None } }
    }

    /// Another engine: its command line and its options.
    pub fn external(command: String, options: Vec<(String, String)>, name: String) -> Contestant {
        let kind = Kind::External { command, options, ponders: false, stop: Arc::default() };
        Contestant { name, rating: None, kind }
    }

    /// Another engine with the time manager `manager` in front, whose name the player has. `driver` is the command line that
    /// drives the engine on the machine's clock.
    pub fn driven(driver: String, command: String, options: Vec<(String, String)>, manager: String) -> Contestant {
        let name = manager.clone();
        Contestant {
            name,
            rating: None,
            kind: Kind::Driven { driver, command, options, manager, stop: Arc::default() },
        }
    }

    /// Lets another engine think on its opponent's time, if it can. Does nothing for this engine: its option `Ponder`
    /// decides.
    pub fn let_ponder(&mut self) {
        if let Kind::External { ponders, .. } = &mut self.kind {
            *ponders = true;
        }
    }

    /// Lets `interrupted` end all waits for the player's processes.
    pub fn heed(&mut self, interrupted: &Arc<AtomicBool>) {
        if let Kind::External { stop, .. } | Kind::Driven { stop, .. } = &mut self.kind {
            *stop = Arc::clone(interrupted);
        }
    }

    /// The options of this engine; `None` for another engine.
    pub fn options(&self) -> Option<&Options> {
        match &self.kind {
            Kind::Own { options, .. } => Some(options),
            Kind::External { .. } | Kind::Driven { .. } => None,
        }
    }

    /// The identity of the player, which must stay the same for a match to be resumed: name, changed options, backend
    /// and the SHA-256 of the network; of another engine the name, command, options, pondering and its program's
    /// SHA-256.
    ///
    /// # Errors
    /// When the file of the network cannot be read.
    pub fn identity(&self) -> Result<Value, NetworkError> {
        let program =
            |command| program_file(command).and_then(|path| File::open(path).ok()).and_then(|file| sha256(file).ok());
        let (options, network) = match &self.kind {
            Kind::External { command, options, ponders, .. } => {
                return Ok(json!({
                    "name": self.name,
                    "command": command,
                    "options": options,
                    "ponder": ponders,
                    "program": program(command),
                }));
            }
            Kind::Driven { command, options, manager, .. } => {
                return Ok(json!({
                    "name": self.name,
                    "command": command,
                    "options": options,
                    "manager": manager,
                    "program": program(command),
                }));
            }
            Kind::Own { options, network } => (options, network),
        };
        let changed: BTreeMap<_, _> = options.changed().collect();
        let location = network.as_ref().and_then(|network| network.location.as_ref());
        let sha256 = location.map(|location| location.sha256()).transpose()?;
        let backend = network.as_ref().map(|network| network.backend.attributes().to_string());
        Ok(json!({ "name": self.name, "options": changed, "network": sha256, "backend": backend }))
    }

    /// The network and its device in one line, empty before it is loaded; or the command of another engine.
    pub fn news(&self) -> &str {
        match &self.kind {
            Kind::Own { network, .. } => network.as_ref().map_or("", |network| &network.news),
            Kind::External { command, .. } | Kind::Driven { command, .. } => command,
        }
    }

    /// Makes the player for one of the threads that play. `decisions` logs the questions to this engine's time manager
    /// and the answers.
    ///
    /// # Errors
    /// When the player cannot play, or another engine does not start.
    pub fn player(
        &self,
        clock: &MatchClock,
        announcer: &Announcer,
        decisions: Option<DecisionLog>,
    ) -> Result<Box<dyn Player>, PlayerError> {
        let (options, network) = match &self.kind {
            Kind::External { command, options, ponders, stop } => {
                let player = ExternalPlayer::start(command, options, Some(&self.name), Arc::clone(stop))?;
                return Ok(Box::new(player.with_pondering(*ponders)));
            }
            Kind::Driven { driver, command, options, manager, stop } => {
                let (name, stop) = (&self.name, Arc::clone(stop));
                return Ok(match clock {
                    MatchClock::Real => Box::new(ExternalPlayer::start(driver, options, Some(name), stop)?),
                    MatchClock::Virtual { cost, .. } => {
                        let node_ms = cost.batch_ms(1);
                        Box::new(DrivenPlayer::start(name, command, options, manager, node_ms, stop)?)
                    }
                });
            }
            Kind::Own { options, network } => (options, network),
        };
        let network = network.as_ref().ok_or(EngineError::NothingLoaded)?;
        let backend = Arc::clone(&network.backend);
        let network_name = network.location.as_ref().map(Location::name);
        let mut player = match clock {
            MatchClock::Real => {
                let engine = Engine::with_backend((**options).clone(), Arc::new(MonotonicClock::new()), backend)?;
                EnginePlayer::new(self.name.clone(), engine, options.ponder)
            }
            MatchClock::Virtual { cost, playout_ms } => {
                let clock = Arc::new(VirtualClock::new(*playout_ms));
                let costed = Arc::new(CostedBackend::new(backend, cost.clone()));
                // The search runs on the thread of its game.
                // Free memory differs from run to run, and the games must not.
                let single = Options { threads: 1, automatic_memory: None, ..(**options).clone() };
                let engine = Engine::with_backend(single, Arc::clone(&clock) as Arc<dyn Clock>, costed)?;
                EnginePlayer::on_virtual_clock(self.name.clone(), engine, clock, options.ponder)
            }
        };
        if clock.is_virtual() && options.threads > 1 {
            let (name, threads) = (&self.name, options.threads);
            announcer.say(&format!("{name}: one thread instead of {threads}, as always on a virtual clock"));
        }
        player.announce_to(announcer.clone());
        if let Some(log) = decisions {
            player.engine().observe_time(Some(Box::new(log)));
        }
        Ok(Box::new(player.with_network(network_name)))
    }
}

/// Checks that results can distinguish the players and use their ratings.
///
/// # Errors
/// For the first player with an unfit name or rating.
pub fn check(contestants: &[Contestant]) -> Result<(), SetupError> {
    for (index, Contestant { name, rating, .. }) in contestants.iter().enumerate() {
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(SetupError::Name(name.clone()));
        }
        if contestants[..index].iter().any(|other| other.name == *name) {
            return Err(SetupError::SameName(name.clone()));
        }
        if let Some(rating) = rating.filter(|rating| !rating.is_finite()) {
            return Err(SetupError::Rating { name: name.clone(), rating });
        }
    }
    Ok(())
}
