//! Draws values with intervals, one a row, and values for comparison.

use super::canvas::{Canvas, MARGIN, Sample, TEXT_LINE, WIDTH, fill, fitted, stroke, text_width};
use super::lines::axis_name;
use super::markup::px;
use super::plot::{DotPlot, Reference};
use super::scale::Scale;

/// The height of a row below its name.
const ROW: f64 = 20.0;
/// Half the height of the bars at the ends of an interval.
const END: f64 = 5.0;
/// Number of ticks to aim at on the axis.
const TICKS: usize = 5;

/// Draws the chart.
pub fn draw(plot: &DotPlot, canvas: &mut Canvas) {
    let compared: Vec<(&str, f64)> = plot
        .references
        .iter()
        .filter_map(|reference| match reference {
            Reference::Value(name, value) => Some((name.as_str(), *value)),
            Reference::Diagonal(_) => None,
        })
        .collect();
    let entries: Vec<(Sample, String)> =
        compared.iter().map(|(name, _)| (Sample::Reference, (*name).to_owned())).collect();
    canvas.legend(&entries);
    let values = plot.rows.iter().flat_map(|row| row.value.into_iter().chain(row.interval.into_iter().flatten()));
    let scale = Scale::new(&plot.axis, values.chain(compared.iter().map(|(_, value)| *value)), TICKS);
    let (left, right) = (MARGIN + 8.0, WIDTH - MARGIN - 16.0);
    let x = |value: f64| left + scale.place(value) * (right - left);
    let top = canvas.height + 4.0;
    let bottom = top + plot.rows.len() as f64 * (TEXT_LINE + ROW) + 4.0;
    for (value, label) in &scale.ticks {
        canvas.line("grid", (x(*value), top), (x(*value), bottom));
        canvas.text("soft", x(*value), bottom + 17.0, "middle", label);
    }
    canvas.line("axis", (left, bottom), (right, bottom));
    canvas.text("soft", right, bottom + 35.0, "end", &axis_name(&plot.axis, &scale));
    for (_, value) in &compared {
        canvas.line("reference", (x(*value), top), (x(*value), bottom));
    }
    for (index, row) in plot.rows.iter().enumerate() {
        let name_y = top + index as f64 * (TEXT_LINE + ROW) + TEXT_LINE - 4.0;
        // The grid would strike the name through.
        let name = fitted(&row.name, right - left);
        canvas.rect("bg", (left, name_y - 12.0), (text_width(&name), 16.0));
        canvas.text("ink", left, name_y, "start", &name);
        let y = name_y + 4.0 + ROW / 2.0;
        if let Some([low, high]) = row.interval {
            let (low, high) = (x(low), x(high));
            let (above, height) = (px(y - END), px(2.0 * END));
            let d = format!(
                "M{} {}H{}M{} {above}v{height}M{} {above}v{height}",
                px(low),
                px(y),
                px(high),
                px(low),
                px(high)
            );
            canvas.path(&stroke("whisker", row.color), "", &d);
        }
        match row.value {
            Some(value) => {
                canvas
                    .markup
                    .empty("circle", &[("class", &fill(row.color)), ("cx", &px(x(value))), ("cy", &px(y)), ("r", "5")]);
            }
            None => canvas.text("soft", left, y + 4.5, "start", "beyond measure"),
        }
    }
    canvas.height = bottom + 42.0;
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, DotRow, Frame, Plot, Quantity, draw};
    use super::*;

    #[test]
    fn every_row_has_its_name_and_its_value() {
        let row = |name: &str, value| DotRow { name: name.into(), value, interval: None, color: 0 };
        let rows = vec![row("a", Some(0.0)), row("b", Some(10.0)), row("c", None)];
        let references = vec![Reference::Value("oracle".into(), 5.0)];
        let plot = Plot::Dots(DotPlot { axis: Axis::new("Elo", Quantity::Number), rows, references });
        let svg = draw(&plot, &Frame { id: "d", title: "", description: "", notes: &[], is_file: false });
        let centres: Vec<f64> =
            svg.split("cx=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
        let middle: f64 =
            svg.split("class=\"reference\" x1=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert_eq!(centres.len(), 2);
        assert!((middle - (centres[0] + centres[1]) / 2.0).abs() < 0.2, "{centres:?} {middle}");
        assert!(svg.contains(">beyond measure<") && svg.contains(">oracle<"), "{svg}");
    }
}
