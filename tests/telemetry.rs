//! ONNX Runtime leaves no trace of its own: its makers' telemetry is off.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::process::Command;
use zeitnot_engine::network::testing::random_network;
use zeitnot_engine::runtime;

/// Without the variable that `main` sets, ONNX Runtime 1.31 writes an identifier of the machine and its events to
/// `Microsoft/` in the user's cache, and looks for its collector on the network.
#[test]
fn nothing_is_written_for_the_makers_of_the_runtime() {
    let library = runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap().path.clone();
    let folder = tempfile::tempdir().unwrap();
    let network = folder.path().join("network.pb.gz");
    fs::write(&network, random_network(1, 1, 8)).unwrap();
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_zeitnot"))
        .args(["eval", "--weights"])
        .arg(&network)
        .arg("--onnxruntime")
        .arg(&library)
        .env("XDG_CACHE_HOME", &cache)
        .env("HOME", folder.path())
        .env_remove("ORT_DISABLE_TELEMETRY")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let left: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
