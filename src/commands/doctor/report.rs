//! Prints the checks as one text to paste into an issue, without the private parts of paths.

use super::Check;

/// The checks as Markdown, which an issue tracker shows as it is.
pub(super) fn text(checks: &[Check]) -> String {
    let mut text =
        format!("```\nzeitnot {} on {} {}\n", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    checks.iter().for_each(|check| text.push_str(&format!("{check}\n")));
    text.push_str("```");
    without_folders(&text)
}

/// Characters that may stand before a path, and characters that end a path.
const BEFORE: &[char] = &[' ', '(', '"', '\'', '`', '=', ',', '[', '\n', '\t'];
const END: &[char] = &[':', ';', ')', ',', '"', '`', ']', '\n'];

/// The text with every absolute path cut to its last part, even where the path contains blanks.
fn without_folders(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let starts = short.is_empty() || short.ends_with(BEFORE) || short.ends_with("file:");
        match root_of(rest).filter(|_| starts) {
            Some(root) => {
                let end = root + rest[root..].find(END).unwrap_or(rest.len() - root);
                let path = rest[..end].trim_end();
                match path.trim_end_matches(['/', '\\']).rfind(['/', '\\']).filter(|&last| last > 0) {
                    Some(last) => short.push_str(&format!("...{}", &path[last..])),
                    None => short.push_str(path),
                }
                rest = &rest[path.len()..];
            }
            None => {
                short.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    short
}

/// The length of the root of an absolute path at the beginning of the text; `None` if the text begins with none.
fn root_of(text: &str) -> Option<usize> {
    let drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && (text[1..].starts_with(":\\") || text[1..].starts_with(":/"));
    match text {
        _ if drive => Some(3),
        _ if text.starts_with("\\\\") => Some(2),
        _ if text.starts_with("~/") => Some(2),
        _ if text.starts_with('/') => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stay_private() {
        for (text, wanted) in [
            ("ok network: /home/jane doe/my nets/t1.pb.gz (by option): x", "ok network: .../t1.pb.gz (by option): x"),
            (
                "runtime: 1.31 (in the cache) /opt/a/lib.so; providers: CPU",
                "runtime: 1.31 (in the cache) .../lib.so; providers: CPU",
            ),
            ("error: C:\\Users\\jane\\x.pb: no network", "error: ...\\x.pb: no network"),
            ("C:/Users/jane/x, \\\\server\\share\\y.pb", ".../x, ...\\y.pb"),
            ("[/a/b],/c/d file:/e/f", "[.../b],.../d file:.../f"),
            ("~/nets/x.pb is there", ".../x.pb is there"),
            // Not a path, or nothing in it to hide.
            ("/tmp is full, 3/4 of it; a / b", "/tmp is full, 3/4 of it; a / b"),
        ] {
            assert_eq!(without_folders(text), wanted);
        }
    }
}
