//! The Python wheel that a release has, made from the program of these tests.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Checks a wheel in `argv[1]` as pip does not: every file has its line in RECORD, with its hash and length.
const CHECK: &str = r#"
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
info = "zeitnot-" + sys.argv[2] + ".dist-info/"
rows = list(csv.reader(io.StringIO(wheel.read(info + "RECORD").decode())))
assert [row[0] for row in rows] == wheel.namelist(), rows
for name, digest, length in rows[:-1]:
    content = wheel.read(name)
    sha256 = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert (digest, int(length)) == ("sha256=" + sha256, len(content)), name
assert rows[-1] == [info + "RECORD", "", ""]
program = wheel.getinfo("zeitnot-" + sys.argv[2] + ".data/scripts/zeitnot")
assert program.external_attr >> 16 & 0o111, "the program may be run"
print(wheel.read(info + "METADATA").decode() + wheel.read(info + "WHEEL").decode())
"#;

#[test]
#[cfg_attr(not(python_pip), ignore = "needs python3 with pip")]
fn a_wheel_carries_the_program_and_its_package() {
    let version = env!("CARGO_PKG_VERSION");
    let place = tempfile::tempdir().unwrap();
    let wheel = wheel(place.path());
    let papers = run(python(&["-c", CHECK, &wheel, version]));
    for line in [
        "Name: zeitnot",
        &format!("Version: {version}"),
        "License-Expression: GPL-3.0-or-later",
        "License-File: LICENSES-OF-CRATES.txt",
        "Provides-Extra: chess",
        "Root-Is-Purelib: false",
        "Tag: py3-none-musllinux_1_1_x86_64",
    ] {
        assert!(papers.lines().any(|it| it == line), "no {line:?}: {papers}");
    }
    let site = place.path().join("site");
    let site = site.to_str().unwrap();
    run(python(&["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--prefix", site, &wheel]));
    let module =
        "import os, sys; print(next(path for path, folders, _ in os.walk(sys.argv[1]) if 'zeitnot' in folders))";
    let path = run(python(&["-c", module, site]));
    let with_package = |arguments: &[&str]| {
        let mut command = python(arguments);
        command.env("PYTHONPATH", path.trim()).current_dir(place.path());
        run(command)
    };
    for arguments in [
        &["-m", "zeitnot", "--version"][..],
        &["-c", "import os, zeitnot; os.system(zeitnot.program() + ' --version')"],
        &["-c", "import zeitnot; print('zeitnot', zeitnot.__version__)"],
    ] {
        assert_eq!(with_package(arguments), format!("zeitnot {version}\n"));
    }
    with_package(&[&ours("tests/python/package.py")]);
}

/// The pages' code, the notebook and the example engine run where the wheel alone was installed, with its extras.
#[test]
#[cfg_attr(
    not(all(python_pip, whole)),
    ignore = "slow, and fetches Python packages with pip: ZEITNOT_WHOLE=1 cargo test"
)]
fn the_code_of_pages_and_notebook_runs_in_a_clean_environment() {
    let place = tempfile::tempdir().unwrap();
    let wheel = wheel(place.path());
    let python = |arguments: &[&str]| {
        let mut command = Command::new(place.path().join("venv/bin/python"));
        command.args(arguments).current_dir(place.path());
        command
    };
    run(self::python(&["-m", "venv", place.path().join("venv").to_str().unwrap()]));
    let extras = format!("{wheel}[all]");
    run(python(&["-m", "pip", "install", "--quiet", &extras, "mypy", "pandas-stubs", "types-tqdm"]));
    run(python(&["-m", "mypy", "--strict", "--package", "zeitnot"]));
    let match_flags = ["--clock", "virtual", "--nps", "100", "--tc", "1+0.01", "--games", "2", "--pgn", "games.pgn"];
    run(python(&[&["-m", "zeitnot", "match"], &match_flags[..]].concat()));
    for page in ["docs/python.md", "README.md", "examples/python/zeitnot.ipynb"] {
        run(python(&[&ours("tests/python/cells.py"), &ours(page)]));
    }
    let asked = "uci\nisready\nucinewgame\nposition fen 6k1/p4ppp/8/8/8/8/8/K3R3 w - - 0 1 moves a1b1 a7a6\n\
                 go wtime 2000 btime 2000 winc 50\nquit\n";
    let engine = python(&[&ours("examples/python/engine.py"), "smooth"]);
    let output =
        assert_cmd::Command::from_std(engine).write_stdin(asked).assert().success().get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    assert!(
        output.contains("readyok") && output.contains("info depth 1 ") && output.ends_with("bestmove e1e8\n"),
        "{output}"
    );
}

/// The path of a file of this repository.
fn ours(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file).to_str().unwrap().to_owned()
}

/// Makes a wheel for all platforms in a folder; the path of its file.
fn wheel(place: &Path) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let folder = place.join(format!("zeitnot-{version}-x86_64-unknown-linux-musl"));
    fs::create_dir(&folder).unwrap();
    // The program itself has 90 MB here, which would take seconds to pack.
    let program = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_zeitnot"));
    for (name, text) in [("zeitnot", program.as_str()), ("LICENSE", "GPL"), ("LICENSES-OF-CRATES.txt", "MIT")] {
        fs::write(folder.join(name), text).unwrap();
    }
    run(python(&[&ours("release/wheel.py"), folder.to_str().unwrap()]));
    // pip takes a wheel of any platform under a name that fits all.
    let any = place.join(format!("zeitnot-{version}-py3-none-any.whl"));
    fs::rename(place.join(format!("zeitnot-{version}-py3-none-musllinux_1_1_x86_64.whl")), &any).unwrap();
    any.to_str().unwrap().to_owned()
}

/// Python, with the time that goes into archives.
fn python(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(arguments).env("SOURCE_DATE_EPOCH", "1700000000").env("PIP_ROOT_USER_ACTION", "ignore");
    command
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
