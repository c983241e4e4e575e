//! Sums up many simulated games: clocks by move number, time by phase, games lost on time.

use super::game::{SimulatedGame, SimulationRules};
use super::model::GameModel;
use serde::{Deserialize, Serialize};
use std::thread;
use zeitnot_games::clock_use::ByPhase;
use zeitnot_games::sample::Quantiles;
use zeitnot_time::SpecError;

/// Least games that must have reached a move for its clock to be shown.
const LEAST_GAMES: usize = 20;
/// Largest share of moves beyond their records with which a regret is shown. Beyond its record a move is the record's
/// own choice, whose regret is 0 by definition: all managers would look alike, and perfect.
pub const MOST_BEYOND_RECORD: f64 = 0.05;

/// The clocks after one move number, over the games that reached it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockAt {
    /// The number of the side's move, counted from 1 at the first move out of book.
    #[serde(rename = "move")]
    pub number: usize,
    /// The clock after the move with its increment, in milliseconds.
    #[serde(flatten)]
    pub clock_ms: Quantiles,
    /// Mean budget, in milliseconds.
    pub budget_ms: f64,
    /// Mean time used, in milliseconds.
    pub used_ms: f64,
    /// Games that reached the move.
    pub games: usize,
}

/// Summary of many simulated games of a time manager: how it uses the clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    pub games: usize,
    /// The clock by move number.
    pub clock_ms: Vec<ClockAt>,
    /// The clock at the end of a game, in milliseconds.
    pub left_ms: Quantiles,
    /// Share of the games that were lost on time.
    pub flag_rate: f64,
    /// Shares of all time used in moves 1 to 15 out of book, 16 to 40, and later.
    pub share_by_phase: [f64; 3],
    /// The mean regret of a whole game by the values of its recorded searches, over the finished games: a game lost on
    /// time has fewer moves, and so less regret. `None` where no game was finished, or too many moves end beyond their
    /// records.
    pub regret: Option<f64>,
    /// The parts of the regret in moves 1 to 15 out of book, 16 to 40, and later.
    pub regret_by_phase: Option<[f64; 3]>,
    /// The share of the moves whose search outgrew its record.
    pub beyond_record: f64,
    /// Mean time of a move, in milliseconds.
    pub mean_ms: f64,
    /// Mean playouts of a move.
    pub mean_playouts: f64,
}

/// Simulates `games` games of a time manager, on `threads` threads, and sums them up.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn simulate(
    model: &GameModel,
    spec: &str,
    rules: &SimulationRules,
    games: usize,
    threads: usize,
) -> Result<Simulation, SpecError> {
    Ok(Simulation::of(&simulate_games(model, spec, rules, games, threads, &|| {})?))
}

/// Simulates `games` games of a time manager, on `threads` threads, whose number does not change the games. `played` is
/// called after each game.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn simulate_games(
    model: &GameModel,
    spec: &str,
    rules: &SimulationRules,
    games: usize,
    threads: usize,
    played: &(dyn Fn() + Sync),
) -> Result<Vec<SimulatedGame>, SpecError> {
    let part = games.div_ceil(threads.max(1)).max(1);
    let play = |from: usize| -> Result<Vec<SimulatedGame>, SpecError> {
        let play = |number| SimulatedGame::play(model, spec, rules, number as u64).inspect(|_| played());
        (from..games.min(from + part)).map(play).collect()
    };
    // Where no thread can be started, the caller's thread plays the games.
    thread::scope(|scope| -> Result<Vec<SimulatedGame>, SpecError> {
        let play = &play;
        let start = |from| (from, thread::Builder::new().spawn_scoped(scope, move || play(from)).ok());
        let parts: Vec<_> = (0..games).step_by(part).map(start).collect();
        let mut played = Vec::with_capacity(games);
        for (from, handle) in parts {
            played.extend(match handle {
                Some(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
                None => play(from)?,
            });
        }
        Ok(played)
    })
}

impl ClockAt {
    /// Clocks, budgets and times of all games that reached the side's move with this index, from 0.
    fn of(games: &[SimulatedGame], index: usize) -> ClockAt {
        let reached: Vec<&SimulatedGame> = games.iter().filter(|game| game.used_ms.len() > index).collect();
        let mean = |of: fn(&SimulatedGame) -> &[f64]| {
            reached.iter().map(|game| of(game)[index]).sum::<f64>() / reached.len().max(1) as f64
        };
        ClockAt {
            number: index + 1,
            clock_ms: Quantiles::of(reached.iter().map(|game| game.clocks_ms[index]).collect()),
            budget_ms: mean(|game| &game.budgets_ms),
            used_ms: mean(|game| &game.used_ms),
            games: reached.len(),
        }
    }
}

impl Simulation {
    /// Sums up these games.
    pub fn of(games: &[SimulatedGame]) -> Simulation {
        let (mut phases_ms, mut regrets) = (ByPhase::default(), ByPhase::default());
        let (mut moves, mut beyond) = (0, 0);
        for game in games {
            moves += game.used_ms.len();
            beyond += game.beyond_record;
            for (number, used_ms) in game.used_ms.iter().enumerate() {
                phases_ms.add(number, *used_ms);
            }
        }
        let finished: Vec<&SimulatedGame> = games.iter().filter(|game| !game.is_lost_on_time).collect();
        for game in &finished {
            for (number, regret) in game.regrets.iter().enumerate() {
                regrets.add(number, regret / finished.len() as f64);
            }
        }
        let moves = moves.max(1) as f64;
        let beyond_record = beyond as f64 / moves;
        let regret_by_phase = Some(regrets.0).filter(|_| !finished.is_empty() && beyond_record <= MOST_BEYOND_RECORD);
        let longest = games.iter().map(|game| game.used_ms.len()).max().unwrap_or_default();
        let told = (0..longest).map(|index| ClockAt::of(games, index));
        let told = told.take_while(|at| at.games >= LEAST_GAMES.min(games.len()));
        Simulation {
            games: games.len(),
            clock_ms: told.collect(),
            left_ms: Quantiles::of(games.iter().filter_map(|game| game.clocks_ms.last().copied()).collect()),
            flag_rate: (games.len() - finished.len()) as f64 / games.len().max(1) as f64,
            share_by_phase: phases_ms.shares(),
            regret: regret_by_phase.map(|phases| phases.iter().sum()),
            regret_by_phase,
            beyond_record,
            mean_ms: phases_ms.sum() / moves,
            mean_playouts: games.iter().map(|game| game.playouts).sum::<u64>() as f64 / moves,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::example_search;
    use zeitnot_time::StopperParams;

    #[test]
    fn games_are_summed_up() {
        let game = |clocks_ms: &[f64], is_lost_on_time| SimulatedGame {
            budgets_ms: vec![120.0; clocks_ms.len()],
            used_ms: vec![100.0; clocks_ms.len()],
            clocks_ms: clocks_ms.to_vec(),
            playouts: 30 * clocks_ms.len() as u64,
            regrets: vec![0.25; clocks_ms.len()],
            sources: vec![0; clocks_ms.len()],
            beyond_record: 0,
            is_lost_on_time,
        };
        let games = [game(&[900.0, 800.0, 700.0], false), game(&[900.0, 600.0, 0.0], true), game(&[900.0], false)];
        let simulation = Simulation::of(&games);
        assert_eq!((simulation.games, simulation.flag_rate), (3, 1.0 / 3.0));
        assert_eq!((simulation.mean_ms, simulation.mean_playouts), (100.0, 30.0));
        assert_eq!(simulation.left_ms, Quantiles { p5: 0.0, p50: 700.0, p95: 900.0 });
        assert_eq!(simulation.share_by_phase, [1.0, 0.0, 0.0]);
        // The game that was lost on time has no whole regret.
        assert_eq!((simulation.regret, simulation.regret_by_phase), (Some(0.5), Some([0.5, 0.0, 0.0])));
        assert_eq!(Simulation::of(&games[1..2]).regret, None, "no game was finished");
        let told: Vec<(usize, usize)> = simulation.clock_ms.iter().map(|at| (at.number, at.games)).collect();
        assert_eq!(told, [(1, 3)], "the second move was reached by two of three games");
        assert_eq!((simulation.clock_ms[0].budget_ms, simulation.clock_ms[0].used_ms), (120.0, 100.0));
        assert_eq!(Simulation::of(&[]), Simulation::default());
    }

    #[test]
    fn regret_beyond_the_records_is_not_told() {
        let game = |beyond_record| SimulatedGame {
            used_ms: vec![100.0; 50],
            clocks_ms: vec![100.0; 50],
            budgets_ms: vec![100.0; 50],
            regrets: vec![0.0; 50],
            beyond_record,
            ..SimulatedGame::default()
        };
        let of = |beyond| Simulation::of(&[game(beyond), game(0)]);
        assert_eq!((of(5).beyond_record, of(5).regret), (0.05, Some(0.0)));
        assert_eq!((of(6).beyond_record, of(6).regret, of(6).regret_by_phase), (0.06, None, None));
    }

    #[test]
    fn threads_change_nothing() {
        let traces: Vec<_> = (0..80).map(|index| example_search(index / 20, 2 * (index % 20))).collect();
        let model = GameModel::new(&traces, 100, 8).unwrap();
        let stoppers = StopperParams::default();
        let control = "10+0.1".parse().unwrap();
        let rules = SimulationRules { control, nps: Some(500.0), batch: 8, stoppers, lag: None, seed: 1 };
        let one = simulate(&model, "legacy", &rules, 50, 1).unwrap();
        assert_eq!(simulate(&model, "legacy", &rules, 50, 3).unwrap(), one);
        assert_eq!((one.games, one.flag_rate), (50, 0.0));
        assert!(one.clock_ms.len() >= 15 && one.clock_ms[0].clock_ms.p50 > one.clock_ms[9].clock_ms.p50);
    }
}
