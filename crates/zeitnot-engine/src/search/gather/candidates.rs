//! Allocates visits to the moves of a node by their scores (docs/lc0.md, 3.1).
//!
//! Each visit goes to the move of the highest score, which then falls: U is divided by the visits plus one. Dealing
//! many visits one by one in a wide node takes long: 28 % of the time of a search from the start position with `random`
//! and batches of 256. But the moves that get visits end at nearly the same score, and one division gives the visits
//! that a move gets until its score is down to a given level. So that level is looked for, and only the last few visits
//! are dealt one by one.

use crate::search::tree::MOST_MOVES;

/// Fewest visits that are dealt by level, and not one by one. With 8, kiwipete with `random` is 5 to 7 % slower, and
/// the start position no faster beyond the noise.
const BY_LEVEL: u32 = 24;

/// Most levels that are tried: two or three are enough in a tree of a million visits. In a larger one two levels that
/// f32 can distinguish may be many visits apart.
const TRIES: usize = 8;

/// Caution after a level that gave too many visits: the next try aims below the target by this multiple of the excess.
const WARY: f32 = 1.5;

/// Room for candidates: a power of two, so that an index is checked without a branch.
const ROOM: usize = 256;
const _: () = assert!(MOST_MOVES < ROOM);

/// The moves that may be selected, stored as one array for each field.
pub(crate) struct Candidates {
    len: usize,
    index: [u8; ROOM],
    /// Visits that each move has got in this allocation.
    given: [u32; ROOM],
    /// Visits of each move, those in flight included, plus one.
    divisor: [u32; ROOM],
    /// Q and the moves-left utility.
    utility: [f32; ROOM],
    /// The numerator of U.
    u_numerator: [f32; ROOM],
    score: [f32; ROOM],
    /// Visits that each move gets at the level being tried.
    at_level: [u32; ROOM],
}

impl Default for Candidates {
    fn default() -> Candidates {
        Candidates {
            len: 0,
            index: [0; _],
            given: [0; _],
            divisor: [0; _],
            utility: [0.0; _],
            u_numerator: [0.0; _],
            score: [0.0; _],
            at_level: [0; _],
        }
    }
}

impl Candidates {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a move with `n_started` visits started. There is room for all moves of a node.
    #[inline]
    pub(crate) fn push(&mut self, index: usize, utility: f32, u_numerator: f32, n_started: u32) {
        debug_assert!(self.len < MOST_MOVES);
        let at = self.len % ROOM;
        self.index[at] = index as u8;
        self.given[at] = 0;
        self.divisor[at] = n_started + 1;
        self.utility[at] = utility;
        self.u_numerator[at] = u_numerator;
        self.len = at + 1;
    }

    /// Sets the utility of a candidate that was added before its value was known.
    pub(crate) fn set_utility(&mut self, at: usize, utility: f32) {
        self.utility[at] = utility;
    }

    /// The numbers of the moves.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.index[..self.len].iter().map(|index| usize::from(*index))
    }

    /// Leaves only the moves for which `keep` holds.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            if keep(usize::from(self.index[at])) {
                self.index[kept] = self.index[at];
                self.divisor[kept] = self.divisor[at];
                self.utility[kept] = self.utility[at];
                self.u_numerator[kept] = self.u_numerator[at];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// The moves that got visits, and how many.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = (usize, u32)> {
        self.indices().zip(self.given.iter().copied()).filter(|given| given.1 > 0)
    }

    /// Deals `visits` out, each to the highest score, the first of equals. There must be a candidate.
    pub(crate) fn allocate(&mut self, visits: u32) {
        debug_assert!(self.len > 0);
        let fields = self.utility.iter().zip(&self.u_numerator).zip(&self.divisor).zip(&mut self.score);
        for (((utility, u_numerator), divisor), to) in fields.take(self.len) {
            *to = score(*utility, *u_numerator, *divisor);
        }
        let mut left = visits;
        if visits >= BY_LEVEL {
            left -= self.deal_to_level(visits);
        }
        while left > 0 {
            let (best, runner_up) = best_and_runner_up(&self.score[..self.len]);
            let visits = self.visits_before(best, runner_up).min(left);
            self.give(best, visits);
            left -= visits;
        }
    }

    fn give(&mut self, at: usize, visits: u32) {
        self.given[at] += visits;
        self.divisor[at] += visits;
        self.score[at] = score(self.utility[at], self.u_numerator[at], self.divisor[at]);
    }

    /// Visits that a candidate gets until its score has fallen to `runner_up`, one at least.
    fn visits_before(&self, at: usize, runner_up: f32) -> u32 {
        let gap = runner_up - self.utility[at];
        if gap < 0.0 {
            return u32::MAX;
        }
        // The divisor at which the scores are equal; the cast saturates.
        match ((self.u_numerator[at] / gap) as u32).saturating_sub(self.divisor[at]) {
            0 | 1 => 1,
            most => self.visits_above(at, runner_up, most, most).max(1),
        }
    }

    /// Number of visits, at most `most`, that a candidate gets while its score is above `level`. `estimate` comes from
    /// a division and can be too large or too small, since f32 lacks the last digits of a large divisor.
    fn visits_above(&self, at: usize, level: f32, estimate: u32, most: u32) -> u32 {
        let (mut above, mut below) = (0, most.saturating_add(1));
        let (mut next, mut step) = (estimate, 1u32);
        while below - above > 1 {
            let visits = next.clamp(above + 1, below - 1);
            let before_the_last = self.divisor[at].saturating_add(visits - 1);
            let is_above = score(self.utility[at], self.u_numerator[at], before_the_last) > level;
            *(if is_above { &mut above } else { &mut below }) = visits;
            // Near the estimate first, then by halves.
            let middle = above + (below - above) / 2;
            let nearby = if is_above { visits.saturating_add(step) } else { visits.saturating_sub(step) };
            next = if is_above { nearby.min(middle) } else { nearby.max(middle) };
            step = step.saturating_mul(2);
        }
        above
    }

    /// Finds a level and gives every candidate the visits that it gets until its score is down to the level: `visits`
    /// in all, or not many fewer. Returns their sum. Whatever the level, dealing one by one would begin with the same
    /// visits.
    fn deal_to_level(&mut self, visits: u32) -> u32 {
        let (best, _) = best_and_runner_up(&self.score[..self.len]);
        // The level lies between two bounds. At `high` nobody gets a visit, and at `low` there are too many: the best
        // candidate alone would fall as low by all of them. No score falls to its utility, the part that visits do not
        // change.
        let mut high = self.score[best];
        let alone = score(self.utility[best], self.u_numerator[best], self.divisor[best].saturating_add(visits));
        let mut low = self.utility[..self.len].iter().copied().fold(alone, f32::max);
        // The number that Newton's method aims at: less than `visits` after a level that counted too many.
        let mut wanted = visits as f32;
        let mut level = middle(low, high);
        for _ in 0..TRIES {
            if !(low < level && level < high) {
                break;
            }
            // The sum in fractions is cheap and smooth; whole visits are counted only where it is near enough.
            let estimate = self.estimate(level);
            // Rounding up adds half a visit to each on average, and one at most.
            let missing = wanted - estimate.visits - estimate.count / 2.0;
            if missing.abs() <= 1.0 {
                match self.count_at(level, visits) {
                    total if total <= visits => return self.give_what_was_counted(total),
                    total => wanted -= (total - visits) as f32 * WARY + 1.0,
                }
                low = level;
            } else if missing < 0.0 {
                low = level;
            } else {
                high = level;
            }
            level = estimate.newton(level, wanted - estimate.count / 2.0);
            // A step beyond the bounds is replaced by halving them.
            if !(low < level && level < high) {
                level = middle(low, high);
            }
        }
        // No level was found in time: the last one from which visits are missing is safe, and the rest is dealt one by
        // one.
        match self.count_at(high, visits) {
            total if total <= visits => self.give_what_was_counted(total),
            _ => 0,
        }
    }

    /// Counts the visits that each candidate gets until its score has fallen to `level`, at most `most`. Returns the
    /// sum.
    fn count_at(&mut self, level: f32, most: u32) -> u32 {
        let mut total = 0u32;
        for at in 0..self.len {
            self.at_level[at] = 0;
            if self.score[at] > level {
                let divisor = self.u_numerator[at] / (level - self.utility[at]).max(0.0);
                let whole = divisor as u32;
                let rounded_up = whole.saturating_add(u32::from(divisor > whole as f32));
                let estimate = rounded_up.saturating_sub(self.divisor[at]);
                self.at_level[at] = self.visits_above(at, level, estimate, most);
            }
            total = total.saturating_add(self.at_level[at]);
        }
        total
    }

    fn give_what_was_counted(&mut self, total: u32) -> u32 {
        for at in 0..self.len {
            if self.at_level[at] > 0 {
                self.give(at, self.at_level[at]);
            }
        }
        total
    }

    /// Estimates the visits that all candidates together need until each one's score has fallen to `level`; a
    /// candidate's part may be a fraction.
    fn estimate(&self, level: f32) -> Estimate {
        let (utility, _) = self.utility.as_chunks::<LANES>();
        let (u_numerator, _) = self.u_numerator.as_chunks::<LANES>();
        let (divisor, _) = self.divisor.as_chunks::<LANES>();
        let mut sums = [[0.0f32; LANES]; 4];
        for (chunk, ((utility, u_numerator), divisor)) in utility.iter().zip(u_numerator).zip(divisor).enumerate() {
            let here = self.len.saturating_sub(chunk * LANES);
            if here == 0 {
                break;
            }
            for lane in 0..LANES {
                let per_gap = 1.0 / (level - utility[lane]);
                let at_level = u_numerator[lane] * per_gap;
                let visits = at_level - divisor[lane] as f32;
                let gets = visits > 0.0 && lane < here;
                sums[0][lane] += if gets { visits } else { 0.0 };
                sums[1][lane] += if gets { at_level } else { 0.0 };
                sums[2][lane] += if gets { at_level * per_gap } else { 0.0 };
                sums[3][lane] += if gets { 1.0 } else { 0.0 };
            }
        }
        let [visits, divisor, slope, count] = sums.map(|sum| sum.iter().sum());
        Estimate { visits, divisor, slope, count }
    }
}

/// An estimate of the visits that candidates get until their scores have fallen to a level.
struct Estimate {
    visits: f32,
    /// Sum of the divisors, at that level, of the candidates that get visits.
    divisor: f32,
    /// Decrease of the sum of the divisors with the level.
    slope: f32,
    /// Number of candidates that get visits.
    count: f32,
}

impl Estimate {
    /// A better level for `wanted` visits: a step of Newton's method on the reciprocal of the sum of divisors, which is
    /// linear in the level where all utilities are equal.
    fn newton(&self, level: f32, wanted: f32) -> f32 {
        let divisor = self.divisor - self.visits + wanted;
        level + self.divisor * (self.visits - wanted) / (divisor * self.slope)
    }
}

fn middle(low: f32, high: f32) -> f32 {
    low + (high - low) / 2.0
}

#[inline]
fn score(utility: f32, u_numerator: f32, divisor: u32) -> f32 {
    utility + u_numerator / divisor as f32
}

/// Numbers that a loop works on together. The compiler makes vector code of it.
const LANES: usize = 8;

/// The index of the highest score, the first of equals, and the score of the runner-up.
fn best_and_runner_up(scores: &[f32]) -> (usize, f32) {
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let (mut highest, mut second) = ([f32::NEG_INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let mut take = |lane: usize, score: f32| {
        second[lane] = greater(lesser(score, highest[lane]), second[lane]);
        highest[lane] = greater(score, highest[lane]);
    };
    for chunk in chunks {
        for (lane, score) in chunk.iter().enumerate() {
            take(lane, *score);
        }
    }
    for (lane, score) in rest.iter().enumerate() {
        take(lane, *score);
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            let (one, other) = (highest[lane], highest[lane + width]);
            second[lane] = greater(greater(second[lane], second[lane + width]), lesser(one, other));
            highest[lane] = greater(one, other);
        }
    }
    (scores.iter().position(|score| *score == highest[0]).unwrap_or(0), second[0])
}

/// The greater of two numbers, `b` where either is NaN; [`f32::max`] skips a NaN, in three instructions more.
#[inline]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline]
fn lesser(a: f32, b: f32) -> f32 {
    if a > b { b } else { a }
}

#[cfg(test)]
#[path = "candidates_tests.rs"]
mod tests;
