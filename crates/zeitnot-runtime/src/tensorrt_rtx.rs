//! Finds the plugin of TensorRT for RTX, says which cards it drives, and registers it with ONNX Runtime.
//!
//! A plugin is an execution provider in a library of its own, for any ONNX Runtime from 1.24 on: the one of the package
//! for the CPU, or the one with CUDA. This one's package has all the libraries that it needs, besides the driver's.

use std::path::{Path, PathBuf};

#[cfg(feature = "onnxruntime")]
use super::Runtime;
use super::cuda_version::CudaVersion;
use super::nvidia::Driver;
use super::{Variant, candidates};

/// The minor version of the oldest ONNX Runtime that the plugin takes (its package's description).
pub(super) const OLDEST_RUNTIME: u32 = 24;
/// The name under which ONNX Runtime knows the plugin's provider.
pub const NAME: &str = "NvTensorRTRTXExecutionProvider";
/// The plugin's file name.
pub(super) const PLUGIN: &str = if cfg!(windows) {
    "onnxruntime_providers_nv_tensorrt_rtx.dll"
} else {
    "libonnxruntime_providers_nv_tensorrt_rtx.so"
};
/// Beginnings of the names of the libraries that the plugin needs, which lie beside it: each after those that it needs
/// itself. The plugin names them without saying where they are.
#[cfg(feature = "onnxruntime")]
const NEEDED: [&str; 3] = if cfg!(windows) {
    ["cudart64_", "tensorrt_rtx_", "tensorrt_onnxparser_rtx_"]
} else {
    ["libcudart.so.", "libtensorrt_rtx.so.", "libtensorrt_onnxparser_rtx.so."]
};

/// Path of the plugin: beside the ONNX Runtime at `library`, or else where `zeitnot runtime install` puts it; `None` if
/// it is in neither place.
pub(super) fn plugin_for(library: &Path) -> Option<PathBuf> {
    let beside = library.parent().filter(|folder| folder.is_absolute()).map(Path::to_path_buf);
    let folders = [beside, candidates::installed_folder(Variant::TensorRtRtx)];
    folders.into_iter().flatten().map(|folder| folder.join(PLUGIN)).find(|plugin| plugin.is_file())
}

/// The reason why TensorRT for RTX drives none of the driver's cards; `None` where it drives one.
pub(super) fn problem_with(driver: &Driver) -> Option<String> {
    let version = driver.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let cards = driver.cards.join(", ");
    let needed = CudaVersion::Thirteen;
    if driver.cuda_major() < needed.major() {
        let (cuda, oldest) = (&driver.cuda, needed.oldest_driver());
        return Some(format!("driver{version} of {cards} runs CUDA {cuda} at most ({needed} needs {oldest} or later)"));
    }
    if driver.capabilities.iter().any(|&capability| drives(capability)) {
        return None;
    }
    let capabilities: Vec<String> =
        driver.capabilities.iter().map(|(major, minor)| format!("{major}.{minor}")).collect();
    Some(format!(
        "{cards} (driver{version}) has compute capability {}, and it drives 8.6, 8.9, and 12.0 or later (RTX 30 to 50)",
        capabilities.join(", ")
    ))
}

/// Whether the plugin drives cards of this compute capability, by its own messages.
fn drives(capability: (i32, i32)) -> bool {
    matches!(capability, (8, 6 | 9)) || capability >= (12, 0)
}

/// Registers the plugin with ONNX Runtime, once for the process.
///
/// # Errors
/// When the plugin is not there, or does not load.
#[cfg(feature = "onnxruntime")]
pub fn register(runtime: &Runtime) -> ort::Result<()> {
    static REGISTERED: parking_lot::Mutex<bool> = parking_lot::Mutex::new(false);
    let mut registered = REGISTERED.lock();
    if *registered {
        return Ok(());
    }
    let plugin = plugin_for(&runtime.path).ok_or_else(|| ort::Error::new(format!("{PLUGIN} is missing")))?;
    for needed in NEEDED {
        let folder = plugin.parent().into_iter().flat_map(std::fs::read_dir).flatten().filter_map(Result::ok);
        for entry in folder.filter(|entry| entry.file_name().to_string_lossy().starts_with(needed)) {
            if let Err(error) = ort::util::preload_dylib(entry.path()) {
                tracing::debug!(path = %entry.path().display(), %error, "not preloaded");
            }
        }
    }
    runtime.environment().register_ep_library(NAME, plugin)?;
    *registered = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_and_the_cards_decide_and_are_named() {
        let problem = |cuda: &str, cards: &[(&str, (i32, i32))]| {
            problem_with(&Driver {
                cuda: cuda.to_owned(),
                version: Some("580.65.06".to_owned()),
                cards: cards.iter().map(|card| card.0.to_owned()).collect(),
                capabilities: cards.iter().map(|card| card.1).collect(),
                bus_ids: Vec::new(),
            })
        };
        let hopper = ("NVIDIA H100", (9, 0));
        for capability in [(8, 6), (8, 9), (12, 0), (12, 1)] {
            assert_eq!(problem("13.0", &[hopper, ("NVIDIA RTX", capability)]), None, "{capability:?}");
        }
        for capability in [(7, 5), (8, 0), (8, 7), (9, 0), (10, 0)] {
            let line = problem("13.0", &[("NVIDIA X", capability)]).unwrap();
            let number = format!("capability {}.{}", capability.0, capability.1);
            assert!(line.starts_with("NVIDIA X (driver 580.65.06)") && line.contains(&number), "{line}");
        }
        let old = problem("12.8", &[("NVIDIA RTX", (8, 9))]).unwrap();
        assert!(
            old.starts_with("driver 580.65.06 of NVIDIA RTX runs CUDA 12.8") && old.contains("580 or later"),
            "{old}"
        );
    }

    #[test]
    fn the_plugin_is_found_beside_the_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libonnxruntime.so");
        let elsewhere = plugin_for(&library);
        assert!(elsewhere.is_none_or(|path| !path.starts_with(folder.path())));
        std::fs::write(folder.path().join(PLUGIN), b"").unwrap();
        assert_eq!(plugin_for(&library), Some(folder.path().join(PLUGIN)));
    }
}
