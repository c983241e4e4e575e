//! Writes the page of a report from the templates in `templates/`.

use super::ReportError;
use super::board::Board;
use super::figure::{Figure, Section};
use super::svg::{chart_css, page_css};
use askama::Template;

/// The style of the page; its colours come from the palette of the charts.
const STYLE: &str = include_str!("../../../templates/report.css");
/// The script that steps through games.
const SCRIPT: &str = include_str!("../../../templates/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    sections: &'a [Section],
    style: String,
    script: &'a str,
}

impl Page<'_> {
    /// The identifier of a figure's elements.
    fn id(&self, section: &Section, figure: &Figure) -> String {
        format!("{}-{}", section.name, figure.name)
    }

    /// The identifier of a section's board.
    fn board_id(&self, section: &Section) -> String {
        format!("{}-board", section.name)
    }

    /// The number of the ply that a board shows at first.
    fn last_ply(&self, board: &Board) -> usize {
        board.plies.len() - 1
    }
}

/// The whole page.
///
/// # Errors
/// [`ReportError::Page`], when the template fails.
pub fn page(sections: &[Section]) -> Result<String, ReportError> {
    let style = [page_css(), chart_css(), STYLE.to_owned()].concat();
    Ok(Page { sections, style, script: SCRIPT }.render()?)
}
