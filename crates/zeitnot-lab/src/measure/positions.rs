//! Plays random games for positions to measure on: positions as a search meets them, the same on every machine.

use std::collections::HashSet;

use zeitnot_engine::backend::{Attributes, Query};
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::splitmix::SplitMix64;

/// Plies after which a walk starts again: most of a game, so that openings, middlegames and endgames all occur.
const LONGEST: usize = 120;

/// The first `count` positions of random games from the start position, each with its history. All boards differ, and
/// no game is over. The same `seed` gives the same positions.
pub fn walk(count: usize, seed: u64) -> Vec<Game> {
    let mut random = SplitMix64(seed);
    let mut seen = HashSet::new();
    let mut positions = Vec::with_capacity(count);
    let mut game = Game::new();
    while positions.len() < count {
        let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
        if moves.is_empty() || game.moves().len() >= LONGEST {
            game = Game::new();
            continue;
        }
        if seen.insert(game.current().key()) {
            positions.push(game.clone());
        }
        game.push(random.choice(&moves));
    }
    positions
}

/// A query for each of these positions.
pub(super) fn queries(positions: &[Game], attributes: &Attributes) -> Vec<Query> {
    positions.iter().map(|game| Query::new(game, &game.current().legal_moves(), attributes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_repeats_and_its_positions_differ() {
        let fens = |seed| walk(300, seed).iter().map(Game::fen).collect::<Vec<_>>();
        let first = fens(1);
        assert_eq!(first, fens(1));
        assert_ne!(first, fens(2));
        let boards: HashSet<u64> = walk(300, 1).iter().map(|game| game.current().key()).collect();
        assert_eq!(boards.len(), 300);
        assert!(walk(300, 1).iter().all(|game| !game.current().legal_moves().is_empty()));
    }
}
