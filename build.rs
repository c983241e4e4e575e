//! Names the network that is built in: `ZEITNOT_EVALFILE`, or else the repository's (`make EVALFILE=...`).
//!
//! Tells the tests whether the folder `shared` with all of Lc0's records is there (`--cfg shared`): without it, tests that need
//! it are ignored, and `cargo test` says so.

use std::env;
use std::path::PathBuf;

/// The network that is built in, unless another one is named.
const NETWORK: &str = "models/zeitnot-small.pb.gz";

fn main() {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let chosen = env::var_os("ZEITNOT_EVALFILE").filter(|path| !path.is_empty());
    let network = here.join(chosen.as_deref().unwrap_or(NETWORK.as_ref()));
    println!("cargo::rerun-if-env-changed=ZEITNOT_EVALFILE");
    println!("cargo::rerun-if-changed={}", network.display());
    if !network.is_file() {
        println!("cargo::error=there is no network to build in at {} (ZEITNOT_EVALFILE)", network.display());
    }
    let file = network.file_name().unwrap_or_default().to_string_lossy();
    let name = file.trim_end_matches(".gz").trim_end_matches(".pb");
    for (variable, value) in [("PATH", network.to_string_lossy().as_ref()), ("FILE", &file), ("NAME", name)] {
        println!("cargo::rustc-env=ZEITNOT_BUILT_IN_{variable}={value}");
    }
    if chosen.is_some() {
        println!("cargo::rustc-env=ZEITNOT_BUILT_IN_IS_CHOSEN=yes");
    }
    find_shared();
}

/// Tells whether Lc0's records are beside the checkout, or where `ZEITNOT_SHARED` points.
fn find_shared() {
    println!("cargo::rustc-check-cfg=cfg(shared)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ZEITNOT_SHARED");
    let beside = || env::var_os("CARGO_MANIFEST_DIR").map(|checkout| PathBuf::from(checkout).join("../shared"));
    let folder = env::var_os("ZEITNOT_SHARED").map(PathBuf::from).or_else(beside);
    let records = folder.unwrap_or_default().join("golden/positions.jsonl");
    // A file that is absent would make this run, and all be built again, every time.
    if records.is_file() {
        println!("cargo::rustc-cfg=shared");
        println!("cargo::rerun-if-changed={}", records.display());
    }
}
