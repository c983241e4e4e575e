//! Writes the commands `position` and `go`.

use std::fmt;
use zeitnot_engine::chess::{Color, Game, to_uci};

/// The limits of a search, as `go` gives them; times in milliseconds. An engine without a limit would never stop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoClock {
    /// White's clock; `None`: White has none.
    pub wtime_ms: Option<f64>,
    /// Black's clock; `None`: Black has none.
    pub btime_ms: Option<f64>,
    /// White's increment.
    pub winc_ms: f64,
    /// Black's increment.
    pub binc_ms: f64,
    /// Moves to the next time control.
    pub movestogo: Option<u32>,
    /// Milliseconds of this move.
    pub movetime_ms: Option<f64>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Depth to search to.
    pub depth: Option<u32>,
}

impl GoClock {
    /// Milliseconds that a side has for its move; 0 where no time limits it.
    pub(super) fn time_ms(&self, turn: Color) -> f64 {
        let clock_ms = if turn.is_white() { self.wtime_ms } else { self.btime_ms };
        clock_ms.or(self.movetime_ms).unwrap_or(0.0).max(0.0)
    }
}

impl fmt::Display for GoClock {
    /// Writes the command `go`. Times are rounded down to whole milliseconds, so that no engine relies on time that it
    /// lacks; but a clock is at least 1, since many engines take 0 for no clock.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("go")?;
        for (side, time_ms, increment_ms) in [("w", self.wtime_ms, self.winc_ms), ("b", self.btime_ms, self.binc_ms)] {
            if let Some(time_ms) = time_ms {
                write!(f, " {side}time {} {side}inc {}", time_ms.max(1.0) as u64, increment_ms.max(0.0) as u64)?;
            }
        }
        let limits = [
            ("movestogo", self.movestogo.map(u64::from)),
            ("movetime", self.movetime_ms.map(|ms| ms.max(1.0) as u64)),
            ("nodes", self.nodes),
            ("depth", self.depth.map(u64::from)),
        ];
        for (name, limit) in limits {
            if let Some(limit) = limit {
                write!(f, " {name} {limit}")?;
            }
        }
        Ok(())
    }
}

/// The command `position` for a game.
pub(super) fn position(game: &Game) -> String {
    let start = game.start_fen();
    let mut text = match start == Game::new().start_fen() {
        true => "position startpos".to_owned(),
        false => format!("position fen {start}"),
    };
    for (index, mv) in game.moves().iter().enumerate() {
        text += if index == 0 { " moves " } else { " " };
        text += &to_uci(*mv, game.is_chess960());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_told_from_the_start_with_castling_as_the_game_has_it() {
        let mut game = Game::new();
        assert_eq!(position(&game), "position startpos");
        ["e2e4", "e7e5"].iter().for_each(|mv| game.push_uci(mv).unwrap());
        assert_eq!(position(&game), "position startpos moves e2e4 e7e5");
        for (fen, castling) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 17", "e1g1 e8c8"),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w KQkq - 3 17", "e1h1 e8b8"),
        ] {
            for chess960 in [false, true] {
                let mut game = Game::from_fen(fen, chess960).unwrap();
                castling.split(' ').for_each(|mv| game.push_uci(mv).unwrap());
                assert_eq!(position(&game), format!("position fen {fen} moves {castling}"));
            }
        }
        // The standard squares with other counters are not the start position.
        let late = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 9";
        assert_eq!(position(&Game::from_fen(late, false).unwrap()), format!("position fen {late}"));
    }

    #[test]
    fn go_tells_the_limits_that_there_are() {
        let clock = GoClock { wtime_ms: Some(1_999.9), btime_ms: Some(-3.0), winc_ms: 100.5, ..GoClock::default() };
        assert_eq!(clock.to_string(), "go wtime 1999 winc 100 btime 1 binc 0");
        let clock = GoClock { movestogo: Some(40), nodes: Some(800), depth: Some(5), ..GoClock::default() };
        assert_eq!(clock.to_string(), "go movestogo 40 nodes 800 depth 5");
        let odds = GoClock { btime_ms: Some(60_000.0), nodes: Some(1), ..GoClock::default() };
        assert_eq!(odds.to_string(), "go btime 60000 binc 0 nodes 1");
        let fixed = GoClock { movetime_ms: Some(250.0), ..GoClock::default() };
        assert_eq!(fixed.to_string(), "go movetime 250");
    }
}
