//! Sorts time controls by the time that they give for a game, as servers do.

use super::time_control_tag::TaggedControl;
use serde::{Deserialize, Serialize};
use zeitnot_games::time_control::TimeControl;

/// Moves of a side that a game has on average, by lichess' measure ([scalachess](https://github.com/lichess-org/scalachess),
/// `Clock.scala` and `Speed.scala`).
const MOVES: f64 = 40.0;
/// Least time for a move of a daily game, in milliseconds.
const DAILY_MS: f64 = 3_600e3;

/// The speed of a time control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GameSpeed {
    /// Less than 3 minutes for 40 moves.
    Bullet,
    /// Less than 8 minutes for 40 moves.
    Blitz,
    /// Less than 25 minutes for 40 moves.
    Rapid,
    /// 25 minutes or more for 40 moves.
    Classical,
    /// Hours or days for each move.
    Daily,
}

impl GameSpeed {
    /// The speed of a time control, by its first period; `None` without a period.
    pub fn of(control: &TaggedControl) -> Option<GameSpeed> {
        let TimeControl { moves, base_ms, increment_ms, .. } = *control.periods.first()?;
        if control.is_per_move && base_ms >= DAILY_MS {
            return Some(GameSpeed::Daily);
        }
        let share = moves.map_or(1.0, |moves| (MOVES / f64::from(moves.max(1))).max(1.0));
        Some(GameSpeed::of_clock(share * base_ms, increment_ms))
    }

    /// The speed of a clock for the whole game; both times are in milliseconds.
    pub(crate) fn of_clock(base_ms: f64, increment_ms: f64) -> GameSpeed {
        match (base_ms + MOVES * increment_ms) / 60e3 {
            minutes if minutes < 3.0 => GameSpeed::Bullet,
            minutes if minutes < 8.0 => GameSpeed::Blitz,
            minutes if minutes < 25.0 => GameSpeed::Rapid,
            _ => GameSpeed::Classical,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            GameSpeed::Bullet => "bullet",
            GameSpeed::Blitz => "blitz",
            GameSpeed::Rapid => "rapid",
            GameSpeed::Classical => "classical",
            GameSpeed::Daily => "daily",
        }
    }
}
