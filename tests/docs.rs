//! The generated tables of `docs/` are those of the declarations.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use std::fs;
use std::path::Path;

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

/// The output of this command of the engine.
fn zeitnot(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("zeitnot").unwrap().args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn expect_in(path: &str, generated: &str) {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    assert!(page.contains(generated), "put the output of `zeitnot options --markdown` into {path}:\n{generated}");
}
