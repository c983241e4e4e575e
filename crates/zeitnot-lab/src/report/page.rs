//! Writes the page of a report from the templates in `templates/`.

use super::ReportError;
use super::figure::{Figure, Listing, Section};
use askama::Template;
use zeitnot_base::printable::is_safe;
use zeitnot_charts::{chart_css, content_hash, lines, page_css};

/// The style of the page; its colours come from the palette of the charts.
const STYLE: &str = include_str!("../../templates/report.css");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    sections: &'a [Section],
    style: String,
    style_hash: String,
}

impl Page<'_> {
    /// The identifier of a figure's elements.
    fn id(&self, section: &Section, figure: &Figure) -> String {
        format!("{}--{}", section.name, figure.name)
    }

    /// The identifier of the elements of a section's table without a chart.
    fn listing_id(&self, section: &Section, listing: &Listing) -> String {
        format!("{}--{}", section.name, listing.name)
    }
}

/// The page of these sections.
///
/// # Errors
/// [`ReportError::Page`], when the template fails.
pub fn page(sections: &[Section]) -> Result<String, ReportError> {
    let style = lines(&[page_css(), chart_css(), STYLE.to_owned()].concat());
    let style_hash = content_hash(&style);
    let mut page = Page { sections, style, style_hash }.render()?;
    // A name must not turn the text behind it round, or command a terminal, wherever it stands.
    page.retain(|c| is_safe(c) || matches!(c, '\n' | '\t'));
    Ok(page)
}
