//! Draws the positions that a game comes through from recorded games.

use super::search_growth::SearchGrowth;
use crate::recordings::RecordedSearch;
use thiserror::Error;
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_games::record::GameRecord;
use zeitnot_time::MoveRequest;

/// Mean number of successive moves that a simulated game takes from one recorded game before it goes on with a position
/// of another (a block bootstrap). Most games are shorter: the length that the network expects and the ease of the moves
/// persist through a game, and short blocks would mix them. With blocks of 12 moves the 95 % end of the clock at move 40
/// was 80 % higher in simulated games of `smooth` than in 200 played ones (docs/results/2026-11-simulated-clocks.md).
const BLOCK: usize = 40;
/// Number of nearest positions, by move number and distance from the end, among which the next one is drawn: enough
/// that two simulated games of the same length differ.
const NEAREST: usize = 12;
/// Number added to move numbers before their ratios are compared, so that the first and the second move are not far
/// apart.
const ADDED_MOVES: f64 = 5.0;
/// Consecutive move numbers that share one distribution of speeds: a game is searched faster towards its end, where
/// more is known.
const STRIDE: usize = 10;
/// Shortest time of a move whose speed counts, in milliseconds: in less than two batches of 8 at 1,000 playouts a
/// second the first batch decides.
const SHORTEST_MS: f64 = 20.0;

/// Why no games can be drawn from records. Displays as one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ModelError {
    /// No recorded search is of a game.
    #[error("the recordings are of single positions: a simulation needs those of games (time record --games)")]
    NoGames,
    /// The games to fit the model to have no moves.
    #[error("no finished game has moves")]
    NoMoves,
}

/// Facts that the games given to [`GameModel::fit`] lack: games of another program may have no playouts and tree sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Untold {
    /// Whether no move has playouts and a time of 20 ms or more.
    pub speeds: bool,
    /// Whether no two successive moves of a side show how much of a tree was reused.
    pub tree_reuse: bool,
}

/// A model of games: the recorded positions that simulated games are drawn from, with lengths and speeds of games.
pub struct GameModel {
    positions: Vec<Position>,
    /// Moves of one side in each game.
    lengths: Vec<usize>,
    /// Playouts a second of single moves, by tens of move numbers; empty where no games were given to fit.
    speeds: Vec<Vec<f64>>,
    /// Factor on the recorded tree reuse: a tree keeps more after many moves of a game than after the two of a record.
    reuse_factor: f64,
}

/// A recorded position.
pub(super) struct Position {
    /// A time manager's request about the position, without clock and tree.
    pub facts: MoveRequest,
    /// The pair of recorded games that the position is from.
    pub pair: u32,
    /// The share of the last move's tree that is reused.
    pub tree_reuse: f64,
    /// The priors of the moves.
    pub priors: Vec<f32>,
    /// The recorded search of the position.
    pub growth: SearchGrowth,
    /// The regret of each move.
    regrets: Vec<f64>,
    /// The number of the side's moves made so far, and in `left` of its moves left, each as `softened` gives it.
    made: f64,
    left: f64,
    /// Whether the position is the first of its game.
    is_first: bool,
    /// Whether the next position is of the same game.
    goes_on: bool,
}

impl GameModel {
    /// Learns from recorded searches of games whose moves had `nodes` playouts each, in batches of `batch`.
    ///
    /// # Errors
    /// [`ModelError::NoGames`].
    pub fn new(traces: &[RecordedSearch], nodes: u64, batch: u64) -> Result<GameModel, ModelError> {
        let reused: f64 = traces.iter().map(|trace| trace.reused as f64).sum::<f64>() / traces.len().max(1) as f64;
        // With a mean reuse of r the tree before a move has (1 + r) times `nodes` visits, so that r (1 + r) times
        // `nodes` are reused.
        let mean_reuse = ((1.0 + 4.0 * reused / nodes as f64).sqrt() - 1.0) / 2.0;
        let (mut positions, mut lengths) = (Vec::new(), Vec::new());
        for game in traces.chunk_by(|a, b| a.game == b.game).filter(|game| game.len() > 1) {
            lengths.push(game.len());
            for (made, trace) in game.iter().enumerate() {
                let before = nodes as f64 * if made < 2 { 1.0 } else { 1.0 + mean_reuse };
                positions.push(Position {
                    facts: trace.request(),
                    pair: trace.pair(),
                    tree_reuse: (trace.reused as f64 / before).min(1.0),
                    priors: trace.priors(),
                    growth: SearchGrowth::new(trace, batch),
                    regrets: (0..trace.moves.len()).map(|choice| trace.regret(choice)).collect(),
                    made: softened(made),
                    left: softened(game.len() - made),
                    is_first: made == 0,
                    goes_on: made + 1 < game.len(),
                });
            }
        }
        match positions.is_empty() {
            true => Err(ModelError::NoGames),
            false => Ok(GameModel { positions, lengths, speeds: Vec::new(), reuse_factor: 1.0 }),
        }
    }

    /// Learns lengths, speeds and the mean tree reuse from games that were played. Also returns which of the last two
    /// the games do not give; these stay as they were.
    ///
    /// # Errors
    /// [`ModelError::NoMoves`], where the games have no moves.
    pub fn fit<'a>(
        mut self,
        games: impl IntoIterator<Item = &'a GameRecord>,
    ) -> Result<(GameModel, Untold), ModelError> {
        self.lengths.clear();
        let mut reuses: Vec<f64> = Vec::new();
        for game in games {
            for is_white in [true, false] {
                let own = || game.moves.iter().filter(|mv| mv.white == is_white);
                self.lengths.extend(Some(own().count()).filter(|count| *count > 0));
                let pairs = own().zip(own().skip(1)).filter(|(mv, next)| mv.nodes > 0 && next.playouts > 0);
                reuses
                    .extend(pairs.map(|(mv, next)| next.nodes.saturating_sub(next.playouts) as f64 / mv.nodes as f64));
                for (number, mv) in own().enumerate().filter(|(_, mv)| mv.playouts > 0 && mv.used_ms >= SHORTEST_MS) {
                    let stride = number / STRIDE;
                    if self.speeds.len() <= stride {
                        self.speeds.resize(stride + 1, Vec::new());
                    }
                    self.speeds[stride].push(mv.playouts as f64 * 1e3 / mv.used_ms);
                }
            }
        }
        // First moves find no tree, on either side.
        let later = self.positions.iter().filter(|position| !position.is_first);
        let recorded = mean(later.map(|position| position.tree_reuse));
        let untold = Untold { speeds: self.speeds.is_empty(), tree_reuse: reuses.is_empty() };
        if recorded > 0.0 && !untold.tree_reuse {
            self.reuse_factor = mean(reuses.into_iter()) / recorded;
        }
        // Moves whose speed is not given have the speeds of the nearest moves whose speed is.
        let told: Vec<usize> = (0..self.speeds.len()).filter(|stride| !self.speeds[*stride].is_empty()).collect();
        for stride in 0..self.speeds.len() {
            let nearest = told.iter().min_by_key(|other| other.abs_diff(stride));
            if let Some(nearest) = nearest.filter(|nearest| **nearest != stride) {
                self.speeds[stride] = self.speeds[*nearest].clone();
            }
        }
        if self.lengths.is_empty() { Err(ModelError::NoMoves) } else { Ok((self, untold)) }
    }

    /// Draws the number of one side's moves in a game.
    pub(super) fn length(&self, random: &mut SplitMix64) -> usize {
        random.choice(&self.lengths)
    }

    /// Draws the playouts a second of the side's move with index `made`; `None` where no games were given.
    pub(super) fn nps(&self, made: usize, random: &mut SplitMix64) -> Option<f64> {
        let last = self.speeds.len().checked_sub(1)?;
        Some(random.choice(&self.speeds[(made / STRIDE).min(last)]))
    }

    /// Draws the index of the position to follow that with index `before` (`None`: to begin a game), with `made` of the
    /// side's moves made and `left` left.
    pub(super) fn next(&self, before: Option<usize>, made: usize, left: usize, random: &mut SplitMix64) -> usize {
        match before.filter(|place| self.positions[*place].goes_on) {
            Some(place) if random.below(BLOCK) > 0 => place + 1,
            _ => self.nearest(softened(made), softened(left), random),
        }
    }

    /// The visits that the search of a position reuses, where the tree before had `before` visits.
    pub(super) fn reused(&self, position: &Position, before: u64) -> u64 {
        ((position.tree_reuse * self.reuse_factor).min(1.0) * before as f64) as u64
    }

    /// The position at an index.
    pub(super) fn position(&self, place: usize) -> &Position {
        &self.positions[place]
    }

    /// Draws the index of one of the [`NEAREST`] positions nearest to these softened numbers of moves.
    fn nearest(&self, made: f64, left: f64, random: &mut SplitMix64) -> usize {
        let distance = |position: &Position| (position.made - made).abs() + (position.left - left).abs();
        let mut distances: Vec<(f64, usize)> =
            self.positions.iter().enumerate().map(|(place, position)| (distance(position), place)).collect();
        let count = NEAREST.min(distances.len());
        // Equal distances are ordered by their place: the same on every machine.
        distances.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let near = &mut distances[..count];
        near.sort_unstable_by_key(|entry| entry.1);
        near[random.below(count)].1
    }
}

impl Position {
    /// The regret of a choice by the values of the whole recorded search; 0 where nothing was searched.
    pub fn regret(&self, choice: Option<usize>) -> f64 {
        choice.and_then(|choice| self.regrets.get(choice)).copied().unwrap_or(0.0)
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0_usize), |(sum, count), number| (sum + number, count + 1));
    sum / count.max(1) as f64
}

fn softened(moves: usize) -> f64 {
    (moves as f64 + ADDED_MOVES).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::example_search;
    use zeitnot_games::record::{MoveRecord, drawn_game};

    fn model() -> GameModel {
        let traces: Vec<RecordedSearch> = (0..400).map(|index| example_search(index / 40, 2 * (index % 40))).collect();
        GameModel::new(&traces, 20, 8).unwrap()
    }

    #[test]
    fn positions_follow_each_other_and_stay_near_their_place_in_the_game() {
        let model = model();
        let mut random = SplitMix64(1);
        let (mut place, mut followed) = (None, 0);
        for made in 0..40 {
            let next = model.next(place, made, 40 - made, &mut random);
            followed += usize::from(place.is_some_and(|place| place + 1 == next));
            assert!((next % 40).abs_diff(made) <= 3, "{next} at {made}");
            place = Some(next);
        }
        assert!((25..40).contains(&followed), "{followed}");
    }

    #[test]
    fn tree_reuse_is_a_share_of_the_tree_before() {
        // Five visits are found again of 20, to which this share comes on top from the third move on.
        let model = model();
        assert_eq!(model.position(1).tree_reuse, 0.25);
        let share = model.position(2).tree_reuse;
        assert!((share * 20.0 * (1.0 + share) - 5.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn lengths_and_speeds_are_those_of_the_games() {
        let mv = |ply: usize| MoveRecord {
            uci: "e2e4".into(),
            san: "e4".into(),
            white: ply.is_multiple_of(2),
            used_ms: 100.0,
            clocks_ms: [0.0; 2],
            budget_ms: None,
            hard_limit_ms: None,
            nodes: 0,
            playouts: if ply < 20 { 50 } else { 80 },
            depth: 0,
            evaluation: None,
        };
        let game = GameRecord { moves: (0..31).map(mv).collect(), ..drawn_game(1) };
        let (model, untold) = model().fit([&game]).unwrap();
        // They give no sizes of trees: the reuse of the searches stays.
        assert_eq!(untold, Untold { speeds: false, tree_reuse: true });
        assert_eq!(model.reused(model.position(1), 100), 25);
        let mut random = SplitMix64(3);
        let lengths: std::collections::BTreeSet<usize> = (0..20).map(|_| model.length(&mut random)).collect();
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [15, 16]);
        let speeds = [0, 9, 10, 15, 60].map(|made| model.nps(made, &mut random).unwrap());
        assert_eq!(speeds, [500.0, 500.0, 800.0, 800.0, 800.0]);
        // Without moves of some numbers those have the speed of their neighbours.
        let gap = |mv: MoveRecord, ply: usize| MoveRecord {
            used_ms: if (20..40).contains(&ply) { 1.0 } else { mv.used_ms },
            ..mv
        };
        let slow = GameRecord { moves: (0..61).map(|ply| gap(mv(ply), ply)).collect(), ..drawn_game(1) };
        let (model, _) = self::model().fit([&slow]).unwrap();
        assert_eq!([0, 15, 25].map(|made| model.nps(made, &mut random).unwrap()), [500.0, 500.0, 800.0]);
        let without = |mv: MoveRecord| MoveRecord { playouts: 0, ..mv };
        let foreign = GameRecord { moves: (0..31).map(|ply| without(mv(ply))).collect(), ..drawn_game(1) };
        let (model, untold) = self::model().fit([&foreign]).unwrap();
        assert_eq!((untold, model.nps(0, &mut random)), (Untold { speeds: true, tree_reuse: true }, None));
        assert!([15, 16].contains(&model.length(&mut random)));
        // Trees of 100 nodes of which 40 are found again.
        let own = |ply: usize| MoveRecord { nodes: 100, playouts: 60, ..mv(ply) };
        let told = GameRecord { moves: (0..31).map(own).collect(), ..drawn_game(1) };
        let (model, untold) = self::model().fit([&told]).unwrap();
        assert_eq!(untold, Untold::default());
        assert!(model.reused(model.position(1), 100) > 25);
        assert!(matches!(self::model().fit([]), Err(ModelError::NoMoves)));
        assert!(matches!(GameModel::new(&[example_search(0, 0)], 20, 8), Err(ModelError::NoGames)));
    }
}
