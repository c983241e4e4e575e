//! The ratings of the players, for networks that play by them.

use shakmaty::Color;

/// The ratings of both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratings {
    /// White's rating.
    pub white: u16,
    /// Black's rating.
    pub black: u16,
}

impl Ratings {
    /// The highest rating that Maia-3 knows.
    pub const MOST: u16 = 5000;
    /// The rating of a player of whom nothing is known: the default of Maia-3's own program.
    pub const USUAL: u16 = 1500;

    /// The ratings where the player of the side `turn` is rated `own`, and the other one `opponent`.
    pub fn of(turn: Color, own: u16, opponent: u16) -> Ratings {
        match turn {
            Color::White => Ratings { white: own, black: opponent },
            Color::Black => Ratings { white: opponent, black: own },
        }
    }

    /// The rating of the side `color`.
    pub fn get(self, color: Color) -> u16 {
        match color {
            Color::White => self.white,
            Color::Black => self.black,
        }
    }
}

impl Default for Ratings {
    fn default() -> Ratings {
        Ratings { white: Ratings::USUAL, black: Ratings::USUAL }
    }
}
