//! The factor `quality` on the time of a move: by how clear the choice of a move is (docs/documents.md, 3.5).

use super::{factor, param, read};
use crate::SearchSnapshot;
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::unit::Unit;

/// Visits below which the choice is not judged.
const LEAST_VISITS: u64 = 100;

/// The document's classes of how clear the choice of a move is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MoveQuality {
    /// "Clear best move".
    Excellent,
    /// "Good move with alternatives".
    Good,
    /// "Multiple reasonable moves".
    #[default]
    Acceptable,
    /// "Difficult position".
    Poor,
    /// "Critical position, in check".
    Critical,
}

const fn share(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    param(name, default, 1.0, Unit::Ratio, help)
}

/// The document's factors, and bounds of the classes, which are ours because the document has an alpha-beta search.
pub(crate) const PARAMS: [ParamSpec; 9] = [
    factor("excellent", 0.7, "Factor of a clear best move."),
    factor("good", 0.85, "Factor of a good move with alternatives."),
    factor("acceptable", 1.0, "Factor of several reasonable moves."),
    factor("poor", 1.2, "Factor of a difficult position."),
    factor("critical", 1.5, "Factor of a position in check."),
    share("excellent-share", 0.8, "The best move is clear with this share of the visits and excellent-gap."),
    share("excellent-gap", 0.1, "Least lead of its value over the second best (2: from loss to win)."),
    share("good-share", 0.6, "The best move is good with this share of the visits."),
    share("poor-share", 0.3, "The position is difficult when the best move has less than this share of the visits."),
];

pub(crate) const GROUP: GroupSpec = GroupSpec {
    name: "quality",
    help: "Less time for a clear best move, more where the search cannot decide or the king is in check.",
    params: &PARAMS,
};

/// A factor by how clear the choice is.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    values: [f64; 9],
}

impl Quality {
    pub(crate) fn new(values: &ParamValues, group: &'static str) -> Self {
        Self { values: read(values, group, &PARAMS) }
    }

    pub(crate) fn of(&self, quality: MoveQuality) -> f64 {
        self.values[quality as usize]
    }

    pub(crate) fn largest(&self) -> f64 {
        self.values[..5].iter().copied().fold(f64::MIN, f64::max)
    }

    /// The class before the search: `Critical` in check, else `Acceptable`.
    pub(crate) fn before_search(&self, in_check: bool) -> MoveQuality {
        if in_check { MoveQuality::Critical } else { MoveQuality::Acceptable }
    }

    /// The class that visits and values of a search show: how much of the search went to the best move, and how far its
    /// value is above the second best. A most visited move that is not the best valued makes the position difficult.
    pub(crate) fn assess(&self, snapshot: &SearchSnapshot, in_check: bool) -> MoveQuality {
        let [.., excellent_share, excellent_gap, good_share, poor_share] = self.values;
        let visits: u64 = snapshot.root_visits.iter().map(|visits| u64::from(*visits)).sum();
        if in_check || visits < LEAST_VISITS {
            return self.before_search(in_check);
        }
        let most = snapshot.root_visits.iter().max().copied().unwrap_or(0);
        let share = f64::from(most) / visits as f64;
        let gap = snapshot.best_value.zip(snapshot.second_value).map(|(best, second)| best - second);
        if snapshot.need_more_time || share < poor_share {
            MoveQuality::Poor
        } else if share >= excellent_share && gap.is_none_or(|gap| gap >= excellent_gap) {
            MoveQuality::Excellent
        } else if share >= good_share {
            MoveQuality::Good
        } else {
            MoveQuality::Acceptable
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // docs/documents.md, 3.5: the factor of every class.
    #[test]
    fn sharp_rustic_move_quality_factors() {
        use MoveQuality::*;
        let quality = Quality::new(&ParamValues::default(), "test");
        for (class, factor) in [(Excellent, 0.7), (Good, 0.85), (Acceptable, 1.0), (Poor, 1.2), (Critical, 1.5)] {
            assert_eq!(quality.of(class), factor);
        }
        assert_eq!(quality.largest(), 1.5);
    }

    #[test]
    fn sharp_rustic_move_quality_is_read_from_visits_values_and_check() {
        use MoveQuality::*;
        let quality = Quality::new(&ParamValues::default(), "test");
        let clear = SearchSnapshot {
            root_visits: (&[900, 50, 50]).into(),
            best_value: Some(0.4),
            second_value: Some(0.2),
            ..SearchSnapshot::default()
        };
        let seen = |root_visits: &'static [u32]| SearchSnapshot { root_visits: root_visits.into(), ..clear.clone() };
        for (snapshot, in_check, expected) in [
            (clear.clone(), false, Excellent),
            (SearchSnapshot { second_value: Some(0.35), ..clear.clone() }, false, Good),
            (SearchSnapshot { second_value: None, ..clear.clone() }, false, Excellent), // the only one visited
            (seen(&[650, 300, 50]), false, Good),
            (seen(&[450, 400, 150]), false, Acceptable),
            (seen(&[250, 250, 250, 250]), false, Poor),
            (SearchSnapshot { need_more_time: true, ..clear.clone() }, false, Poor),
            (seen(&[9, 0]), false, Acceptable), // too early to say
            (clear.clone(), true, Critical),
        ] {
            assert_eq!(quality.assess(&snapshot, in_check), expected, "{snapshot:?}");
        }
    }
}
