//! Makes shards of labelled games with several workers.

use super::recipe::SHARD;
use crate::game_file::LabelledGame;
use crate::generator::Generator;
use anyhow::{Context as _, ensure};
use flate2::{Compression, write::GzEncoder};
use indicatif::{ProgressBar, ProgressStyle};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{SeedableRng as _, seq::SliceRandom as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zeitnot_base::files::write_whole;

/// Games without any label after which a shard fails.
const FRUITLESS: usize = 1000;

/// The shards to make, shared by the workers.
pub struct Plan<'a> {
    /// The folder of the shards.
    pub folder: &'a Path,
    /// The beginning of the shards' names.
    pub prefix: String,
    /// Seed of the run; every shard draws its own from it.
    pub seed: u64,
    /// Number of shards.
    pub shards: u64,
    /// Least labels of a shard.
    pub labels: u64,
    /// Games that a worker plays at once.
    pub games: usize,
    /// The number of the next shard that no worker has taken.
    pub next: AtomicU64,
    /// Whether a shard could not be made, so that the other workers end.
    pub failed: AtomicBool,
    /// The bar of finished shards.
    pub bar: ProgressBar,
}

/// The progress bar for this number of shards, on standard error.
pub fn bar(shards: u64) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} shards {msg} [{elapsed_precise}]")?;
    let bar = ProgressBar::new(shards).with_style(style);
    bar.tick();
    Ok(bar)
}

impl Plan<'_> {
    /// Makes shards that no other worker has taken, until none is left.
    ///
    /// # Errors
    ///
    /// When a shard cannot be made: the other workers end, too.
    pub fn make_shards<'b>(&self, generator: impl Fn(u64) -> anyhow::Result<Generator<'b>>) -> anyhow::Result<()> {
        loop {
            let shard = self.next.fetch_add(1, Ordering::Relaxed);
            if shard >= self.shards {
                return Ok(());
            }
            let path = self.folder.join(format!("{}-{shard:04}{SHARD}", self.prefix));
            if path.exists() {
                self.bar.suspend(|| eprintln!("{}: is there, left alone", path.display()));
            } else {
                // Seeds of one run stay apart from those of the next.
                let seed = self.seed ^ (shard << u32::BITS);
                let made = generator(seed).and_then(|mut games| self.make(&path, &mut games, seed));
                if made.is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                }
                let Some(summary) = made.with_context(|| format!("cannot make {}", path.display()))? else {
                    return Ok(());
                };
                self.bar.suspend(|| eprintln!("{}: {summary}", path.display()));
            }
            self.bar.inc(1);
        }
    }

    /// Makes one shard and sums it up; `None` when another worker failed before it was whole.
    fn make(&self, path: &Path, generator: &mut Generator, seed: u64) -> anyhow::Result<Option<String>> {
        let mut ended = Vec::new();
        let mut labels = 0;
        loop {
            // The last games are played to their ends: without them there would be too many short games.
            while labels < self.labels && generator.going() < self.games {
                generator.begin();
            }
            if generator.going() == 0 {
                break;
            }
            if self.failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for game in generator.step()? {
                labels += game.labels() as u64;
                ended.push(game);
                self.bar.set_message(format!("{labels}/{} labels", self.labels));
                ensure!(labels > 0 || ended.len() < FRUITLESS, "{} games brought no label", ended.len());
            }
        }
        // The short ones ended first: without this a part of a shard would not be like the whole.
        ended.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        write_whole(path, &packed(&ended)?)?;
        let plies: usize = ended.iter().map(|game| game.plies.len()).sum();
        Ok(Some(format!("{} games, {plies} plies, {labels} labels", ended.len())))
    }
}

/// The bytes of a shard.
fn packed(games: &[LabelledGame]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = GzEncoder::new(Vec::new(), Compression::default());
    for game in games {
        game.write(&mut bytes)?;
    }
    Ok(bytes.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Sampling;
    use zeitnot_engine::backend::{self, BackendSettings};
    use zeitnot_engine::engine::NetworkEvaluator;
    use zeitnot_games::Openings;

    #[test]
    fn a_shard_is_left_where_another_could_not_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let openings = Openings::read(&[], None).unwrap();
        let made = |failed: bool| {
            let bar = ProgressBar::hidden();
            let (next, failed) = (AtomicU64::new(0), AtomicBool::new(failed));
            let plan = Plan {
                folder: folder.path(),
                prefix: "games-1".to_owned(),
                seed: 1,
                shards: 1,
                labels: 10,
                games: 2,
                next,
                failed,
                bar,
            };
            let teacher =
                || NetworkEvaluator::new(backend::create("random", None, &BackendSettings::default()).unwrap());
            let generator = |seed| Ok(Generator::new(&openings, Sampling::default(), teacher()?, None, seed)?);
            plan.make_shards(generator).unwrap();
            folder.path().read_dir().unwrap().count()
        };
        assert_eq!((made(true), made(false)), (0, 1));
    }
}
