//! Finds out whether TensorRT's engines for a network are built already.

use std::path::{Path, PathBuf};

use super::ModelIo;
use super::session::{SessionPlan, compiled_root, engines, entries};
use crate::{BackendError, DeviceOptions};
use zeitnot_network::Network;
use zeitnot_runtime::{Provider, nvidia::Driver};

/// Whether the cache has an engine for this network with these options on each of the devices: TensorRT then starts in
/// seconds, else in minutes. An engine of another version of TensorRT counts as well, as it looks the same.
///
/// # Errors
/// When the network has no form for TensorRT.
pub(crate) fn engines_are_ready(
    network: &Network,
    options: &DeviceOptions,
    driver: &Driver,
) -> Result<bool, BackendError> {
    let provider = Provider::TensorRt;
    // The network has to be converted to know its folder, which takes seconds for a large one: not where nothing was
    // ever built.
    let has_any = |root: PathBuf| entries(&root).any(|folder| engines(&folder.path()).next().is_some());
    if !compiled_root(provider, options).is_some_and(has_any) {
        return Ok(false);
    }
    let devices = if options.devices.is_empty() { &[0][..] } else { &options.devices };
    let capabilities: Option<Vec<_>> =
        devices.iter().map(|&device| driver.capabilities.get(device as usize).copied()).collect();
    let Some(capabilities) = capabilities else { return Ok(false) };
    let model_io = ModelIo::new(network, provider, &options.conversion_of(network, provider))?;
    let plan = SessionPlan::new(provider, 0, options.conversion(provider).precision, options, &model_io.model)?;
    Ok(plan.cache.is_some_and(|folder| has_engines_for(&folder, &capabilities)))
}

/// Whether a folder has an engine for each of these compute capabilities: ONNX Runtime ends an engine's name with its
/// capability.
fn has_engines_for(folder: &Path, capabilities: &[(i32, i32)]) -> bool {
    let names: Vec<String> = engines(folder).collect();
    let is_there = |(major, minor): &(i32, i32)| {
        let end = format!("_sm{major}{minor}.engine");
        names.iter().any(|name| name.ends_with(&end))
    };
    capabilities.iter().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_network::testing::random_network;

    const HOPPER: (i32, i32) = (9, 0);
    const BLACKWELL: (i32, i32) = (12, 0);

    #[test]
    fn an_engine_is_one_card_generations_own() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_engines_for(folder.path(), &[HOPPER]));
        std::fs::write(folder.path().join("x_fp16_sm90.engine"), "").unwrap();
        std::fs::write(folder.path().join("x_fp16_sm120.profile"), "").unwrap();
        assert!(has_engines_for(folder.path(), &[HOPPER]) && has_engines_for(folder.path(), &[HOPPER, HOPPER]));
        assert!(!has_engines_for(folder.path(), &[BLACKWELL]) && !has_engines_for(folder.path(), &[HOPPER, BLACKWELL]));
        assert!(!has_engines_for(&folder.path().join("none"), &[HOPPER]));
    }

    #[test]
    fn an_engine_is_ready_for_its_network_options_and_devices_alone() {
        let home = tempfile::tempdir().unwrap();
        let options = |text: &str| -> DeviceOptions {
            let mut options: DeviceOptions = text.parse().unwrap();
            options.cache_dir = Some(home.path().to_path_buf());
            options
        };
        let [network, other] =
            [1, 2].map(|seed| Network::from_bytes(&random_network(seed, 1, 8), "tiny.pb.gz").unwrap());
        let driver = Driver {
            cuda: "13.0".to_owned(),
            version: None,
            cards: vec!["one".to_owned(), "two".to_owned()],
            capabilities: vec![HOPPER, BLACKWELL],
            bus_ids: Vec::new(),
        };
        let ready = |network: &Network, text: &str| engines_are_ready(network, &options(text), &driver).unwrap();
        assert!(!ready(&network, ""), "nothing was built");
        let provider = Provider::TensorRt;
        let usual = options("");
        let model_io = ModelIo::new(&network, provider, &usual.conversion_of(&network, provider)).unwrap();
        let precision = usual.conversion(provider).precision;
        let folder = SessionPlan::new(provider, 0, precision, &usual, &model_io.model).unwrap().cache.unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("x_sm90.engine"), "").unwrap();
        assert!(ready(&network, "") && ready(&network, "gpu=0"));
        assert!(!ready(&other, ""), "another network");
        assert!(!ready(&network, "batch=64"), "other rows");
        assert!(!ready(&network, "gpu=1") && !ready(&network, "devices=0,1"), "another card");
        assert!(!ready(&network, "gpu=7"), "no such card");
    }
}
