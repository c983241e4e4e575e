//! The profiles for lichess-bot: their flags are taken and their options are listed, else lichess-bot would end.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// The keys and values below `section:` of a profile, without quotation marks and comments.
fn section<'a>(profile: &'a str, section: &str) -> Vec<(&'a str, &'a str)> {
    let head = format!("  {section}:");
    let lines = profile.lines().skip_while(|line| *line != head).skip(1);
    let entries = lines.map_while(|line| line.strip_prefix("    ")).map(|line| line.split_once(':').unwrap());
    entries.map(|(key, value)| (key, value.split(" #").next().unwrap().trim().trim_matches('"'))).collect()
}

#[test]
fn profiles_for_lichess_bot_set_what_is_listed() {
    for name in ["human", "full"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/lichess-bot/{name}.yml"));
        let profile = fs::read_to_string(path).unwrap();
        let (flags, options) = (section(&profile, "engine_options"), section(&profile, "uci_options"));
        assert!(!flags.is_empty() && !options.is_empty(), "{profile}");
        let mut input = "uci\n".to_owned();
        for (key, value) in &options {
            input += &format!("setoption name {key} value {value}\n");
        }
        let folder = tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        command.current_dir(folder.path()).args(flags.iter().map(|(key, value)| format!("--{key}={value}")));
        let output = command.write_stdin(input + "quit\n").assert().success().get_output().clone();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(!said.contains("ERROR"), "{said}");
        for (key, _) in &options {
            assert!(said.lines().any(|line| line.starts_with(&format!("option name {key} type "))), "{name}: {key}");
        }
    }
}
