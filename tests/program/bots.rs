//! The profiles for lichess-bot: their flags are taken and their options are listed, else lichess-bot would end. And the
//! script that starts it in the container.

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

/// What `start` says, with programs in place of lichess-bot and of the engine that print what they are called with.
#[cfg(unix)]
fn started(folder: &Path, token: &str, arguments: &[&str]) -> (Option<i32>, String) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(folder.join("venv/bin")).unwrap();
    for program in ["zeitnot", "venv/bin/python"] {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\necho {program} \"$@\"\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lichess-bot/start");
    let paths = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.current_dir(folder).env("PATH", paths).env("LICHESS_BOT_TOKEN", token).arg(script).args(arguments);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), said)
}

#[cfg(unix)]
#[test]
fn the_container_fetches_the_network_of_its_profile() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("config")).unwrap();
    fs::write(folder.join("config/host.yml"), "url: x # WeightsFile: y\n").unwrap();
    fs::write(folder.join("config/blitz.yml"), "").unwrap();
    let fetched = |line: &str| {
        fs::write(folder.join("config/own.yml"), format!("  uci_options:\n    WeightsFile: {line}\n")).unwrap();
        let (code, said) = started(folder, "lip_x", &["own", "-u"]);
        assert_eq!(code, Some(0), "{said}");
        let rest = said.strip_suffix("venv/bin/python lichess-bot.py --disable_auto_logging -u\n").unwrap();
        rest.strip_prefix("zeitnot net fetch ").map(|name| name.trim_end().to_owned())
    };
    for line in ["\"T1-256\"   # stronger", "'T1-256'", "T1-256", "T1-256 # stronger"] {
        assert_eq!(fetched(line).as_deref(), Some("T1-256"), "{line}");
    }
    assert_eq!(fetched("\"run-2.1\"").as_deref(), Some("run-2.1"));
    for line in ["\"zeitnot-small\"", "/nets/own.pb.gz", "'own.pb.gz'", "own.onnx", "\"\""] {
        assert_eq!(fetched(line), None, "{line}");
    }
    let usage = "usage: start PROFILE [flags of lichess-bot]; there are: blitz own\n";
    for arguments in [&[][..], &["host"], &["-u"], &["rapid", "-u"]] {
        assert_eq!(started(folder, "lip_x", arguments), (Some(2), usage.to_owned()), "{arguments:?}");
    }
    let (code, said) = started(folder, "", &["own"]);
    assert!(code != Some(0) && said.contains("LICHESS_BOT_TOKEN: is not set"), "{said}");
}
