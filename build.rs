//! Tells the tests whether the folder `shared` with all of Lc0's records is there (`--cfg shared`): without it, tests that need
//! it are ignored, and `cargo test` says so. So it is with mdbook, which builds the book (`--cfg mdbook`).

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
    println!("cargo::rustc-check-cfg=cfg(mdbook)");
    // A changed PATH is not looked at again: it would build the whole program anew.
    let folders = env::var_os("PATH").unwrap_or_default();
    let program = format!("mdbook{}", env::consts::EXE_SUFFIX);
    if env::split_paths(&folders).any(|folder| folder.join(&program).is_file()) {
        println!("cargo::rustc-cfg=mdbook");
    }
}
