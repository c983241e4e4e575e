//! Draws curves over an axis of numbers, with their bands, error bars and references.

use super::canvas::{Canvas, MARGIN, Sample, TEXT_LINE, WIDTH, point, stroke, text_width};
use super::markup::px;
use super::palette::{SERIES, dashes};
use super::plot::{Axis, Curve, LinePlot, Mark, Reference, Spread};
use super::scale::Scale;
use std::fmt::Write as _;

/// The height of the area of the curves.
const HEIGHT: f64 = 210.0;
/// Number of ticks to aim at.
const TICKS: usize = 5;
/// Half the width of the strokes at the ends of an error bar.
const BAR_END: f64 = 3.0;
/// Distance between the error bars of two curves at the same place, so that both can be read.
const BAR_STEP: f64 = 8.0;
/// Largest width that the error bars at one place may take together, so that the outer ones stay in the picture.
const BAR_ROOM: f64 = 40.0;

/// The area in which the curves lie, with the scales of both axes.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    x: Scale,
    y: Scale,
}

impl Area {
    fn x(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * HEIGHT
    }
}

/// Draws the chart.
pub fn draw(plot: &LinePlot, canvas: &mut Canvas) {
    canvas.legend(&legend(plot));
    let area = area(plot, canvas);
    axes(plot, &area, canvas);
    let with_bars = plot.curves.iter().filter(|curve| matches!(curve.spread, Spread::Bars(_))).count();
    let step = BAR_STEP.min(BAR_ROOM / with_bars.max(1) as f64);
    let middle = (with_bars as f64 - 1.0) / 2.0;
    for (index, curve) in plot.curves.iter().enumerate() {
        spread(curve, (index as f64 - middle) * step, &area, canvas);
    }
    for reference in &plot.references {
        let (from, to) = match reference {
            Reference::Value(_, value) => ((area.left, area.y(*value)), (area.right, area.y(*value))),
            Reference::Diagonal(_) => {
                let ([x_low, x_high], [y_low, y_high]) = (area.x.ends(), area.y.ends());
                let (low, high) = (x_low.max(y_low), x_high.min(y_high));
                ((area.x(low), area.y(low)), (area.x(high), area.y(high)))
            }
        };
        canvas.line("reference", from, to);
    }
    for curve in &plot.curves {
        path(curve, &area, canvas);
    }
}

/// The entries of the legend: one for each name of curves and references.
fn legend(plot: &LinePlot) -> Vec<(Sample, String)> {
    let mut entries: Vec<(Sample, String)> = Vec::new();
    for curve in &plot.curves {
        let sample = match curve.mark {
            Mark::Line | Mark::Thin => Sample::Line(curve.color),
            Mark::Points => Sample::Point(curve.color),
            Mark::Dots => Sample::Dot(curve.color),
        };
        if !entries.iter().any(|entry| entry.1 == curve.name) {
            entries.push((sample, curve.name.clone()));
        }
    }
    let names = plot.references.iter().map(|reference| match reference {
        Reference::Diagonal(name) | Reference::Value(name, _) => (Sample::Reference, name.clone()),
    });
    entries.extend(names);
    entries
}

/// The area that the labels leave, with scales for all that is drawn.
fn area(plot: &LinePlot, canvas: &mut Canvas) -> Area {
    let points = || plot.curves.iter().flat_map(|curve| curve.points.iter().copied());
    let spreads = || {
        plot.curves.iter().flat_map(|curve| match &curve.spread {
            Spread::None => &[][..],
            Spread::Band(places) | Spread::Bars(places) => &places[..],
        })
    };
    let references = plot.references.iter().filter_map(|reference| match reference {
        Reference::Value(_, value) => Some(*value),
        Reference::Diagonal(_) => None,
    });
    let x = Scale::new(&plot.x, points().map(|point| point.0).chain(spreads().map(|place| place.0)), TICKS);
    let ys = points().map(|point| point.1).chain(spreads().flat_map(|place| [place.1, place.2])).chain(references);
    let y = Scale::new(&plot.y, ys, TICKS);
    let labels = y.ticks.iter().map(|tick| text_width(&tick.1)).fold(0.0, f64::max);
    canvas.height += TEXT_LINE;
    let name = axis_name(&plot.y, &y);
    canvas.text("soft", MARGIN, canvas.height - 4.0, "start", &name);
    canvas.height += 8.0;
    Area { left: MARGIN + labels + 6.0, right: WIDTH - MARGIN - 14.0, top: canvas.height, x, y }
}

/// The name of an axis with its unit.
pub fn axis_name(axis: &Axis, scale: &Scale) -> String {
    match scale.unit {
        "" => axis.name.clone(),
        unit => format!("{} ({unit})", axis.name),
    }
}

fn axes(plot: &LinePlot, area: &Area, canvas: &mut Canvas) {
    let bottom = area.top + HEIGHT;
    for (value, label) in &area.y.ticks {
        let y = area.y(*value);
        canvas.line("grid", (area.left, y), (area.right, y));
        canvas.text("soft", area.left - 6.0, y + 4.5, "end", label);
    }
    for (value, label) in &area.x.ticks {
        let x = area.x(*value);
        canvas.line("axis", (x, bottom), (x, bottom + 4.0));
        canvas.text("soft", x, bottom + 17.0, "middle", label);
    }
    canvas.line("axis", (area.left, bottom), (area.right, bottom));
    canvas.text("soft", area.right, bottom + 35.0, "end", &axis_name(&plot.x, &area.x));
    canvas.height = bottom + 42.0;
}

/// Draws the band or the error bars of a curve; the bars are shifted to the right by `aside`.
fn spread(curve: &Curve, aside: f64, area: &Area, canvas: &mut Canvas) {
    match &curve.spread {
        Spread::None => {}
        Spread::Band(places) => {
            let low = places.iter().map(|(x, low, _)| (*x, *low));
            let high = places.iter().rev().map(|(x, _, high)| (*x, *high));
            let outline: Vec<(f64, f64)> = low.chain(high).collect();
            canvas.path(&format!("band f{}", curve.color % SERIES), "", &format!("{}Z", polyline(&outline, area)));
        }
        Spread::Bars(places) => {
            let mut d = String::new();
            for (x, low, high) in places {
                let (x, low, high) = (area.x(*x) + aside, area.y(*low), area.y(*high));
                let (left, width) = (px(x - BAR_END), px(2.0 * BAR_END));
                let _ = write!(
                    d,
                    "M{left} {}h{width}M{} {}V{}M{left} {}h{width}",
                    px(low),
                    px(x),
                    px(low),
                    px(high),
                    px(high)
                );
            }
            canvas.path(&stroke("whisker", curve.color), "", &d);
            let values = curve.points.iter().map(|(x, y)| point(area.x(*x) + aside, area.y(*y)));
            canvas.path(&stroke("points", curve.color), "", &values.collect::<String>());
        }
    }
}

fn path(curve: &Curve, area: &Area, canvas: &mut Canvas) {
    let dashes = dashes(curve.color);
    match curve.mark {
        Mark::Line => canvas.path(&stroke("line", curve.color), dashes, &polyline(&curve.points, area)),
        Mark::Thin => canvas.path(&stroke("thin", curve.color), dashes, &polyline(&curve.points, area)),
        Mark::Points | Mark::Dots => {
            let d: String = curve.points.iter().map(|(x, y)| point(area.x(*x), area.y(*y))).collect();
            let kind = if curve.mark == Mark::Dots { "dots" } else { "points" };
            canvas.path(&stroke(kind, curve.color), "", &d);
        }
    }
    // A curve of one point would not be seen.
    if let (Mark::Line | Mark::Thin, [(x, y)]) = (curve.mark, &curve.points[..]) {
        canvas.path(&stroke("points", curve.color), "", &point(area.x(*x), area.y(*y)));
    }
}

fn polyline(points: &[(f64, f64)], area: &Area) -> String {
    let mut d = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if index == 0 { 'M' } else { 'L' }, px(area.x(*x)), px(area.y(*y)));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Plot, Quantity, draw};
    use super::*;

    fn plot(curves: Vec<Curve>) -> Plot {
        let (x, y) = (Axis::new("move", Quantity::Number), Axis::new("clock", Quantity::Time));
        Plot::Lines(LinePlot::new(x, y, curves))
    }

    #[test]
    fn points_lie_where_the_axes_say() {
        let frame = Frame { id: "p", title: "T", description: "D", notes: &[], is_file: false };
        let svg = draw(&plot(vec![Curve::line("a", 0, vec![(0.0, 0.0), (50.0, 5_000.0), (100.0, 10_000.0)])]), &frame);
        let d = svg.split("class=\"line s0\" d=\"").nth(2).unwrap().split('"').next().unwrap();
        let points: Vec<f64> = d[1..].split(['L', ' ']).map(|number| number.parse().unwrap()).collect();
        let [x0, y0, x1, y1, x2, y2] = points[..] else { panic!("{d}") };
        assert!((x1 - x0 - (x2 - x1)).abs() < 0.2 && (y0 - y1 - (y1 - y2)).abs() < 0.2, "{d}");
        assert!((y0 - y2 - HEIGHT).abs() < 0.2, "{d}");
        assert!(svg.contains(">clock (s)<") && svg.contains(">10<"), "{svg}");
        assert!(svg.contains("role=\"img\" aria-labelledby=\"p--title p--text\"") && !svg.contains("http"), "{svg}");
    }

    #[test]
    fn many_error_bars_stay_in_the_picture() {
        let curve = |n: usize| Curve {
            spread: Spread::Bars(vec![(0.0, 1.0, 2.0), (9.0, 1.0, 2.0)]),
            ..Curve::line(&format!("m{n}"), n, vec![(0.0, 1.5), (9.0, 1.5)])
        };
        let svg = draw(
            &plot((0..40).map(curve).collect()),
            &Frame { id: "p", title: "", description: "", notes: &[], is_file: false },
        );
        for d in svg.split("class=\"whisker").skip(1).map(|rest| rest.split('"').nth(2).unwrap()) {
            for place in d.split('M').skip(1) {
                let x: f64 = place.split(' ').next().unwrap().parse().unwrap();
                assert!((0.0..=WIDTH).contains(&x), "{d}");
            }
        }
    }

    #[test]
    fn hostile_names_stay_text() {
        let frame = Frame { id: "p", title: "<script>x</script>", description: "\"'&", notes: &[], is_file: true };
        let svg = draw(&plot(vec![Curve::line("</svg><script>", 0, vec![(1.0, 1.0)])]), &frame);
        assert!(!svg.contains("<script") && svg.matches("</svg>").count() == 1, "{svg}");
    }
}
