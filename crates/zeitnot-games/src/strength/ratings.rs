//! Rates several players together from the results of their games, on the scale of players whose ratings are known.
//!
//! The method is that of Ordo (<https://github.com/michiguel/Ordo>; its option `-M`, with several anchors `-m`): the
//! ratings are those under which all results together are likeliest. The expected score of a player rated `d` Elo
//! higher is `1 / (1 + 10^(-d / 400))`, and a draw is half a win and half a loss. Ordo's own scale is 0.9 % wider by
//! default (76 % at 202 Elo, where this formula has 200.24). Colours are not looked at: they have to be balanced.
//!
//! # What the margins leave out
//!
//! - The anchors keep their ratings, and margins give the error of a player's rating given those. The anchors' own
//!   uncertainty is not in them, and several anchors whose ratings do not fit together are not reported.
//! - A draw is taken to be as uncertain as a win or a loss. Between equals who draw a share `d` of their games that
//!   makes margins too wide by a factor of `1 / sqrt(1 - d)`; Ordo's simulations (`-s`), which have draws, give
//!   narrower ones.
//! - Games of one opening depend on each other, and pairs are not looked at here.
//! - The difference of two rated players has a margin of its own, which these do not give.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::newton::{Games, fit};
use super::{Results, Z_95};

/// The games that two players had against each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encounter {
    /// Names of the players.
    pub players: [String; 2],
    /// The results from the first player's view.
    pub results: Results,
}

/// The rating of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The player's name.
    pub player: String,
    /// The rating, or the reason that it is missing.
    pub value: RatingValue,
    /// Games played.
    pub games: u64,
    /// Points scored in these games.
    pub points: f64,
}

/// A rating, or the reason that it is missing.
///
/// A player scores on another by making at least half a point against that one, and a chain leads from one player to
/// another where each scores on the next. A rating is finite where chains lead from the player to an anchor and from an
/// anchor to the player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum RatingValue {
    /// The rating was given.
    Anchor { elo: f64 },
    Estimated {
        elo: f64,
        /// Half the width of the 95 % interval, in Elo: 1.96 standard errors.
        margin: f64,
    },
    /// The rating is infinite: no chain leads from an anchor to this player. The player has only wins, or is one of
    /// several with only wins against the rest.
    Above,
    /// The rating is minus infinity: no chain leads from this player to an anchor. The player has only losses, or is
    /// one of several with only losses against the rest.
    Below,
    /// Nothing is known: no chain leads either way. An example is a player whose only games are wins against one of
    /// minus infinity.
    Unknown,
}

impl RatingValue {
    /// The rating in Elo, where it is finite.
    pub fn elo(self) -> Option<f64> {
        match self {
            RatingValue::Anchor { elo } | RatingValue::Estimated { elo, .. } => Some(elo),
            RatingValue::Above | RatingValue::Below | RatingValue::Unknown => None,
        }
    }

    /// A number that is larger for the better player; an unknown rating is lowest.
    fn rank(self) -> f64 {
        match self {
            RatingValue::Above => f64::INFINITY,
            RatingValue::Below => f64::MIN,
            RatingValue::Unknown => f64::NEG_INFINITY,
            RatingValue::Anchor { elo } | RatingValue::Estimated { elo, .. } => elo,
        }
    }
}

impl fmt::Display for RatingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RatingValue::Anchor { elo } => write!(f, "{elo:.0}, which is given"),
            RatingValue::Estimated { elo, margin } => write!(f, "{elo:.0} +- {margin:.0}"),
            RatingValue::Above => f.write_str("unknown: no point lost to a rated player"),
            RatingValue::Below => f.write_str("unknown: no point against a rated player"),
            RatingValue::Unknown => f.write_str("unknown: no games that rate it"),
        }
    }
}

/// Results that give no ratings.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RatingError {
    /// No rating is known.
    #[error("no player has a known rating")]
    NoAnchor,
    /// An anchor that nobody played.
    #[error("\"{0}\" has a known rating and no games")]
    AnchorWithoutGames(String),
    /// A known rating that is no number.
    #[error("the known rating of \"{0}\" is {1}")]
    NotFinite(String, f64),
    /// Games of a player against itself.
    #[error("\"{0}\" plays against itself")]
    PlaysItself(String),
    /// A player whose games lead to no anchor.
    #[error("no games connect \"{0}\" with a player whose rating is known")]
    NotConnected(String),
    /// Known ratings so far apart that the results cannot be.
    #[error("the known ratings are too far apart for these results")]
    NotConverged,
}

/// Rates the players of `encounters`; `anchors` are known ratings in Elo, by name. The highest rating comes first;
/// among players whose ratings are missing for one reason, the one with the most points.
///
/// # Errors
/// When no rating is known, an anchor is not finite or has no games, a player plays itself or is connected with no
/// anchor, or the anchors lie so far apart (tens of thousands of Elo) that a score between them is impossible.
pub fn rate(encounters: &[Encounter], anchors: &BTreeMap<String, f64>) -> Result<Vec<Rating>, RatingError> {
    let played: Vec<&Encounter> = encounters.iter().filter(|encounter| encounter.results.games() > 0).collect();
    let names: BTreeSet<&str> =
        encounters.iter().flat_map(|encounter| &encounter.players).map(String::as_str).collect();
    check(&played, anchors)?;
    let indices: BTreeMap<&str, usize> = names.iter().enumerate().map(|(index, &name)| (name, index)).collect();
    let games: Vec<Games> = played.iter().map(|encounter| games(encounter, &indices)).collect();

    let known: Vec<Option<f64>> = names.iter().map(|&name| anchors.get(name).copied()).collect();
    let is_anchor: Vec<bool> = known.iter().map(Option::is_some).collect();
    let connections = |games: &Games| [games.players, [games.players[1], games.players[0]]];
    let is_connected = reach(&is_anchor, &games.iter().flat_map(connections).collect::<Vec<_>>());
    if let Some((name, _)) = names.iter().zip(is_connected).find(|(_, is_connected)| !is_connected) {
        return Err(RatingError::NotConnected((*name).to_owned()));
    }

    let scored = scored(&games);
    let is_reached = reach(&is_anchor, &scored);
    let reaches = reach(&is_anchor, &scored.iter().map(|&[from, to]| [to, from]).collect::<Vec<_>>());
    let is_finite = |player: usize| is_reached[player] && reaches[player];
    let free: Vec<usize> = (0..names.len()).filter(|&player| !is_anchor[player] && is_finite(player)).collect();
    let finite_games: Vec<Games> =
        games.iter().filter(|games| games.players.map(is_finite) == [true; 2]).cloned().collect();
    let start = known.iter().flatten().sum::<f64>() / known.iter().flatten().count() as f64;
    let mut elos: Vec<f64> = known.iter().map(|known| known.unwrap_or(start)).collect();
    let errors = fit(&mut elos, &free, &finite_games).ok_or(RatingError::NotConverged)?;
    let mut margins = vec![0.0; names.len()];
    free.iter().zip(errors).for_each(|(&player, error)| margins[player] = Z_95 * error);

    let value = |player: usize| match (known[player], is_reached[player], reaches[player]) {
        (Some(elo), ..) => RatingValue::Anchor { elo },
        (None, true, false) => RatingValue::Below,
        (None, false, true) => RatingValue::Above,
        (None, false, false) => RatingValue::Unknown,
        (None, true, true) => RatingValue::Estimated { elo: elos[player], margin: margins[player] },
    };
    let mut ratings: Vec<Rating> =
        indices.iter().map(|(&name, &player)| rating(name, value(player), &played)).collect();
    let by_points = |a: &Rating, b: &Rating| match b.value.elo() {
        None => b.points.total_cmp(&a.points),
        Some(_) => Ordering::Equal,
    };
    ratings.sort_by(|a, b| b.value.rank().total_cmp(&a.value.rank()).then_with(|| by_points(a, b)));
    Ok(ratings)
}

fn check(played: &[&Encounter], anchors: &BTreeMap<String, f64>) -> Result<(), RatingError> {
    if anchors.is_empty() {
        return Err(RatingError::NoAnchor);
    }
    for (name, &elo) in anchors {
        if !elo.is_finite() {
            return Err(RatingError::NotFinite(name.clone(), elo));
        }
        if !played.iter().any(|encounter| encounter.players.contains(name)) {
            return Err(RatingError::AnchorWithoutGames(name.clone()));
        }
    }
    match played.iter().find(|encounter| encounter.players[0] == encounter.players[1]) {
        Some(encounter) => Err(RatingError::PlaysItself(encounter.players[0].clone())),
        None => Ok(()),
    }
}

fn games(encounter: &Encounter, indices: &BTreeMap<&str, usize>) -> Games {
    Games {
        players: [0, 1].map(|side| indices[encounter.players[side].as_str()]),
        count: encounter.results.games() as f64,
        points: encounter.results.points(),
    }
}

/// Pairs of players of whom the first scored on the second.
fn scored(games: &[Games]) -> Vec<[usize; 2]> {
    let pairs = |games: &Games| {
        let [first, second] = games.players;
        let forth = (games.points > 0.0).then_some([first, second]);
        let back = (games.points < games.count).then_some([second, first]);
        forth.into_iter().chain(back)
    };
    games.iter().flat_map(pairs).collect()
}

/// The players that `edges` lead to, directly or by others, from the players of `start`; these are included.
fn reach(start: &[bool], edges: &[[usize; 2]]) -> Vec<bool> {
    let mut is_reached = start.to_vec();
    while let Some([_, to]) = edges.iter().find(|[from, to]| is_reached[*from] && !is_reached[*to]) {
        is_reached[*to] = true;
    }
    is_reached
}

fn rating(name: &str, value: RatingValue, played: &[&Encounter]) -> Rating {
    let mut total = Results::default();
    for encounter in played {
        if encounter.players[0] == name {
            total += &encounter.results;
        } else if encounter.players[1] == name {
            total += &encounter.results.swapped();
        }
    }
    Rating { player: name.to_owned(), value, games: total.games(), points: total.points() }
}

#[cfg(test)]
#[path = "ratings_tests.rs"]
mod tests;
