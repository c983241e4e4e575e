//! Finds the external data of a model that came as ONNX: tensors in other files of its folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use super::OnnxModel;
use super::onnx_fields::all;
use super::onnx_proto::field::{EXTERNAL_DATA, GRAPH, INITIALIZER, KEY, VALUE};
use zeitnot_base::digest::sha256;

/// The key of the entry that names a tensor's file.
const LOCATION: &[u8] = b"location";

/// The folder in which ONNX Runtime is to look for the external data of a model (without this setting it takes the
/// working folder); `None` for a model that has none.
pub fn folder(model: &OnnxModel) -> Option<&Path> {
    model.folder.as_deref().filter(|_| locations(&model.bytes).next().is_some())
}

/// The SHA-256 of the external files that can be read: they distinguish networks whose models are the same.
pub fn digests(model: &OnnxModel) -> Vec<String> {
    model.folder.as_deref().map(|folder| digests_beside(&model.bytes, folder)).unwrap_or_default()
}

/// As [`digests`], for a model given as the bytes of its file, and the folder that it lies in.
pub(super) fn digests_beside(model: &[u8], folder: &Path) -> Vec<String> {
    let files: BTreeSet<PathBuf> = locations(model).map(PathBuf::from).collect();
    // ONNX Runtime refuses those that lie elsewhere.
    let is_below = |file: &PathBuf| file.components().all(|part| matches!(part, Component::Normal(_)));
    let paths = files.into_iter().filter(is_below).map(|file| folder.join(file)).filter(|path| path.is_file());
    paths.filter_map(|path| File::open(path).and_then(sha256).ok()).collect()
}

/// The external files that the tensors of a model name, each as often as it is named.
fn locations(model: &[u8]) -> impl Iterator<Item = &str> {
    let tensors = all(model, GRAPH).flat_map(|graph| all(graph, INITIALIZER));
    let entries = tensors.flat_map(|tensor| all(tensor, EXTERNAL_DATA));
    entries.filter(|entry| all(entry, KEY).any(|key| key == LOCATION)).filter_map(|entry| {
        let location = all(entry, VALUE).last()?;
        std::str::from_utf8(location).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_network, with_external_data};
    use crate::{Conversion, Network};

    fn inline() -> OnnxModel {
        let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
        network.onnx(&Conversion::default()).unwrap()
    }

    #[test]
    fn external_data_is_found_beside_its_model() {
        let home = tempfile::tempdir().unwrap();
        let (bytes, data) = with_external_data(&inline().bytes, "weights.bin");
        assert!(bytes.len() < 10_000 && data.len() > 40_000, "{} and {}", bytes.len(), data.len());
        let path = home.path().join("net.onnx");
        std::fs::write(&path, &bytes).unwrap();
        let model = Network::load(&path).unwrap().onnx(&Conversion::default()).unwrap();
        assert_eq!(folder(&model), Some(home.path()));
        assert!(digests(&model).is_empty(), "the file is not there");
        std::fs::write(home.path().join("weights.bin"), &data).unwrap();
        assert_eq!(digests(&model), [sha256(data.as_slice()).unwrap()]);
        // A model of memory alone has no folder, and one without external data needs none.
        assert_eq!(folder(&OnnxModel { folder: None, ..model }), None);
        let inline = OnnxModel { folder: Some(home.path().to_owned()), ..inline() };
        assert_eq!((folder(&inline), digests(&inline)), (None, Vec::new()));
    }

    #[test]
    fn nothing_outside_the_folder_is_looked_at() {
        let home = tempfile::tempdir().unwrap();
        let inner = home.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let outside = home.path().join("secret");
        std::fs::write(&outside, "x").unwrap();
        for name in ["../secret", &outside.to_string_lossy(), "/dev/zero", ".", ""] {
            let (bytes, _) = with_external_data(&inline().bytes, name);
            let model = OnnxModel { bytes, folder: Some(inner.clone()), ..inline() };
            assert!(folder(&model).is_some() && digests(&model).is_empty(), "{name}");
        }
    }
}
