//! Plays at a level: `UCI_Elo` and `Skill Level` by nodes and temperature, and a Maia as people play.

use super::algorithm::SearchAlgorithm;
use super::{Engine, GoParams, Options};
use zeitnot_base::announcer::Announcer;
use zeitnot_base::files::named_path;
use zeitnot_network::{BUILT_IN, Location, maia};

/// The measured levels: Elo, nodes of a move, temperature. For an Elo between two of them each move is played by one of
/// the two, drawn at random. They hold for the network built in, on one thread; the games are in docs/levels.md.
const LEVELS: [(u64, u64, f32); 11] = [
    (LOWEST_ELO, 1, 0.65),
    (800, 1, 0.52),
    (1000, 1, 0.42),
    (1240, 1, 0.3),
    (1400, 1, 0.21),
    (1640, 1, 0.1),
    (1900, 5, 0.2),
    (2100, 14, 0.2),
    (2300, 36, 0.2),
    (2460, 130, 0.2),
    (HIGHEST_ELO, 480, 0.2),
];

/// Lower end of the range of `UCI_Elo`: the weakest level that was measured.
pub(super) const LOWEST_ELO: u64 = 600;
/// Upper end of the range of `UCI_Elo`: the strongest level that was measured.
pub(super) const HIGHEST_ELO: u64 = 2600;
/// The `Skill Level` that is full strength; 0 is the lowest level, and the steps between are equal.
pub(super) const FULL_SKILL: u64 = 20;

/// The move number from which a level plays at its own temperature.
const OPENING_END: u64 = 5;
/// The least temperature before, so that no two games begin alike: at 1 the 1500 opens one game in six with 1. b4, a3 or
/// h3, at its own 0.16 it answers 1. e4 with e5 alone (docs/levels.md).
const OPENING_TEMPERATURE: f32 = 0.5;

/// How a move is played at a level or by a Maia: the changes to the options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manner {
    pub nodes: u64,
    temperature: f32,
    /// The policy temperature; `None`: the option's.
    policy_temperature: Option<f32>,
    /// Rating of the people whose thinking times are imitated; `None`: the time manager that the options name.
    clock_elo: Option<u32>,
    /// Rating of the people that a Maia learned from; `None` for a level.
    maia: Option<u32>,
    /// Chance, 0 to 1, to overlook that a move ends the game.
    pub overlooks: f32,
}

/// The chance at this Elo to overlook that a move ends the game: a quarter at 1000, half as much with every 125 points
/// more, and three quarters at most.
fn overlooks(elo: u64) -> f32 {
    (0.25 * f32::exp2((1000.0 - elo as f32) / 125.0)).min(0.75)
}

/// Whether a position has all men where games begin, those of Chess960 among them.
pub(super) fn is_start(fen: &str) -> bool {
    let men = fen.split(' ').next().unwrap_or_default();
    men.len() == 43 && men.get(8..35) == Some("/pppppppp/8/8/8/8/PPPPPPPP/")
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

    /// The options with the network that plays their level: a Maia-3 that `WeightsFile` names, which plays by ratings;
    /// else the nearest Maia, if it names a Maia; else the network built in, with which levels were measured.
    pub(super) fn with_network_of_level(&self) -> Options {
        let Some(elo) = self.elo_limit() else { return self.clone() };
        let file = match named_path(&self.weights).map(|named| zeitnot_network::find(Some(&named))) {
            Some(Ok(Location::File(path))) if path.exists() => maia::of_level(&path, elo as u32),
            None | Some(Ok(Location::BuiltIn(_))) => None,
            // Loading it says what is wrong.
            Some(_) => return self.clone(),
        };
        match file {
            Some(path) if named_path(&self.weights).as_deref() == Some(&path) => self.clone(),
            file => {
                let weights = file.map_or_else(|| BUILT_IN.to_owned(), |path| path.to_string_lossy().into_owned());
                Options { weights, backend: "native".to_owned(), backend_options: String::new(), ..self.clone() }
            }
        }
    }
}

impl Manner {
    /// The manner of a level, with the network built in. `chance`, from 0 to 1, decides between the levels around it.
    fn of_level(elo: u64, chance: f64) -> Manner {
        let elo = elo.clamp(LOWEST_ELO, HIGHEST_ELO);
        let above = LEVELS.iter().position(|level| level.0 >= elo).unwrap_or(LEVELS.len() - 1).max(1);
        let (low, high) = (LEVELS[above - 1], LEVELS[above]);
        let share = (elo - low.0) as f64 / (high.0 - low.0) as f64;
        let (_, nodes, temperature) = if chance < share { high } else { low };
        Manner { nodes, temperature, policy_temperature: None, clock_elo: None, maia: None, overlooks: overlooks(elo) }
    }

    /// The manner of a Maia that learned from people rated `rating`: it plays each move as often as they do.
    /// `on_clock`: it takes their time, too.
    fn of_maia(rating: u32, on_clock: bool) -> Manner {
        Manner {
            nodes: 1,
            temperature: 1.0,
            policy_temperature: Some(1.0),
            // Those that `human` takes.
            clock_elo: on_clock.then_some(rating.clamp(600, 3000)),
            maia: Some(rating),
            overlooks: overlooks(u64::from(rating)),
        }
    }

    /// The options that the move is played with. `is_whole_game`: the game began in a start position.
    pub(super) fn options(&self, given: &Options, is_whole_game: bool) -> Options {
        let kept = match self.maia {
            Some(_) => given.clone(),
            None => Options {
                automatic_memory: given.automatic_memory,
                was_set: given.was_set.clone(),
                ..given.only(|facts| facts.level)
            },
        };
        // Moves are drawn from all nodes: none is saved where the best move is certain.
        let mut options = Options {
            algorithm: SearchAlgorithm::Classic,
            threads: 1,
            smart_pruning_factor: 0.0,
            minimum_kld_gain: 0.0,
            ..kept
        };
        let is_free = |name: &str| self.maia.is_none() || !given.was_set.contains(name);
        if is_free("Temperature") {
            options.temperature = self.temperature;
        }
        if self.maia.is_none() && is_whole_game {
            options.temp_endgame = self.temperature;
            options.temp_cutoff_move = OPENING_END;
            options.temperature = self.temperature.max(OPENING_TEMPERATURE);
        }
        if let Some(temperature) = self.policy_temperature.filter(|_| is_free("PolicyTemperature")) {
            options.policy_temperature = temperature;
        }
        if let Some(elo) = self.clock_elo {
            let flag = if given.against_person { ",flag=1" } else { "" };
            options.time_manager = format!("human(elo={elo}{flag})");
        }
        options
    }

    /// A line for the user on how the move is played.
    fn note(&self, given: &Options) -> String {
        let elo = given.elo_limit().unwrap_or(HIGHEST_ELO);
        let Some(rating) = self.maia else { return format!("limited to Elo {elo} (docs/levels.md)") };
        let options = self.options(given, true);
        let of = match given.elo_limit() {
            Some(elo) if elo != u64::from(rating) => format!(", the nearest to Elo {elo} here"),
            _ => String::new(),
        };
        let played = format!("one node a move, Temperature {:.2}", options.temperature);
        let clock = match self.clock_elo {
            Some(_) => {
                format!(", TimeManager {}; set NodesPerMove or TimeManager for another way", options.time_manager)
            }
            None => String::new(),
        };
        format!("this Maia plays as people rated {rating} do{of}: {played}{clock}")
    }
}

/// The state of limited play: whether a Maia plays as people do, and what the last move was.
#[derive(Default)]
pub(super) struct Persona {
    /// Whether a Maia plays as people do, in their time.
    plays_maias: bool,
    /// Whether the last move was played in a [`Manner`].
    was_limited: bool,
    /// The last line that told the user of a manner.
    told: String,
}

impl Persona {
    /// The manner in which a move is played; `None`: as the options say, as in all analysis. `maia`: rating of the
    /// people that the network plays like; `chance`: which of two levels is played.
    pub(super) fn manner(
        &self,
        options: &Options,
        go: &GoParams,
        is_on_clock: bool,
        maia: Option<u32>,
        chance: f64,
    ) -> Option<Manner> {
        let has_limit = go.nodes.is_some() || go.movetime.is_some() || go.depth.is_some() || go.mate.is_some();
        if go.infinite || !(is_on_clock || has_limit) {
            return None;
        }
        let is_set = ["TimeManager", "NodesPerMove"].iter().any(|name| options.was_set.contains(name));
        let as_people = self.plays_maias && is_on_clock && !has_limit && !is_set;
        match (maia, options.elo_limit()) {
            (None, limit) => limit.map(|elo| Manner::of_level(elo, chance)),
            (Some(rating), None) => as_people.then(|| Manner::of_maia(rating, true)),
            (Some(rating), Some(_)) => Some(Manner::of_maia(rating, as_people)),
        }
    }

    /// Notes the manner of the next move, and tells the user where it differs from the one told last. Returns whether
    /// this move or the last one has a manner: then the tree is started anew.
    pub(super) fn take_up(&mut self, manner: Option<&Manner>, given: &Options, announcer: &Announcer) -> bool {
        if let Some(note) = manner.map(|manner| manner.note(given)).filter(|note| *note != self.told) {
            announcer.say(&note);
            self.told = note;
        }
        std::mem::replace(&mut self.was_limited, manner.is_some()) || manner.is_some()
    }
}

impl Engine {
    /// Lets a Maia play as people do where a clock runs and the options do not say otherwise: one node a move, drawn as
    /// often as people play it, in the time that they take. For an engine that plays against people; a match or a
    /// measurement plays as its options say.
    pub fn play_maias_as_people(&mut self) {
        self.persona.plays_maias = true;
    }

    /// The Elo that the engine is limited to, or the rating of the people that its network plays like.
    pub fn level(&self) -> Option<u64> {
        self.options.elo_limit().or_else(|| self.maia_rating().map(u64::from))
    }

    /// The rating of the people that the loaded network plays like; `None` if it is no Maia.
    pub(super) fn maia_rating(&self) -> Option<u32> {
        let attributes = self.attributes()?;
        let by_ratings = || self.ratings().map(|_| self.options.player_ratings().own.into());
        attributes.maia.or_else(by_ratings)
    }
}

#[cfg(test)]
#[path = "strength_tests.rs"]
mod tests;
