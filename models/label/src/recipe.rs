//! Keeps the recipe of shards beside them: shards of one name and seed belong together if they have one recipe.

use crate::sampling::Sampling;
use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use zeitnot_base::files::read_text;
use zeitnot_base::files::write_whole;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_engine::engine::{Options, Word as _};
use zeitnot_engine::network::Location;

/// The ending of the names of shards.
pub const SHARD: &str = ".bin.gz";

/// All settings that decide the games of a recipe, but for the seed, which is in the shards' names.
#[derive(Serialize)]
pub struct Recipe {
    /// The evaluator that labels.
    pub teacher: Evaluator,
    /// The evaluator that plays, if it is not the teacher.
    pub player: Option<Evaluator>,
    /// The changed options of both evaluators that may change evaluations, by the options' names; left out where there
    /// are none, as in the recipes of earlier versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<&'static str, String>,
    /// The books.
    pub openings: Vec<Source>,
    /// How moves are drawn and positions chosen.
    pub sampling: Sampling,
    /// Least labels of a shard.
    pub shard_labels: u64,
    /// Games that a worker plays at once.
    pub at_once: u64,
}

/// An evaluator of positions.
#[derive(Serialize)]
pub struct Evaluator {
    name: String,
    /// SHA-256 of the network's file; `None` where there is no file.
    sha256: Option<String>,
}

/// A file, identified by its content, as a name may come to mean another file.
#[derive(Serialize)]
pub struct Source {
    name: String,
    sha256: String,
}

impl Evaluator {
    /// The evaluator of this name, with the network at this location.
    ///
    /// # Errors
    ///
    /// When the network's file cannot be read again.
    pub fn of(name: &str, network: Option<&Location>) -> anyhow::Result<Evaluator> {
        Ok(Evaluator { name: name.to_owned(), sha256: network.map(Location::sha256).transpose()? })
    }
}

/// The options with other values than their defaults that may change a network's evaluations.
pub fn changed(options: &Options) -> BTreeMap<&'static str, String> {
    let default = Options::default();
    let them = [
        ("BackendOptions", options.backend_options.as_str(), default.backend_options.as_str()),
        ("HistoryFill", options.history_fill.word(), default.history_fill.word()),
    ];
    them.into_iter().filter(|(_, now, default)| now != default).map(|(name, now, _)| (name, now.to_owned())).collect()
}

/// The books by their names and contents.
///
/// # Errors
///
/// When a book cannot be read.
pub fn books(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let source = |path: &PathBuf| {
        let sha256 = sha256_of_file(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { name, sha256 })
    };
    paths.iter().map(source).collect()
}

impl Recipe {
    /// Writes the recipe as `PREFIX.json`; where shards are there already, checks that their recipe is the same.
    ///
    /// # Errors
    ///
    /// When it is not the same, or the file cannot be read or written.
    pub fn keep(&self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        let path = folder.join(format!("{prefix}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        match read_text(&path) {
            Ok(before) => match differing(&before, &text) {
                same if same.is_empty() => return Ok(()),
                parts => ensure!(
                    !has_shards(folder, prefix),
                    "{} has shards of another recipe ({parts}): give another --name or --seed",
                    path.display()
                ),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
        write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The names of the parts in which two recipes differ; all names where one text is no recipe.
fn differing(before: &str, now: &str) -> String {
    let [before, now] = [before, now].map(|text| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default());
    let names: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let names: Vec<_> = names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect();
    names.join(", ")
}

/// Whether a folder has shards of this prefix.
fn has_shards(folder: &Path, prefix: &str) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names = names.filter_map(|name| name.into_string().ok());
    names.any(|name| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(SHARD)))
}
