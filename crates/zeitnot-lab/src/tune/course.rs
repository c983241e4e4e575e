//! Runs the iterations of a tuning, and keeps each in a journal.

use super::spsa::{Probe, Spsa};
use crate::games::journal::{Entry, Journal};
use crate::games::journal_error::JournalError;
use crate::strength::Results;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most score points that a comparison of regrets counts for: tunings had up to 12. A refused point loses as many, so
/// that no saved regret makes up for a game lost on time.
const MOST_POINTS: f64 = 16.0;

/// How the two points of an iteration were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Measured in games: the results of the first point.
    Games(Results),
    /// Measured over recorded searches: the mean regret of each point; `None` for a point that finished no game.
    Regret([Option<f64>; 2]),
}

/// The comparison of two points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The conditions of the comparison, such as a time control or a network.
    pub cell: String,
    /// Score points that the first point won more than the second.
    pub points: f64,
    /// The largest size of `points` that counts, which is also what a refused point loses.
    pub most: f64,
    /// Why each point is refused, if it is, such as for games lost on time.
    pub refused: [Option<String>; 2],
    /// The measurement that compares the points.
    pub measured: Measured,
}

impl Judgement {
    /// Compares the regrets of two points, each with the reason where it is refused. `point` is the regret that counts
    /// as one score point.
    pub(super) fn of_regrets(
        cell: String,
        [(plus, plus_refused), (minus, minus_refused)]: [(Option<f64>, Option<String>); 2],
        point: f64,
    ) -> Judgement {
        Judgement {
            cell,
            points: plus.zip(minus).map_or(0.0, |(plus, minus)| (minus - plus) / point),
            most: MOST_POINTS,
            refused: [plus_refused, minus_refused],
            measured: Measured::Regret([plus, minus]),
        }
    }

    /// The score points that move the values: a refused point loses all, whatever it won. Where both points are
    /// refused, games count as they ended, so that fewer losses on time are better, and regrets, which then cannot be
    /// compared, give 0.
    pub fn counted_points(&self) -> f64 {
        match (self.refused.each_ref().map(Option::is_some), &self.measured) {
            ([false, false], _) | ([true, true], Measured::Games(_)) => {
                self.points.clamp(-self.most.abs(), self.most.abs())
            }
            ([true, true], Measured::Regret(_)) => 0.0,
            ([true, false], _) => -self.most,
            ([false, true], _) => self.most,
        }
    }
}

/// A finished iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The number of the iteration, from 1; iterations behind the schedule compare the result with the start.
    pub iteration: u64,
    /// The values of the first point.
    pub plus: Vec<f64>,
    /// The values of the second point.
    pub minus: Vec<f64>,
    /// The comparison of the two points.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// The values after the iteration.
    pub values: Vec<f64>,
}

impl Entry for Iteration {
    const WHOLE: &'static str = "tuning";
    const ENTRY: &'static str = "iteration";

    fn number(&self) -> u64 {
        self.iteration
    }
}

/// Runs the iterations that the journal does not have, then compares the result with the start `comparisons` times.
/// `judge` compares two points, and returns `None` where it was interrupted; `tell` gets each iteration and whether the
/// journal had it.
///
/// Returns the values at the end; `None` after an interruption. As long as `judge` depends on its probe alone, the
/// course depends on the plan alone, and not on interruptions.
///
/// # Errors
/// The errors of `judge` and of the journal.
pub fn tune<E: From<JournalError>>(
    spsa: &Spsa,
    comparisons: u64,
    journal: &mut Journal<Iteration>,
    interrupted: &AtomicBool,
    judge: &mut dyn FnMut(&Probe) -> Result<Option<Judgement>, E>,
    tell: &mut dyn FnMut(&Iteration, bool),
) -> Result<Option<Vec<f64>>, E> {
    let mut values = spsa.start();
    for iteration in 1..=spsa.iterations + comparisons {
        let is_comparison = iteration > spsa.iterations;
        if let Some(there) = journal.entries().get(&iteration) {
            values.clone_from(&there.values);
            tell(there, true);
            continue;
        }
        if interrupted.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let probe = match is_comparison {
            true => spsa.comparison(iteration, &values),
            false => spsa.probe(iteration, &values),
        };
        let Some(judgement) = judge(&probe)? else { return Ok(None) };
        if !is_comparison {
            values = spsa.step(&values, &probe, judgement.counted_points());
        }
        let done = Iteration { iteration, plus: probe.plus, minus: probe.minus, judgement, values: values.clone() };
        tell(&done, false);
        journal.add(done)?;
    }
    journal.end()?;
    Ok(Some(values))
}

#[cfg(test)]
mod tests {
    use super::super::parameter_file::read_parameters;
    use super::*;
    use serde_json::json;
    use std::path::Path;

    const ITERATIONS: u64 = 12;

    fn spsa() -> Spsa {
        let lines = "a, float, 5, 0, 10, 0.5, 0.1\nb, int, 9, 0, 20, 2, 0.1";
        Spsa { parameters: read_parameters(lines).unwrap(), iterations: ITERATIONS, seed: 3 }
    }

    /// The values that win are low.
    fn judgement(probe: &Probe, refused: [bool; 2]) -> Judgement {
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        Judgement {
            cell: "c".to_owned(),
            points: (sum(&probe.minus) - sum(&probe.plus)) / 3.0,
            most: 4.0,
            refused: refused.map(|is_refused| is_refused.then(|| "lost on time".to_owned())),
            measured: Measured::Regret([Some(0.1), Some(0.2)]),
        }
    }

    /// Runs a tuning up to the `limit`-th judgement; the values at its end, and how often it judged.
    fn run(path: &Path, limit: usize) -> (Option<Vec<f64>>, usize) {
        let mut journal = Journal::resume(path, json!({ "seed": 3 }), &[]).unwrap();
        let mut judged = 0;
        let end = tune::<JournalError>(
            &spsa(),
            2,
            &mut journal,
            &AtomicBool::new(false),
            &mut |probe| {
                judged += 1;
                Ok((judged <= limit).then(|| judgement(probe, [false; 2])))
            },
            &mut |_, _| {},
        );
        (end.unwrap(), judged)
    }

    #[test]
    fn a_journal_cut_at_any_byte_goes_on_to_the_same_end() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("course.jsonl");
        let (whole, judged) = run(&path, usize::MAX);
        assert_eq!(judged as u64, ITERATIONS + 2);
        let bytes = std::fs::read(&path).unwrap();
        let values = whole.clone().unwrap();
        assert_ne!(values, spsa().start(), "the points moved nothing");
        for cut in (0..bytes.len()).step_by(7) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let (end, judged) = run(&path, usize::MAX);
            assert_eq!(end, whole, "cut at {cut}");
            assert!(judged as u64 <= ITERATIONS + 2);
            assert!(std::fs::read(&path).unwrap() == bytes, "cut at {cut}");
        }
        assert_eq!(run(&path, 0), (whole, 0), "a tuning that is over judges nothing");
    }

    #[test]
    fn an_interruption_keeps_what_was_done() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("course.jsonl");
        assert_eq!(run(&path, 5), (None, 6));
        let other = Journal::<Iteration>::resume(&path, json!({ "seed": 4 }), &[]).err().unwrap().to_string();
        assert!(other.ends_with("holds a tuning with another seed: 3 there, 4 here"), "{other}");
        assert_eq!(run(&path, usize::MAX).1 as u64, ITERATIONS + 2 - 5);
    }

    #[test]
    fn a_point_that_is_refused_loses_all() {
        let spsa = spsa();
        let probe = spsa.probe(1, &spsa.start());
        let points = |refused: [bool; 2]| judgement(&probe, refused).counted_points();
        assert!(points([false; 2]).abs() < 4.0);
        assert_eq!([[true, false], [false, true], [true, true]].map(points), [-4.0, 4.0, 0.0]);
        let games = Measured::Games(Results::default());
        let both = Judgement { measured: games, ..judgement(&probe, [true, true]) };
        assert_eq!(both.counted_points(), points([false; 2]));
    }

    #[test]
    fn no_regret_that_is_saved_makes_up_for_a_refusal() {
        let counted = |saved_points: f64, is_refused: bool| {
            let refused = is_refused.then(|| "lost on time".to_owned());
            let plus = (Some(1.0 - saved_points * 1e-3), refused);
            Judgement::of_regrets("c".to_owned(), [plus, (Some(1.0), None)], 1e-3).counted_points()
        };
        assert!((counted(10.0, false) - 10.0).abs() < 1e-9);
        assert_eq!(counted(10.0, true), -MOST_POINTS);
        assert_eq!([counted(500.0, false), counted(-500.0, false)], [MOST_POINTS, -MOST_POINTS]);
        assert!(counted(-500.0, false) >= counted(500.0, true), "to lose on time is the worst");
        let unknown = (None, Some("lost 6 of 6 games on time".to_owned()));
        let judged = Judgement::of_regrets("c".to_owned(), [(Some(1.0), None), unknown], 1e-3);
        assert_eq!((judged.points, judged.counted_points()), (0.0, MOST_POINTS));
    }
}
