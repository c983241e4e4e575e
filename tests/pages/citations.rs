//! Comments cite docs/lc0.md and docs/documents.md by section, and no file that is not in the repository.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files whose sections are cited, as `docs/lc0.md, 3.1`.
const BOOKS: [&str; 2] = ["docs/lc0.md", "docs/documents.md"];

/// Folders that are searched for citations.
const FOLDERS: [&str; 6] = ["src", "crates", "tests", "benches", "models", "docs"];

/// Files of other projects that are named with their project.
const FOREIGN: [&str; 2] = ["KataGoMethods.md", "part-5-engineering/27-time-management.md"];

/// Files of tests whose examples hold citations and pages that do not exist.
const WITH_EXAMPLES: [&str; 2] = ["tests/pages/citations.rs", "tests/pages/docs.rs"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let has = |ending: &str| path.extension().is_some_and(|extension| extension == ending);
        if path.is_dir() {
            files(&path, into);
        } else if ["rs", "py", "md", "cpp"].into_iter().any(has)
            && !WITH_EXAMPLES.iter().any(|file| path == root().join(file))
        {
            into.push(path);
        }
    }
}

/// The number at the beginning of `text`: `3`, or `3.1`; only the latter where `dotted`.
fn section(text: &str, dotted: bool) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let part = text[whole..].strip_prefix('.').map_or(0, digits);
    match (whole, part) {
        (0, _) => None,
        (_, 0) => (!dotted).then_some(&text[..whole]),
        _ => Some(&text[..whole + 1 + part]),
    }
}

/// The sections of a citation, which goes on at `text` after the file's name: `, 3.1`, `, 3.1 and 3.2`, `, 3.1 to 3.3`.
fn sections(text: &str) -> Vec<&str> {
    let Some(mut rest) = text.strip_prefix(", ") else { return Vec::new() };
    let mut found = Vec::new();
    while let Some(number) = section(rest, !found.is_empty()) {
        found.push(number);
        rest = &rest[number.len()..];
        let separators = [", ", " and ", " to "];
        let Some(after) = separators.into_iter().find_map(|separator| rest.strip_prefix(separator)) else { break };
        rest = after;
    }
    found
}

/// The faults of the citations in `text`, the content of a file in `folder`.
fn faults(text: &str, folder: &Path, exists: impl Fn(&str, &str) -> bool) -> Vec<String> {
    // A citation may go on in the next line of a comment.
    let without_marks = |line: &str| line.trim_start().trim_start_matches(['/', '!', '#']).trim_start().to_owned();
    let text = text.lines().map(without_marks).collect::<Vec<_>>().join(" ");
    let mut faults = Vec::new();
    for (at, ending) in text.match_indices(".md") {
        let rest = &text[at + ending.len()..];
        if rest.starts_with(|next: char| next.is_alphanumeric()) {
            continue;
        }
        let of_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let before = text[..at].char_indices().rev().take_while(|&(_, c)| of_path(c));
        let start = before.last().map_or(at, |(start, _)| start);
        let name = &text[start..at + ending.len()];
        if BOOKS.contains(&name) {
            let cited = sections(rest);
            if cited.is_empty() && rest.starts_with(',') {
                faults.push(format!("{name} is cited without a section: write \"{name}, 3.1\""));
            }
            let missing = cited.into_iter().filter(|section| !exists(name, section));
            faults.extend(missing.map(|section| format!("{name} has no section {section}")));
        } else if !(FOREIGN.contains(&name)
            || name == ending
            || name.starts_with("//")
            || root().join(name).is_file()
            || folder.join(name).is_file())
        {
            faults.push(format!("{name} is not in the repository (Lc0's facts are cited as \"{}, 3.1\")", BOOKS[0]));
        }
    }
    faults
}

/// The numbers of a book's headings, each of which has an anchor of the same name.
fn headings(book: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(book)).unwrap();
    let mut found = BTreeSet::new();
    let mut anchor = "";
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("<a id=\"").and_then(|line| line.strip_suffix("\"></a>")) {
            anchor = id;
        } else if let Some(heading) = line.strip_prefix("##") {
            let Some(number) = section(heading.trim_start_matches(['#', ' ']), false) else { continue };
            assert_eq!(number, anchor, "{book}: the anchor before the heading {line:?}");
            assert!(found.insert(number.to_owned()), "{book} has section {number} twice");
        }
    }
    assert!(found.len() > 10, "{book}: {found:?}");
    found
}

#[test]
fn every_citation_resolves() {
    let headings = BOOKS.map(headings);
    let exists = |book: &str, section: &str| {
        let at = BOOKS.iter().position(|&name| name == book).unwrap();
        headings[at].contains(section)
    };
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| files(&root().join(folder), &mut paths));
    assert!(paths.len() > 200, "{}", paths.len());
    let mut all = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display();
        all.extend(faults(&text, path.parent().unwrap(), exists).into_iter().map(|fault| format!("{shown}: {fault}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_citation_that_does_not_resolve_is_found() {
    let found = |text: &str| faults(text, &root().join("src"), |_, section| ["3", "3.1", "3.2"].contains(&section));
    for right in [
        "/// PUCT (docs/lc0.md, 3.1).",
        "// docs/lc0.md, 3: and no more.",
        "//! (docs/lc0.md, 3.1\n//! and 3.2)",
        "// docs/documents.md, 3.1, 20 nodes",
        "`docs/lc0.md` has the facts",
        "// README.md",
    ] {
        assert_eq!(found(right), [""; 0], "{right}");
    }
    for (wrong, part) in [
        ("/// PUCT (lc0.md C.2).", "lc0.md is not in the repository"),
        ("// docs/lc0.md, 3.3", "no section 3.3"),
        ("// docs/lc0.md, 3.1 and 4.2.", "no section 4.2"),
        ("// docs/lc0.md, 3.1\n    // to 3.4", "no section 3.4"),
        ("// docs/lc0.md, C.2", "without a section"),
        ("// reliability.md D2", "reliability.md is not in the repository"),
    ] {
        let faults = found(wrong);
        assert!(faults.len() == 1 && faults[0].contains(part), "{wrong}: {faults:?}");
    }
}
