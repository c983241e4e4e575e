//! Reads tag pairs, such as `[White "name"]`, also badly written ones.

use zeitnot_base::files::from_any_encoding;

/// A tag pair at the begin of a text.
pub(super) struct TagPair {
    pub(super) name: String,
    pub(super) value: String,
    /// Bytes of the text that the tag pair takes.
    pub(super) length: usize,
    /// Whether the tag pair's bracket is closed.
    pub(super) is_closed: bool,
}

/// Whether a line is a tag pair, like `[White "name"]`.
pub(crate) fn is_tag_pair(line: &[u8]) -> bool {
    name_and_rest(line).is_some_and(|(_, rest)| rest.trim_ascii_start().starts_with(b"\""))
}

/// The name of a tag, and the text behind it; `None` where the text does not begin with a tag.
fn name_and_rest(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"[")?.trim_ascii_start();
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte);
    let length = text.iter().take_while(|byte| is_in_name(byte)).count();
    (length > 0).then(|| text.split_at(length))
}

/// Reads the tag pair at the begin of a text, within its first line; `None` where there is none. The value may contain
/// unescaped quotation marks or stand without any; the closing mark and bracket may be missing.
pub(super) fn tag_pair(text: &[u8]) -> Option<TagPair> {
    let line_end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(text.len());
    let line = &text[..line_end];
    let (name, rest) = name_and_rest(line)?;
    let pair = |value: &[u8], tail: &[u8], is_closed| TagPair {
        name: String::from_utf8_lossy(name).into_owned(),
        value: unescaped(value),
        length: line.len() - tail.len(),
        is_closed,
    };
    let Some(quoted) = rest.trim_ascii_start().strip_prefix(b"\"") else {
        let is_told = name[0].is_ascii_uppercase() && rest.first().is_some_and(u8::is_ascii_whitespace);
        let value = rest.trim_ascii_end().strip_suffix(b"]").filter(|_| is_told)?;
        return Some(pair(value, b"", true));
    };
    let mut ends = quoted.iter().enumerate().filter(|(_, byte)| **byte == b'"').filter_map(|(at, _)| {
        let tail = quoted[at + 1..].trim_ascii_start().strip_prefix(b"]")?;
        Some((&quoted[..at], tail))
    });
    // Marks within the value are not always escaped, and a backslash before the closing mark escapes nothing. So the
    // value ends before the first closing mark that something else follows, or before the last one.
    let is_end = |value: &[u8], tail: &[u8]| {
        let escapes = value.iter().rev().take_while(|byte| **byte == b'\\').count();
        let tail = tail.trim_ascii_start();
        escapes % 2 == 0 && (matches!(tail.first(), None | Some(b';' | b'{')) || is_tag_pair(tail))
    };
    let mut last = None;
    let end = ends.find(|(value, tail)| {
        last = Some((*value, *tail));
        is_end(value, tail)
    });
    Some(match end.or(last) {
        Some((value, tail)) => pair(value, tail, true),
        None => {
            let value = quoted.trim_ascii_end();
            let value = value.strip_suffix(b"]").unwrap_or(value);
            pair(value.strip_suffix(b"\"").unwrap_or(value), b"", false)
        }
    })
}

fn unescaped(value: &[u8]) -> String {
    let value = from_any_encoding(value.trim_ascii());
    let (mut text, mut signs) = (String::with_capacity(value.len()), value.chars().peekable());
    while let Some(sign) = signs.next() {
        let escaped = if sign == '\\' { signs.next_if(|next| matches!(next, '"' | '\\')) } else { None };
        text.push(escaped.unwrap_or(sign));
    }
    text.trim().to_owned()
}
