//! Writes the page of a report from the templates in `templates/`.

use super::ReportError;
use super::figure::{Figure, Listing, Section};
use askama::Template;
use sha2::{Digest as _, Sha256};
use zeitnot_charts::{chart_css, page_css};
use zeitnot_text::printable::is_safe;

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

    /// The identifier of a section's table without a chart.
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
    let style_hash = hash(&style);
    let mut page = Page { sections, style, style_hash }.render()?;
    // A name must not turn the text behind it round, or command a terminal, wherever it stands.
    page.retain(|c| is_safe(c) || matches!(c, '\n' | '\t'));
    Ok(page)
}

/// A text with a line feed for each line break, which a checkout may have otherwise: a browser makes them so before it
/// hashes an element.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The SHA-256 of a text in Base64, by which a Content-Security-Policy allows a style.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut base64 = String::new();
    for chunk in Sha256::digest(text.as_bytes()).chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize % 64;
            base64.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    base64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_content_security_policies() {
        // The examples of the specification, and the hash of nothing.
        assert_eq!(hash("alert('Hello, world.');"), "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(lines("a\r\nb\n"), "a\nb\n");
    }
}
