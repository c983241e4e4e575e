//! Prints the checks as one text to paste into an issue, without the private parts of paths.

use super::Check;
use std::path::Path;

/// The text: Markdown, so that a tracker shows it as it is.
pub(super) fn text(checks: &[Check]) -> String {
    let mut text =
        format!("```\nzeitnot {} on {} {}\n", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    checks.iter().for_each(|check| text.push_str(&format!("{check}\n")));
    text.push_str("```");
    let folder = |variable: &str| std::env::var(variable).ok();
    without_folders(&text, [folder("HOME"), folder("USERPROFILE")].into_iter().flatten())
}

/// The text with `~` for the user's folders, and only the last part of any other path.
fn without_folders(text: &str, of_user: impl Iterator<Item = String>) -> String {
    let mut text = text.to_owned();
    for folder in of_user.filter(|folder| Path::new(folder).components().count() > 1) {
        text = text.replace(&folder, "~");
    }
    // Each word, with the blank or line end behind it.
    text.split_inclusive(char::is_whitespace).map(shortened).collect()
}

/// A word without the folders of an absolute path in it.
fn shortened(word: &str) -> String {
    let marks = |c: char| matches!(c, '(' | '"' | '\'' | '`' | '=');
    let start = word.find(|c| !marks(c)).unwrap_or(0);
    let (before, path) = word.split_at(start);
    let drive = path.as_bytes().get(1..3).is_some_and(|next| next == br":\");
    if !(path.starts_with('/') || path.starts_with('~') || drive) {
        return word.to_owned();
    }
    match path.trim_end().trim_end_matches(['/', '\\']).rfind(['/', '\\']) {
        Some(last) if last > 0 => format!("{before}...{}", &path[last..]),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stay_private() {
        let text = "ok network: /home/jane doe/nets/t1.pb.gz (by option): x\nok runtime: ONNX Runtime 1.31.1 (in the cache) /opt/a/lib.so; \
                    providers: CPU\nerror: C:\\Users\\jane\\x.pb is no network\nwarning /tmp is full, 3/4 of it";
        let wanted = "ok network: .../t1.pb.gz (by option): x\nok runtime: ONNX Runtime 1.31.1 (in the cache) .../lib.so; \
                      providers: CPU\nerror: ...\\x.pb is no network\nwarning /tmp is full, 3/4 of it";
        assert_eq!(without_folders(text, ["/home/jane doe".to_owned()].into_iter()), wanted);
        // Where the system has no home but the root, nothing is replaced by it.
        assert_eq!(without_folders("a / b", ["/".to_owned()].into_iter()), "a / b");
    }
}
