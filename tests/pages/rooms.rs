//! Checks the tables of modules: inside a crate a module uses only modules above its own row, and every table names the
//! modules that its file declares. Cargo keeps the crates apart.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The roots of the crates, each with a table of its modules, lowest first.
const LAYERED: [&str; 2] = ["crates/zeitnot-engine/src", "crates/zeitnot-lab/src"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The names in backticks in the first cells of the table that begins with this head.
fn table(text: &str, head: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = rows.take_while(|line| line.starts_with("//! |"));
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    rows.map(first).flat_map(|cell| quoted(&cell)).collect()
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The code of a file without comments and without what is compiled for its tests alone.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if bare.starts_with("#[cfg(test)]") || bare.starts_with("#[cfg(any(test, feature = \"testing\"))]") {
            let indent = line.len() - bare.len();
            let item = lines.by_ref().find(|line| !line.trim_start().starts_with("#["));
            if item.is_some_and(|item| item.ends_with('{')) {
                let _ = lines.by_ref().find(|line| line.trim_start().starts_with('}') && line.len() == indent + 1);
            }
        } else if !bare.starts_with("//") {
            kept += bare.split(" // ").next().unwrap();
            kept.push('\n');
        }
    }
    kept
}

/// The modules that a crate's code names at its root: `crate::NAME`.
fn used(code: &str) -> impl Iterator<Item = &str> {
    let word = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    code.split("crate::").skip(1).map(move |rest| &rest[..word(rest)])
}

/// Every import of `file` that does not lead to an earlier row of `rows` than that of `module`.
fn upward<'a>(rows: &[String], module: &str, code: &'a str) -> Vec<&'a str> {
    let row = |name: &str| rows.iter().position(|row| row == name);
    let own = row(module);
    let is_upward = |name: &&str| row(name).is_some_and(|used| own.is_none_or(|own| used > own));
    used(code).filter(is_upward).collect()
}

#[test]
fn imports_inside_a_crate_lead_to_rows_above() {
    let mut seen = 0;
    for source in LAYERED.map(|source| root().join(source)) {
        let rows = table(&fs::read_to_string(source.join("lib.rs")).unwrap(), "//! | module |");
        assert!(rows.len() > 5, "{}: {rows:?}", source.display());
        for path in files(&source) {
            let below = path.strip_prefix(&source).unwrap();
            let module = below.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if module == "lib" || stem.ends_with("tests") {
                continue;
            }
            let code = code(&fs::read_to_string(&path).unwrap());
            assert!(!code.contains("use crate::{"), "{}: name each module in a line of its own", path.display());
            seen += used(&code).count();
            let upward = upward(&rows, &module, &code);
            assert!(upward.is_empty(), "{}: {module} uses {upward:?}, which lie below its row", path.display());
        }
    }
    assert!(seen > 100, "{seen} imports were found");
}

#[test]
fn tables_of_files_name_the_modules_that_are_there() {
    let mut tables = 0;
    for folder in ["src", "crates", "models/label"].map(|folder| root().join(folder)) {
        for path in files(&folder) {
            let text = fs::read_to_string(&path).unwrap();
            let mut named: BTreeSet<String> = BTreeSet::new();
            for head in ["//! | file |", "//! | module |"] {
                named.extend(table(&text, head));
            }
            if named.is_empty() {
                continue;
            }
            tables += 1;
            let named: BTreeSet<String> =
                named.into_iter().map(|name| name.rsplit("::").next().unwrap().to_owned()).collect();
            let code = code(&text);
            let declared = |line: &str| {
                let rest = line.split("mod ").nth(1)?.strip_suffix(';')?;
                (line.starts_with("mod ") || line.starts_with("pub")).then(|| rest.to_owned())
            };
            let declared: BTreeSet<String> = code.lines().filter_map(declared).collect();
            assert_eq!(named, declared, "{}: its table and its modules", path.display());
        }
    }
    assert!(tables > 15, "{tables} tables were found");
}

#[test]
fn imports_upward_are_found() {
    let rows = ["cellar", "kitchen", "parlour"].map(str::to_owned);
    let text = "use crate::cellar::Barrel;\n// crate::roof\n#[cfg(test)]\nmod tests {\n    use crate::parlour;\n}\nfn f() -> crate::parlour::X {}\n";
    assert_eq!(upward(&rows, "kitchen", &code(text)), ["parlour"]);
    assert_eq!(upward(&rows, "parlour", &code(text)), [""; 0]);
    let tests = "#[cfg(test)]\n#[path = \"a.rs\"]\nmod tests;\nuse crate::parlour::X;";
    assert_eq!(upward(&rows, "cellar", &code(tests)), ["parlour"]);
}
