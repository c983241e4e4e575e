//! The answer deadline, at which a move is due although nothing has been evaluated: one rule for clocks and `movetime`.
//!
//! A late good move is better than a random one, but not a lost game. So a first evaluation may take as long again as
//! the move's limit (or a second, if that is longer), but at most half of the time that the limit leaves. An evaluation
//! that is known to take longer than that is not waited for: the answer comes at once, from the tree that was kept, the
//! cache, or the rules of chess. (A fixed floor of 25 ms stood here once: with increments of 10 ms and evaluations of
//! 11 ms 69 of 88 losses on time began below it.)

/// Time that a slow first evaluation may take beyond the limit of its move, in milliseconds, if the limit itself is
/// shorter.
const GRACE_MS: f64 = 1000.0;

/// Time that `stop` waits for a first evaluation, in milliseconds, before the answer comes without one: the user waits,
/// but no clock runs. With 100 ms answers on a busy machine came after 101 to 128.
pub const STOP_GRACE_MS: f64 = 80.0;

/// The time on the move's clock at which an answer is due even if nothing is evaluated, where the move has to end by
/// `hard_limit_ms` and its clock by `end_ms`.
pub(super) fn latest_ms(hard_limit_ms: f64, end_ms: f64) -> f64 {
    let hard_limit_ms = hard_limit_ms.max(0.0);
    hard_limit_ms + ((end_ms - hard_limit_ms) / 2.0).min(hard_limit_ms.max(GRACE_MS)).max(0.0)
}

/// Whether an evaluation that takes `evaluation_ms` is over before `latest_ms`; true if `None`, not known yet.
pub(super) fn evaluation_fits(evaluation_ms: Option<f64>, latest_ms: f64) -> bool {
    // A duration that is not a number is not known.
    !evaluation_ms.is_some_and(|evaluation_ms| evaluation_ms >= latest_ms)
}

/// The time on the move's clock at which an answer is due: [`latest_ms`], or 0 where an evaluation would end later and
/// so is not waited for.
pub(super) fn due_ms(hard_limit_ms: f64, end_ms: f64, evaluation_ms: Option<f64>) -> f64 {
    let latest_ms = latest_ms(hard_limit_ms, end_ms);
    if evaluation_fits(evaluation_ms, latest_ms) { latest_ms } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_gives_a_first_evaluation_time_but_not_the_game() {
        assert_eq!(due_ms(2_000.0, 60_000.0, None), 4_000.0, "as long again");
        assert_eq!(due_ms(100.0, 60_000.0, None), 1_100.0, "or a second");
        assert_eq!(due_ms(100.0, 300.0, None), 200.0, "half of the time that is left");
        assert_eq!(due_ms(0.0, 150.0, None), 75.0);
        assert_eq!(due_ms(-100.0, 100.0, None), 50.0);
        assert_eq!(due_ms(0.0, 0.0, None), 0.0, "no time, no wait");
        assert_eq!(due_ms(0.0, -10.0, None), 0.0);
    }

    #[test]
    fn an_evaluation_that_does_not_fit_is_not_waited_for() {
        // T1-256x10 on a CPU: 11 to 13 ms.
        for (clock_ms, due) in [(10.0, 0.0), (20.0, 0.0), (24.0, 0.0), (26.0, 13.0), (60.0, 30.0)] {
            assert_eq!(due_ms(0.0, clock_ms, Some(12.0)), due, "{clock_ms}");
        }
        assert_eq!(due_ms(0.0, 20.0, Some(f64::NAN)), 10.0, "no duration is not a long one");
    }
}
