//! Draws measured speeds by batch size: evaluations a second, and below it the latency of a batch.

use crate::commands::flags::flag;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, value_parser};
use std::path::{Path, PathBuf};
use zeitnot_base::files::write_whole;
use zeitnot_charts::{Axis, Curve, Frame, LinePlot, Mark, Plot, Quantity, draw_all};

/// One measurement: a point of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// The name of the chart's line that the point belongs to.
    pub line: String,
    /// Positions in a batch.
    pub batch: usize,
    /// Evaluations a second.
    pub evals_per_s: f64,
    /// The median latency of a batch, in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile of that latency, in milliseconds.
    pub p95_ms: f64,
}

/// The texts of a chart, and the points at which its lines saturate.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The network and the device.
    pub title: String,
    /// The machine with its driver, the version of the program, and the findings, one line each.
    pub notes: Vec<String>,
    /// Batch and evaluations a second from which a line gains next to nothing, by the line's name.
    pub saturation: Vec<(String, (usize, f64))>,
}

/// The flag `--svg`.
pub fn svg_flag() -> Arg {
    flag("svg", "FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Picture of evaluations a second and latency by batch size")
}

/// The file that `--svg` names.
///
/// # Errors
///
/// When the folder of the file does not exist: better before hours of measuring than after.
pub fn asked(matches: &ArgMatches) -> anyhow::Result<Option<&Path>> {
    let Some(path) = matches.get_one::<PathBuf>("svg") else { return Ok(None) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    anyhow::ensure!(folder.is_dir(), "--svg: there is no folder {}", folder.display());
    Ok(Some(path))
}

/// A number of threads in words.
pub fn threads(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// Writes the picture.
///
/// # Errors
///
/// The operating system's.
pub fn write(path: &Path, texts: &Texts, spots: &[Spot]) -> anyhow::Result<()> {
    write_whole(path, picture(texts, spots).as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// The chart as the text of an SVG file.
fn picture(texts: &Texts, spots: &[Spot]) -> String {
    let mut lines: Vec<(&str, Vec<&Spot>)> = Vec::new();
    for spot in spots {
        match lines.iter_mut().find(|line| line.0 == spot.line) {
            Some(line) => line.1.push(spot),
            None => lines.push((&spot.line, vec![spot])),
        }
    }
    for (_, spots) in &mut lines {
        spots.sort_by_key(|spot| spot.batch);
    }
    let curves = |mark: Mark, value: fn(&Spot) -> f64| -> Vec<Curve> {
        let curve = |(color, (name, spots)): (usize, &(&str, Vec<&Spot>))| {
            let points = spots.iter().map(|spot| (spot.batch as f64, value(spot))).collect();
            Curve { mark, ..Curve::line(name, color, points) }
        };
        lines.iter().enumerate().map(curve).collect()
    };
    let panel = |y: Axis, curves: Vec<Curve>| {
        let x = Axis::doublings("positions in a batch");
        Plot::Lines(LinePlot::new(x, y, curves))
    };
    let mut speeds = curves(Mark::Line, |spot| spot.evals_per_s);
    for (name, (batch, evals_per_s)) in &texts.saturation {
        let Some(color) = lines.iter().position(|line| line.0 == name) else { continue };
        let point = vec![(*batch as f64, *evals_per_s)];
        speeds.push(Curve { mark: Mark::Dots, ..Curve::line("larger batches gain little", color, point) });
    }
    let latencies = [curves(Mark::Line, |spot| spot.p50_ms), curves(Mark::Thin, |spot| spot.p95_ms)].concat();
    let panels = [
        panel(Axis::new("evaluations a second", Quantity::Number), speeds),
        // Batches may take less than a tenth of a millisecond, for which `Quantity::Time` has no unit.
        panel(Axis::log("ms for a batch: median, and thin the 95th percentile", Quantity::Number), latencies),
    ];
    let Texts { title, notes, .. } = texts;
    draw_all(&panels, &Frame { id: "speed", title, description: &notes.join("; "), notes, is_file: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(line: &str, batch: usize) -> Spot {
        let size = batch as f64;
        Spot { line: line.to_owned(), batch, evals_per_s: 100.0 * size, p50_ms: size, p95_ms: 2.0 * size }
    }

    /// Whether each element that is opened is closed, in order.
    fn is_well_formed(xml: &str) -> bool {
        let mut open = Vec::new();
        for tag in xml.split('<').skip(1) {
            let Some((tag, _)) = tag.split_once('>') else { return false };
            if tag.matches('"').count() % 2 == 1 {
                return false;
            }
            match tag.strip_prefix('/') {
                Some(name) if open.pop() != Some(name) => return false,
                Some(_) => {}
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap_or_default()),
            }
        }
        open.is_empty()
    }

    #[test]
    fn a_picture_has_both_panels_and_a_line_for_each_name() {
        let spots = [spot("2 threads", 256), spot("1 thread", 64), spot("1 thread", 128), spot("2 threads", 64)];
        let saturation = vec![("2 threads".to_owned(), (64, 6_400.0)), ("none".to_owned(), (64, 1.0))];
        let texts = Texts { title: "A & B".to_owned(), notes: vec!["best <here>".to_owned()], saturation };
        let svg = picture(&texts, &spots);
        assert!(is_well_formed(&svg) && !is_well_formed("<a><b></a>") && !is_well_formed("<a x=\">"), "{svg}");
        for text in
            [">A &amp; B<", ">best &lt;here&gt;<", ">evaluations a second<", ">64<", ">128<", ">256<", ">30,000<"]
        {
            assert!(svg.contains(text), "without {text}: {svg}");
        }
        assert!(svg.contains(">ms for a batch: median, and thin the 95th percentile<"), "{svg}");
        assert_eq!((svg.matches(">1 thread<").count(), svg.matches(">2 threads<").count()), (1, 1), "{svg}");
        // A sample in the legend, a line in both panels, and a thin one below; the one point of saturation and its sample.
        let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
        assert_eq!((count("line s1"), count("thin s1"), count("dots s0"), count("dots s1")), (3, 1, 2, 0), "{svg}");
        assert!(svg.contains("prefers-color-scheme:dark"), "{svg}");
        // From left to right, whatever the order of measuring.
        let d = svg.split("class=\"line s0\"").nth(2).unwrap().split("d=\"M").nth(1).unwrap();
        let points: Vec<f64> =
            d.split('"').next().unwrap().split('L').map(|p| p.split(' ').next().unwrap().parse().unwrap()).collect();
        assert!(points.len() == 2 && points[0] < points[1], "{points:?}");
    }

    #[test]
    fn a_picture_of_one_measurement_or_none_is_drawn() {
        for spots in [&[][..], &[spot("1 thread", 16)], &[Spot { evals_per_s: f64::NAN, ..spot("x", 1) }]] {
            let svg = picture(&Texts::default(), spots);
            assert!(is_well_formed(&svg) && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
