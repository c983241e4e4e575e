//! Counts the results of a match.

use std::fmt;

use super::{GameRecord, Termination};

/// The results of the first of two configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Games that a clock decided, whichever side's.
    pub forfeits: u64,
}

impl Score {
    /// Adds a game that was played to its end; `first_is_white`: the first configuration had White.
    pub fn count(&mut self, game: &GameRecord, first_is_white: bool) {
        match game.winner {
            None => self.draws += 1,
            Some(color) if color.is_white() == first_is_white => self.wins += 1,
            Some(_) => self.losses += 1,
        }
        self.forfeits += u64::from(game.termination == Termination::TimeForfeit);
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score { wins, draws, losses, forfeits } = self;
        write!(f, "{wins} won, {draws} drawn, {losses} lost, {forfeits} by time forfeit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Color;

    fn game(winner: Option<Color>, termination: Termination) -> GameRecord {
        GameRecord {
            players: ["A".into(), "B".into()],
            time_control: "10+0.1".parse().unwrap(),
            start_fen: None,
            moves: Vec::new(),
            winner,
            termination,
            clocks_ms: [0.0; 2],
        }
    }

    #[test]
    fn results_count_for_the_first_configuration() {
        let mut score = Score::default();
        score.count(&game(Some(Color::White), Termination::Checkmate), true);
        score.count(&game(Some(Color::White), Termination::TimeForfeit), false);
        score.count(&game(None, Termination::Stalemate), false);
        assert_eq!(score, Score { wins: 1, draws: 1, losses: 1, forfeits: 1 });
        assert_eq!(score.to_string(), "1 won, 1 drawn, 1 lost, 1 by time forfeit");
    }
}
