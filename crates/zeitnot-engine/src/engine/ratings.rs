//! Says by which ratings a network plays that asks for them: Maia-3.

use super::{Engine, Options};
use zeitnot_backend::Attributes;
use zeitnot_chess::Color;
use zeitnot_network::{InputFormat, Ratings};

/// The rating to play like, and that of the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlayerRatings {
    pub own: u16,
    opponent: u16,
}

impl PlayerRatings {
    /// The ratings of both sides where `turn` is ours; `None` for a network that does not play by ratings.
    pub(super) fn of(self, attributes: &Attributes, turn: Color) -> Option<Ratings> {
        let (format, _) = attributes.input?;
        (format == InputFormat::Maia3).then(|| Ratings::of(turn, self.own, self.opponent))
    }
}

impl Options {
    /// The ratings that the options ask for. At a level both are those of the level, but for what was set.
    pub(super) fn player_ratings(&self) -> PlayerRatings {
        let rating = |name: &str, set: u64| match self.elo_limit() {
            Some(elo) if !self.was_set.contains(name) => elo as u16,
            _ => set as u16,
        };
        PlayerRatings { own: rating("SelfElo", self.self_elo), opponent: rating("OppoElo", self.oppo_elo) }
    }
}

impl Engine {
    /// The ratings for the search of the position, whose side to move is ours: also in analysis, and in pondering, which
    /// searches what will be our move. `None` for a network that does not play by ratings.
    pub(super) fn ratings(&self) -> Option<Ratings> {
        self.options.player_ratings().of(self.attributes()?, self.state.game.current().turn())
    }
}
