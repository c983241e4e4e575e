//! Draws shares of a whole as stacked bars, one a row.

use super::canvas::{Canvas, MARGIN, Sample, TEXT_LINE, WIDTH, fill, fitted, text_width};
use super::plot::StackPlot;
use zeitnot_base::words::{count, percent};

/// The height of a bar.
const BAR: f64 = 24.0;
/// The height of a row: its name, its bar, and the space to the next.
const ROW: f64 = TEXT_LINE + BAR + 8.0;
/// The space between two parts: it separates neighbours where their colours do not.
const GAP: f64 = 2.0;
/// The largest size of a part that is drawn; larger ones are taken for it, as their sum could overflow.
const MOST: f64 = 1e15;

/// Draws the chart.
pub fn draw(plot: &StackPlot, canvas: &mut Canvas) {
    let entries: Vec<(Sample, String)> =
        plot.parts.iter().enumerate().map(|(color, name)| (Sample::Fill(color), name.clone())).collect();
    canvas.legend(&entries);
    let whole = WIDTH - 2.0 * MARGIN;
    for row in &plot.rows {
        let y = canvas.height + TEXT_LINE;
        canvas.text("ink", MARGIN, y - 5.0, "start", &fitted(&row.name, whole));
        let parts: Vec<f64> = row.parts.iter().map(|part| if *part > 0.0 { part.min(MOST) } else { 0.0 }).collect();
        let sum: f64 = parts.iter().sum();
        let mut x = MARGIN;
        for (color, part) in parts.iter().enumerate().filter(|_| sum > 0.0) {
            let width = whole * part / sum;
            if *part > 0.0 {
                canvas.rect(&fill(color), (x, y), ((width - GAP).max(0.5), BAR));
            }
            let label = if plot.tells_counts { count(*part) } else { percent(part / sum) };
            if *part > 0.0 && text_width(&label) + 6.0 < width {
                canvas.text("on", x + (width - GAP) / 2.0, y + 16.5, "middle", &label);
            }
            x += width;
        }
        canvas.height += ROW;
    }
    canvas.height += 4.0;
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Plot, StackRow, draw};
    use super::*;

    #[test]
    fn bars_are_as_wide_as_their_shares() {
        let row = |name: &str, parts: [f64; 3]| StackRow { name: name.into(), parts: parts.to_vec() };
        let rows = vec![row("a", [1.0, 3.0, 0.0]), row("b", [0.0; 3])];
        let parts = ["x", "y", "z"].map(str::to_owned).to_vec();
        let plot = Plot::Stacks(StackPlot { parts, rows, tells_counts: false });
        let svg = draw(&plot, &Frame { id: "s", title: "", description: "", notes: &[], is_file: false });
        let widths: Vec<f64> = svg
            .split("<rect ")
            .filter(|rect| rect.contains("height=\"24\""))
            .map(|rect| rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(widths.len(), 2, "a part of nothing has no bar: {svg}");
        assert!((widths[0] - 102.0).abs() < 0.2 && (widths[1] - 310.0).abs() < 0.2, "{widths:?}");
        assert!(svg.contains(">25 %<") && svg.contains(">75 %<") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn parts_beyond_measure_stay_in_the_picture() {
        let rows = vec![StackRow { name: "a".into(), parts: vec![1e308, f64::INFINITY, f64::NAN, -1e308] }];
        let parts = ["w", "x", "y", "z"].map(str::to_owned).to_vec();
        let plot = Plot::Stacks(StackPlot { parts, rows, tells_counts: false });
        let svg = draw(&plot, &Frame { id: "s", title: "", description: "", notes: &[], is_file: false });
        assert_eq!(svg.matches(">50 %<").count(), 2, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
