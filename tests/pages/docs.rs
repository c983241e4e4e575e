//! Checks the pages for readers: README.md is short, generated tables are those of the declarations, links lead to
//! files and headings that exist, and printed decisions of time managers are real.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Largest README.md, in bytes: everything else has a page in `docs/`.
const README_BYTES: usize = 12_000;

/// The command whose printed output is checked in every page.
const EXPLAIN: &str = "$ zeitnot time explain";

/// Stands in printed output for lines that were left out.
const LEFT_OUT: &str = "...";

#[test]
fn the_readme_is_short() {
    let bytes = page(Path::new("README.md")).len();
    assert!(bytes <= README_BYTES, "README.md has {bytes} bytes, {README_BYTES} are allowed: move facts into docs/");
}

#[test]
fn tables_are_up_to_date() {
    let output = zeitnot(&["options", "--markdown"]);
    let (options, parameters) = output.split_at(output.find("## ").unwrap());
    for table in options.split("\n\n").map(str::trim).filter(|table| !table.is_empty()) {
        assert!(table.starts_with("| ") && table.lines().count() > 5, "{table}");
        expect_in("docs/options.md", table);
    }
    assert!(parameters.contains("## legacy") && parameters.lines().count() > 100, "{parameters}");
    expect_in("docs/parameters.md", parameters.trim());
}

// Of what `runtime status` names without a CUDA of its own, on this system.
#[test]
fn sizes_of_downloads_are_those_of_the_packages() {
    let (devices, mut seen) = (page(Path::new("docs/devices.md")), 0);
    for line in zeitnot(&["runtime", "status"]).lines().filter(|line| line.contains("not installed (`")) {
        let (command, size) = line.rsplit_once("(`").unwrap().1.trim_end_matches(')').split_once("`, ").unwrap();
        if !command.contains("--cuda") {
            assert!(devices.contains(&format!("`{command}` ({size}")), "docs/devices.md: {command} takes {size}");
            seen += 1;
        }
    }
    assert!(seen > 0 || !cfg!(target_arch = "x86_64"), "no size was found");
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages: BTreeMap<PathBuf, String> = pages().into_iter().map(|path| (path.clone(), page(&path))).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        for link in links(text) {
            if let Err(why) = check(path, &link, &pages) {
                broken.push(format!("{}: ({link}) {why}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

// Relative links of such a page lead nowhere in rustdoc. It defines its links at its end, and the module defines them
// before it as paths: of two definitions the first counts.
#[test]
fn pages_that_are_documentation_of_modules_lead_to_modules_there() {
    let mut seen = 0;
    for source in files(&["crates"], "rs") {
        let text = fs::read_to_string(root().join(&source)).unwrap();
        let Some((own, included)) = text.split_once("#![doc = include_str!(\"") else { continue };
        let path = target(&source, included.split('"').next().unwrap()).unwrap();
        let text = page(&path);
        let linked = links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with('#')).count();
        let defined: Vec<&str> = text.lines().filter(|line| line.starts_with('[') && line.contains("]: ")).collect();
        assert_eq!(defined.len(), linked, "{}: write [text][name] and below [name]: page", path.display());
        for label in defined.iter().filter_map(|line| line.split_once(": ")).map(|(label, _)| label) {
            let definition = format!("//! {label}: crate::");
            assert!(own.contains(&definition), "{}: {definition} is missing above its page", source.display());
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen} links were found");
}

#[test]
fn every_page_of_docs_is_in_the_book() {
    let summary = PathBuf::from("docs/SUMMARY.md");
    let listed: Vec<PathBuf> = links(&page(&summary)).iter().filter_map(|link| target(&summary, link)).collect();
    let of_the_book = |path: &PathBuf| path.starts_with("docs") || path.starts_with("crates/zeitnot-time/docs");
    for path in pages().into_iter().filter(|path| of_the_book(path) && *path != summary) {
        assert!(listed.contains(&path), "{} is not in docs/SUMMARY.md", path.display());
    }
    let results = PathBuf::from("docs/results/README.md");
    let listed: Vec<PathBuf> = links(&page(&results)).iter().filter_map(|link| target(&results, link)).collect();
    for path in pages().into_iter().filter(|path| path.starts_with("docs/results") && *path != results) {
        assert!(listed.contains(&path), "{} is not in docs/results/README.md", path.display());
    }
}

// GitHub and editors know nothing of the book's instructions, and show them as text.
#[test]
fn no_page_has_instructions_of_the_book() {
    for path in files(&["docs", "crates"], "md") {
        assert!(
            !page(&path).contains("{{#"),
            "{}: docs/book.py brings pages from elsewhere into the book",
            path.display()
        );
    }
}

/// Passes, and says so on standard error, where mdbook is not in the path.
#[test]
fn the_book_is_built_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut mdbook = std::process::Command::new("mdbook");
    mdbook.arg("build").arg(root()).arg("--dest-dir").arg(folder.path());
    let Ok(output) = mdbook.output() else { return eprintln!("skipped: mdbook is not in the path") };
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
    let smooth = fs::read_to_string(folder.path().join("time-managers/smooth.html")).unwrap();
    assert!(smooth.contains("target_new_nodes"), "the crate's page is in the book");
    // Links that leave the book (to CONTRIBUTING, say) have no page there.
    let mut links = 0;
    let pages = ["", "time-managers"].map(|inner| fs::read_dir(folder.path().join(inner)).unwrap());
    for page in pages.into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let Ok(text) = fs::read_to_string(&page) else { continue };
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next()) {
            if link.ends_with(".html") && !link.contains(':') && !link.starts_with("../") {
                links += 1;
                assert!(page.with_file_name(link).is_file(), "{}: {link}", page.display());
            }
        }
    }
    assert!(links > 100, "{links}");
}

#[test]
fn printed_decisions_are_real() {
    let mut commands = 0;
    for path in pages() {
        for (command, expected) in sessions(&page(&path)) {
            commands += 1;
            let arguments = words(command.trim_start_matches("$ zeitnot"));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let printed = zeitnot(&arguments);
            assert!(is_cut_from(&expected, &printed), "{}: {command} prints\n{printed}", path.display());
        }
    }
    assert!(commands > 0, "no page shows a decision");
}

// Of the checks themselves.

#[test]
fn links_outside_code_are_found() {
    let text = "[a](b.md) `[c](d.md)`\n```sh\n[e](f.md)\n```\n![g](h.png \"i\"), [j][k] [l](#m-n) \n\n[k]: o.md#p\n";
    assert_eq!(links(text), ["b.md", "h.png", "#m-n", "o.md#p"]);
}

#[test]
fn broken_links_are_told() {
    let pages = BTreeMap::from([
        (PathBuf::from("docs/a.md"), "# One two\n## `x(y=z)`, *and* [w](v.md)\n## One two".to_owned()),
        (PathBuf::from("README.md"), String::new()),
    ]);
    let ok = |link: &str| check(Path::new("docs/a.md"), link, &pages).is_ok();
    for link in ["../README.md", "#one-two", "#one-two-1", "a.md#xyz-and-w", "../src/lib.rs", "../src", "https://a.b/c"]
    {
        assert!(ok(link), "{link}");
    }
    for link in ["b.md", "#three", "a.md#x", "../README.md#one-two", "../../README.md", "../src/lib.rs#L1"] {
        assert!(!ok(link), "{link}");
    }
}

#[test]
fn output_may_be_cut_between_lines() {
    let printed = "a\nb\nc\nd";
    for cut in ["a\nb\nc\nd", "a\n...\nd", "...\nb\nc\n...", "..."] {
        assert!(is_cut_from(cut, printed), "{cut}");
    }
    for wrong in ["a\nb\nc", "b\n...", "...\nc", "a\n...\nx\n...\nd", "a\nb\n...\nb\n...\nd", "a\nc\n..."] {
        assert!(!is_cut_from(wrong, printed), "{wrong}");
    }
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(words(" time  'a(b, c=1)' \"d e\" f"), ["time", "a(b, c=1)", "d e", "f"]);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a page, whose path is relative to the repository.
fn page(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages that are checked, relative to the repository.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("README.md"), PathBuf::from("models/README.md")];
    found.extend(files(&["docs", "tests", "crates"], "md"));
    found.sort();
    found
}

/// The files in these folders whose names end so, relative to the repository.
fn files(folders: &[&str], ending: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found
}

/// The output of this command of the engine, then its error line, if any; it runs in the root of the repository.
fn zeitnot(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("zeitnot").unwrap().current_dir(root()).args(arguments).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn expect_in(path: &str, generated: &str) {
    let is_there = page(Path::new(path)).contains(generated);
    assert!(is_there, "put the output of `zeitnot options --markdown` into {path}:\n{generated}");
}

/// The lines of a page with the language of the fenced block that each is in, `None` outside; fences are left out.
fn lines(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut fence: Option<(&str, &str)> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        match fence {
            Some((mark, _)) if trimmed.starts_with(mark) => fence = None,
            None if trimmed.starts_with("```") || trimmed.starts_with("~~~") => {
                let (mark, language) = trimmed.split_at(3);
                fence = Some((mark, language.trim()));
            }
            _ => lines.push((fence.map(|(_, language)| language), line)),
        }
    }
    lines
}

/// The targets of all links of a page, code left out.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, line) in lines(text).into_iter().filter(|(language, _)| language.is_none()) {
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let definition = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let targets = inline.chain(definition.map(|(_, target)| target));
        found.extend(targets.filter_map(|target| target.split_whitespace().next()).map(str::to_owned));
    }
    found
}

/// The file that a link of the page at `path` leads to, relative to the repository; `None` where it leaves it.
fn target(path: &Path, link: &str) -> Option<PathBuf> {
    let file = link.split('#').next()?;
    if file.is_empty() {
        return Some(path.to_owned());
    }
    let mut target = path.parent()?.to_owned();
    for component in Path::new(file).components() {
        match component {
            Component::Normal(name) => target.push(name),
            Component::CurDir => {}
            Component::ParentDir => target.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target)
}

/// Says why a link of the page at `path` is broken.
fn check(path: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> Result<(), String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(());
    }
    let target = target(path, link).ok_or("leaves the repository")?;
    let text = pages.get(&target);
    if text.is_none() && !root().join(&target).exists() {
        return Err(format!("leads to {}, which does not exist", target.display()));
    }
    match (link.split_once('#'), text) {
        (Some((_, anchor)), Some(text)) if headings(text).iter().any(|heading| heading == anchor) => Ok(()),
        (Some((_, anchor)), _) => Err(format!("{} has no heading #{anchor}", target.display())),
        (None, _) => Ok(()),
    }
}

/// The anchors of a page's headings, made as GitHub makes them.
fn headings(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in lines(text).into_iter().filter(|(language, _)| language.is_none()) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor = anchor(title.trim());
        let before = seen.entry(anchor.clone()).or_default();
        anchors.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
        *before += 1;
    }
    anchors
}

/// A heading as an anchor: letters and digits in lower case, hyphens for blanks, nothing for all other signs, and of a
/// link its text alone.
fn anchor(title: &str) -> String {
    let mut text = String::new();
    for (index, part) in title.split("](").enumerate() {
        text += if index == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) };
    }
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The commands [`EXPLAIN`] in a page's blocks of the language `console`, each with its printed output.
fn sessions(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for (language, line) in lines(text) {
        if language != Some("console") {
            open = false;
        } else if line.starts_with("$ ") {
            open = line.starts_with(EXPLAIN);
            if open {
                found.push((line.to_owned(), String::new()));
            }
        } else if let Some((_, output)) = found.last_mut().filter(|_| open) {
            output.push_str(line);
            output.push('\n');
        }
    }
    found
}

/// Whether `printed` is `cut` with lines put back where it says that some were left out.
fn is_cut_from(cut: &str, printed: &str) -> bool {
    let (cut, printed): (Vec<&str>, Vec<&str>) =
        (cut.trim_end().lines().collect(), printed.trim_end().lines().collect());
    let parts: Vec<&[&str]> = cut.split(|line| *line == LEFT_OUT).collect();
    let [first, middle @ .., last] = parts.as_slice() else { return cut == printed };
    let Some(mut rest) = printed.strip_prefix(*first).and_then(|rest| rest.strip_suffix(*last)) else { return false };
    for part in middle.iter().filter(|part| !part.is_empty()) {
        let Some(at) = rest.windows(part.len()).position(|window| window == *part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// The words of a command line, with single and double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (String::new(), None);
    for c in line.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
