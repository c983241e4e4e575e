//! Draws the course of a tuning: its parameters over the iterations, and the result against the start.

use super::figure::{Figure, Section, Table};
use crate::results::{CourseSettings, DeclaredParameter};
use crate::strength::elo::EloDifference;
use crate::tune::{Iteration, Measured};
use zeitnot_charts::{Axis, Curve, DotPlot, DotRow, LinePlot, Plot, Quantity, Reference, Spread};
use zeitnot_text::words::{count, counted, elo, grouped, slug};

/// Most points of a curve.
const MOST_POINTS: usize = 400;
/// Factor from a regret to thousandths of a value, which are shown as `time replay` prints them.
const SHOWN: f64 = 1e3;

/// A tuning: its settings, and the iterations that ended, in their order; iterations behind the last of the schedule
/// compare the result with the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    pub settings: CourseSettings,
    pub course: Vec<Iteration>,
}

impl Tuning {
    /// The names of the parameters, in the order of the values of an iteration.
    fn names(&self) -> &[String] {
        &self.settings.order
    }

    /// The declaration of a parameter.
    fn parameter(&self, name: &str) -> DeclaredParameter {
        self.settings.parameters.get(name).cloned().unwrap_or_default()
    }
}

/// Builds the section about a tuning.
pub fn section(name: &str, tuning: &Tuning) -> Section {
    let (course, comparisons): (Vec<&Iteration>, Vec<&Iteration>) =
        tuning.course.iter().partition(|done| done.iteration <= tuning.settings.iterations);
    let refused: usize = course.iter().map(|done| done.judgement.refused.iter().flatten().count()).sum();
    let parameters = 0..tuning.names().len();
    let each = parameters.map(|at| one(tuning, &course, at));
    let figures = std::iter::once(Some(together(tuning, &course))).chain([result(&comparisons)]).flatten().chain(each);
    Section {
        title: format!("Tuning of {name}"),
        introduction: format!(
            "{} tuned by SPSA: {} of {}; {} refused because of games lost on time.",
            counted(tuning.names().len(), "parameter"),
            count(course.len() as f64),
            counted(tuning.settings.iterations as usize, "iteration"),
            if refused == 0 { "no point was".to_owned() } else { counted(refused, "point") },
        ),
        figures: figures.collect(),
        ..Section::default()
    }
}

/// Iterations that are drawn: all, or as many as a curve has points; the last one always.
fn drawn<'a>(course: &[&'a Iteration]) -> impl Iterator<Item = &'a Iteration> {
    let step = course.len().div_ceil(MOST_POINTS).max(1);
    let last = course.len().saturating_sub(1);
    course.iter().enumerate().filter(move |(at, _)| at % step == 0 || *at == last).map(|(_, done)| *done)
}

/// The number of an iteration, and parameter `at` after it; `None` where a damaged line lacks the value.
fn value(done: &Iteration, at: usize) -> Option<(f64, f64)> {
    Some((done.iteration as f64, *done.values.get(at)?))
}

/// Draws all parameters in one chart, in steps of their last perturbations from the start.
fn together(tuning: &Tuning, course: &[&Iteration]) -> Figure {
    let mut table = Table::new(&["parameter", "start", "now", "steps of c_end from the start", "range"]);
    let curves = tuning.names().iter().enumerate().map(|(at, name)| {
        let parameter = tuning.parameter(name);
        let steps = |value: f64| (value - parameter.start) / parameter.c_end;
        let now = course.iter().rev().find_map(|done| value(done, at)).map_or(parameter.start, |(_, now)| now);
        table.row(vec![
            name.clone(),
            parameter.start.to_string(),
            number(now, parameter.c_end),
            format!("{:+.1}", steps(now)),
            format!("{} to {}", parameter.min, parameter.max),
        ]);
        let points =
            drawn(course).filter_map(|done| value(done, at)).map(|(iteration, value)| (iteration, steps(value)));
        Curve::line(name, at, std::iter::once((0.0, 0.0)).chain(points).collect())
    });
    Figure {
        name: "course".to_owned(),
        title: "Course of the parameters".to_owned(),
        caption: "Each parameter in units of its last perturbation, c_end. A value that came to rest has found its place; one that \
                  wanders makes no difference that the tuning could see."
            .to_owned(),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("iteration", Quantity::Count),
            y: Axis::new("steps of c_end from the start", Quantity::Number),
            curves: curves.collect(),
            references: vec![Reference::Value("start".to_owned(), 0.0)],
        }),
        table,
    }
}

/// Draws one parameter with the two points that each iteration tried.
fn one(tuning: &Tuning, course: &[&Iteration], at: usize) -> Figure {
    let name = &tuning.names()[at];
    let parameter = tuning.parameter(name);
    let band = drawn(course).filter_map(|done| {
        let (plus, minus) = (*done.plus.get(at)?, *done.minus.get(at)?);
        Some((done.iteration as f64, plus.min(minus), plus.max(minus)))
    });
    let points: Vec<(f64, f64)> = drawn(course).filter_map(|done| value(done, at)).collect();
    let mut table = Table::new(&["iteration", "value", "tried below", "tried above"]);
    let band: Vec<(f64, f64, f64)> = band.collect();
    for ((iteration, low, high), (_, value)) in band.iter().zip(&points) {
        let shown = |value: &f64| number(*value, parameter.c_end);
        table.row(vec![count(*iteration), shown(value), shown(low), shown(high)]);
    }
    let now = points.last().map_or(parameter.start, |point| point.1);
    Figure {
        name: format!("parameter-{}", slug(name)),
        title: name.clone(),
        caption: format!(
            "From {} to {}. The band is between the two points that were tried.",
            parameter.start,
            number(now, parameter.c_end)
        ),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("iteration", Quantity::Count),
            y: Axis::new("value", Quantity::Number),
            curves: vec![Curve { spread: Spread::Band(band), ..Curve::line("value", at, points) }],
            references: vec![Reference::Value("start".to_owned(), parameter.start)],
        }),
        table,
    }
}

/// Draws the result against the start, where they were compared.
fn result(comparisons: &[&Iteration]) -> Option<Figure> {
    let mut table = Table::new(&["at", "result", "start", "difference"]);
    let (mut rows, mut is_games) = (Vec::new(), false);
    for done in comparisons {
        let (gain, interval) = match &done.judgement.measured {
            Measured::Games(results) => {
                is_games = true;
                let estimate = EloDifference::new(results).logistic;
                let score = |points: f64| format!("{} of {}", grouped(points, 1), results.games());
                table.row(vec![
                    done.judgement.cell.clone(),
                    score(results.points()),
                    score(results.games() as f64 - results.points()),
                    elo(estimate.elo, estimate.margin),
                ]);
                (estimate.elo, estimate.elo.zip(estimate.margin).map(|(elo, margin)| [elo - margin, elo + margin]))
            }
            Measured::Regret([now, before]) => {
                let shown =
                    |regret: Option<f64>| regret.map_or_else(|| "-".to_owned(), |regret| grouped(regret * SHOWN, 3));
                let saved = before.zip(*now).map(|(before, now)| before - now);
                table.row(vec![done.judgement.cell.clone(), shown(*now), shown(*before), shown(saved)]);
                (saved.map(|saved| saved * SHOWN), None)
            }
        };
        rows.push(DotRow { name: done.judgement.cell.clone(), value: gain, interval, color: 0 });
    }
    if rows.is_empty() {
        return None;
    }
    let (axis, caption) = match is_games {
        true => {
            ("Elo of the result against the start", "Games of the result against the start; lines are 95 % intervals.")
        }
        false => (
            "regret that the result saves (thousandths of a value)",
            "Regret of the start less that of the result, over the searches that were tuned on.",
        ),
    };
    Some(Figure {
        name: "result".to_owned(),
        title: "Result against the start".to_owned(),
        caption: caption.to_owned(),
        plot: Plot::Dots(DotPlot {
            axis: Axis::new(axis, Quantity::Number),
            rows,
            references: vec![Reference::Value("start".to_owned(), 0.0)],
        }),
        table,
    })
}

/// A value with as many decimals as matter beside its perturbation.
fn number(value: f64, c_end: f64) -> String {
    let decimals = if c_end > 0.0 { (10.0 / c_end).log10().ceil().clamp(0.0, 9.0) as usize } else { 3 };
    grouped(value, decimals)
}
