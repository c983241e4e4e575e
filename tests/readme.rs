//! The README's tables are those of the declarations.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;

#[test]
fn tables_are_up_to_date() {
    let output = Command::cargo_bin("zeitnot").unwrap().args(["options", "--markdown"]).output().unwrap();
    let tables = String::from_utf8(output.stdout).unwrap();
    let readme = include_str!("../README.md");
    for table in tables.split("\n\n") {
        let table = table.trim();
        assert!(table.starts_with("| ") && table.lines().count() > 5, "{table}");
        assert!(
            readme.contains(table),
            "put the table that `zeitnot options --markdown` prints into README.md:\n{table}"
        );
    }
}
