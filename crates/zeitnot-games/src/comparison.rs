//! Compares several players at several time controls: the results of each pair, ratings, and how each used its clock.

use super::clock_use::ClockUse;
use super::games::record::GameRecord;
use super::sample::Quantiles;
use super::strength::Results;
use super::strength::elo::{EloDifference, Estimate};
use super::strength::ratings::{Encounter, Rating, RatingError, rate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The score of some games from the first player's view. Elo differences and their 95 % errors are null where they are
/// infinite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Games.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs of games with 0, 1/2, 1, 3/2 and 2 points.
    pub pentanomial: [u64; 5],
    /// The Elo difference.
    pub elo: Option<f64>,
    /// The 95 % error of the Elo difference.
    pub elo_error: Option<f64>,
    /// The normalised Elo difference.
    pub nelo: Option<f64>,
    /// The 95 % error of the normalised Elo difference.
    pub nelo_error: Option<f64>,
    /// Games that the first, and the second, player lost on time.
    pub forfeits: [u64; 2],
}

impl Score {
    /// The score of these results.
    pub fn new(results: &Results, forfeits: [u64; 2]) -> Score {
        let difference = EloDifference::new(results);
        Score {
            games: results.games(),
            wins: results.wins,
            draws: results.draws,
            losses: results.losses,
            pentanomial: results.pentanomial,
            elo: difference.logistic.elo,
            elo_error: difference.logistic.margin,
            nelo: difference.normalised.elo,
            nelo_error: difference.normalised.margin,
            forfeits,
        }
    }

    /// The Elo difference with its error.
    pub fn elo(&self) -> Estimate {
        Estimate { elo: self.elo, margin: self.elo_error }
    }
}

/// The match of two players at a time control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub tc: String,
    /// The player whose score this is.
    pub first: String,
    /// The other player.
    pub second: String,
    /// The score of the first player.
    #[serde(flatten)]
    pub score: Score,
    /// The first player's clock at the end of a game.
    pub clock_left_ms: Quantiles,
}

/// How a player used its clock at one time control, in all of its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayerTimes {
    pub tc: String,
    pub player: String,
    /// The player's use of its clock.
    #[serde(flatten)]
    pub clock_use: ClockUse,
}

/// A player's rating at each time control and at all together. The ratings of the first player are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    pub player: String,
    /// The rating by all games; `None` where games are missing or the results give no rating.
    pub all: Option<Rating>,
    /// The ratings by the games at each time control, in the order of the comparison.
    pub by_tc: Vec<Option<Rating>>,
}

/// The games of a comparison so far.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// A cell for each pair of players and time control.
    pub cells: Vec<Cell>,
    /// Clock use for each player and time control.
    pub times: Vec<PlayerTimes>,
}

/// The first player's results in `games`, which are in order: games 1 and 2, 3 and 4 and so on are pairs.
pub(crate) fn results_of(games: &[GameRecord]) -> Results {
    let mut results = Results::default();
    for pair in games.chunks(2) {
        match pair {
            [one, other] => results.add_pair([one.result_of_first(), other.result_of_first()]),
            rest => rest.iter().for_each(|game| results.add_game(game.result_of_first())),
        }
    }
    results
}

impl Comparison {
    /// Adds all games at one time control. `matches` has for each pair of players their names, first and second, and
    /// their games in order.
    pub fn add(&mut self, tc: &str, matches: &[([String; 2], Vec<GameRecord>)]) {
        let mut of_player: BTreeMap<&str, Vec<(&GameRecord, bool)>> = BTreeMap::new();
        let mut names = Vec::new();
        for (players, games) in matches {
            let results = results_of(games);
            let mut forfeits = [0; 2];
            for is_first in games.iter().filter_map(GameRecord::lost_on_time_by_first) {
                forfeits[usize::from(!is_first)] += 1;
            }
            let clock_left_ms = ClockUse::of(games.iter().map(|game| (game, true))).clock_left_ms;
            let ([first, second], score) = (players.clone(), Score::new(&results, forfeits));
            self.cells.push(Cell { tc: tc.to_owned(), first, second, score, clock_left_ms });
            for (player, is_first) in players.iter().zip([true, false]) {
                if !names.contains(&player) {
                    names.push(player);
                }
                of_player.entry(player).or_default().extend(games.iter().map(|game| (game, is_first)));
            }
        }
        for player in names {
            let clock_use = ClockUse::of(of_player.remove(player.as_str()).unwrap_or_default());
            self.times.push(PlayerTimes { tc: tc.to_owned(), player: player.clone(), clock_use });
        }
    }

    /// The ratings of `players`, the best first; the first of them is the anchor.
    ///
    /// # Errors
    /// [`RatingError`], such as for players who have not met.
    pub fn ranking(&self, players: &[String], tcs: &[String]) -> Result<Vec<Rank>, RatingError> {
        let Some(anchor) = players.first() else { return Err(RatingError::NoAnchor) };
        let anchors = BTreeMap::from([(anchor.clone(), 0.0)]);
        let rated = |tc: Option<&String>| {
            let cells = self.cells.iter().filter(|cell| tc.is_none_or(|tc| cell.tc == *tc));
            let encounters: Vec<Encounter> = cells.map(Cell::encounter).collect();
            rate(&encounters, &anchors)
        };
        let all = rated(None)?;
        let by_tc = tcs.iter().map(|tc| rated(Some(tc))).collect::<Result<Vec<_>, _>>()?;
        let of = |ratings: &[Rating], player: &str| ratings.iter().find(|rating| rating.player == *player).cloned();
        let order: Vec<String> = all.iter().map(|rating| rating.player.clone()).collect();
        let rank = |player: String| Rank {
            all: of(&all, &player),
            by_tc: by_tc.iter().map(|ratings| of(ratings, &player)).collect(),
            player,
        };
        Ok(order.into_iter().map(rank).collect())
    }
}

impl Cell {
    fn encounter(&self) -> Encounter {
        let Score { wins, draws, losses, pentanomial, .. } = self.score;
        let results = Results { wins, draws, losses, pentanomial };
        Encounter { players: [self.first.clone(), self.second.clone()], results }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::record::{Termination, drawn_game};

    fn game(number: u64, white_won: Option<bool>, clocks_ms: [f64; 2]) -> GameRecord {
        let forfeit = clocks_ms.iter().position(|ms| *ms < 0.0).map(|side| side == 0);
        let termination = if forfeit.is_some() { Termination::TimeForfeit } else { Termination::Checkmate };
        GameRecord { white_won, termination, forfeit, clocks_ms, ..drawn_game(number) }
    }

    #[test]
    fn cells_count_pairs_and_forfeits_and_the_ranking_has_the_first_player_at_0() {
        let pair = |players: [&str; 2]| players.map(str::to_owned);
        // The first player wins with both colours, then draws and loses on time.
        let games = vec![
            game(1, Some(true), [5.0, 9.0]),
            game(2, Some(false), [9.0, 7.0]),
            // Against a bare king a clock that runs out loses nothing.
            game(3, None, [1.0, -1.0]),
            game(4, Some(true), [3.0, -2.0]),
        ];
        let mut comparison = Comparison::default();
        comparison.add("1", &[(pair(["A", "B"]), games.clone()), (pair(["A", "C"]), vec![game(1, None, [0.0; 2]); 2])]);
        let cell = &comparison.cells[0];
        assert_eq!((cell.score.pentanomial, cell.score.forfeits), ([0, 1, 0, 0, 1], [1, 0]));
        assert_eq!(cell.clock_left_ms.p50, 5.0);
        let players: Vec<&str> = comparison.times.iter().map(|times| times.player.as_str()).collect();
        assert_eq!(players, ["A", "B", "C"]);
        assert_eq!(comparison.times[0].clock_use.games, 6);
        let names = ["A", "B", "C"].map(str::to_owned);
        let ranking = comparison.ranking(&names, &["1".to_owned()]).unwrap();
        let elo = |player: &str| {
            ranking.iter().find(|rank| rank.player == player).and_then(|rank| rank.all.as_ref()?.value.elo())
        };
        assert_eq!(elo("A"), Some(0.0));
        // 2.5 points of 4.
        assert!((elo("B").unwrap() + 400.0 * (2.5f64 / 1.5).log10()).abs() < 1e-6, "{:?}", elo("B"));
        assert!(elo("C").unwrap().abs() < 1e-6);
        assert_eq!(
            ranking[0].by_tc[0].as_ref().map(|rating| rating.games),
            ranking[0].all.as_ref().map(|rating| rating.games)
        );
    }
}
