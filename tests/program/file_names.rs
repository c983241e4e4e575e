//! Files that options name: paths of whatever bytes the system takes, and paths of what is no file.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use zeitnot_engine::network::testing::random_network;

/// Names that are no UTF-8: Latin-1, a sequence that is cut off, and one of all kinds.
const NAMES: [&[u8]; 3] = [b"n\xe9t.pb.gz", b"\xf0\x9f", b"a b\xff\xc3\xa9\x80 c"];

fn zeitnot(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).env("HOME", folder).env("XDG_DATA_HOME", folder).env_remove("RUST_LOG");
    command
}

/// The engine's answer to these bytes.
fn answers(command: &mut Command, input: &[u8]) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let Output { stdout, .. } = child.wait_with_output().unwrap();
    String::from_utf8(stdout).unwrap()
}

fn set(option: &str, path: &[u8]) -> Vec<u8> {
    [format!("setoption name {option} value ").as_bytes(), path, b"\n"].concat()
}

/// A book of one entry, which no position has.
const BOOK: [u8; 16] = [0; 16];

#[test]
fn paths_need_not_be_utf_8() {
    for name in NAMES {
        let home = tempfile::tempdir().unwrap();
        let path = |ending: &str| home.path().join(OsStr::from_bytes(&[name, ending.as_bytes()].concat()));
        let (network, book, log, tables) = (path(""), path(".bin"), path(".log"), path(".tables"));
        std::fs::write(&network, random_network(1, 1, 8)).unwrap();
        std::fs::write(&book, BOOK).unwrap();
        std::fs::create_dir(&tables).unwrap();
        std::fs::write(tables.join("KQvK.rtbw"), [0; 80]).unwrap();
        let of = |path: &PathBuf| path.as_os_str().as_bytes().to_vec();
        let input = [
            set("OwnBook", b"true"),
            set("WeightsFile", &of(&network)),
            set("BookFile", &of(&book)),
            set("LogFile", &of(&log)),
            set("SyzygyPath", &of(&tables)),
            b"isready\nuci\n".to_vec(),
        ];
        let said = answers(&mut zeitnot(home.path()), &input.concat());
        assert!(!said.contains("error"), "{said}");
        for part in ["named by WeightsFile", "book with 1 entries", "1 endgame tables"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(log.is_file(), "the log is where it was named");
        // A GUI sends the values back that it was told.
        let told = said.lines().find_map(|line| line.strip_prefix("option name WeightsFile type string default "));
        let again = [set("WeightsFile", told.unwrap().as_bytes()), b"isready\n".to_vec()].concat();
        let said = answers(&mut zeitnot(home.path()), &again);
        assert!(said.contains("named by WeightsFile"), "{said}");
        // Flags and a file of options, relative ones too.
        let config = home.path().join("options");
        std::fs::write(&config, [b"weights=", name, b"\n"].concat()).unwrap();
        let flag = OsStr::from_bytes(&[b"--weights=", name].concat()).to_owned();
        for arguments in
            [vec![flag.clone()], vec!["-w".into(), network.clone().into()], vec!["--config=options".into()]]
        {
            let said = answers(zeitnot(home.path()).args(&arguments), b"isready\n");
            assert!(said.contains("named by WeightsFile"), "{arguments:?}: {said}");
        }
        let eval = zeitnot(home.path()).arg("eval").arg(&flag).output().unwrap();
        assert!(eval.status.success(), "{}", String::from_utf8_lossy(&eval.stderr));
        let option = OsStr::from_bytes(&[b"--option2=WeightsFile=", name].concat()).to_owned();
        let mut play = zeitnot(home.path());
        play.args(["match", "--nodes=1", "--max-moves=1", "--pgn=a.pgn"]).arg(&flag).arg(option);
        let play = play.output().unwrap();
        assert!(play.status.success(), "{}", String::from_utf8_lossy(&play.stderr));
    }
}

#[test]
fn an_opponents_path_need_not_be_utf_8() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join(OsStr::from_bytes(b"eng\xefne"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zeitnot"), &link).unwrap();
    let mut play = zeitnot(home.path());
    play.args(["match", "--backend=uniform", "--threads=1", "--nodes=1", "--max-moves=1", "--pgn=a.pgn", "--engine2"]);
    let played = play.arg([b"./eng\xefne --backend=uniform"].map(|text| OsStr::from_bytes(text))[0]).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
}

/// A pipe that nobody writes to would be waited for without an end.
#[test]
fn what_is_no_file_is_called_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().display().to_string();
    let pipe = format!("{folder}/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let file = format!("{folder}/file");
    std::fs::write(&file, "text").unwrap();
    for (option, value, reason) in [
        ("BookFile", folder.as_str(), "it is a folder, not a file"),
        ("BookFile", &pipe, "it is a pipe, not a file"),
        ("BookFile", "/dev/zero", "it is a device, not a file"),
        ("WeightsFile", &folder, "it is a folder, not a file"),
        ("WeightsFile", &pipe, "it is a pipe, not a file"),
        ("WeightsFile", "/dev/zero", "it is a device, not a file"),
        ("LogFile", &folder, "it is a folder, not a file"),
        ("LogFile", &pipe, "it is a pipe, not a file"),
        ("SyzygyPath", &file, "it is a file, not a folder"),
        ("SyzygyPath", &pipe, "it is a pipe, not a folder"),
        ("SyzygyPath", "/dev/null", "it is a device, not a folder"),
    ] {
        let backend = if option == "WeightsFile" { "auto" } else { "uniform" };
        let input = [set("OwnBook", b"true"), set(option, value.as_bytes()), b"isready\n".to_vec()].concat();
        let said = answers(zeitnot(home.path()).arg(format!("--backend={backend}")), &input);
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(reason)).collect();
        assert!(lines.len() == 1 && lines[0].contains(value), "{option} {value}: {said}");
        assert!(said.contains("readyok"), "{said}");
    }
}

#[test]
fn a_full_disk_is_told_once() {
    let home = tempfile::tempdir().unwrap();
    let input = [set("LogFile", b"/dev/full"), b"isready\nposition startpos\ngo nodes 10\nwait\nisready\n".to_vec()];
    let said = answers(zeitnot(home.path()).arg("--backend=uniform"), &input.concat());
    let told: Vec<&str> = said.lines().filter(|line| line.contains("LogFile")).collect();
    assert!(told.len() == 1 && told[0].contains("/dev/full: No space left"), "{said}");
    assert!(said.contains("bestmove "), "{said}");
}

#[test]
fn a_mark_before_the_first_command_costs_nothing() {
    let home = tempfile::tempdir().unwrap();
    for input in ["\u{feff}uci\n", "\u{feff}\nuci\r\n", "\u{feff}isready\n\u{feff}uci\n"] {
        let said = answers(zeitnot(home.path()).arg("--backend=uniform"), input.as_bytes());
        assert!(said.contains("uciok") && !said.contains("unknown"), "{said}");
    }
    let utf16: Vec<u8> = "\u{feff}uci\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let said = answers(zeitnot(home.path()).arg("--backend=uniform"), &utf16);
    assert!(said.contains("it is UTF-16; save it as UTF-8"), "{said}");
}
