//! Plays at a level: `UCI_Elo` and `Skill Level` by nodes and temperature, and a Maia as people play.

use super::{Engine, GoParams, Options};
use crate::network::{self, BUILT_IN, Location, maia};
use std::borrow::Cow;
use zeitnot_text::files::named_path;

/// The levels: Elo, nodes of a move, temperature. Between two of them the temperature and the logarithm of the nodes are
/// interpolated. Played by the network built in, on one thread; the games are in docs/levels.md.
const LEVELS: [(u64, f64, f64); 8] = [
    (LOWEST_ELO, 1.0, 0.42),
    (1240, 1.0, 0.3),
    (1400, 1.0, 0.2),
    (1640, 1.0, 0.1),
    (1900, 4.0, 0.1),
    (2100, 11.0, 0.1),
    (2300, 29.0, 0.1),
    (HIGHEST_ELO, 400.0, 0.1),
];

/// The range of `UCI_Elo`: that of the levels that were measured.
pub(super) const LOWEST_ELO: u64 = 1000;
pub(super) const HIGHEST_ELO: u64 = 2600;
/// The `Skill Level` that is full strength; 0 is the lowest level, and the steps between are equal.
pub(super) const FULL_SKILL: u64 = 20;

/// What a player of a level, or a Maia, makes of the options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manner {
    pub nodes: u64,
    temperature: f32,
    /// The policy temperature; `None`: the option's.
    policy_temperature: Option<f32>,
    /// Rating of the player whose time is taken; `None`: the time manager is the option's.
    clock_elo: Option<u32>,
    /// Whether the user is to hear of it because no option asked for it.
    maia: Option<u32>,
}

impl Options {
    /// The Elo that `UCI_LimitStrength` or `Skill Level` limits the engine to; `None`: full strength.
    pub fn elo_limit(&self) -> Option<u64> {
        match (self.limit_strength, self.skill_level) {
            (true, _) => Some(self.elo),
            (false, FULL_SKILL) => None,
            (false, level) => Some(LOWEST_ELO + level * (HIGHEST_ELO - LOWEST_ELO) / FULL_SKILL),
        }
    }

    /// The options with the network of their level: a Maia-3 where `WeightsFile` is one, which plays by ratings; the
    /// nearest Maia where it is another; else the network built in, with which levels were measured.
    pub(super) fn with_network_of_level(&self) -> Options {
        let Some(elo) = self.elo_limit() else { return self.clone() };
        let named = match network::find(named_path(&self.weights).as_deref()) {
            Ok(Location::File(path)) => Some(path),
            Ok(Location::BuiltIn(_)) => None,
            // Loading it says what is wrong.
            Err(_) => return self.clone(),
        };
        if named.as_deref().is_some_and(|path| !path.exists() || maia::plays_by_ratings(path)) {
            return self.clone();
        }
        let file = named.and_then(|path| maia::nearest(&path, elo as u32));
        let weights = file.map_or_else(|| BUILT_IN.to_owned(), |path| path.to_string_lossy().into_owned());
        let (backend, backend_options) = ("native".to_owned(), String::new());
        Options { weights, backend, backend_options, ..self.clone() }
    }
}

impl Manner {
    /// The player of a level, with the network built in.
    fn of_level(elo: u64) -> Manner {
        let elo = elo.clamp(LOWEST_ELO, HIGHEST_ELO);
        let above = LEVELS.iter().position(|level| level.0 >= elo).unwrap_or(LEVELS.len() - 1).max(1);
        let (low, high) = (LEVELS[above - 1], LEVELS[above]);
        let share = (elo - low.0) as f64 / (high.0 - low.0) as f64;
        let between = |low: f64, high: f64| low + share * (high - low);
        Manner {
            nodes: between(low.1.ln(), high.1.ln()).exp().round() as u64,
            temperature: between(low.2, high.2) as f32,
            policy_temperature: None,
            clock_elo: None,
            maia: None,
        }
    }

    /// A Maia that learned from people rated `rating`: each move as often as they play it. `on_clock`: it takes their
    /// time, too.
    fn of_maia(rating: u32, on_clock: bool) -> Manner {
        Manner {
            nodes: 1,
            temperature: 1.0,
            policy_temperature: Some(1.0),
            // Those that `human` takes.
            clock_elo: on_clock.then_some(rating.clamp(600, 3000)),
            maia: Some(rating),
        }
    }

    /// The options that the move is played with.
    pub(super) fn options(&self, given: &Options) -> Options {
        // All nodes of the level are spent, whatever the clock: a move is drawn from their distribution.
        let mut options = Options { threads: 1, smart_pruning_factor: 0.0, minimum_kld_gain: 0.0, ..given.clone() };
        let is_free = |name: &str| self.maia.is_none() || !given.was_set.contains(name);
        if is_free("Temperature") {
            options.temperature = self.temperature;
        }
        if let Some(temperature) = self.policy_temperature.filter(|_| is_free("PolicyTemperature")) {
            options.policy_temperature = temperature;
        }
        if let Some(elo) = self.clock_elo {
            options.time_manager = format!("human(elo={elo})");
        }
        options
    }

    /// A line for the user on how the move is played.
    pub(super) fn note(&self, given: &Options) -> String {
        let nodes = if self.nodes == 1 { "one node".to_owned() } else { format!("{} nodes", self.nodes) };
        let options = self.options(given);
        let temperature = options.temperature;
        let played = format!("{nodes} a move, Temperature {temperature:.2}");
        match (self.maia, self.clock_elo) {
            (Some(rating), Some(_)) => format!(
                "this Maia plays as people rated {rating} do: {played}, TimeManager {}; set NodesPerMove or TimeManager for another way",
                options.time_manager
            ),
            (Some(rating), None) => format!("this Maia plays as people rated {rating} do: {played}"),
            (None, _) => format!("limited to Elo {}: {played}", given.elo_limit().unwrap_or(HIGHEST_ELO)),
        }
    }
}

impl Engine {
    /// Lets a Maia play as people do where a clock runs and the options do not say otherwise: one node a move, drawn as
    /// often as people play it, in the time that they take. For an engine that plays with people; a match or a
    /// measurement has what its options say.
    pub fn play_maias_as_people(&mut self) {
        self.plays_maias = true;
    }

    /// The manner of a move with these limits; `None`: nothing but the options decides, as in all analysis.
    pub(super) fn manner(&self, go: &GoParams) -> Option<Manner> {
        let on_clock = self.is_on_clock(go);
        let has_limit = go.nodes.is_some() || go.movetime.is_some() || go.depth.is_some() || go.mate.is_some();
        if go.infinite || !(on_clock || has_limit) {
            return None;
        }
        let maia = self.maia_rating();
        let is_set = ["TimeManager", "NodesPerMove"].iter().any(|name| self.options.was_set.contains(name));
        let as_people = self.plays_maias && on_clock && !has_limit && !is_set;
        match (maia, self.options.elo_limit()) {
            (None, limit) => limit.map(Manner::of_level),
            (Some(rating), None) => as_people.then(|| Manner::of_maia(rating, true)),
            (Some(rating), Some(_)) => Some(Manner::of_maia(rating, as_people)),
        }
    }

    /// The rating of the people that the loaded network plays like; `None` if it is no Maia.
    fn maia_rating(&self) -> Option<u32> {
        let attributes = self.attributes()?;
        let by_ratings = || self.ratings().map(|_| self.options.player_ratings().own.into());
        attributes.maia.or_else(by_ratings)
    }

    /// The options that a move with these limits is played with.
    pub(super) fn played_options(&self, go: &GoParams) -> Cow<'_, Options> {
        let manner = self.manner(go);
        manner.map_or(Cow::Borrowed(&self.options), |manner| Cow::Owned(manner.options(&self.options)))
    }

    /// Tells the user of a manner that the last move did not have. Returns whether this move or the last one has one:
    /// then the tree does not count.
    pub(super) fn take_manner(&mut self, go: &GoParams) -> bool {
        let manner = self.manner(go);
        if let Some(manner) = manner.as_ref().filter(|manner| self.manner.as_ref() != Some(*manner)) {
            self.announcer.say(&manner.note(&self.options));
        }
        let is_limited = manner.is_some();
        std::mem::replace(&mut self.manner, manner).is_some() || is_limited
    }

    /// The options whose network is loaded: with a level, those of its network.
    pub(super) fn network_options(&mut self) -> Options {
        if self.of_level.as_ref().is_none_or(|(given, _)| *given != self.options) {
            self.of_level = Some((self.options.clone(), self.options.with_network_of_level()));
        }
        self.of_level.as_ref().map_or_else(|| self.options.clone(), |(_, loaded)| loaded.clone())
    }

    /// Whether a move has a clock; pondering counts as the move that it may become.
    pub(super) fn is_on_clock(&self, go: &GoParams) -> bool {
        GoParams { ponder: false, ..go.clone() }.clock(self.game.current().turn()).is_some()
    }
}

#[cfg(test)]
#[path = "strength_tests.rs"]
mod tests;
