//! Holds the colours of charts and page for light and dark, and writes the style sheet from them.
//!
//! The series have the order of hues that Okabe and Ito's palette for the colour-blind has, darker on light and lighter
//! on dark: each has a contrast of 4.5 with the background (WCAG's for text), so that text in the colour of the
//! background can stand on it. Curves also differ by their dashes.

use std::fmt::Write as _;

/// Number of colours for series.
pub const SERIES: usize = 8;

/// Dash patterns of curves, as `stroke-dasharray` has them; an empty text is a solid line.
const DASHES: [&str; SERIES] = ["", "8 4", "2 3", "10 3 2 3", "5 2", "14 4", "1 4", "8 3 1 3 1 3"];

/// The dash pattern of the curve with number `color`. Patterns shift against colours after each [`SERIES`] curves, so
/// that 64 curves look different.
pub fn dashes(color: usize) -> &'static str {
    DASHES[(color + color / SERIES) % SERIES]
}

/// The colours of the light or the dark scheme.
struct Scheme {
    background: &'static str,
    ink: &'static str,
    soft: &'static str,
    grid: &'static str,
    panel: &'static str,
    series: [&'static str; SERIES],
}

const LIGHT: Scheme = Scheme {
    background: "#ffffff",
    ink: "#1b1f24",
    soft: "#57606a",
    grid: "#dde1e6",
    panel: "#f3f5f7",
    series: ["#0b5fa5", "#b5450a", "#00704a", "#8a3a9e", "#6b5900", "#a3154f", "#2a6a7c", "#4d4d4d"],
};

const DARK: Scheme = Scheme {
    background: "#14171c",
    ink: "#e8eaed",
    soft: "#a9b1ba",
    grid: "#343a43",
    panel: "#1e232a",
    series: ["#7ab8ff", "#ff9f66", "#56d3a0", "#dd9bf0", "#e2c84b", "#ff8fb3", "#7fd0e0", "#c3c7cc"],
};

/// The style rules of all charts, for both schemes. They name colours, not variables: programs that show SVG files know
/// fewer of the rules of CSS than browsers.
pub fn chart_css() -> String {
    let mut css = String::from(
        "svg text{font:13px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\
         svg .name{font-weight:600}svg .line{fill:none;stroke-width:2;stroke-linejoin:round}\
         svg .thin{fill:none;stroke-width:1}svg .points{fill:none;stroke-width:3.5;stroke-linecap:round}\
         svg .dots{fill:none;stroke-width:9;stroke-linecap:round}\
         svg .band{opacity:.18;stroke:none}svg .whisker{fill:none;stroke-width:2}\n",
    );
    css.push_str(&chart_colors(&LIGHT));
    let _ = writeln!(css, "@media (prefers-color-scheme:dark){{\n{}}}", chart_colors(&DARK));
    css
}

fn chart_colors(scheme: &Scheme) -> String {
    let Scheme { background, ink, soft, grid, series, .. } = scheme;
    let mut css = format!(
        "svg .bg{{fill:{background}}}svg .ink{{fill:{ink}}}svg .soft{{fill:{soft}}}svg .on{{fill:{background}}}\
         svg .grid{{stroke:{grid};stroke-width:1}}svg .axis{{stroke:{soft};stroke-width:1}}\
         svg .reference{{stroke:{ink};stroke-width:1.5;stroke-dasharray:4 3;fill:none}}\n"
    );
    for (index, color) in series.iter().enumerate() {
        let _ = writeln!(css, "svg .s{index}{{stroke:{color}}}svg .f{index}{{fill:{color}}}");
    }
    css
}

/// The colours of the page, as variables of CSS.
pub fn page_css() -> String {
    let variables = |scheme: &Scheme| {
        let Scheme { background, ink, soft, grid, panel, series } = scheme;
        let series: String = series.iter().enumerate().map(|(index, color)| format!("--s{index}:{color};")).collect();
        format!(
            ":root{{--background:{background};--ink:{ink};--soft:{soft};--grid:{grid};--panel:{panel};\
             {series}--accent:var(--s0)}}"
        )
    };
    format!("{}\n@media (prefers-color-scheme:dark){{{}}}\n", variables(&LIGHT), variables(&DARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour, as WCAG 2.1 defines it.
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colours_stand_out_from_the_background_in_both_schemes() {
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
        for scheme in [&LIGHT, &DARK] {
            for color in scheme.series.iter().chain([&scheme.ink, &scheme.soft]) {
                for ground in [scheme.background, scheme.panel] {
                    assert!(contrast(color, ground) >= 4.5, "{color} on {ground}: {}", contrast(color, ground));
                }
            }
        }
    }

    #[test]
    fn only_bands_are_drawn_in_weaker_colours() {
        assert_eq!(chart_css().matches("opacity").count(), 1, "the contrast of the colours is that which is drawn");
        let looks: std::collections::BTreeSet<(usize, &str)> = (0..64).map(|n| (n % SERIES, dashes(n))).collect();
        assert_eq!(looks.len(), 64);
    }

    #[test]
    fn no_two_curves_look_alike_without_colours() {
        for (index, dash) in DASHES.iter().enumerate() {
            assert!(!DASHES[..index].contains(dash), "{dash}");
        }
    }

    #[test]
    fn the_style_sheet_names_no_other_file() {
        let css = format!("{}{}", chart_css(), page_css());
        assert!(
            !css.contains("url(") && !css.contains("@import") && css.matches('{').count() == css.matches('}').count()
        );
    }
}
