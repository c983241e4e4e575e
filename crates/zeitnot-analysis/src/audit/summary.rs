//! Sums up how each player of audited games used its clock: where it hoarded, rushed or risked, and lost.

use super::advice::Advice;
use super::clocked_move::ClockedMove;
use super::game_speed::GameSpeed;
use super::game_times::GameTimes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeitnot_engine::chess::Color;
use zeitnot_games::clock_use::ByPhase;
use zeitnot_games::sample::{Quantiles, Sample};

/// Least share of the start clock left at the end of a game that counts as hoarded: a quarter.
const HOARDED: f64 = 0.25;
/// Share of an equal division of the clock among the moves left, below which a move counts as rushed.
const RUSHED: f64 = 0.05;
/// Share of the start clock above which a rushed move had no need to be rushed.
const NO_NEED: f64 = 0.2;
/// Share of the start clock below which the clock after a move counts as a risk.
const RISKED: f64 = 0.005;
/// Most clocks at the end of games that are kept for each player.
const MOST_ENDS: usize = 10_000;

/// The clock of one player over all its games of one speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayerClock {
    pub player: String,
    /// The speed of the games' time controls; `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<GameSpeed>,
    /// Games with times.
    pub games: usize,
    /// Games, those without times among them.
    #[serde(default)]
    pub all_games: usize,
    /// Moves with times.
    pub moves: usize,
    /// Mean time of a move, in milliseconds.
    pub mean_ms: f64,
    /// Games whose clock at the end is known.
    pub known_ends: usize,
    /// The clock at the end of a game, in milliseconds; zeros where no such clock is known.
    pub clock_left_ms: Quantiles,
    /// Shares of all time used in moves 1 to 15 out of book, 16 to 40, and later.
    pub share_by_phase: [f64; 3],
    /// Games that ended with a quarter of the start clock or more, and were not lost on time.
    pub hoarded: usize,
    /// Moves that took less than a twentieth of an equal share, with more than a fifth of the start clock left.
    pub rushed: usize,
    /// Moves that ended with less than a two-hundredth of the start clock.
    pub risked: usize,
    /// Moves in the file that used more than their clock.
    pub overrun: usize,
    /// Games that were lost on time.
    pub lost_on_time: usize,
    /// All budgets of each manager on the player's clocks, as a share of the time that the moves used.
    pub budget_to_used: BTreeMap<String, f64>,
}

/// The sums of one player, kept small, since servers have hundreds of thousands of players.
#[derive(Clone, Debug)]
struct Sums {
    all_games: u32,
    games: u32,
    moves: u64,
    hoarded: u32,
    rushed: u32,
    risked: u32,
    overrun: u32,
    lost_on_time: u32,
    left_ms: Sample,
    phases_ms: ByPhase,
    /// The time of the moves that managers were asked about; `budgets_ms` sums the budgets of each manager.
    asked_ms: f64,
    budgets_ms: Box<[f64]>,
}

/// The clocks of players at each speed, game by game.
#[derive(Clone, Debug, Default)]
pub struct PlayerClocks {
    players: BTreeMap<(Box<str>, Option<GameSpeed>), Box<Sums>>,
}

impl PlayerClocks {
    /// Adds a game of two players, White first; a player that is `None` is not counted. `advice` holds each manager's
    /// advice about each move.
    pub fn add(&mut self, names: [Option<&str>; 2], times: &GameTimes, advice: &[Vec<Option<Advice>>]) {
        for (side, (name, color)) in names.into_iter().zip([Color::White, Color::Black]).enumerate() {
            let Some(name) = name else { continue };
            let own = || times.moves.iter().enumerate().filter(move |(_, mv)| mv.color == color);
            let is_lost = times.loss.is_some_and(|loss| loss.color == color && !loss.is_drawn);
            let row = self.players.entry((name.into(), times.speeds[side]));
            let sums = row.or_insert_with(|| Box::new(Sums::new(advice.len())));
            sums.all_games += 1;
            sums.lost_on_time += u32::from(is_lost);
            for (at, mv) in own().filter(|(_, mv)| mv.clock_ms.is_some()) {
                sums.asked_ms += mv.used_ms;
                for (budgets_ms, advice) in sums.budgets_ms.iter_mut().zip(advice) {
                    *budgets_ms += advice[at].map_or(0.0, |advice| advice.budget_ms);
                }
            }
            let moves: Vec<&ClockedMove> = own().map(|(_, mv)| mv).collect();
            if !moves.is_empty() {
                sums.add(&moves, times.start_ms[side], times.end_ms[side], is_lost);
            }
        }
    }

    /// Whether no player has a move with a time or a game that was lost on time.
    pub fn is_empty(&self) -> bool {
        !self.players.values().any(|sums| sums.is_told())
    }

    /// The clock of each player at each speed, where it has moves with times or a loss on time; those with the most
    /// games first. `managers` are the managers whose advice was added, in that order.
    pub fn clocks(&self, managers: &[impl AsRef<str>]) -> impl Iterator<Item = PlayerClock> {
        let mut told: Vec<_> = self.players.iter().filter(|(_, sums)| sums.is_told()).collect();
        told.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.games));
        told.into_iter().map(|((name, speed), sums)| PlayerClock { speed: *speed, ..sums.clock(name, managers) })
    }
}

impl Sums {
    fn new(managers: usize) -> Sums {
        Sums {
            all_games: 0,
            games: 0,
            moves: 0,
            hoarded: 0,
            rushed: 0,
            risked: 0,
            overrun: 0,
            lost_on_time: 0,
            left_ms: Sample::new(MOST_ENDS),
            phases_ms: ByPhase::default(),
            asked_ms: 0.0,
            budgets_ms: vec![0.0; managers].into(),
        }
    }

    fn is_told(&self) -> bool {
        self.games > 0 || self.lost_on_time > 0
    }

    fn add(&mut self, moves: &[&ClockedMove], start_ms: Option<f64>, end_ms: Option<f64>, is_lost: bool) {
        self.games += 1;
        self.moves += moves.len() as u64;
        let start_ms = start_ms.or(moves.first().and_then(|mv| mv.clock_ms)).unwrap_or_default();
        if let Some(end_ms) = end_ms {
            self.left_ms.add(end_ms as f32);
            self.hoarded += u32::from(end_ms >= HOARDED * start_ms && !is_lost);
        }
        for (number, mv) in moves.iter().enumerate() {
            self.phases_ms.add(number, mv.used_ms);
            let Some(clock_ms) = mv.clock_ms else { continue };
            let equal_ms = clock_ms / f64::from(mv.moves_left.max(1)) + mv.increment_ms;
            let rushed = mv.used_ms < RUSHED * equal_ms && clock_ms > NO_NEED * start_ms;
            self.rushed += u32::from(rushed);
            self.risked += u32::from(clock_ms - mv.used_ms < RISKED * start_ms);
            self.overrun += u32::from(mv.is_overrun);
        }
    }

    fn clock(&self, name: &str, managers: &[impl AsRef<str>]) -> PlayerClock {
        let of_used = |budgets_ms: f64| if self.asked_ms > 0.0 { budgets_ms / self.asked_ms } else { 0.0 };
        let budgets = managers.iter().zip(&self.budgets_ms);
        PlayerClock {
            player: name.to_owned(),
            speed: None,
            games: self.games as usize,
            all_games: self.all_games as usize,
            moves: self.moves as usize,
            mean_ms: self.phases_ms.sum() / self.moves.max(1) as f64,
            known_ends: self.left_ms.seen(),
            clock_left_ms: self.left_ms.quantiles(),
            share_by_phase: self.phases_ms.shares(),
            hoarded: self.hoarded as usize,
            rushed: self.rushed as usize,
            risked: self.risked as usize,
            overrun: self.overrun as usize,
            lost_on_time: self.lost_on_time as usize,
            budget_to_used: budgets.map(|(spec, ms)| (spec.as_ref().to_owned(), of_used(*ms))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::game_times::game_times;
    use super::*;
    use zeitnot_games::pgn_reader::read_games;

    fn clocks(text: &str) -> Vec<PlayerClock> {
        let mut clocks = PlayerClocks::default();
        for game in read_games(text.as_bytes()).unwrap() {
            let times = game_times(&game);
            let half = |used_ms: f64| Some(Advice { budget_ms: used_ms / 2.0, moves_left: None });
            let advice = times.moves.iter().map(|mv| half(mv.used_ms)).collect();
            clocks.add(["a", "b"].map(Some), &times, &[advice]);
        }
        clocks.clocks(&["half"]).collect()
    }

    #[test]
    fn hoards_rushes_and_risks_are_counted() {
        let clocks = clocks(
            "[TimeControl \"100\"]\n\n1. e4 {+0.1/5 60s} e5 {0.0/5 0.1s} 2. Nf3 {0.0/4 39.8s} Nc6 {0.0/4 10s} *\n",
        );
        let [a, b] = &clocks[..] else { panic!("{clocks:?}") };
        assert_eq!((a.player.as_str(), a.moves, a.hoarded, a.rushed, a.risked, a.overrun), ("a", 2, 0, 0, 1, 0));
        assert_eq!((b.hoarded, b.rushed, b.risked), (1, 1, 0));
        assert_eq!((a.mean_ms, a.clock_left_ms.p50, a.share_by_phase), (49_900.0, 200.0, [1.0, 0.0, 0.0]));
        assert_eq!((a.budget_to_used["half"], b.budget_to_used["half"]), (0.5, 0.5));
    }

    #[test]
    fn losses_on_time_are_counted_with_and_without_times() {
        let clocks = clocks(
            "[Result \"0-1\"]\n[Termination \"time forfeit\"]\n[TimeControl \"10\"]\n\n1. e4 {0/5 9s} e5 {0/5 1s} 0-1\n\n\
             [Result \"0-1\"]\n[Termination \"Time forfeit\"]\n\n1. e4 e5 0-1\n\n\
             [Result \"1/2-1/2\"]\n[Termination \"Time forfeit\"]\n\n1. e4 e5 1/2-1/2\n",
        );
        let told: Vec<[usize; 4]> =
            clocks.iter().map(|clock| [clock.games, clock.all_games, clock.lost_on_time, clock.overrun]).collect();
        // A row for each speed; that of the games without times is not known.
        assert_eq!(told, [[1, 1, 1, 0], [1, 1, 0, 0], [0, 2, 1, 0]]);
        let rows: Vec<_> = clocks.iter().map(|clock| (clock.player.as_str(), clock.speed)).collect();
        assert_eq!(rows, [("a", Some(GameSpeed::Bullet)), ("b", Some(GameSpeed::Bullet)), ("a", None)]);
    }
}
