//! Writes elements of XML with escaped attributes and text.

use std::fmt::Write as _;
use zeitnot_base::printable::is_bidi_control;

/// Escapes a text for the content and the attributes of XML and HTML. Characters that XML does not allow become U+FFFD;
/// characters that turn the direction of text are left out.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(c),
            c if is_bidi_control(c) => {}
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A length or a coordinate as text, rounded to a tenth.
pub fn px(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // No -0.
    format!("{}", rounded + 0.0)
}

/// Writer of XML elements, one after another.
#[derive(Debug, Default)]
pub struct Markup {
    text: String,
}

impl Markup {
    /// Opens an element.
    pub fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.text.push('>');
    }

    /// Closes an element.
    pub fn close(&mut self, name: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "</{name}>");
    }

    /// Writes an element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.text.push_str("/>\n");
    }

    /// Writes an element with a text.
    pub fn text(&mut self, name: &str, attributes: &[(&str, &str)], content: &str) {
        self.open(name, attributes);
        self.text.push_str(&escape(content));
        self.close(name);
    }

    /// Adds elements that are written already, without escaping anything.
    pub fn push(&mut self, elements: &str) {
        self.text.push_str(elements);
    }

    /// The text of all elements.
    pub fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)]) {
        let _ = write!(self.text, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escape(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escape("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
        assert_eq!(escape("x\u{0}\u{1b}[31m\ny"), "x\u{fffd}\u{fffd}[31m\ny");
        assert_eq!(escape("a\u{202e}b\u{2066}c\u{5d0}"), "abc\u{5d0}");
        let mut markup = Markup::default();
        markup.text("text", &[("class", "\"><script>")], "</text><script>alert(1)</script>");
        let text = markup.finish();
        assert_eq!(text.matches('<').count(), 2, "{text}");
    }

    #[test]
    fn lengths_have_a_tenth() {
        assert_eq!([1.0, 0.25, -0.01, 12.349].map(px), ["1", "0.3", "0", "12.3"]);
    }
}
