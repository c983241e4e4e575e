//! Names the network that is built in: this crate's, or the file that `ZEITNOT_EVALFILE` names from the top of the
//! repository on (`make EVALFILE=...`).

use std::env;
use std::path::PathBuf;

/// The network that is built in, unless another one is named.
const NETWORK: &str = "networks/zeitnot-small.pb.gz";

fn main() {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let chosen = env::var_os("ZEITNOT_EVALFILE").filter(|path| !path.is_empty());
    let network = match &chosen {
        Some(path) => here.join("../..").join(path),
        None => here.join(NETWORK),
    };
    println!("cargo::rerun-if-env-changed=ZEITNOT_EVALFILE");
    println!("cargo::rerun-if-changed={}", network.display());
    println!("cargo::rerun-if-changed=build.rs");
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
}
