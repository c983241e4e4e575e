//! The factor `control` on the time of a move: by the class of the time control.

use super::{factor, param, read};
use crate::params::{GroupSpec, ParamSpec, ParamValues};
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;

const MS_PER_MINUTE: f64 = 60_000.0;

/// A class of time controls. Both documents classify by the time on the clock at the start; the increment does not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TimeClass {
    /// Under 3 minutes.
    #[default]
    Bullet,
    /// Under 15 minutes (Sharp Rustic) or 10 (Mergen).
    Blitz,
    /// Up to an hour.
    Rapid,
    /// Over an hour.
    Classical,
}

const fn minutes(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    param(name, default, 10_000.0, Unit::Minutes, help)
}

const fn params(blitz_minutes: f64, factors: [f64; 4]) -> [ParamSpec; 7] {
    [
        factor("bullet", factors[0], "Factor in bullet."),
        factor("blitz", factors[1], "Factor in blitz."),
        factor("rapid", factors[2], "Factor in rapid."),
        factor("classical", factors[3], "Factor in classical chess."),
        minutes("bullet-minutes", 3.0, "Bullet is with less on the first clock."),
        minutes("blitz-minutes", blitz_minutes, "Blitz is with less on the first clock."),
        minutes("rapid-minutes", 60.0, "Rapid is with at most this on the first clock."),
    ]
}

/// Classes and factors of Sharp Rustic (docs/documents.md, 3.4).
pub(crate) const SHARP_RUSTIC: [ParamSpec; 7] = params(15.0, [0.8, 0.9, 1.0, 1.1]);
/// Classes and factors of Mergen (docs/documents.md, 2.1).
pub(crate) const MERGEN: [ParamSpec; 7] = params(10.0, [0.7, 0.9, 1.0, 1.2]);

/// The name of the part's group of parameters in a specification.
pub(crate) const GROUP: &str = "control";

/// The part's group of parameters, with the classes and factors of one document.
pub(crate) const fn group(params: &'static [ParamSpec; 7]) -> GroupSpec {
    GroupSpec { name: GROUP, help: "Factors by the class of the time control.", params }
}

/// A factor by the class of the time control, known from the first clock of a game.
#[derive(Clone, Debug)]
pub(crate) struct ControlFactor {
    values: [f64; 7],
    class: Option<TimeClass>,
}

impl ControlFactor {
    pub(crate) fn new(values: &ParamValues, group: &'static str, params: &[ParamSpec; 7]) -> Self {
        Self { values: read(values, group, params), class: None }
    }

    /// The class of a game that starts with `clock_ms` on the clock.
    pub(crate) fn classify(&self, clock_ms: f64) -> TimeClass {
        let [.., bullet, blitz, rapid] = self.values;
        if clock_ms < bullet * MS_PER_MINUTE {
            TimeClass::Bullet
        } else if clock_ms < blitz * MS_PER_MINUTE {
            TimeClass::Blitz
        } else if clock_ms <= rapid * MS_PER_MINUTE {
            TimeClass::Rapid
        } else {
            TimeClass::Classical
        }
    }

    /// The class of this game, which the `clock_ms` of its first move decides.
    pub(crate) fn class(&mut self, clock_ms: f64) -> TimeClass {
        let class = self.class.unwrap_or_else(|| self.classify(clock_ms));
        *self.class.insert(class)
    }

    /// Sets the class, whatever the clock shows.
    pub(crate) fn fix(&mut self, class: TimeClass) {
        self.class = Some(class);
    }

    pub(crate) fn of(&self, class: TimeClass) -> f64 {
        self.values[class as usize]
    }

    /// Records the factor of the game's class in a plan with `clock_ms` on the clock.
    pub(crate) fn plan(&mut self, plan: &mut PlanBuilder, clock_ms: f64) -> f64 {
        let class = self.class(clock_ms);
        plan.term("control = from the class of the time control", self.of(class), Unit::Ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeClass::*;

    #[track_caller]
    fn check(params: &[ParamSpec; 7], table: &[(f64, TimeClass, f64)]) {
        let control = ControlFactor::new(&ParamValues::default(), "test", params);
        for &(minutes, class, factor) in table {
            assert_eq!(control.classify(minutes * MS_PER_MINUTE), class, "{minutes}");
            assert_eq!(control.of(class), factor, "{class:?}");
        }
    }

    // docs/documents.md, 3.4.
    #[test]
    fn sharp_rustic_time_control_classification() {
        let table = [
            (1.0, Bullet, 0.8),
            (2.99, Bullet, 0.8),
            (3.0, Blitz, 0.9),
            (14.99, Blitz, 0.9),
            (15.0, Rapid, 1.0),
            (60.0, Rapid, 1.0),
            (60.01, Classical, 1.1),
        ];
        check(&SHARP_RUSTIC, &table);
    }

    // docs/documents.md, 2.1: classes with their examples, and factors.
    #[test]
    fn mergen_supported_time_controls() {
        let table = [
            (1.0, Bullet, 0.7), // "1+0"
            (3.0, Blitz, 0.9),  // "3+2"
            (9.99, Blitz, 0.9), //
            (10.0, Rapid, 1.0), // "10+5"
            (60.0, Rapid, 1.0), //
            (61.0, Classical, 1.2),
        ];
        check(&MERGEN, &table);
    }

    #[test]
    fn time_class_is_that_of_the_first_clock() {
        let mut control = ControlFactor::new(&ParamValues::default(), "test", &MERGEN);
        assert_eq!(control.class(600_000.0), Rapid);
        assert_eq!(control.class(60_000.0), Rapid);
        control.fix(Classical);
        assert_eq!(control.class(60_000.0), Classical);
    }
}
