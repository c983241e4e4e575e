//! Simulates one side's clock in one game.

use super::model::GameModel;
use crate::recordings::{ReplayedSearch, Speed};
use zeitnot_engine::managers::maker_for_computation;
use zeitnot_engine::splitmix::{SplitMix64, mix};
use zeitnot_games::USUAL_NPS;
use zeitnot_games::lag::LagModel;
use zeitnot_games::period_clock::PeriodClock;
use zeitnot_games::time_control::TimeControl;
use zeitnot_time::{MoveRequest, SpecError, StopperParams, Timekeeper};

/// The clock of simulated games, the speed and the stoppers of their searches.
#[derive(Clone, Debug)]
pub struct SimulationRules {
    /// The clock that each game begins with.
    pub control: TimeControl,
    /// Playouts a second; `None` draws the speed of each move from the games that the model was fitted to.
    pub nps: Option<f64>,
    /// Playouts of a batch.
    pub batch: u64,
    /// The options of the stoppers, the overhead of a move among them.
    pub stoppers: StopperParams,
    /// The lag of the GUI.
    pub lag: Option<LagModel>,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// One side's clock in a simulated game, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulatedGame {
    /// The budget of each move.
    pub budgets_ms: Vec<f64>,
    /// The time used by each move.
    pub used_ms: Vec<f64>,
    /// The clock after each move, with its increment.
    pub clocks_ms: Vec<f64>,
    /// Playouts of all moves.
    pub playouts: u64,
    /// The regret of each move's choice, by the values of its recorded search, 0 to 2.
    pub regrets: Vec<f64>,
    /// The pair of recorded games that each move is drawn from.
    pub sources: Vec<u32>,
    /// Moves whose search outgrew its record, so that the choice is the record's own and loses nothing.
    pub beyond_record: usize,
    /// Whether the last move took more time than the clock had.
    pub is_lost_on_time: bool,
}

impl SimulatedGame {
    /// Simulates game `number`. The same number and seed give the same game.
    ///
    /// # Errors
    /// [`SpecError`], when there is no such manager.
    pub fn play(
        model: &GameModel,
        spec: &str,
        rules: &SimulationRules,
        number: u64,
    ) -> Result<SimulatedGame, SpecError> {
        let mut random = SplitMix64(mix(rules.seed ^ mix(number)));
        let mut time = Timekeeper::with(spec, maker_for_computation())?;
        let periods = [rules.control];
        let mut periods = PeriodClock::new(&periods);
        let mut clock_ms = rules.control.base_ms + rules.control.increment_ms;
        let (mut place, mut first_ply, mut total_nodes) = (None, 0, 0);
        let mut game = SimulatedGame::default();
        let length = model.length(&mut random);
        for made in 0..length {
            let next = model.next(place, made, length - made, &mut random);
            let position = model.position(next);
            if place.is_none() {
                first_ply = position.facts.ply;
            }
            place = Some(next);
            let nps = rules.nps.or_else(|| model.nps(made, &mut random)).unwrap_or(USUAL_NPS);
            let reused_nodes = model.reused(position, total_nodes);
            let request = MoveRequest {
                clock_ms,
                increment_ms: rules.control.increment_ms,
                moves_to_go: periods.moves_to_go(),
                ply: first_ply + 2 * made as u32,
                overhead_ms: rules.stoppers.overhead_ms,
                reused_nodes,
                ..position.facts.clone()
            };
            let (steps, speed) = (position.growth.from(reused_nodes), Speed { nps, batch: rules.batch });
            let search = ReplayedSearch::run(&position.priors, steps, &mut time, &request, speed, &rules.stoppers);
            total_nodes = reused_nodes + search.nodes;
            let lag_ms = rules.lag.map_or(0.0, |lag| lag.lag_ms(rules.seed, number, 2 * made));
            game.playouts += search.nodes;
            game.regrets.push(position.regret(search.choice));
            game.sources.push(position.pair);
            game.beyond_record += usize::from(total_nodes > position.growth.recorded());
            game.budgets_ms.push(search.budget_ms);
            game.used_ms.push(search.used_ms + lag_ms);
            clock_ms -= search.used_ms + lag_ms;
            game.is_lost_on_time = clock_ms < 0.0;
            if game.is_lost_on_time {
                game.clocks_ms.push(0.0);
                break;
            }
            clock_ms += periods.count_move();
            game.clocks_ms.push(clock_ms);
        }
        Ok(game)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::example_search;

    fn model() -> GameModel {
        let traces: Vec<_> = (0..80).map(|index| example_search(index / 40, 2 * (index % 40))).collect();
        GameModel::new(&traces, 100, 8).unwrap()
    }

    fn rules(tc: &str) -> SimulationRules {
        let stoppers = StopperParams { smart_pruning_factor: 0.0, overhead_ms: 0.0, ..StopperParams::default() };
        SimulationRules { control: tc.parse().unwrap(), nps: Some(500.0), batch: 8, stoppers, lag: None, seed: 1 }
    }

    #[test]
    fn clocks_add_up() {
        let model = model();
        for (tc, increment_ms, period_ms) in [("10+0.1", 100.0, None), ("20/10", 0.0, Some(10_000.0))] {
            let game = SimulatedGame::play(&model, "simple", &rules(tc), 3).unwrap();
            assert_eq!(game.used_ms.len(), 40);
            let mut clock_ms = 10_000.0 + increment_ms;
            for (made, (used_ms, after_ms)) in game.used_ms.iter().zip(&game.clocks_ms).enumerate() {
                clock_ms += increment_ms - used_ms;
                clock_ms += period_ms.filter(|_| (made + 1).is_multiple_of(20)).unwrap_or_default();
                assert!((clock_ms - after_ms).abs() < 1e-6, "{tc}: move {made}");
            }
            assert!(!game.is_lost_on_time);
        }
    }

    #[test]
    fn a_lag_that_no_overhead_covers_loses_on_time() {
        let rules = SimulationRules { lag: Some("400".parse().unwrap()), ..rules("2") };
        let game = SimulatedGame::play(&model(), "alphazero", &rules, 1).unwrap();
        assert!(game.is_lost_on_time && game.clocks_ms.last() == Some(&0.0) && game.used_ms.len() < 20, "{game:?}");
    }

    #[test]
    fn searches_that_outgrow_their_records_are_counted() {
        let beyond = |tc: &str| SimulatedGame::play(&model(), "simple", &rules(tc), 3).unwrap().beyond_record;
        // The records end at 325 visits, 0.65 s.
        assert_eq!([beyond("2"), beyond("3600")], [0, 40]);
    }

    #[test]
    fn no_manager_loses_on_time_where_evaluations_are_slow() {
        // An evaluation takes 100 ms, the increment is 50.
        let stoppers = StopperParams { overhead_ms: 50.0, ..StopperParams::default() };
        let rules = SimulationRules { nps: Some(10.0), stoppers, ..rules("1+0.05") };
        for manager in zeitnot_time::managers() {
            for number in 0..20 {
                let game = SimulatedGame::play(&model(), &manager.title(), &rules, number).unwrap();
                assert!(!game.is_lost_on_time, "{}: {game:?}", manager.title());
            }
        }
    }

    #[test]
    fn games_are_the_same_by_their_number() {
        let (model, rules) = (model(), rules("10+0.1"));
        let play = |number| SimulatedGame::play(&model, "smooth", &rules, number).unwrap();
        assert_eq!(play(1), play(1));
        assert!(SimulatedGame::play(&model, "none", &rules, 1).is_err());
    }
}
