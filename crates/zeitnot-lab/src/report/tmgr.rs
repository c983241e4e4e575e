//! Draws the charts of a log of Lc0's `smooth`: the times granted, the moves left, and the speed.

use super::figure::{Figure, Section, Table};
use crate::audit::TmgrMove;
use zeitnot_charts::{Axis, Curve, LinePlot, Plot, Quantity};
use zeitnot_text::words::{count, counted, grouped, time};

/// A function that reads a quantity of a move, where the log gives it.
type Read = fn(&TmgrMove) -> Option<f64>;

/// Builds the section about the moves of a log, which are counted from 1.
pub fn section(name: &str, moves: &[TmgrMove]) -> Section {
    let figures = [
        figure(
            ("granted", "Time granted", Axis::new("time", Quantity::Time)),
            moves,
            &[("granted", |mv| mv.allocated_ms), ("the target takes", |mv| mv.brutto_ms)],
            &|first, last| {
                format!("Granted from {} for the first move of the log to {} for the last.", time(first), time(last))
            },
            &time,
        ),
        figure(
            ("moves-left", "Moves left", Axis::new("moves left", Quantity::Count)),
            moves,
            &[("moves left, estimated", |mv| mv.moves)],
            &|first, last| format!("The estimate of the moves left goes from {first:.1} to {last:.1}."),
            &|moves| grouped(moves, 1),
        ),
        figure(
            ("nps", "Speed", Axis::new("nodes a second", Quantity::Number)),
            moves,
            &[("nodes a second, estimated", |mv| mv.nps)],
            &|first, last| {
                format!("The estimate of the speed goes from {} to {} nodes a second.", count(first), count(last))
            },
            &count,
        ),
    ];
    Section {
        title: format!("Lc0's log {name}"),
        introduction: format!("{} of Lc0's smooth.", counted(moves.len(), "move")),
        figures: figures.into_iter().flatten().collect(),
        ..Section::default()
    }
}

/// Draws quantities by move; `caption` takes the first and the last value of the first quantity. `None` where the log
/// lacks that quantity.
fn figure(
    (name, title, y): (&str, &str, Axis),
    moves: &[TmgrMove],
    quantities: &[(&str, Read)],
    caption: &dyn Fn(f64, f64) -> String,
    text: &dyn Fn(f64) -> String,
) -> Option<Figure> {
    let points = |read: Read| -> Vec<(f64, f64)> {
        moves.iter().enumerate().filter_map(|(at, mv)| Some((at as f64 + 1.0, read(mv)?))).collect()
    };
    let main = points(quantities.first()?.1);
    let ((_, first), (_, last)) = (main.first()?, main.last()?);
    let mut table = Table::with_columns(&["move of the log"], quantities.iter().map(|(name, _)| (*name).to_owned()));
    for (at, mv) in moves.iter().enumerate() {
        let cells = quantities.iter().map(|(_, read)| read(mv).map_or_else(|| "-".to_owned(), text));
        table.row([(at + 1).to_string()].into_iter().chain(cells).collect());
    }
    let curves = quantities.iter().enumerate().map(|(color, (name, read))| Curve::line(name, color, points(*read)));
    Some(Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        caption: caption(*first, *last),
        plot: Plot::Lines(LinePlot::new(Axis::new("move of the log", Quantity::Count), y, curves.collect())),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_does_not_write_is_left_out() {
        let mv = |ms| TmgrMove { allocated_ms: Some(ms), nps: None, moves: Some(32.2), ..TmgrMove::default() };
        let section = section("lc0.log", &[mv(118_529.5), mv(60_000.0)]);
        let names: Vec<&str> = section.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["granted", "moves-left"]);
        assert_eq!(
            section.figures[0].caption,
            "Granted from 119 s for the first move of the log to 60 s for the last."
        );
        assert_eq!(section.figures[0].table.rows[0], ["1", "119 s", "-"]);
    }
}
