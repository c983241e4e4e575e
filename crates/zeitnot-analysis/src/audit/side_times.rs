//! Follows the clock of one side through a game by its comments, under one convention.

use super::MoveTimes;
use super::clocked_move::{ClockedMove, Doubt};
use super::convention::Convention;
use zeitnot_engine::chess::Color;
use zeitnot_games::period_clock::PeriodClock;

/// The step of clocks that have hours and minutes only, in milliseconds.
const MINUTE_MS: f64 = 60_000.0;
/// Tolerance for errors of the arithmetic, in milliseconds.
const ARITHMETIC_MS: f64 = 1.0;

/// One side of a game, with what is known of its clock before a convention is chosen.
pub(super) struct Side<'a> {
    pub color: Color,
    /// The plies at which this side moved.
    pub plies: &'a [usize],
    /// Times in the comments of every ply, of both sides.
    pub said: &'a [MoveTimes],
    /// Whether this side's first move was not on the clock.
    pub begins_free: bool,
    /// The ply of the move by which this side lost on time, if the file has that move.
    pub late_ply: Option<usize>,
    /// The step to which clocks are rounded in the comments, in milliseconds.
    pub clock_step_ms: f64,
    /// The increment that the clocks show without a time control, in milliseconds.
    pub unnamed_ms: f64,
}

/// The times of one side under a convention.
#[derive(Clone, Debug, Default)]
pub(super) struct SideTimes {
    pub moves: Vec<ClockedMove>,
    pub start_ms: Option<f64>,
    pub end_ms: Option<f64>,
    /// Time that the side would have for its next move.
    pub next_ms: Option<f64>,
    /// The increment of the next move, in milliseconds.
    pub next_increment_ms: f64,
    /// Moves until the next period, the next move among them.
    pub next_moves_to_go: Option<u32>,
    /// Moves that contradict the convention.
    pub doubts: Vec<Doubt>,
    /// Number of weaker signs against the convention: a clock that began at another time, that received a period's time
    /// late, or that contradicts a time given.
    pub misfits: usize,
    /// Times given, in milliseconds, summed over moves that also have a time by the clocks, summed in `by_clocks_ms`.
    pub told_ms: f64,
    pub by_clocks_ms: f64,
}

/// The step to which a time is rounded: the largest of 1,000, 100, 10 and 1 ms that divides the time.
pub(super) fn step_ms(ms: f64) -> f64 {
    [1_000.0, 100.0, 10.0].into_iter().find(|step| ms > 0.0 && ms % step == 0.0).unwrap_or(1.0)
}

/// Works out the times of a side's moves. A missing clock follows from the times used and the time control. A missing
/// time follows from two clocks and the time added between them. Moves without a clock and without a time are left out.
pub(super) fn side_times(side: &Side, convention: &Convention) -> SideTimes {
    let mut follower = Follower::new(side, convention);
    side.plies.iter().enumerate().for_each(|(index, ply)| follower.follow(index, *ply));
    // The clock after a contradictory move is not reliable.
    let is_left_out = |doubt: &Doubt| doubt.is_left_out && Some(&doubt.ply) == side.plies.last();
    let is_doubtful = follower.times.doubts.last().is_some_and(is_left_out);
    let end_ms = follower.course.clock_ms.filter(|_| !is_doubtful);
    let is_per_move = convention.control.is_some_and(|control| control.is_per_move);
    SideTimes {
        end_ms,
        next_ms: if is_per_move { follower.base_ms } else { end_ms },
        next_increment_ms: follower.control.increment_ms() + side.unnamed_ms,
        next_moves_to_go: follower.control.moves_to_go(),
        ..follower.times
    }
}

/// The state of a side's clock between two of its moves.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// The clock before the side's next move, in milliseconds; `None` where it is unknown.
    clock_ms: Option<f64>,
    /// Whether a comment gave the clock.
    is_told: bool,
    /// How far rounding may put the clock off, in milliseconds.
    slack_ms: f64,
    /// The time of a new period that is due but that the clocks did not show yet, in milliseconds.
    pending_ms: f64,
}

/// The times in the comment of one move, read by the convention, in milliseconds.
struct Told {
    /// Time used; `None` where none is given, or where it is not trusted beside a clock.
    used_ms: Option<f64>,
    /// The clock after the move, with the increment added where the comments leave it out.
    clock_ms: Option<f64>,
    /// Whether the clock is given as 0.
    ran_out: bool,
    /// Time that the clock gains after the move: the increment, and the time of a period that begins.
    added_ms: f64,
    /// The part of `added_ms` that a new period brings.
    period_ms: f64,
}

struct Follower<'a> {
    side: &'a Side<'a>,
    convention: &'a Convention<'a>,
    control: PeriodClock<'a>,
    /// The clock at the start by the time control, in milliseconds.
    base_ms: Option<f64>,
    /// The step to which clocks are rounded in the comments, in milliseconds.
    step_ms: f64,
    course: Course,
    /// Whether all moves so far were from a book or without a time.
    is_opening: bool,
    /// Whether a move of the opening was not marked as a book move, and so may have been on the clock.
    is_unsure: bool,
    times: SideTimes,
}

impl<'a> Follower<'a> {
    fn new(side: &'a Side<'a>, convention: &'a Convention<'a>) -> Follower<'a> {
        let periods = convention.control.map_or(&[][..], |control| &control.periods);
        let control = PeriodClock::new(periods);
        let first_ms = if convention.begins_with_increment { control.increment_ms() } else { 0.0 };
        let base_ms = control.base_ms().map(|base_ms| base_ms + first_ms);
        Follower {
            side,
            convention,
            control,
            base_ms,
            step_ms: if convention.in_hours { MINUTE_MS } else { side.clock_step_ms },
            course: Course { clock_ms: base_ms, ..Course::default() },
            is_opening: true,
            is_unsure: false,
            times: SideTimes { start_ms: base_ms, ..SideTimes::default() },
        }
    }

    /// Follows the side's move with this index, which is at ply `ply`.
    fn follow(&mut self, index: usize, ply: usize) {
        let said = self.side.said[ply];
        let clock_ms = said.clock_in_hours_ms.filter(|_| self.convention.in_hours).or(said.clock_ms);
        let is_untold = clock_ms.is_none() && said.used_ms.is_none();
        self.is_opening &= said.is_book || is_untold;
        self.is_unsure |= self.is_opening && !said.is_book;
        if self.is_opening && !self.convention.counts_opening {
            return;
        }
        let mv = ClockedMove {
            ply,
            color: self.side.color,
            clock_ms: None,
            used_ms: 0.0,
            increment_ms: self.control.increment_ms() + self.side.unnamed_ms,
            moves_to_go: self.control.moves_to_go(),
            moves_left: (self.side.plies.len() - index) as u32,
            nodes: said.nodes,
            budget_ms: said.budget_ms,
            latency_ms: said.latency_ms,
            over_ms: said.over_ms,
            is_overrun: false,
        };
        let added_ms = self.control.count_move() + self.side.unnamed_ms;
        match () {
            // This move takes no time and adds no increment.
            () if index == 0 && self.side.begins_free => {
                let clock_ms = clock_ms.or(self.course.clock_ms);
                self.course = Course { clock_ms, is_told: true, ..self.course };
                self.times.start_ms = clock_ms;
            }
            // The clock stands, and runners give no increment for a move that they play themselves.
            () if self.is_opening || said.is_book => self.course.is_told = false,
            () if is_untold => self.course = Course::default(),
            () if self.convention.control.is_some_and(|control| control.is_per_move) => {
                self.move_for_itself(mv, said.used_ms, clock_ms);
            }
            () => {
                // A clock that ended at 0 may have run out before, and then no time is added to it.
                let ran_out = clock_ms == Some(0.0);
                let is_over = ran_out && self.side.late_ply == Some(ply);
                let missing_ms = if self.convention.holds_increment || is_over { 0.0 } else { mv.increment_ms };
                let told = Told {
                    used_ms: said.used_ms.filter(|_| self.convention.trusts_times || clock_ms.is_none()),
                    clock_ms: clock_ms.map(|ms| ms + missing_ms),
                    ran_out,
                    added_ms: if is_over { 0.0 } else { added_ms },
                    period_ms: if is_over { 0.0 } else { added_ms - mv.increment_ms },
                };
                self.move_on_the_clock(mv, &told, index);
            }
        }
    }

    /// Adds a move of a time control that gives every move its own time; what is left of it is lost.
    fn move_for_itself(&mut self, mv: ClockedMove, used_ms: Option<f64>, clock_ms: Option<f64>) {
        let Some(base_ms) = self.base_ms else { return };
        let told_ms = used_ms;
        // The clock that a runner reports is the one of the next move.
        let Some(used_ms) = used_ms.or_else(|| Some(base_ms - clock_ms?)) else { return };
        self.course = Course { clock_ms: Some((base_ms - used_ms).max(0.0)), ..Course::default() };
        let mv = ClockedMove { clock_ms: self.base_ms, increment_ms: 0.0, ..mv };
        // A time that is told is as exact as it is written, and the tag's is exact.
        self.add(mv, used_ms, [told_ms.map_or(self.step_ms, step_ms); 2], told_ms.is_some());
    }

    fn move_on_the_clock(&mut self, mv: ClockedMove, told: &Told, index: usize) {
        let course = self.course;
        let is_first = self.times.moves.is_empty();
        // The clock before the move, by comments alone.
        let by_comments_ms = course.clock_ms.filter(|_| course.is_told).or_else(|| {
            let before_ms = told.clock_ms.filter(|_| !told.ran_out)? + told.used_ms? - told.added_ms;
            (before_ms >= 0.0).then_some(before_ms)
        });
        if let Some(clock_ms) = by_comments_ms.filter(|ms| is_first && (index == 0 || Some(*ms) > self.base_ms)) {
            // Match runners may give the first increment before the game.
            let off_ms = self.base_ms.map_or(0.0, |base_ms| (clock_ms - base_ms).abs());
            self.times.misfits += usize::from(index == 0 && off_ms > self.step_ms + ARITHMETIC_MS);
            self.times.start_ms = Some(clock_ms);
        }
        let is_start_unsure = is_first && self.is_unsure && told.used_ms.is_none();
        let before_ms = by_comments_ms.or(course.clock_ms.filter(|_| !is_start_unsure));
        let tolerance_ms = course.slack_ms + self.step_ms / 2.0 + ARITHMETIC_MS;
        let (after_ms, pending_ms) = course.after(told, before_ms, tolerance_ms);
        self.times.misfits += usize::from(after_ms.is_some() && pending_ms > 0.0);
        let by_clocks_ms = before_ms.zip(after_ms).map(|(before_ms, after_ms)| before_ms + told.added_ms - after_ms);
        if let (Some(used_ms), Some(by_clocks_ms), Some(_)) = (told.used_ms, by_clocks_ms, self.base_ms) {
            self.times.told_ms += used_ms;
            self.times.by_clocks_ms += by_clocks_ms;
            let off_ms = (used_ms - by_clocks_ms).abs();
            self.times.misfits += usize::from(off_ms > tolerance_ms + step_ms(used_ms));
        }
        self.course = match (after_ms, before_ms, told.used_ms) {
            (Some(_), ..) => Course { clock_ms: after_ms, is_told: true, slack_ms: self.step_ms / 2.0, pending_ms },
            // A runner forgives a little, and goes on from 0.
            (None, Some(before_ms), Some(used_ms)) => Course {
                clock_ms: Some((before_ms - used_ms).max(0.0) + told.added_ms),
                slack_ms: course.slack_ms + step_ms(used_ms) / 2.0,
                ..Course::default()
            },
            _ => Course::default(),
        };
        if let Some(used_ms) = told.used_ms.or(by_clocks_ms) {
            let slacks_ms = [course.slack_ms + ARITHMETIC_MS, tolerance_ms];
            let is_fact = told.used_ms.is_some() && (course.is_told || is_first);
            self.add(ClockedMove { clock_ms: before_ms, ..mv }, used_ms, slacks_ms, is_fact);
        }
    }

    /// Adds a move, unless its times contradict each other. `slacks_ms` are the tolerances for a time used above the
    /// clock and for one below 0. `is_fact` says that the clock and the time used were both given.
    fn add(&mut self, mv: ClockedMove, used_ms: f64, slacks_ms: [f64; 2], is_fact: bool) {
        let is_late = self.side.late_ply == Some(mv.ply);
        let slack_ms = if is_late { 0.0 } else { slacks_ms[0] };
        let is_overrun = mv.clock_ms.is_some_and(|clock_ms| used_ms > clock_ms + slack_ms);
        let is_above = is_overrun && !is_late;
        let is_below = used_ms < -slacks_ms[1];
        let is_left_out = is_below || is_above && !is_fact;
        if let Some(clock_ms) = mv.clock_ms.filter(|_| is_above || is_below) {
            self.times.doubts.push(Doubt { ply: mv.ply, clock_ms, used_ms, is_left_out });
        }
        if is_late && mv.clock_ms.is_some_and(|clock_ms| clock_ms < used_ms) {
            self.course.clock_ms = Some(0.0);
        }
        if !is_left_out {
            self.times.moves.push(ClockedMove { used_ms: used_ms.max(0.0), is_overrun, ..mv });
        }
    }
}

impl Course {
    /// The clock after a move, and the time of a new period that the comment's clock does not show yet: some clocks
    /// receive it by hand, or at 0. The clock is `None` where no comment gives it. `tolerance_ms` allows for rounding.
    fn after(&self, told: &Told, before_ms: Option<f64>, tolerance_ms: f64) -> (Option<f64>, f64) {
        let pending_ms = self.pending_ms + told.period_ms;
        let Some(shown_ms) = told.clock_ms else { return (None, pending_ms) };
        let Some(before_ms) = before_ms.filter(|_| pending_ms > 0.0) else { return (Some(shown_ms), 0.0) };
        let by_clocks_ms = before_ms + told.added_ms - shown_ms;
        let is_pending = match told.used_ms {
            Some(used_ms) => (by_clocks_ms - pending_ms - used_ms).abs() < (by_clocks_ms - used_ms).abs(),
            None => by_clocks_ms - pending_ms >= -tolerance_ms,
        };
        if is_pending { (Some(shown_ms + pending_ms), pending_ms) } else { (Some(shown_ms), 0.0) }
    }
}
