//! Tells the tests whether the folder `shared` with all of Lc0's records is there (`--cfg shared`): without it, tests that need
//! it are ignored, and `cargo test` says so.

use std::env;
use std::path::PathBuf;

fn main() {
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
