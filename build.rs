//! Tells the tests what this machine has: without it, tests that need it are ignored, and `cargo test` says so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders in which packages of Chromium and of Chrome put the driver of their software device.
const DRIVERS: [&str; 6] = [
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/snap/chromium/current/usr/lib/chromium-browser",
    "/opt/google/chrome",
    "/opt/chromium.org/chromium",
];
/// Names of Chromium and of Chrome.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The conditions of tests.
const CONDITIONS: [&str; 6] = ["shared", "whole", "software_card", "browser", "python_pip", "cpp"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["ZEITNOT_SHARED", "ZEITNOT_WHOLE", "CHROMIUM", "PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    // The package that is published has no tests.
    if !Path::new("tests").is_dir() {
        return CONDITIONS.iter().for_each(|condition| has(condition, false));
    }
    // All of Lc0's records.
    let beside = || env::var_os("CARGO_MANIFEST_DIR").map(|checkout| PathBuf::from(checkout).join("../shared"));
    let folder = env::var_os("ZEITNOT_SHARED").map(PathBuf::from).or_else(beside);
    let records = folder.unwrap_or_default().join("golden/positions.jsonl");
    // A file that is absent would make this run, and all be built again, every time.
    if records.is_file() {
        println!("cargo::rerun-if-changed={}", records.display());
    }
    has("shared", records.is_file());
    // `.ci/run` runs the slow rows, too.
    has("whole", env::var_os("ZEITNOT_WHOLE").is_some());
    let driver = DRIVERS.iter().map(|folder| Path::new(folder).join("vk_swiftshader_icd.json")).find(|it| it.is_file());
    has("software_card", driver.is_some());
    println!("cargo::rustc-env=ZEITNOT_SOFTWARE_CARD={}", driver.unwrap_or_default().display());
    let named = env::var_os("CHROMIUM").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folders = env::var_os("PATH").unwrap_or_default();
    let all = || env::split_paths(&folders).flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    let browser = named.or_else(|| all().find(|path| path.is_file()));
    has("browser", browser.is_some());
    println!("cargo::rustc-env=ZEITNOT_BROWSER={}", browser.unwrap_or_default().display());
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    has("python_pip", runs("python3", &["-m", "pip", "--version"]));
    has("cpp", runs("g++", &["--version"]));
}

/// Declares a condition of tests, and whether it holds.
fn has(condition: &str, holds: bool) {
    println!("cargo::rustc-check-cfg=cfg({condition})");
    if holds {
        println!("cargo::rustc-cfg={condition}");
    }
}
