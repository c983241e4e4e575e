//! Where networks are found when none is named.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etcetera::BaseStrategy;

use super::{NetworkError, file};

/// The folder for networks beside the working folder or the executable.
const MODELS: &str = "models";
/// The folder of this program, and that of its networks, within the user's data folder.
const USER_FOLDERS: [&str; 2] = ["zeitnot", "networks"];
/// What a mere name may lack.
const ENDINGS: [&str; 4] = ["", ".pb.gz", ".pb", ".onnx"];
/// The folder in which cargo builds; the package it belongs to lies around it.
const CARGO_TARGET: &str = "target";

/// The network to use: `weights_option` if it is given, otherwise the newest network of the first folder that has one.
/// An option that is a mere name, and of no file here, is looked for in the folders, with the endings of network files too:
/// `maia-1900` is the file that `zeitnot net fetch maia-1900` has put into the user's folder.
///
/// The folders, in this order: `models` in the working folder; `models` beside the executable, and in the package if the
/// executable lies in cargo's target folder; the working folder; `zeitnot/networks` in the user's
/// data folder. A network is known by its content; of two equally new ones the first by name is taken.
///
/// # Errors
///
/// When nothing is named and no folder has a network; the message says how to give one. A file that is named is not
/// looked at here: reading it reports what is wrong with it.
pub fn find(weights_option: Option<&Path>) -> Result<PathBuf, NetworkError> {
    match weights_option {
        Some(path) => Ok(named(path, &folders()).unwrap_or_else(|| path.to_owned())),
        None => first_of(&folders()),
    }
}

/// The first file of a mere name in the folders.
fn named(path: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let name = path.to_str().filter(|_| !path.exists() && path.components().count() == 1)?;
    let files = |folder: &PathBuf| ENDINGS.map(|ending| folder.join(format!("{name}{ending}")));
    folders.iter().flat_map(files).find(|file| file.is_file())
}

/// The folders to search, the first one first.
fn folders() -> Vec<PathBuf> {
    let working = PathBuf::from(".");
    let mut folders = vec![working.join(MODELS)];
    if let Ok(executable) = env::current_exe() {
        folders.extend(around(&executable));
    }
    folders.push(working);
    folders.extend(user_folder());
    folders
}

/// The folder for networks within the user's data folder, the last one to be searched and the one that networks are
/// fetched into; `None` when the user has no home folder.
pub fn user_folder() -> Option<PathBuf> {
    let user = etcetera::choose_base_strategy().ok()?;
    Some(USER_FOLDERS.iter().fold(user.data_dir(), |folder, name| folder.join(name)))
}

/// Where the networks of an executable lie: beside it, and in the package that cargo built it from.
fn around(executable: &Path) -> impl Iterator<Item = PathBuf> {
    let target = executable.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == CARGO_TARGET));
    let package = target.and_then(Path::parent);
    executable.parent().into_iter().chain(package).map(|folder| folder.join(MODELS))
}

fn first_of(folders: &[PathBuf]) -> Result<PathBuf, NetworkError> {
    folders.iter().find_map(|folder| newest(folder)).ok_or_else(|| {
        let searched: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        NetworkError::NotFound { searched: searched.join(", ") }
    })
}

/// The newest network of a folder.
fn newest(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|path| {
            // Follows links, unlike the entry's own metadata.
            let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
        })
        .collect();
    files.sort_by(|(time, path), (other_time, other_path)| other_time.cmp(time).then_with(|| path.cmp(other_path)));
    files.into_iter().map(|(_, path)| path).find(|path| file::looks_like_a_network(path))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;
    use crate::network::testing::random_network;

    fn write(folder: &Path, name: &str, content: &[u8], age_s: u64) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age_s);
        File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    #[test]
    fn a_named_file_is_taken_as_it_is() {
        assert_eq!(find(Some(Path::new("no/such/file"))).unwrap(), Path::new("no/such/file"));
    }

    #[test]
    fn a_mere_name_is_looked_for_in_the_folders() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let file = write(second.path(), "no-such-name-here.pb.gz", b"", 0);
        let folders = [&first, &second].map(|folder| folder.path().to_owned());
        assert_eq!(named(Path::new("no-such-name-here"), &folders), Some(file.clone()));
        assert_eq!(named(Path::new("no-such-name-here.pb.gz"), &folders), Some(file));
        assert_eq!(named(Path::new("another-name"), &folders), None);
        assert_eq!(named(Path::new("./no-such-name-here"), &folders), None, "that is a path");
        assert_eq!(named(Path::new("Cargo.toml"), &[PathBuf::from("src")]), None, "that is a file here");
    }

    #[test]
    fn the_newest_network_of_the_first_folder_that_has_one() {
        let [empty, first, second] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let network = random_network(1, 1, 4);
        write(empty.path(), "notes.txt", b"no network", 0);
        write(first.path(), "renamed.bin", &network, 20);
        let newest = write(first.path(), "b.pb.gz", &network, 10);
        write(first.path(), "c.pb.gz", &network, 10);
        write(first.path(), "newer.pb.gz", b"\x1f\x8bnot really", 5);
        fs::create_dir(first.path().join("folder.pb.gz")).unwrap();
        write(second.path(), "d.pb.gz", &network, 0);
        let folders = [&empty, &first, &second].map(|folder| folder.path().to_owned());
        assert_eq!(first_of(&folders).unwrap(), newest);
    }

    #[test]
    fn known_by_content_not_by_name() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "fake.pb.gz", b"hello", 0);
        let real = write(folder.path(), "weights", &random_network(1, 1, 4), 10);
        assert_eq!(newest(folder.path()), Some(real));
    }

    #[test]
    fn the_error_says_how_to_give_a_network() {
        let folder = tempfile::tempdir().unwrap();
        let error = first_of(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--weights") && error.contains(&folder.path().display().to_string()), "{error}");
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn models_come_before_the_working_folder() {
        let folders = folders();
        assert_eq!(folders[0], Path::new("./models"));
        assert!(folders.iter().position(|folder| folder == Path::new(".")).unwrap() > 1);
    }

    #[test]
    fn an_executable_knows_its_package() {
        let found = |path: &str| around(Path::new(path)).collect::<Vec<_>>();
        assert_eq!(found("/opt/zeitnot/zeitnot"), [Path::new("/opt/zeitnot/models")]);
        for (path, beside) in [
            ("/src/zeitnot/target/release/zeitnot", "/src/zeitnot/target/release/models"),
            ("/src/zeitnot/target/x86_64/debug/deps/test", "/src/zeitnot/target/x86_64/debug/deps/models"),
        ] {
            assert_eq!(found(path), [Path::new(beside), Path::new("/src/zeitnot/models")]);
        }
    }
}
