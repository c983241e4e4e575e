//! Reads the imports of a source file: every path that begins at the root of a crate, wherever it stands. Tests are left
//! out, as are comments and texts.

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the library, by which the binary imports it.
const LIBRARY: &str = "zeitnot";
/// The feature that code for tests alone is compiled with.
const TEST_FEATURE: &str = "\"testing\"";
/// The target of an import that takes all rooms at once.
const ALL_ROOMS: &str = "*";

/// The use of one room in another.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The file.
    pub file: String,
    /// The line in it.
    pub line: usize,
    /// The room that the file belongs to.
    pub from: String,
    /// The room that is used.
    pub to: String,
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The rooms that a file uses, and the files of its tests.
#[derive(Debug, Default)]
pub struct Scan {
    /// Lines and rooms.
    pub rooms: Vec<(usize, String)>,
    /// Modules of tests in files of their own; a path without extension where no `#[path]` names the file.
    pub tests: Vec<PathBuf>,
    /// The folder of `#[path]` modules, and that of other submodules.
    folders: [PathBuf; 2],
}

/// Reads a file at `path`, relative to `src`.
///
/// # Errors
/// When the text is not Rust.
pub fn scan(path: &Path, source: &str) -> Result<Scan, LexError> {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let is_root = ["mod", "lib", "main"].iter().any(|stem| path.file_stem().is_some_and(|other| other == *stem));
    let submodules = if is_root { folder.clone() } else { path.with_extension("") };
    let depth = submodules.components().count();
    let mut scan = Scan { folders: [folder, submodules], ..Scan::default() };
    scan.walk(source.parse::<TokenStream>()?, depth);
    Ok(scan)
}

impl Scan {
    /// Reads tokens of a module that lies `depth` modules below the root of its crate.
    fn walk(&mut self, tokens: TokenStream, depth: usize) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let (attributes, item) = attributes(&tokens, at);
            if item > at {
                at = item;
                if attributes.iter().any(|attribute| is_for_tests(attribute)) {
                    at = self.skip_tests(&tokens, item, &attributes);
                }
                continue;
            }
            let supers = (at..).step_by(3).take_while(|&at| is_word(&tokens, at, "super") && is_path(&tokens, at + 1));
            let supers = supers.count();
            let is_crate = is_word(&tokens, at, "crate") || is_word(&tokens, at, LIBRARY);
            if is_crate && is_path(&tokens, at + 1) {
                self.used(tokens.get(at + 3));
                at += 4;
            } else if supers > 0 {
                at += 3 * supers;
                match tokens.get(at) {
                    target if supers >= depth => {
                        self.used(target);
                        at += 1;
                    }
                    Some(TokenTree::Group(group)) => {
                        self.walk(group.stream(), depth - supers);
                        at += 1;
                    }
                    _ => {}
                }
            } else {
                if let TokenTree::Group(group) = &tokens[at] {
                    let is_module = at >= 2 && is_word(&tokens, at - 2, "mod") && group.delimiter() == Delimiter::Brace;
                    self.walk(group.stream(), depth + usize::from(is_module));
                }
                at += 1;
            }
        }
    }

    /// Notes the room or rooms that a path leads to from the root.
    fn used(&mut self, target: Option<&TokenTree>) {
        match target {
            Some(TokenTree::Ident(name)) => self.rooms.push((name.span().start().line, name.to_string())),
            Some(TokenTree::Group(group)) => {
                let mut is_first = true;
                for token in group.stream() {
                    if is_first && !is(&token, "self") {
                        self.used(Some(&token));
                    }
                    is_first = is(&token, ",");
                }
            }
            Some(token) => self.rooms.push((token.span().start().line, ALL_ROOMS.to_owned())),
            None => {}
        }
    }

    /// The place after an item for tests; a module in a file of its own is noted.
    fn skip_tests(&mut self, tokens: &[TokenTree], item: usize, attributes: &[&Group]) -> usize {
        if let Some(at) = (item..tokens.len()).take(3).find(|&at| is_word(tokens, at, "mod"))
            && let (Some(name), Some(end)) = (tokens.get(at + 1), tokens.get(at + 2))
            && is(end, ";")
        {
            let [folder, submodules] = &self.folders;
            let named = attributes.iter().find_map(|attribute| path_in(attribute));
            self.tests.push(named.map_or_else(|| submodules.join(name.to_string()), |path| folder.join(path)));
        }
        let statement = ["use", "static", "type", "let"].iter().any(|word| {
            let at = item + usize::from(is_word(tokens, item, "pub"));
            is_word(tokens, at, word) || is_word(tokens, at + 1, word)
        });
        let constant = is_word(tokens, item, "const") && !is_word(tokens, item + 1, "fn");
        let is_end = |token: &TokenTree| {
            let is_body = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            is(token, ";") || is_body && !statement && !constant
        };
        tokens[item..].iter().position(is_end).map_or(tokens.len(), |length| item + length + 1)
    }
}

/// The attributes at a place, and the place after them.
fn attributes(tokens: &[TokenTree], mut at: usize) -> (Vec<&Group>, usize) {
    let mut found = Vec::new();
    loop {
        let group = at + 1 + usize::from(is_word(tokens, at + 1, "!"));
        match (is_word(tokens, at, "#"), tokens.get(group)) {
            (true, Some(TokenTree::Group(attribute))) if attribute.delimiter() == Delimiter::Bracket => {
                found.push(attribute);
                at = group + 1;
            }
            _ => return (found, at),
        }
    }
}

/// Whether an attribute is a `cfg` that holds in tests alone.
fn is_for_tests(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [cfg, TokenTree::Group(condition)] if is(cfg, "cfg") => needs_tests(condition.stream()),
        _ => false,
    }
}

/// Whether a condition of a `cfg` needs tests.
fn needs_tests(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    let parts = |group: &Group| -> Vec<bool> {
        let parts: Vec<TokenTree> = group.stream().into_iter().collect();
        parts.split(|token| is(token, ",")).map(|part| needs_tests(part.iter().cloned().collect())).collect()
    };
    match &tokens[..] {
        [test] => is(test, "test"),
        [any, TokenTree::Group(group)] if is(any, "any") => parts(group).into_iter().all(|needs| needs),
        [all, TokenTree::Group(group)] if is(all, "all") => parts(group).into_iter().any(|needs| needs),
        [feature, equals, name] => is(feature, "feature") && is(equals, "=") && is(name, TEST_FEATURE),
        _ => false,
    }
}

/// The file that an attribute `#[path = "..."]` names.
fn path_in(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [path, equals, file] if is(path, "path") && is(equals, "=") => {
            Some(file.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// Whether a token is this word, sign or literal; no group is.
fn is(token: &TokenTree, text: &str) -> bool {
    match token {
        TokenTree::Ident(word) => word == text,
        TokenTree::Punct(sign) => text.len() == 1 && text.starts_with(sign.as_char()),
        TokenTree::Literal(literal) => literal.to_string() == text,
        TokenTree::Group(_) => false,
    }
}

fn is_word(tokens: &[TokenTree], at: usize, word: &str) -> bool {
    tokens.get(at).is_some_and(|token| is(token, word))
}

/// Whether `::` stands at a place.
fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    is_word(tokens, at, ":") && is_word(tokens, at + 1, ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rooms that this text of a file uses.
    fn rooms(path: &str, source: &str) -> Vec<String> {
        scan(Path::new(path), source).unwrap().rooms.into_iter().map(|(_, room)| room).collect()
    }

    #[test]
    fn imports_in_every_form_are_found() {
        for (source, expected) in [
            ("use crate::cellar::Barrel;", &["cellar"][..]),
            ("use crate::{cellar::{Barrel, Tap}, kitchen as k, parlour};", &["cellar", "kitchen", "parlour"]),
            ("use zeitnot::cellar::{self, Barrel};\nuse zeitnot::{self, kitchen};", &["cellar", "kitchen"]),
            ("pub(crate) use crate::cellar;", &["cellar"]),
            ("fn f() -> crate::cellar::Barrel { g(&[crate::kitchen::POT]) }", &["cellar", "kitchen"]),
            ("macro_rules! m { () => { $crate::cellar::tap() }; }", &["cellar"]),
            ("impl crate::cellar::Tap for X { const C: u8 = crate::kitchen::C; }", &["cellar", "kitchen"]),
            ("use crate::*;", &["*"]),
            ("#[derive(Debug)]\npub struct X(pub(in crate::cellar) u8);", &["cellar"]),
            ("#[cfg(not(test))]\nuse crate::cellar::Barrel;", &["cellar"]),
            ("#[cfg(any(test, unix))]\nuse crate::cellar::Barrel;", &["cellar"]),
        ] {
            assert_eq!(rooms("kitchen/stove.rs", source), expected, "{source}");
        }
    }

    #[test]
    fn lines_are_told() {
        let scan = scan(Path::new("kitchen/mod.rs"), "\n\nuse crate::{\n    cellar,\n};").unwrap();
        assert_eq!(scan.rooms, [(4, "cellar".to_owned())]);
    }

    #[test]
    fn the_way_up_to_the_root_is_found() {
        for (path, source, expected) in [
            ("kitchen/stove.rs", "use super::super::cellar::Barrel;", &["cellar"][..]),
            ("kitchen/stove.rs", "use super::pots::Pot;", &[]),
            ("kitchen/stove.rs", "use super::{pots, super::cellar};", &["cellar"]),
            ("kitchen/mod.rs", "use super::cellar;", &["cellar"]),
            ("kitchen.rs", "use super::{cellar, parlour::Chair};", &["cellar", "parlour"]),
            ("kitchen.rs", "mod inner { use super::pots; use super::super::cellar; }", &["cellar"]),
        ] {
            assert_eq!(rooms(path, source), expected, "{path}: {source}");
        }
    }

    #[test]
    fn comments_and_texts_are_no_imports() {
        let source = "//! [`crate::cellar`]\n/// See crate::cellar::Barrel.\nconst X: &str = \"crate::cellar\"; // crate::cellar\n";
        assert_eq!(rooms("kitchen.rs", source), [""; 0]);
    }

    #[test]
    fn tests_are_left_out() {
        for source in [
            "#[cfg(test)]\nmod tests { use crate::cellar::Barrel; }",
            "#[cfg(test)]\nuse crate::{cellar::Barrel, parlour};",
            "#[cfg(any(test, feature = \"testing\"))]\npub fn f() -> u8 { crate::cellar::f() }",
            "#[cfg(all(test, unix))]\nconst X: crate::cellar::X = crate::cellar::X { };",
        ] {
            assert_eq!(rooms("kitchen.rs", source), [""; 0], "{source}");
            assert_eq!(rooms("kitchen.rs", &format!("{source}\nuse crate::parlour;")), ["parlour"], "{source}");
        }
    }

    #[test]
    fn tests_in_files_of_their_own_are_told() {
        let source =
            "#[cfg(test)]\n#[path = \"stove_tests.rs\"]\nmod tests;\n#[cfg(test)]\npub(crate) mod golden;\nmod pots;";
        let tests = |path: &str| scan(Path::new(path), source).unwrap().tests;
        assert_eq!(tests("kitchen/stove.rs"), ["kitchen/stove_tests.rs", "kitchen/stove/golden"].map(PathBuf::from));
        assert_eq!(tests("kitchen/mod.rs"), ["kitchen/stove_tests.rs", "kitchen/golden"].map(PathBuf::from));
    }
}
