//! Sums up players over many games.

use super::clock_sums::ClockSums;
use super::document::{AnalysedGame, AnalysedPlayer, PhaseOfPlayer};
use super::phase::Phase;
use std::collections::BTreeMap;
use zeitnot_games::sample::Mean;

/// Sums over the games of a player.
#[derive(Default)]
struct Sums {
    games: usize,
    accuracy: Mean,
    clock: ClockSums,
    /// Accuracy and lost expected score of the moves in each phase.
    phases: [(Mean, Mean); 3],
}

/// The results of each player over the games, the players with the most games first.
pub fn players(games: &[AnalysedGame]) -> Vec<AnalysedPlayer> {
    let mut players: BTreeMap<&str, Sums> = BTreeMap::new();
    for game in games {
        for (index, (side, color)) in [(&game.white, "white"), (&game.black, "black")].into_iter().enumerate() {
            let sums = players.entry(&side.name).or_default();
            sums.games += 1;
            side.accuracy.into_iter().for_each(|accuracy| sums.accuracy.add(accuracy));
            sums.clock.add(&game.parts.clocks[index]);
            for (mv, phase) in game.moves.iter().zip(&game.parts.phases).filter(|(mv, _)| mv.color == color) {
                let (accuracy, loss) = &mut sums.phases[*phase as usize];
                mv.accuracy.into_iter().for_each(|number| accuracy.add(number));
                mv.expected_loss.into_iter().for_each(|number| loss.add(number));
            }
        }
    }
    let known = |mean: Mean| (mean.count > 0).then(|| mean.mean());
    let told = |(name, sums): (&str, Sums)| AnalysedPlayer {
        name: name.to_owned(),
        games: sums.games,
        accuracy: known(sums.accuracy),
        clock: sums.clock.told(),
        by_phase: Phase::ALL
            .into_iter()
            .zip(sums.phases)
            .map(|(name, (accuracy, loss))| PhaseOfPlayer {
                name,
                moves: accuracy.count as u32,
                accuracy: known(accuracy),
                expected_loss: loss.mean(),
            })
            .collect(),
    };
    let mut players: Vec<AnalysedPlayer> = players.into_iter().map(told).collect();
    players.sort_by_key(|player| std::cmp::Reverse(player.games));
    players
}
