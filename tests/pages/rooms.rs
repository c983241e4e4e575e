//! Checks the tables of modules: inside a crate a module uses only modules above its own row, and every table names the
//! modules that its file declares. Cargo keeps the crates apart.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The roots of the crates, each with a table of its modules, lowest first.
const LAYERED: [&str; 5] = [
    "crates/zeitnot-engine/src",
    "crates/zeitnot-games/src",
    "crates/zeitnot-analysis/src",
    "crates/zeitnot-lab/src",
    "crates/zeitnot-time/src",
];

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

/// The name that a text begins with.
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The first names of the paths that begin here: one, or those of a group in braces.
fn first_names(rest: &str) -> Vec<&str> {
    let Some(group) = rest.strip_prefix('{') else {
        return vec![word(rest)];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            '{' => depth += 1,
            ',' if depth == 0 => begins = true,
            letter if begins && !letter.is_whitespace() => {
                names.push(word(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The names at the root of its crate that a file's code uses, by `crate::` or by `depth` times `super::`, which lead
/// from the file's module to the root.
fn used(code: &str, depth: usize) -> Vec<&str> {
    let chain = "super::".repeat(depth);
    let by_crate = code.match_indices("crate::");
    let by_super = code.match_indices(chain.as_str());
    let by_super =
        by_super.filter(|(at, _)| !code[..*at].ends_with("::") && !code[at + chain.len()..].starts_with("super::"));
    by_crate.chain(by_super).flat_map(|(at, path)| first_names(&code[at + path.len()..])).collect()
}

/// The order of the modules of a crate.
struct Layers {
    /// The modules, lowest first.
    rows: Vec<String>,
    /// The modules whose items the root exports, by the name of the item.
    exports: BTreeMap<String, String>,
}

impl Layers {
    /// The order that the text of a root tells.
    fn of(root: &str) -> Layers {
        let code = code(root);
        let of_one = |path: &str| {
            let (module, names) = path.split_once("::").unwrap_or_default();
            first_names(names).into_iter().map(|name| (name.to_owned(), module.to_owned())).collect::<Vec<_>>()
        };
        Layers {
            rows: table(root, "//! | module |"),
            exports: code.split("pub use ").skip(1).flat_map(of_one).collect(),
        }
    }

    /// The row of a module, or of the one that has the item of this name.
    fn row(&self, name: &str) -> Option<usize> {
        let module = self.exports.get(name).map_or(name, String::as_str);
        self.rows.iter().position(|row| row == module)
    }

    /// Every name in the code of a file that leads to a later row than that of its `module`.
    fn upward<'a>(&self, module: &str, depth: usize, code: &'a str) -> Vec<&'a str> {
        let own = self.row(module);
        used(code, depth).into_iter().filter(|name| self.row(name) > own).collect()
    }
}

#[test]
fn imports_inside_a_crate_lead_to_rows_above() {
    let mut seen = 0;
    for source in LAYERED.map(|source| root().join(source)) {
        let layers = Layers::of(&fs::read_to_string(source.join("lib.rs")).unwrap());
        assert!(layers.rows.len() > 1, "{}: {:?}", source.display(), layers.rows);
        for path in files(&source) {
            let below = path.strip_prefix(&source).unwrap();
            let module = below.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            // The root itself, and what is compiled for tests alone.
            if layers.row(&module).is_none() || stem.ends_with("tests") {
                continue;
            }
            let depth = below.components().count() - usize::from(stem == "mod");
            let code = code(&fs::read_to_string(&path).unwrap());
            seen += used(&code, depth).iter().filter(|name| layers.row(name).is_some()).count();
            let upward = layers.upward(&module, depth, &code);
            assert!(upward.is_empty(), "{}: {module} uses {upward:?}, which lie below its row", path.display());
        }
    }
    assert!(seen > 250, "{seen} imports were found");
}

#[test]
fn the_walk_of_a_move_leads_in_one_direction() {
    let head = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let walk = table(&head, "//! | step |");
    assert!(walk.len() > 12, "{walk:?}");
    for (at, file) in walk.iter().enumerate() {
        let code = code(&fs::read_to_string(root().join(file)).unwrap());
        let uses: Vec<&str> = code.split("use ").skip(1).filter_map(|rest| rest.split(';').next()).collect();
        let folder = |file: &str| file.trim_end_matches("/mod.rs").rsplit_once('/').unwrap().0.to_owned();
        for before in &walk[..at] {
            let name = before.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit_once('/').unwrap().1;
            let above = folder(before);
            let path = match above.strip_suffix("/src") {
                // A file at its crate's root.
                Some(_) if folder(file).starts_with(&above) => format!("crate::{name}"),
                Some(of) => format!("{}::{name}", of.rsplit('/').next().unwrap().replace('-', "_")),
                None => format!("{}::{name}", above.rsplit('/').next().unwrap()),
            };
            let beside = format!("super::{name}");
            let is_used = |used: &&&str| used.contains(&path) || folder(file) == above && used.starts_with(&beside);
            assert_eq!(uses.iter().find(is_used), None, "{file} uses {before}, a step before it");
        }
    }
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
    let root = "//! | module | content |\n//! |---|---|\n//! | `cellar` | |\n//! | `kitchen`, [`parlour`] | |\nmod kitchen;\npub use parlour::{Lamp, Sofa};\n";
    let layers = Layers::of(root);
    assert_eq!(layers.rows, ["cellar", "kitchen", "parlour"]);
    let upward = |module, depth, text: &str| layers.upward(module, depth, &code(text)).join(" ");
    let text = "use crate::cellar::Barrel;\n// crate::roof\n#[cfg(test)]\nmod tests {\n    use crate::parlour;\n}\nfn f() -> crate::parlour::X {}\n";
    assert_eq!(upward("kitchen", 1, text), "parlour");
    assert_eq!(upward("parlour", 1, text), "");
    let tests = "#[cfg(test)]\n#[path = \"a.rs\"]\nmod tests;\nuse crate::parlour::X;";
    assert_eq!(upward("cellar", 1, tests), "parlour");
    // A chain of `super::` counts where it ends at the root.
    let chains = "use super::parlour::X;\nuse super::super::kitchen;\nuse super::super::super::cellar;";
    assert_eq!(["cellar", "kitchen"].map(|module| upward(module, 1, chains)), ["parlour", "parlour"]);
    assert_eq!(["cellar", "kitchen"].map(|module| upward(module, 2, chains)), ["kitchen", ""]);
    // Groups, and what the root exports.
    let groups = "use crate::{\n    cellar::{Barrel, parlour},\n    kitchen, Sofa,\n};\nuse super::{Lamp, Plan};\n";
    assert_eq!(upward("cellar", 1, groups), "kitchen Sofa Lamp");
    assert_eq!(upward("kitchen", 2, groups), "Sofa");
}
