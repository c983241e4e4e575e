//! Reads PGN's tag `TimeControl`: periods such as `40/7200:900+30`, in seconds.

use crate::lab::time_control::TimeControl;

/// The periods of a tag, as PGN's standard and match runners write it: `300`, `3600+7`, `40/7200:20/3600:900+30`, `40/60`.
/// `None` of anything else, such as `-`, `?` or `*180`.
pub fn periods(tag: &str) -> Option<Vec<TimeControl>> {
    tag.trim().split(':').map(|period| period.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_tournaments() {
        let one = |moves, base_s: f64, inc_s: f64| TimeControl {
            moves,
            base_ms: base_s * 1e3,
            increment_ms: inc_s * 1e3,
            depth: None,
        };
        assert_eq!(periods("3600+7"), Some(vec![one(None, 3600.0, 7.0)]));
        assert_eq!(periods("10+0.1"), Some(vec![one(None, 10.0, 0.1)]));
        assert_eq!(
            periods("40/7200:20/3600:900+30"),
            Some(vec![one(Some(40), 7200.0, 0.0), one(Some(20), 3600.0, 0.0), one(None, 900.0, 30.0)])
        );
        for tag in ["", "-", "?", "*180", "0/60", "40/", "1e99", "a+b", "-5"] {
            assert_eq!(periods(tag), None, "{tag}");
        }
    }
}
