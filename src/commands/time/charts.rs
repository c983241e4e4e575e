//! Writes the charts of a report as files, and shows them in the terminal: curves as dots of Braille, one curve a chart, and
//! everything else as tables.

use crate::commands::output::say;
use anyhow::Context as _;
use std::fs;
use std::path::{Path, PathBuf};
use textplots::{Chart, LabelBuilder as _, LabelFormat, Plot as _, Shape};
use zeitnot_charts::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Spread};
use zeitnot_lab::report::{Section, Table};
use zeitnot_text::files::write_whole;
use zeitnot_text::words::{grouped, plain, time};

/// The size of a chart in dots; a character has two across and four up.
const SIZE: [u32; 2] = [120, 40];
/// Curves of a chart that are shown; the page has all.
const MOST_CURVES: usize = 4;
/// Rows of a table that are shown.
const MOST_ROWS: usize = 30;

/// Writes each chart as a file whose name tells its section and its content; returns the files.
pub fn write_charts(folder: &Path, sections: &[Section]) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for section in sections {
        for figure in section.all_figures() {
            let path = folder.join(format!("{}--{}.svg", section.name, figure.name));
            write_whole(&path, figure.svg_file().as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Prints all sections.
pub fn show(sections: &[Section]) {
    for section in sections {
        say!("# {}\n\n{}\n", plain(&section.title), plain(&section.introduction));
        for figure in section.all_figures() {
            say!("## {}\n\n{}\n", plain(&figure.title), plain(&figure.caption));
            match &figure.plot {
                Plot::Lines(plot) => curves(plot),
                Plot::Dots(_) | Plot::Stacks(_) => table(&figure.table),
            }
        }
        if let Some(listing) = &section.listing {
            say!("## {}\n\n{}\n", plain(&listing.title), plain(&listing.caption));
            table(&listing.table);
        }
    }
}

/// Prints each curve in the ranges of them all, so that they can be compared without colours.
fn curves(plot: &LinePlot) {
    let points = plot.curves.iter().flat_map(|curve| {
        let ends = match &curve.spread {
            Spread::Band(places) => &places[..],
            Spread::None | Spread::Bars(_) => &[],
        };
        let ends = ends.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]);
        curve.points.iter().copied().chain(ends)
    });
    let points: Vec<(f32, f32)> = points.map(|(x, y)| (place(&plot.x, x), place(&plot.y, y))).collect();
    let range = |of: fn(&(f32, f32)) -> f32, is_log: bool| {
        let start = if is_log { f32::INFINITY } else { 0.0 };
        let (low, high) = points
            .iter()
            .map(of)
            .fold((start, f32::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if high > low { (low, high) } else { (low.min(high), low.min(high) + 1.0) }
    };
    if points.is_empty() {
        return;
    }
    let (x, y) = (range(|point| point.0, plot.x.is_log()), range(|point| point.1, plot.y.is_log()));
    for curve in plot.curves.iter().take(MOST_CURVES) {
        say!("{}: {} over {}", plain(&curve.name), plot.y.name, plot.x.name);
        say!("{}", chart(plot, curve, x, y));
    }
    if let left @ 1.. = plot.curves.len().saturating_sub(MOST_CURVES) {
        say!("({left} more curves)\n");
    }
}

fn chart(plot: &LinePlot, curve: &Curve, x: (f32, f32), y: (f32, f32)) -> String {
    let points: Vec<(f32, f32)> =
        curve.points.iter().map(|(across, up)| (place(&plot.x, *across), place(&plot.y, *up))).collect();
    let shape = match curve.mark {
        Mark::Points => Shape::Points(&points),
        Mark::Line | Mark::Thin => Shape::Lines(&points),
    };
    let mut chart = Chart::new_with_y_range(SIZE[0], SIZE[1], x.0, x.1, y.0, y.1);
    let (x_axis, y_axis) = (plot.x.clone(), plot.y.clone());
    let chart = chart
        .x_label_format(LabelFormat::Custom(Box::new(move |place| label(&x_axis, place))))
        .y_label_format(LabelFormat::Custom(Box::new(move |place| label(&y_axis, place))))
        .lineplot(&shape);
    chart.axis();
    chart.figures();
    chart.to_string()
}

/// Where a value lies on an axis.
fn place(axis: &Axis, value: f64) -> f32 {
    if axis.is_log() { value.max(1e-3).log10() as f32 } else { value as f32 }
}

/// The value at a place of an axis.
fn label(axis: &Axis, place: f32) -> String {
    let value = if axis.is_log() { 10f64.powf(f64::from(place)) } else { f64::from(place) };
    match axis.quantity {
        Quantity::Time => time(value),
        Quantity::Share => format!("{:.0} %", 100.0 * value),
        Quantity::Count => grouped(value, 0),
        Quantity::Number => grouped(value, usize::from(value.abs() < 10.0)),
    }
}

/// Prints the head of a table.
fn table(Table { head, rows }: &Table) {
    let shown: Vec<Vec<String>> =
        rows.iter().take(MOST_ROWS).map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| shown.iter().chain([head]).map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for row in [head].into_iter().chain(&shown) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        say!("{}", cells.join("  ").trim_end());
    }
    if let left @ 1.. = rows.len().saturating_sub(MOST_ROWS) {
        say!("({left} more rows)");
    }
    say!("");
}
