//! Puts the clock and the time of every move of a game together, from whatever its comments say.

use super::clock_comment::{MoveTimes, move_times};
use super::time_control_tag::periods;
use crate::chess::Color;
use crate::lab::period_clock::PeriodClock;
use crate::lab::pgn_reader::PgnGame;

/// A move on a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedMove {
    /// Plies from the game's start position.
    pub ply: usize,
    /// Who played it.
    pub color: Color,
    /// The clock before it, in milliseconds.
    pub clock_ms: f64,
    /// Time used, in milliseconds.
    pub used_ms: f64,
    /// The increment that it adds, in milliseconds.
    pub increment_ms: f64,
    /// Moves until the next period of the time control, this one among them.
    pub moves_to_go: Option<u32>,
    /// Moves of this side that followed, this one among them.
    pub moves_left: u32,
    /// Nodes of its search, where they are told.
    pub nodes: Option<u64>,
    /// The budget that its time manager granted, in milliseconds, where it is told.
    pub budget_ms: Option<f64>,
}

/// The times of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameTimes {
    /// The moves whose times are known, in order; those from a book are left out.
    pub moves: Vec<TimedMove>,
    /// The clock of White and of Black at the start, in milliseconds, where the time control is told.
    pub start_ms: [Option<f64>; 2],
    /// The clock of White and of Black after their last move.
    pub end_ms: [Option<f64>; 2],
}

/// The times of the moves of a game. What a comment does not say follows from the time control: the clock from the times used,
/// or the time used from two clocks, between which stands the increment. Moves of which neither is known are left out.
pub fn game_times(game: &PgnGame) -> GameTimes {
    let mut times = GameTimes::default();
    let plies = game.game.moves().len();
    for color in [Color::White, Color::Black] {
        let side = usize::from(color == Color::Black);
        let own_tag = game.tag(["WhiteTimeControl", "BlackTimeControl"][side]);
        let tag = if own_tag.is_empty() { game.tag("TimeControl") } else { own_tag };
        let periods = periods(tag).unwrap_or_default();
        let mut control = PeriodClock::new(&periods);
        let base_ms = control.base_ms();
        let mut clock_ms = base_ms;
        times.start_ms[side] = base_ms;
        // The clock after the move before, by its comment.
        let mut said_ms = None;
        let own: Vec<usize> = (0..plies).filter(|ply| game.game.positions()[*ply].turn() == color).collect();
        for (index, &ply) in own.iter().enumerate() {
            let said = move_times(game.comments_of(ply));
            let (increment_ms, moves_to_go) = (control.increment_ms(), control.moves_to_go());
            let added_ms = control.count_move();
            if said.is_book {
                // Runners give no increment for a move that they play themselves.
                said_ms = None;
                continue;
            }
            let told_ms = said_ms.or_else(|| told_before(&said, added_ms));
            let is_first = times.moves.last().is_none_or(|mv| mv.color != color);
            if let Some(told_ms) = told_ms.filter(|told_ms| is_first && (index == 0 || Some(*told_ms) > base_ms)) {
                // Match runners may give the first increment before the game.
                times.start_ms[side] = Some(told_ms);
            }
            let (before_ms, used_ms) = before_and_used(&said, told_ms, clock_ms, added_ms);
            said_ms = said.clock_ms;
            clock_ms = said.clock_ms.or_else(|| Some(before_ms? - used_ms? + added_ms));
            let (Some(before_ms), Some(used_ms)) = (before_ms, used_ms) else { continue };
            times.moves.push(TimedMove {
                ply,
                color,
                clock_ms: before_ms,
                used_ms,
                increment_ms,
                moves_to_go,
                moves_left: (own.len() - index) as u32,
                nodes: said.nodes,
                budget_ms: said.budget_ms,
            });
        }
        times.end_ms[side] = clock_ms;
    }
    times.moves.sort_by_key(|mv| mv.ply);
    times
}

/// The clock before a move where its comment tells it: the clock after it and the time used. `added_ms`: what the move adds. A
/// clock that ended at 0 may have run out before.
fn told_before(said: &MoveTimes, added_ms: f64) -> Option<f64> {
    let told_ms = said.clock_ms.filter(|ms| *ms > 0.0)? + said.used_ms? - added_ms;
    (told_ms >= 0.0).then_some(told_ms)
}

/// The clock before a move and the time it used. `told_ms`: the clock by comments alone; `clock_ms`: as it stood after the
/// move before; `added_ms`: what the move adds.
fn before_and_used(
    said: &MoveTimes,
    told_ms: Option<f64>,
    clock_ms: Option<f64>,
    added_ms: f64,
) -> (Option<f64>, Option<f64>) {
    let by_clocks = || {
        let used_ms = clock_ms? + added_ms - said.clock_ms?;
        // A clock that went up says nothing.
        (used_ms >= 0.0).then_some(used_ms)
    };
    let used_ms = said.used_ms.or_else(by_clocks);
    let before_ms = told_ms.or(clock_ms).or_else(|| Some(said.clock_ms? + used_ms? - added_ms));
    (before_ms.filter(|ms| *ms >= 0.0), used_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::pgn_reader::read_games;

    fn times(text: &str) -> GameTimes {
        game_times(&read_games(text.as_bytes()).unwrap()[0])
    }

    fn numbers(times: &GameTimes) -> Vec<(f64, f64)> {
        times.moves.iter().map(|mv| (mv.clock_ms, mv.used_ms)).collect()
    }

    #[test]
    fn a_clock_follows_from_the_times_used() {
        let times = times("[TimeControl \"10+1\"]\n\n1. e4 {+0.1/5 2s} e5 {0.0/5 3s} 2. Nf3 {0.0/4 1s} *\n");
        assert_eq!(numbers(&times), [(10_000.0, 2_000.0), (10_000.0, 3_000.0), (9_000.0, 1_000.0)]);
        assert_eq!(times.end_ms, [Some(9_000.0), Some(8_000.0)]);
        assert_eq!((times.moves[0].moves_left, times.moves[2].moves_left), (2, 1));
    }

    #[test]
    fn a_clock_and_a_time_used_tell_the_clock_before() {
        // A match of this program, which begins with the increment.
        let move_text = "1. e4 {[%clk 0:00:01.700] [%emt 0:00:01.300]} e5 {[%clk 0:00:02] [%emt 0:00:01]}";
        let own = times(&format!("[TimeControl \"1+1\"]\n\n{move_text} *\n"));
        assert_eq!(numbers(&own), [(2_000.0, 1_300.0), (2_000.0, 1_000.0)]);
        assert_eq!((own.start_ms, own.end_ms), ([Some(2_000.0); 2], [Some(1_700.0), Some(2_000.0)]));
        // Behind an opening, and behind moves on the clock that nobody noted.
        let opened = times(
            "[TimeControl \"1+1\"]\n\n1. e4 e5 2. Nf3 {[%clk 0:00:02.5] [%emt 0:00:00.5]} Nc6 {[%clk 0:00:01.1] [%emt 0:00:01.2]} *\n",
        );
        assert_eq!((numbers(&opened)[0], opened.start_ms), ((2_000.0, 500.0), [Some(2_000.0), Some(1_300.0)]));
        let late = times("[TimeControl \"60\"]\n\n1. e4 e5 2. Nf3 {[%clk 0:00:20] [%emt 0:00:05]} *\n");
        assert_eq!((numbers(&late)[0], late.start_ms[0]), ((25_000.0, 5_000.0), Some(60_000.0)));
        // The comment before knows better where runners count the moves of a period.
        let text = "1. e4 {[%clk 0:00:09] [%emt 0:00:01]} e5 2. d4 {[%clk 0:00:08] [%emt 0:00:01]} d5 3. c4 {[%clk 0:00:17] [%emt 0:00:01]} *";
        let period = times(&format!("[TimeControl \"2/10\"]\n\n{text}\n"));
        assert_eq!(numbers(&period), [(10_000.0, 1_000.0), (9_000.0, 1_000.0), (8_000.0, 1_000.0)]);
        // A clock that ran out says only that.
        let lost = times("[TimeControl \"10+1\"]\n\n1. e4 {[%clk 0:00:00] [%emt 0:00:12]} *\n");
        assert_eq!(numbers(&lost), [(10_000.0, 12_000.0)]);
    }

    #[test]
    fn times_used_follow_from_clocks_and_the_increment() {
        let text = "[TimeControl \"60+2\"]\n\n1. e4 {[%clk 0:00:55]} e5 {[%clk 0:01:00]} 2. Nf3 {[%clk 0:00:57]} *\n";
        assert_eq!(numbers(&times(text)), [(60_000.0, 7_000.0), (60_000.0, 2_000.0), (55_000.0, 0.0)]);
        // Without a time control the first move of each side tells its clock only.
        let text = "1. e4 {[%clk 0:00:55]} e5 2. Nf3 {[%clk 0:00:50]} *\n";
        assert_eq!(numbers(&times(text)), [(55_000.0, 5_000.0)]);
    }

    #[test]
    fn book_moves_and_periods() {
        let text = "[TimeControl \"2/60\"]\n\n1. e4 {book} e5 2. Nf3 {+0.1/3 50s} Nc6 3. Bb5 {+0.1/3 40s} *\n";
        let times = times(text);
        assert_eq!(numbers(&times), [(60_000.0, 50_000.0), (70_000.0, 40_000.0)]);
        assert_eq!(times.moves[0].moves_to_go, Some(1));
    }

    #[test]
    fn clocks_that_go_up_are_passed_over() {
        let text =
            "[TimeControl \"60\"]\n\n1. e4 {[%clk 0:00:50]} e5 2. Nf3 {[%clk 0:09:00]} d6 3. d4 {[%clk 0:08:59]} *\n";
        assert_eq!(numbers(&times(text)), [(60_000.0, 10_000.0), (540_000.0, 1_000.0)]);
    }
}
