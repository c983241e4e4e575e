//! Finds the players' ratings for a network that takes them as input (Maia-3).

use super::{Engine, Options};
use zeitnot_backend::Attributes;
use zeitnot_chess::Color;
use zeitnot_network::{InputFormat, Ratings};

/// The rating of the player that the network imitates, and that of the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlayerRatings {
    pub own: u16,
    opponent: u16,
}

impl PlayerRatings {
    /// The ratings of White and Black, with the engine as the side `turn`; `None` for a network that takes none.
    pub(super) fn of(self, attributes: &Attributes, turn: Color) -> Option<Ratings> {
        let (format, _) = attributes.input?;
        (format == InputFormat::Maia3).then(|| Ratings::of(turn, self.own, self.opponent))
    }
}

impl Options {
    /// The ratings that the options ask for. At a level, each one that was not set by hand is the level's Elo.
    pub(super) fn player_ratings(&self) -> PlayerRatings {
        let rating = |name: &str, set: u64| match self.elo_limit() {
            Some(elo) if !self.was_set.contains(name) => elo as u16,
            _ => set as u16,
        };
        PlayerRatings { own: rating("SelfElo", self.self_elo), opponent: rating("OppoElo", self.oppo_elo) }
    }
}

impl Engine {
    /// The ratings for a search of the current position. The side to move counts as ours, also in analysis, and in
    /// pondering, which searches what will be our move. `None` for a network that takes no ratings.
    pub(super) fn ratings(&self) -> Option<Ratings> {
        self.options.player_ratings().of(self.attributes()?, self.state.game.current().turn())
    }
}
