//! Makes the players of a match: configurations of this engine, each loaded network once and an engine for each thread, and
//! other engines.

use super::args::MatchClock;
use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::output::note;
use anyhow::Context as _;
use clap::ArgMatches;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::backend::{CostedBackend, SharedEvaluations};
use zeitnot_engine::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_engine::digest::sha256;
use zeitnot_engine::engine::{self, Engine, EngineError, LoadedNetwork, Options};
use zeitnot_engine::memory;
use zeitnot_lab::{DecisionLog, EnginePlayer, ExternalPlayer, Player, PlayerError, program_file};
use zeitnot_text::files::read_text;

/// A player of a match.
#[derive(Clone)]
pub struct Contestant {
    /// How results name it.
    pub name: String,
    /// Its rating in Elo, where it is known.
    pub rating: Option<f64>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// This engine.
    Own { options: Box<Options>, network: Option<LoadedNetwork> },
    /// Another engine: its command line and options, and what calls off every wait for it.
    External { command: String, options: Vec<(String, String)>, stop: Arc<AtomicBool> },
}

/// An engine of a pool, as its file has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PoolEntry {
    name: String,
    command: String,
    #[serde(default)]
    options: InOrder,
    rating: Option<f64>,
}

/// The members of a JSON object in the order in which they stand: engines are told their options in that order.
#[derive(Default)]
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InOrder, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = InOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of options")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(InOrder(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The options of `NAME=VALUE` texts; `flag` is where they stand.
fn pairs<'a>(flag: &str, settings: impl Iterator<Item = &'a str>) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |setting| {
        let (name, value) = engine_options::name_value(setting).with_context(|| flag.to_owned())?;
        Ok((name.to_owned(), value.to_owned()))
    };
    settings.map(pair).collect()
}

impl Contestant {
    /// This engine with the options of the command line and those of its own, which tell it from others; `flag` is where these
    /// stand.
    pub fn own<'a>(
        matches: &ArgMatches,
        flag: &str,
        settings: impl Iterator<Item = &'a str>,
        name: &str,
    ) -> anyhow::Result<Contestant> {
        // Only to read the options: it loads nothing.
        let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
        let settings = pairs(flag, settings)?;
        for (option, value) in &settings {
            engine.set_option(option, value).with_context(|| format!("{flag} {option}={value}"))?;
        }
        let texts: Vec<String> = settings.iter().map(|(option, value)| format!("{option}={value}")).collect();
        let name = if texts.is_empty() { name.to_owned() } else { format!("{name} ({})", texts.join(", ")) };
        let kind = Kind::Own { options: Box::new(engine.options().clone()), network: None };
        Ok(Contestant { name, rating: None, kind })
    }

    /// This engine with other options on the network that is loaded, which must be theirs, too; another engine stays as it is.
    pub fn with_options(&self, options: Options) -> Contestant {
        let kind = match &self.kind {
            Kind::Own { network, .. } => Kind::Own { options: Box::new(options), network: network.clone() },
            external @ Kind::External { .. } => external.clone(),
        };
        Contestant { kind, ..self.clone() }
    }

    /// Another engine. Without a name it is asked for its own.
    pub fn external<'a>(
        command: &str,
        settings: impl Iterator<Item = &'a str>,
        name: Option<&String>,
    ) -> anyhow::Result<Contestant> {
        let options = pairs("--option2", settings)?;
        let name = match name {
            Some(name) => name.clone(),
            None => {
                note!("asking {command} for its name");
                ExternalPlayer::start(command, &options, None, Arc::default())?.name().to_owned()
            }
        };
        let kind = Kind::External { command: command.to_owned(), options, stop: Arc::default() };
        Ok(Contestant { name, rating: None, kind })
    }

    /// The engines of a pool, a JSON file: an array of objects with `name`, `command`, and if there are any `options` and the
    /// `rating`.
    pub fn pool(path: &Path) -> anyhow::Result<Vec<Contestant>> {
        let text = read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        let entries: Vec<PoolEntry> =
            serde_json::from_str(&text).with_context(|| format!("{} is no pool", path.display()))?;
        anyhow::ensure!(!entries.is_empty(), "{} has no engine", path.display());
        let contestant = |entry: PoolEntry| {
            let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let options = entry.options.0.into_iter().map(|(name, value)| (name, text(value))).collect();
            Contestant {
                name: entry.name,
                rating: entry.rating,
                kind: Kind::External { command: entry.command, options, stop: Arc::default() },
            }
        };
        Ok(entries.into_iter().map(contestant).collect())
    }

    /// Waits for its processes no more once `interrupted` is set.
    pub fn heed(&mut self, interrupted: &Arc<AtomicBool>) {
        if let Kind::External { stop, .. } = &mut self.kind {
            *stop = Arc::clone(interrupted);
        }
    }

    /// The options, where it is this engine.
    pub fn options(&self) -> Option<&Options> {
        match &self.kind {
            Kind::Own { options, .. } => Some(options),
            Kind::External { .. } => None,
        }
    }

    /// Its name, the options that are not as usual, and the SHA-256 of its network; or the command and options of another engine.
    pub fn identity(&self) -> anyhow::Result<Value> {
        let (options, network) = match &self.kind {
            Kind::External { command, options, .. } => {
                let program = program_file(command).and_then(|path| std::fs::File::open(path).ok());
                let sha256 = program.and_then(|file| sha256(file).ok());
                return Ok(json!({ "name": self.name, "command": command, "options": options, "program": sha256 }));
            }
            Kind::Own { options, network } => (options, network),
        };
        let changed: BTreeMap<_, _> = options.changed().collect();
        let location = network.as_ref().and_then(|network| network.location.as_ref());
        let sha256 = location.map(|location| location.sha256()).transpose()?;
        let backend = network.as_ref().map(|network| network.backend.attributes().to_string());
        Ok(json!({ "name": self.name, "options": changed, "network": sha256, "backend": backend }))
    }

    /// A line that says what plays.
    pub fn news(&self) -> &str {
        match &self.kind {
            Kind::Own { network, .. } => network.as_ref().map_or("", |network| &network.news),
            Kind::External { command, .. } => command,
        }
    }

    /// Makes a player for the thread `thread`; only those of the first one announce anything.
    /// `decisions`: the file that gets what its time manager is asked, sees and decides.
    pub fn player(
        &self,
        clock: &MatchClock,
        thread: usize,
        decisions: Option<PathBuf>,
    ) -> Result<Box<dyn Player>, PlayerError> {
        let (options, network) = match &self.kind {
            Kind::External { command, options, stop } => {
                return Ok(Box::new(ExternalPlayer::start(command, options, Some(&self.name), Arc::clone(stop))?));
            }
            Kind::Own { options, network } => (options, network),
        };
        let network = network.as_ref().ok_or(EngineError::NothingLoaded)?;
        let backend = Arc::clone(&network.backend);
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
        if thread == 0 {
            if matches!(clock, MatchClock::Virtual { .. }) && options.threads > 1 {
                note!("{}: one thread instead of {}, as always on a virtual clock", self.name, options.threads);
            }
            let speaker = self.name.clone();
            player.engine().announce_to(Announcer::new(move |line| note!("{speaker}: {line}")));
        }
        if let Some(path) = decisions {
            let name = path.display().to_string();
            let log = DecisionLog::create(path, Announcer::new(|line| note!("{line}")));
            let log = log.map_err(|error| PlayerError::Unfit(format!("cannot write {name}: {error}")))?;
            player.engine().observe_time(Some(Box::new(log)));
        }
        Ok(Box::new(player))
    }
}

/// Checks what results could not tell apart, or not use: names and ratings.
pub fn check(contestants: &[Contestant]) -> anyhow::Result<()> {
    for (index, contestant) in contestants.iter().enumerate() {
        let name = &contestant.name;
        anyhow::ensure!(!name.trim().is_empty() && !name.contains(char::is_control), "{name:?} is no name of a player");
        let is_twice = contestants[..index].iter().any(|other| other.name == *name);
        anyhow::ensure!(!is_twice, "two players are called {name}");
        if let Some(rating) = contestant.rating.filter(|rating| !rating.is_finite()) {
            anyhow::bail!("{name}: {rating} is no rating");
        }
    }
    Ok(())
}

/// Evaluations that a network keeps for each engine of games on virtual clocks: the players of a game look at much the same.
const SHARED_EVALUATIONS: usize = 25_000;

/// Loads the networks of all, each once, and divides the memory that is free among `engines` engines.
pub fn load(contestants: &mut [Contestant], engines: usize, clock: &MatchClock) -> anyhow::Result<()> {
    let announcer = Announcer::new(|line| note!("{line}"));
    let automatic = memory::automatic_limit().map(|bytes| bytes / engines.max(1));
    for index in 0..contestants.len() {
        let (before, rest) = contestants.split_at_mut(index);
        let Kind::Own { options, network } = &mut rest[0].kind else { continue };
        let same = before.iter().find_map(|other| match &other.kind {
            Kind::Own { options: others, network } if engine::is_same_network(others, options) => network.clone(),
            _ => None,
        });
        *network = match same {
            Some(network) => Some(network),
            None => {
                let mut loaded = engine::load_network(options, MAY_INSTALL, &announcer)?;
                if let MatchClock::Virtual { .. } = clock {
                    loaded.backend = SharedEvaluations::around(loaded.backend, engines * SHARED_EVALUATIONS);
                }
                Some(loaded)
            }
        };
        options.automatic_memory = automatic;
    }
    Ok(())
}
