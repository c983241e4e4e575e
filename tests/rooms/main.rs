//! Checks the imports of the source against the module map in `src/lib.rs`: a room uses only rooms above its own row of the
//! table, and none of those that it must not know.
#![allow(clippy::unwrap_used, reason = "a test")]

mod imports;
mod map;

use imports::{Import, Scan};
use map::Map;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The room of the binary.
const COMMANDS: &str = "commands";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn module_map() -> Map {
    Map::parse(&fs::read_to_string(source().join("lib.rs")).unwrap()).unwrap()
}

/// The source files below `folder`, relative to `src`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(source().join(folder)).unwrap().map(|entry| folder.join(entry.unwrap().file_name()));
    let mut files = Vec::new();
    for path in entries {
        if source().join(&path).is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Every use of one room in another, tests left out.
fn all_imports() -> Vec<Import> {
    let scan = |path: PathBuf| -> (PathBuf, Scan) {
        let text = fs::read_to_string(source().join(&path)).unwrap();
        let scan = imports::scan(&path, &text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, scan)
    };
    let scans: Vec<(PathBuf, Scan)> = files(Path::new("")).into_iter().map(scan).collect();
    let tests: Vec<PathBuf> = scans.iter().flat_map(|(_, scan)| scan.tests.clone()).collect();
    let is_test = |path: &Path| tests.iter().any(|test| path.starts_with(test) || path.with_extension("") == *test);
    let mut imports = Vec::new();
    for (path, scan) in scans.iter().filter(|(path, _)| path != Path::new("lib.rs") && !is_test(path)) {
        let first = path.with_extension("");
        let first = first.components().next().unwrap().as_os_str().to_string_lossy();
        let from = if first == "main" { COMMANDS } else { &*first };
        let import = |(line, to): &(usize, String)| Import {
            file: format!("src/{}", path.display()),
            line: *line,
            from: from.to_owned(),
            to: to.clone(),
        };
        imports.extend(scan.rooms.iter().map(import));
    }
    imports
}

#[test]
fn imports_follow_the_module_map() {
    let imports = all_imports();
    // A reader that finds nothing finds no violation.
    for (from, to) in [("search", "backend"), ("backend", "runtime"), ("uci", "engine"), ("commands", "engine")] {
        assert!(imports.iter().any(|import| import.from == from && import.to == to), "{from} uses {to}");
    }
    let violations = module_map().violations(&imports);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn the_map_has_every_module() {
    let declared = fs::read_to_string(source().join("lib.rs")).unwrap();
    let declared = declared.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let declared: BTreeSet<&str> = declared.chain([COMMANDS]).collect();
    let map = module_map();
    assert_eq!(map.rooms().collect::<BTreeSet<_>>(), declared);
}
