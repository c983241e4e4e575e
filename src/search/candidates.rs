//! The moves of a node among which visits are shared out (lc0.md C.2).
//!
//! A visit goes to the move of the highest score, which falls with each: U is divided by the visits plus one. Dealing many
//! out to a wide node one after the other was half of what going down the tree cost. Yet all moves end at nearly the same
//! score, and what each has got until its score is down to a given level is one division. So that level is looked
//! for, and only the last few visits are dealt one after the other.

/// As many visits at least are dealt out by level; below, looking for one costs more than it saves.
const BY_LEVEL: u32 = 24;

/// Levels that are tried at most.
const TRIES: usize = 8;

/// Numbers that are worked on together. The compiler makes vector code of it.
const LANES: usize = 8;

/// A node counts its moves in a byte.
const ROOM: usize = 256;

/// Moves that may be chosen, field by field: they are looked through for each share.
pub(super) struct Candidates {
    len: usize,
    index: [u8; ROOM],
    /// Visits they got this time.
    given: [u32; ROOM],
    /// Their visits, those on their way among them, plus one.
    divisor: [u32; ROOM],
    /// Q and the moves-left utility.
    utility: [f32; ROOM],
    /// What the divisor divides.
    u_numerator: [f32; ROOM],
    score: [f32; ROOM],
    /// What they get at the level that is tried.
    above: [u32; ROOM],
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
            above: [0; _],
        }
    }
}

impl Candidates {
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a move with so many visits started. There is room for all moves of a node.
    #[inline]
    pub fn push(&mut self, index: usize, utility: f32, u_numerator: f32, n_started: u32) {
        let at = self.len % ROOM;
        self.index[at] = index as u8;
        self.given[at] = 0;
        self.divisor[at] = n_started + 1;
        self.utility[at] = utility;
        self.u_numerator[at] = u_numerator;
        self.len = at + 1;
    }

    /// Values a candidate that was added without knowing its value.
    pub fn set_utility(&mut self, at: usize, utility: f32) {
        self.utility[at] = utility;
    }

    /// The numbers of the moves.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.index[..self.len].iter().map(|index| usize::from(*index))
    }

    /// Leaves only the moves for which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
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
    pub fn shares(&self) -> impl Iterator<Item = (usize, u32)> {
        self.indices().zip(self.given.iter().copied()).filter(|share| share.1 > 0)
    }

    /// Deals `visits` out, each to the highest score, the first of equals.
    pub fn deal(&mut self, visits: u32) {
        let fields = self.utility.iter().zip(&self.u_numerator).zip(&self.divisor).zip(&mut self.score);
        for (((utility, u_numerator), divisor), to) in fields.take(self.len) {
            *to = score(*utility, *u_numerator, *divisor);
        }
        let mut left = visits;
        if visits >= BY_LEVEL {
            left -= self.deal_to_level(visits);
        }
        while left > 0 {
            let (best, rival) = best_and_rival(&self.score[..self.len]);
            let visits = self.visits_before(best, rival).min(left);
            self.give(best, visits);
            left -= visits;
        }
    }

    fn give(&mut self, at: usize, visits: u32) {
        self.given[at] += visits;
        self.divisor[at] += visits;
        self.score[at] = score(self.utility[at], self.u_numerator[at], self.divisor[at]);
    }

    /// Visits that a candidate certainly gets before `rival` is as good, one at least.
    fn visits_before(&self, at: usize, rival: f32) -> u32 {
        let gap = rival - self.utility[at];
        if gap <= 0.0 {
            return u32::MAX;
        }
        // The divisor at which the scores are equal; the cast saturates.
        ((self.u_numerator[at] / gap) as u32).saturating_sub(self.divisor[at]).max(1)
    }

    /// Gives every candidate what it gets before its score is down to a level, one at which that comes to `visits` or a few
    /// less. Returns how many were given.
    fn deal_to_level(&mut self, visits: u32) -> u32 {
        let (best, _) = best_and_rival(&self.score[..self.len]);
        let mut high = self.score[best];
        // Alone, the best candidate would fall that low; and the utility of none is ever reached.
        let alone = score(self.utility[best], self.u_numerator[best], self.divisor[best] + visits);
        let mut low = self.utility[..self.len].iter().copied().fold(alone, f32::max);
        if low.is_nan() || low >= high {
            return 0;
        }
        let mut level = low + (high - low) / 2.0;
        let mut wanted = visits as f32;
        for _ in 0..TRIES {
            let at_level = self.above(level);
            // Rounded up, each of them gets half a visit more.
            let missing = wanted - at_level.more - at_level.count / 2.0;
            let accepted = missing.abs() <= 1.0;
            if accepted {
                let mut total = 0u32;
                for at in 0..self.len {
                    self.above[at] = self.visits_above(at, level, visits);
                    total = total.saturating_add(self.above[at]);
                }
                if total <= visits {
                    for at in 0..self.len {
                        if self.above[at] > 0 {
                            self.give(at, self.above[at]);
                        }
                    }
                    return total;
                }
                wanted -= (total - visits) as f32;
            }
            if missing < 0.0 || accepted {
                low = level;
            } else {
                high = level;
            }
            level = at_level.newton(level, wanted - at_level.count / 2.0);
            if !(level > low && level < high) {
                level = low + (high - low) / 2.0;
            }
        }
        0
    }

    /// Visits that a candidate gets before its score is down to `level`, `most` at most.
    fn visits_above(&self, at: usize, level: f32, most: u32) -> u32 {
        if self.score[at] <= level {
            return 0;
        }
        let divisor = self.u_numerator[at] / (level - self.utility[at]).max(0.0);
        let whole = divisor as u32;
        let visits = whole.saturating_add(u32::from(divisor > whole as f32)).saturating_sub(self.divisor[at]).min(most);
        // Rounding: the last of them must still be above.
        let above = |visits: u32| score(self.utility[at], self.u_numerator[at], self.divisor[at] + visits - 1) > level;
        (0..visits).map(|less| visits - less).find(|visits| above(*visits)).unwrap_or(0)
    }

    /// What all candidates get before their scores are down to `level`, in parts of visits.
    fn above(&self, level: f32) -> Above {
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
                let more = at_level - divisor[lane] as f32;
                let gets = more > 0.0 && lane < here;
                sums[0][lane] += if gets { more } else { 0.0 };
                sums[1][lane] += if gets { at_level } else { 0.0 };
                sums[2][lane] += if gets { at_level * per_gap } else { 0.0 };
                sums[3][lane] += if gets { 1.0 } else { 0.0 };
            }
        }
        let [more, divisor, slope, count] = sums.map(|sum| sum.iter().sum());
        Above { more, divisor, slope, count }
    }
}

/// What candidates get before their scores are down to a level.
struct Above {
    /// Visits.
    more: f32,
    /// The sum of the divisors they would then have.
    divisor: f32,
    /// How fast that sum falls with the level.
    slope: f32,
    /// How many get any.
    count: f32,
}

impl Above {
    /// A better level for `wanted` visits: a step of Newton's method for one over the divisors, which is a straight line
    /// where all utilities are equal.
    fn newton(&self, level: f32, wanted: f32) -> f32 {
        let divisor = self.divisor - self.more + wanted;
        level + self.divisor * (self.more - wanted) / (divisor * self.slope)
    }
}

#[inline]
fn score(utility: f32, u_numerator: f32, divisor: u32) -> f32 {
    utility + u_numerator / divisor as f32
}

/// The place of the highest score, the first of equals, and the next highest of the others. In lanes, of which the
/// compiler makes vector code: this is most of what going down a wide tree costs.
fn best_and_rival(scores: &[f32]) -> (usize, f32) {
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

/// The greater of two numbers; [`f32::max`] takes care of NaN, which costs three instructions more.
#[inline]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline]
fn lesser(a: f32, b: f32) -> f32 {
    if a > b { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moves() -> impl Strategy<Value = Vec<(f32, f32, u32)>> {
        // Utility, U's numerator, visits started; also moves without a prior, and many alike.
        let one = (-1.0f32..1.0, prop_oneof![4 => 0.0f32..30.0, 1 => Just(0.0)], 0u32..2000);
        let alike = (Just(0.1f32), Just(2.0f32), 0u32..2);
        prop::collection::vec(prop_oneof![one, alike], 1..=255)
    }

    proptest! {
        /// No visit went to a move while another one scored higher.
        #[test]
        fn visits_go_to_the_highest_score(moves in moves(), visits in 1u32..600) {
            let mut candidates = Candidates::default();
            for (index, (utility, u_numerator, n_started)) in moves.iter().enumerate() {
                candidates.push(index, *utility, *u_numerator, *n_started);
            }
            candidates.deal(visits);
            let at_end = |at: usize| score(moves[at].0, moves[at].1, moves[at].2 + 1 + candidates.given[at]);
            let highest = (0..moves.len()).map(at_end).fold(f32::NEG_INFINITY, f32::max);
            prop_assert_eq!(candidates.shares().map(|share| share.1).sum::<u32>(), visits);
            for (at, given) in candidates.shares() {
                let before_the_last = score(moves[at].0, moves[at].1, moves[at].2 + given);
                prop_assert!(before_the_last >= highest - 1e-6, "{at} got {given} down to {before_the_last}, not {highest}");
            }
        }

        #[test]
        fn best_and_rival_are_the_highest_scores(scores in prop::collection::vec(-2.0f32..2.0, 1..60)) {
            let (best, rival) = best_and_rival(&scores);
            let mut sorted = scores.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(scores[best], sorted[0]);
            prop_assert_eq!(rival, sorted.get(1).copied().unwrap_or(f32::NEG_INFINITY));
        }
    }

    #[test]
    fn only_what_is_kept_gets_visits() {
        let mut candidates = Candidates::default();
        for index in 0..5 {
            candidates.push(index, 0.0, 1.0, 0);
        }
        candidates.retain(|index| index % 2 == 1);
        candidates.deal(9);
        assert_eq!(candidates.shares().collect::<Vec<_>>(), [(1, 5), (3, 4)]);
    }
}
