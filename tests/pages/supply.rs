//! Checks that workflows and scripts take nothing that may change under them: actions by commit, tools by version or hash,
//! images by digest, crates by the lock file; and that no checkout leaves its token where tools run.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;

/// The scripts beside the workflows that build, check or install.
const SCRIPTS: [&str; 4] = [".ci/run", "Containerfile", "release/build", "release/tools"];

/// Commands of cargo that ask for crates.
const WITH_CRATES: [&str; 13] = [
    "about", "build", "check", "clippy", "deb", "deny", "doc", "fetch", "install", "package", "run", "test", "zigbuild",
];

#[test]
fn nothing_changes_under_the_workflows() {
    let mut faults = Vec::new();
    let mut look = |path: &str, check: fn(&str) -> Vec<String>| {
        faults.extend(check(&read(path)).into_iter().map(|fault| format!("{path}: {fault}")));
    };
    let mut workflows = 0;
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = format!(".github/workflows/{}", entry.unwrap().file_name().into_string().unwrap());
        look(&path, loose_actions);
        look(&path, loose_commands);
        workflows += 1;
    }
    SCRIPTS.iter().for_each(|path| look(path, loose_commands));
    look("Containerfile", loose_images);
    assert!(workflows > 3, "{workflows}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Cargo takes the newest versions of all crates where it is not told to take those of the lock file.
#[test]
fn the_pages_install_what_was_tested() {
    for path in ["README.md", "CONTRIBUTING.md", "docs/installing.md", "docs/gui.md", "docs/bots.md"] {
        for command in read(path).split("cargo install ").skip(1) {
            let command = command.split(['`', '\n']).next().unwrap();
            assert!(command.contains("--locked"), "{path}: cargo install {command}");
        }
    }
}

// Of the checks themselves.

#[test]
fn loose_actions_are_told() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let step =
        |uses: &str| loose_actions(&format!("    - uses: {uses}\n      with:\n        name: x\n    - run: x\n")).len();
    assert_eq!(step(&format!("a/b@{commit} # v1.2.3")), 0);
    assert_eq!(step("./.github/workflows/x.yml"), 0);
    for loose in ["a/b@v4", "a/b@main # v4", &format!("a/b@{commit}"), &format!("a/b@{} # v4", &commit[1..])] {
        assert_eq!(step(loose), 1, "{loose}");
    }
    let checkout = format!("- uses: actions/checkout@{commit} # v1\n");
    assert_eq!(loose_actions(&checkout).len(), 1, "the token stays");
    assert_eq!(loose_actions(&format!("{checkout}  with:\n    persist-credentials: false\n- run: x\n")).len(), 0);
    assert_eq!(loose_actions(&format!("{checkout}- run: x\n  with:\n    persist-credentials: false\n")).len(), 1);
}

#[test]
fn loose_commands_are_told() {
    for firm in [
        "run: cargo test --locked",
        "build=(cargo zigbuild --locked --target \"$target\") ;;",
        "cargo fmt --check && cargo install --locked --version 1.2.3 x",
        "pip install --require-hashes --requirement x.txt",
        "rustup toolchain install 1.95.0 --profile minimal",
        "rustup toolchain install nightly-2026-05-20",
        "# cargo test",
    ] {
        assert_eq!(loose_commands(firm), [""; 0], "{firm}");
    }
    for loose in [
        "run: cargo test",
        "RUSTFLAGS=x cargo +nightly build --release && cargo doc --locked",
        "cargo build && x --locked",
        "cargo install --locked x",
        "cargo install --locked --version ^1.2 x",
        "pip install x==1.2.3",
        "rustup toolchain install stable",
        "rustup toolchain install nightly",
    ] {
        assert_eq!(loose_commands(loose).len(), 1, "{loose}");
    }
}

#[test]
fn loose_images_are_told() {
    let digest = "0".repeat(64);
    assert_eq!(loose_images(&format!("FROM a:1@sha256:{digest} AS b\nFROM b AS c\nFROM c\n")), [""; 0]);
    assert_eq!(loose_images("FROM a:1 AS b\nFROM b\n").len(), 1);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// The actions of a workflow that are not named by a commit with its tag behind, and the checkouts that leave their token.
fn loose_actions(text: &str) -> Vec<String> {
    let mut loose = Vec::new();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (number, line) in lines.iter().enumerate() {
        let Some(action) = line.trim_start_matches("- ").strip_prefix("uses: ") else { continue };
        let commit = action.split_once('@').and_then(|(_, rest)| rest.split_once(" # v")).map(|(commit, _)| commit);
        if !action.starts_with("./") && !commit.is_some_and(|commit| is_hex(commit, 40)) {
            loose.push(format!("{action} is no commit with its tag behind"));
        }
        let mut step = lines[number + 1..].iter().take_while(|line| !line.starts_with("- "));
        if action.starts_with("actions/checkout@") && !step.any(|line| *line == "persist-credentials: false") {
            loose.push(format!("line {} keeps its token", number + 1));
        }
    }
    loose
}

/// The commands that take crates without the lock file, or a tool without its version or hash.
fn loose_commands(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let commands = lines.flat_map(|line| line.split("&&").flat_map(|part| part.split(';')));
    commands.filter(|command| is_loose(command)).map(|command| command.trim().to_owned()).collect()
}

fn is_loose(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().map(|word| word.rsplit(['(', '"']).next().unwrap()).collect();
    let behind = |program: &str| words.iter().position(|word| *word == program).map_or(&[][..], |at| &words[at + 1..]);
    let has = |flag: &str| words.contains(&flag);
    let cargo = behind("cargo");
    let cargo = if cargo.first().is_some_and(|word| word.starts_with('+')) { &cargo[1..] } else { cargo };
    let version = words.iter().skip_while(|word| **word != "--version").nth(1);
    match (cargo, behind("pip"), behind("rustup")) {
        ([name, ..], _, _) if WITH_CRATES.contains(name) && !has("--locked") => true,
        (["install", ..], _, _) => !version.is_some_and(|version| is_exact(version)),
        (_, ["install", ..], _) => !has("--require-hashes") && !has("--no-index"),
        (_, _, ["toolchain", "install", name, ..]) => !is_exact(name.trim_start_matches("nightly-")),
        _ => false,
    }
}

/// Whether a text is three numbers, as a version or a day is.
fn is_exact(text: &str) -> bool {
    let numbers =
        text.split(['.', '-']).filter(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
    numbers.count() == 3
}

/// The images that others may replace: no digest, and no earlier stage.
fn loose_images(text: &str) -> Vec<String> {
    let (mut stages, mut loose) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["FROM", image, rest @ ..] = words.as_slice() else { continue };
        let digest = image.split_once("@sha256:").map(|(_, digest)| digest);
        if !stages.contains(image) && !digest.is_some_and(|digest| is_hex(digest, 64)) {
            loose.push(format!("{image} has no digest"));
        }
        stages.extend(rest.last());
    }
    loose
}
