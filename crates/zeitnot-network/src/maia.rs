//! Recognises the networks of Maia, each of which learned the moves of people of one rating, by the content of the file.

use std::fs;
use std::path::{Path, PathBuf};

use super::{InputFormat, Network};
use zeitnot_base::digest::sha256;

/// Size of the content of every Maia, in bytes: no other content is looked at.
const SIZE: usize = 1_738_564;

/// Ratings on lichess, and the SHA-256 of the content that the file inflates to. The nine of
/// [Maia](https://github.com/CSSLab/maia-chess), and one for 2200 that others trained in the same way.
const RATINGS: [(u32, &str); 10] = [
    (1100, "1a36a309ccd5a65bf8aea0018c33eb74c3e0f7ccf2fa668232a1ae4b173b20c5"),
    (1200, "67c57f99ae554f14b3433aee2ed8669c32d2afb735d62df895c58ac909992793"),
    (1300, "8a086f0481ce5b7deea73e757865859cbc08999c79b25545f218069ae3cee737"),
    (1400, "4b8689f61fa99c693e02f8a94f1f8dd0179a15637ac566fad8b9506e68ea89cc"),
    (1500, "179b81ab2d19a555f3fc85c72669d21f9712964d507bd500408a52a77f077778"),
    (1600, "6ffa8a01a4219e151f1279dcb4bafe31588be2919121e1017f6cd76c7636accc"),
    (1700, "851bf7ab180c8dbfddfca2aaee68c7e0288cc428076867c80c39fbf08b36e5a4"),
    (1800, "a8846b9d806180565c9251dd9a881c591af6623767cfcdbc66c624c8b7cf4cd5"),
    (1900, "e8fe5a7f35594d4190c440a2716fda57ba9d071b26175d509476be7a4fda052a"),
    (2200, "d554421441c74fa9d1c939d3659ba5b7ccf0b6e816016d5d47e7a22e693a0d04"),
];

/// The rating of the players whose moves a network with this content learned; `None` if it is no Maia.
pub(super) fn rating(content: &[u8]) -> Option<u32> {
    if content.len() != SIZE {
        return None;
    }
    let digest = sha256(content).ok()?;
    RATINGS.iter().find(|(_, known)| *known == digest).map(|(rating, _)| *rating)
}

/// Size of a file in bytes above which [`of_level`] does not look at it: a Maia's file is at most little larger than
/// [`SIZE`].
const LARGEST_FILE: u64 = 2 * SIZE as u64;

/// The Maia that plays at `elo`, among the file `named` and those beside it whose names begin with `maia`: the one that
/// learned from players rated nearest to it. If `named` is a Maia-3, which is told the ratings to play by, it is that
/// file. `None` where `named` is no Maia.
pub fn of_level(named: &Path, elo: u32) -> Option<PathBuf> {
    let network = Network::load(named).ok()?;
    if network.description().input == InputFormat::Maia3 {
        return Some(named.to_owned());
    }
    let own = network.maia()?;
    let folder = named.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_name().to_string_lossy().to_ascii_lowercase().starts_with("maia"));
    let small = others.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.len() <= LARGEST_FILE));
    let rated = small.filter_map(|entry| Some((Network::load(&entry.path()).ok()?.maia()?, entry.path())));
    // Between two equally near ones the weaker; the named file before a copy of it.
    let all = std::iter::once((own, named.to_owned())).chain(rated);
    all.min_by_key(|(rating, _)| (rating.abs_diff(elo), *rating)).map(|(_, path)| path)
}
