//! Finds the network file to use, by its name or, without a name, in the folders of networks.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etcetera::BaseStrategy;

use super::catalogue::{ENTRIES, Entry};
use super::external_data::digests_beside;
use super::{BuiltIn, Network, NetworkError, OnnxInterface, built_in, file};
use zeitnot_base::digest::sha256;

/// Zeitnot's own networks: the built-in ones, and a larger one of older working copies. When no network is named their
/// files are passed over: a working copy, or what `zeitnot net convert` made of them, must not decide what plays.
const OWN: [&str; 3] = ["zeitnot-small", "zeitnot-tiny", "zeitnot-medium"];
/// The folder for networks beside the working folder or the executable.
const MODELS: &str = "models";
/// Path of the folder of networks within the user's data folder, one name for each level.
const USER_FOLDERS: [&str; 2] = ["zeitnot", "networks"];
/// Endings to try after a name that is given without a folder.
const ENDINGS: [&str; 4] = ["", ".pb.gz", ".pb", ".onnx"];
/// Name of the folder that cargo builds in, which lies within the package.
const CARGO_TARGET: &str = "target";

/// The place of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file, which may not exist: reading it reports the error.
    File(PathBuf),
    /// A network inside the program.
    BuiltIn(&'static BuiltIn),
}

impl Location {
    /// Reads the network, with this interface if it is an ONNX model.
    ///
    /// # Errors
    /// As [`Network::load_with`].
    pub fn load(&self, interface: &OnnxInterface) -> Result<Network, NetworkError> {
        match self {
            Location::File(path) => Network::load_with(path, interface),
            Location::BuiltIn(own) => Network::from_bytes_with(own.bytes, own.name, interface),
        }
    }

    /// The SHA-256 of the file, in lower-case hexadecimal.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn sha256(&self) -> Result<String, NetworkError> {
        match self {
            Location::File(path) => {
                let read = |reason| NetworkError::Read { path: path.clone(), reason };
                fs::File::open(path).and_then(sha256).map_err(read)
            }
            Location::BuiltIn(own) => Ok(sha256(own.bytes).expect("memory can be read")),
        }
    }

    /// The SHA-256 of the other files of a model that came as ONNX, as far as they can be read.
    pub fn external_digests(&self) -> Vec<String> {
        let Location::File(path) = self else { return Vec::new() };
        let (true, Some(folder)) = (path.extension().is_some_and(|ending| ending == "onnx"), path.parent()) else {
            return Vec::new();
        };
        fs::read(path).map(|model| digests_beside(&model, folder)).unwrap_or_default()
    }

    /// Size of the file, bytes.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn size(&self) -> Result<u64, NetworkError> {
        match self {
            Location::File(path) => match fs::metadata(path) {
                Ok(metadata) => Ok(metadata.len()),
                Err(reason) => Err(NetworkError::Read { path: path.clone(), reason }),
            },
            Location::BuiltIn(own) => Ok(own.bytes.len() as u64),
        }
    }

    /// The name of the file without its folder, or that of the network inside the program.
    pub fn name(&self) -> String {
        match self {
            Location::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Location::BuiltIn(own) => own.name.to_owned(),
        }
    }

    /// The file; `None` for the network inside the program.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Location::File(path) => Some(path),
            Location::BuiltIn(_) => None,
        }
    }
}

/// The path, or the name of a network inside the program with `(built in)`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::BuiltIn(own) => write!(f, "{} (built in)", own.name),
        }
    }
}

/// The network to use: `weights_option` if it is given, else the newest network of the first folder that has one, else
/// the one inside the program. The names of the networks inside the program, Lc0's `<built in>` among them, mean these
/// networks unless there is a file of that name here. Any other name without a folder, if it is no file here, is looked
/// for in the folders, also with the endings of network files: `maia-1900` is the file that
/// `zeitnot net fetch maia-1900` has put into the user's folder.
///
/// The folders, in this order: `models` in the working folder; `models` beside the executable, and in the package if
/// the executable lies in cargo's target folder; `zeitnot/networks` in the user's data folder. A file in the working
/// folder itself, a conversion say, plays only when it is named. Networks are recognised by their content; of two
/// equally new ones the first by name is taken. Files named like Zeitnot's own networks, with any ending, are passed
/// over when no network is named.
///
/// # Errors
/// When the named network is one of the catalogue that has not been fetched; the message says how to get it. A named
/// file is not looked at here: reading the file reports its errors.
pub fn find(weights_option: Option<&Path>) -> Result<Location, NetworkError> {
    match weights_option {
        Some(path) => find_named(path),
        None => Ok(unnamed(&folders()).next().map_or(Location::BuiltIn(&built_in::MAIN), Location::File)),
    }
}

/// Finds the network as [`find`] does, and reads it with this interface. Where no network is named, `passed_over` gets
/// the errors of unreadable files and of Maias, and the next file is tried: a broken download must not prevent play, and
/// people's mistakes are for who asks for them.
///
/// # Errors
/// As [`find`], and those of reading a network that is named. Where no network is named, [`NetworkError::Interface`]
/// when the first readable network does not have this interface: no other one takes its place.
pub fn load(
    weights_option: Option<&Path>,
    interface: &OnnxInterface,
    passed_over: impl FnMut(&NetworkError),
) -> Result<(Location, Network), NetworkError> {
    load_for(weights_option, interface, false, passed_over)
}

/// Loads a network as [`load`] does. `takes_maia`: a Maia need not be named to be taken, as in games against a person.
pub fn load_for(
    weights_option: Option<&Path>,
    interface: &OnnxInterface,
    takes_maia: bool,
    passed_over: impl FnMut(&NetworkError),
) -> Result<(Location, Network), NetworkError> {
    match weights_option {
        Some(path) => {
            let location = find_named(path)?;
            let network = location.load(interface)?;
            Ok((location, network))
        }
        None => load_unnamed(&folders(), interface, takes_maia, passed_over),
    }
}

fn load_unnamed(
    folders: &[PathBuf],
    interface: &OnnxInterface,
    takes_maia: bool,
    mut passed_over: impl FnMut(&NetworkError),
) -> Result<(Location, Network), NetworkError> {
    for location in unnamed(folders).map(Location::File) {
        match location.load(interface) {
            Ok(network) if !takes_maia && network.plays_like_people() => {
                passed_over(&NetworkError::Maia { path: location.path().unwrap_or(Path::new("")).to_owned() });
            }
            Ok(network) => return Ok((location, network)),
            Err(error @ NetworkError::Interface { .. }) => return Err(error),
            Err(error) => passed_over(&error),
        }
    }
    let main = Location::BuiltIn(&built_in::MAIN);
    let network = main.load(interface)?;
    Ok((main, network))
}

fn find_named(path: &Path) -> Result<Location, NetworkError> {
    if let Some(own) = built_in::named(path.as_os_str()).filter(|_| !path.is_file()) {
        return Ok(Location::BuiltIn(own));
    }
    if let Some(found) = named(path, &folders()) {
        return Ok(Location::File(found));
    }
    match in_catalogue(path) {
        Some(entry) if !path.exists() => Err(NetworkError::NotFetched { name: entry.name.to_owned() }),
        _ => Ok(Location::File(path.to_owned())),
    }
}

/// The first file whose name is `path` with any of [`ENDINGS`], in the working folder or in `folders`; `None` if there
/// is none, if `path` itself exists, or if it has a folder in it.
fn named(path: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let name = path.to_str().filter(|_| !path.exists() && path.components().count() == 1)?;
    let files = |folder: &Path| ENDINGS.map(|ending| folder.join(format!("{name}{ending}")));
    let folders = std::iter::once(Path::new(".")).chain(folders.iter().map(PathBuf::as_path));
    folders.flat_map(files).find(|file| file.is_file())
}

/// The network of the catalogue with this name or file name.
fn in_catalogue(path: &Path) -> Option<&'static Entry> {
    let name = path.to_str()?;
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name) || entry.file_name() == name)
}

/// The folders to search, in order.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(".").join(MODELS)];
    if let Ok(executable) = env::current_exe() {
        folders.extend(around(&executable));
    }
    folders.extend(user_folder());
    folders
}

/// The folder for networks within the user's data folder: networks are fetched into it, and it is searched last; `None`
/// when the user has no home folder.
pub fn user_folder() -> Option<PathBuf> {
    let user = etcetera::choose_base_strategy().ok()?;
    Some(USER_FOLDERS.iter().fold(user.data_dir(), |folder, name| folder.join(name)))
}

/// The network folders of an executable: beside the executable, and in the package that cargo built it from.
fn around(executable: &Path) -> impl Iterator<Item = PathBuf> {
    let target = executable.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == CARGO_TARGET));
    let package = target.and_then(Path::parent);
    executable.parent().into_iter().chain(package).map(|folder| folder.join(MODELS))
}

/// The networks of the folders, in the order to try them; none if [`built_in::IS_CHOSEN`] makes the built-in one play.
fn unnamed(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    folders.iter().filter(|_| !built_in::IS_CHOSEN).flat_map(|folder| networks(folder))
}

/// Whether a file is named like one of Zeitnot's own networks.
fn is_own(file: &str) -> bool {
    OWN.iter().any(|name| file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// The networks of a folder, the newest first, without files named like Zeitnot's own networks.
fn networks(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| !is_own(&entry.file_name().to_string_lossy())).map(|entry| entry.path());
    let mut files: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|path| {
            // Follows links, unlike the entry's own metadata.
            let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
        })
        .collect();
    files.sort_by(|(time, path), (other_time, other_path)| other_time.cmp(time).then_with(|| path.cmp(other_path)));
    files.into_iter().map(|(_, path)| path).filter(|path| file::looks_like_a_network(path))
}

#[cfg(test)]
#[path = "find_network_tests.rs"]
mod tests;
