//! Keeps the clocks of White and Black of one game by the limits of each side.

use super::period_clock::PeriodClock;
use super::time_control::TimeControl;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_engine::engine::GoParams;

/// The limits of one player.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The player's clock; `None` for a player without a clock.
    pub clock: Option<TimeControl>,
    /// Milliseconds allowed for each move, for a player without a clock; time left over is not kept.
    pub movetime_ms: Option<f64>,
    /// Most nodes of the search for each move.
    pub nodes: Option<u64>,
    /// Depth of the search for each move.
    pub depth: Option<u32>,
}

impl Limits {
    /// The limits as PGN's tag `TimeControl` has them: the clock, the time of a move as runners write it (`0.5/move`),
    /// or `-`.
    pub fn pgn(&self) -> String {
        match (&self.clock, self.movetime_ms) {
            (Some(clock), _) => clock.to_string(),
            (None, Some(ms)) => format!("{}/move", ms / 1e3),
            (None, None) => "-".to_owned(),
        }
    }

    /// Whether a move that takes too long loses the game.
    pub(crate) fn has_time(&self) -> bool {
        self.clock.is_some() || self.movetime_ms.is_some()
    }
}

#[derive(Clone, Debug)]
pub struct GameClocks<'a> {
    limits: [&'a Limits; 2],
    left_ms: [f64; 2],
    periods: [PeriodClock<'a>; 2],
}

impl<'a> GameClocks<'a> {
    /// The clocks of White and Black at the start: each has the base time of its control and one increment, as in
    /// fastchess.
    pub fn new(limits: [&'a Limits; 2]) -> GameClocks<'a> {
        let left_ms =
            limits.map(|limits| limits.clock.as_ref().map_or(0.0, |clock| clock.base_ms + clock.increment_ms));
        GameClocks { limits, left_ms, periods: limits.map(|limits| PeriodClock::new(limits.clock.as_slice())) }
    }

    /// The clocks in the midst of a game: the time left, and the moves that White and Black have made.
    pub fn after(limits: [&'a Limits; 2], left_ms: [f64; 2], moves: [usize; 2]) -> GameClocks<'a> {
        let mut clocks = GameClocks { left_ms, ..GameClocks::new(limits) };
        for (periods, moves) in clocks.periods.iter_mut().zip(moves) {
            (0..moves).for_each(|_| {
                periods.count_move();
            });
        }
        clocks
    }

    /// Time left to White and to Black, in milliseconds; 0 for a side without a clock, below 0 after a flag has fallen.
    pub fn left_ms(&self) -> [f64; 2] {
        self.left_ms
    }

    /// The time that a side may take for its move, in milliseconds; `None` where it may take any.
    pub fn most_ms(&self, side: Color) -> Option<f64> {
        let side = usize::from(side.is_black());
        let Limits { clock, movetime_ms, .. } = self.limits[side];
        movetime_ms.or(clock.map(|_| self.left_ms[side]))
    }

    /// The parameters of `go` for the next move of a side: its limits and the clocks.
    pub fn go(&self, side: Color) -> GoParams {
        let side = usize::from(side.is_black());
        let Limits { clock, movetime_ms, nodes, depth } = self.limits[side];
        let go = GoParams { movetime: *movetime_ms, nodes: *nodes, depth: *depth, ..GoParams::default() };
        if clock.is_none() {
            return go;
        }
        // A side without a clock of its own gets nothing about the other's.
        let time = |side: usize| self.limits[side].clock.as_ref().map(|_| self.left_ms[side]);
        let increment = |side: usize| self.limits[side].clock.as_ref().map(|clock| clock.increment_ms);
        GoParams {
            wtime: time(0),
            btime: time(1),
            winc: increment(0),
            binc: increment(1),
            movestogo: self.periods[side].moves_to_go(),
            ..go
        }
    }

    /// Takes the time of a move off a side's clock and adds the increment and the time of a new period. Returns false
    /// for a move that came more than `margin_ms` too late.
    pub fn take(&mut self, side: Color, used_ms: f64, margin_ms: f64) -> bool {
        let Some(most_ms) = self.most_ms(side) else { return true };
        let side = usize::from(side.is_black());
        let left_ms = most_ms - used_ms;
        if left_ms < -margin_ms {
            self.left_ms[side] = left_ms;
            return false;
        }
        // As in other runners nothing of the margin is owed.
        let has_clock = self.limits[side].clock.is_some();
        self.left_ms[side] = if has_clock { left_ms.max(0.0) + self.periods[side].count_move() } else { 0.0 };
        true
    }

    /// Sets a side's clock to -1 ms, as it gave no answer in time; how late it would have been is not known.
    pub(super) fn run_out(&mut self, side: Color) {
        self.left_ms[usize::from(side.is_black())] = -1.0;
    }
}

/// The winner of a game in which the clock of `loser` ran out; `None` for a draw, where the opponent has a bare king.
pub(crate) fn winner_on_time(game: &Game, loser: Color) -> Option<Color> {
    let winner = loser.other();
    let is_bare = game.current().board().by_color(winner).count() == 1;
    (!is_bare).then_some(winner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Limits {
        Limits { clock: Some(text.parse().unwrap()), ..Limits::default() }
    }

    #[test]
    fn clocks_go_on_as_if_all_moves_had_been_seen() {
        let (white, black) = (limits("2/60+1"), Limits::default());
        let mut seen = GameClocks::new([&white, &black]);
        for _ in 0..3 {
            assert!(seen.take(Color::White, 500.0, 0.0) && seen.take(Color::Black, 9e9, 0.0));
        }
        assert_eq!(seen.left_ms(), [61_000.0 + 3.0 * 500.0 + 60_000.0, 0.0]);
        let later = GameClocks::after([&white, &black], seen.left_ms(), [3, 3]);
        assert_eq!(later.go(Color::White), seen.go(Color::White));
        assert_eq!(later.go(Color::White).movestogo, Some(1));
        assert_eq!((later.most_ms(Color::White), later.most_ms(Color::Black)), (Some(122_500.0), None));
    }

    #[test]
    fn a_flag_falls_past_the_margin() {
        let both = limits("1+1");
        let mut clocks = GameClocks::new([&both, &both]);
        assert!(clocks.take(Color::White, 2_050.0, 50.0));
        assert_eq!(clocks.left_ms()[0], 1_000.0, "nothing is owed");
        assert!(!clocks.take(Color::Black, 2_051.0, 50.0));
        assert_eq!(clocks.left_ms()[1], -51.0);
    }
}
