//! Chooses the settings to try on a backend: threads and batch sizes, upwards until a larger one no longer pays.

use serde::{Deserialize, Serialize};

use super::Measured;
use super::saturation::{Saturation, Sizes};
use zeitnot_engine::backend::{Attributes, LARGEST_BATCH, Rows};
use zeitnot_engine::runtime::Provider;

/// Most search threads that the option `Threads` takes.
const MOST_THREADS: usize = 128;
/// The largest batch to try on a CPU, as a multiple of the preferred batch. Beyond it a busy machine makes more
/// difference than the batch does, and a search learns less from each visit.
const BEYOND_PREFERRED: usize = 4;

/// The settings to try: for each number of threads, batches upwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Numbers of search threads. The best batch of each shows whether more threads pay.
    pub threads: Sizes,
    /// Batch sizes, in positions.
    pub batches: Sizes,
}

/// A setting that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Search threads.
    pub threads: usize,
    /// Positions in a batch.
    pub batch: usize,
    /// Visits a second; 0 where nothing could be measured.
    pub visits_per_s: f64,
}

impl Grid {
    /// The settings for a backend on this machine. A backend with a single batch size is tried with that alone.
    pub fn new(attributes: &Attributes) -> Grid {
        let logical = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Grid { threads: threads(attributes, logical), batches: batches(attributes) }
    }

    /// The threads and the batch to try after `tried`, which is in the order of the trials; `None` at the end.
    pub fn after(&self, tried: &[Tried]) -> Option<(usize, usize)> {
        let first_batch = self.batches.after(&[])?;
        let Some(&Tried { threads, .. }) = tried.last() else { return Some((self.threads.after(&[])?, first_batch)) };
        let of_these = tried.iter().filter(|setting| setting.threads == threads);
        let batches: Vec<(usize, f64)> = of_these.map(|setting| (setting.batch, setting.visits_per_s)).collect();
        match self.batches.after(&batches) {
            Some(batch) => Some((threads, batch)),
            None => Some((self.threads.after(&best_by_threads(tried))?, first_batch)),
        }
    }
}

/// The most visits a second with each number of threads, in the order of the trials.
fn best_by_threads(tried: &[Tried]) -> Vec<(usize, f64)> {
    let mut best: Vec<(usize, f64)> = Vec::new();
    for setting in tried {
        match best.iter_mut().find(|(threads, _)| *threads == setting.threads) {
            Some((_, most)) => *most = most.max(setting.visits_per_s),
            None => best.push((setting.threads, setting.visits_per_s)),
        }
    }
    best
}

fn threads(attributes: &Attributes, logical: usize) -> Sizes {
    let preferred = attributes.preferred_threads.max(1);
    let tidy = |mut numbers: Vec<usize>| {
        numbers.retain(|number| (1..=MOST_THREADS).contains(number));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    match attributes.is_cpu {
        // The search shares the cores with the evaluator; a second hardware thread of a core may still help a little.
        true => Sizes::Listed(tidy(vec![1, preferred / 2, preferred, logical])),
        // Workers hide the search behind the device.
        false => {
            let first = tidy(vec![1, preferred, preferred + 1, 2 * preferred]);
            Sizes::Rising { first, most: logical.max(2 * preferred).min(MOST_THREADS) }
        }
    }
}

fn batches(attributes: &Attributes) -> Sizes {
    let Attributes { preferred_batch, smallest_batch, maximum_batch, is_cpu, .. } = *attributes;
    // A CPU's preference is small, and a card's large.
    let first = if is_cpu { preferred_batch / 2 } else { preferred_batch / 4 };
    // A batch below the smallest is filled up to it, and takes as long.
    Sizes::doubling(first.max(smallest_batch).max(1), maximum_batch.min(largest_wanted(attributes)).max(1))
}

/// The largest batch worth trying, in positions, whether or not the backend runs it.
fn largest_wanted(attributes: &Attributes) -> usize {
    if attributes.is_cpu { BEYOND_PREFERRED * attributes.preferred_batch.max(1) } else { LARGEST_BATCH }
}

/// Batch size at which a backend saturates in searches: larger batches gain next to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSaturation {
    /// The value of the option `Backend`.
    pub backend: String,
    /// The search threads that made the most evaluations a second.
    pub threads: usize,
    /// The batch size at which the backend saturates with these threads.
    #[serde(flatten)]
    pub saturation: Saturation,
}

/// The saturation of a backend by `settings`, all of which are of it; `None` where only one batch size was measured
/// with the fastest number of threads.
pub fn search_saturation(settings: &[Measured]) -> Option<SearchSaturation> {
    let best = settings.iter().max_by(|a, b| a.evals_per_s.total_cmp(&b.evals_per_s))?;
    let with_threads = settings.iter().filter(|setting| setting.threads == best.threads);
    let batches: Vec<(usize, f64)> = with_threads.map(|setting| (setting.batch, setting.evals_per_s)).collect();
    let saturation = Saturation::of(&batches).filter(|_| batches.len() > 1)?;
    Some(SearchSaturation { backend: best.backend.clone(), threads: best.threads, saturation })
}

/// A batch size, in positions, that may be faster than all that were tried, and that the key `batch` of the option
/// `BackendOptions` lets the backend run. `None` for a backend without a `provider`, which lacks that key, for a
/// network of a fixed batch size, and where larger batches did not pay already.
pub fn larger_batch(
    attributes: &Attributes,
    provider: Option<Provider>,
    saturation: Option<&SearchSaturation>,
) -> Option<usize> {
    let Attributes { smallest_batch, maximum_batch, .. } = *attributes;
    let is_fixed_by_provider = Rows::of_provider(provider?).only() == Some(maximum_batch);
    let may_grow = smallest_batch < maximum_batch || is_fixed_by_provider;
    let pays = saturation.is_none_or(|found| found.saturation.batch == maximum_batch);
    let larger = (2 * maximum_batch).min(largest_wanted(attributes));
    (may_grow && pays && larger > maximum_batch).then_some(larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::backend::{Backend as _, DeviceOptions, Rows, UniformBackend};

    /// The attributes of ONNX Runtime's backend with this provider and these `BackendOptions`; `fixed`: with a network
    /// that came with this batch size.
    fn attributes(provider: Provider, options: &str, fixed: Option<usize>) -> Attributes {
        let rows = fixed.map_or(options.parse::<DeviceOptions>().unwrap().rows(provider), Rows::fixed);
        Attributes {
            name: "a".to_owned(),
            device: "b".to_owned(),
            input: None,
            has_wdl: true,
            has_moves_left: true,
            preferred_batch: rows.preferred(provider),
            smallest_batch: rows.of(1),
            maximum_batch: rows.most,
            preferred_threads: 2,
            is_cpu: matches!(provider, Provider::Cpu | Provider::OpenVino),
            is_batch_invariant: false,
            maia: None,
        }
    }

    /// The settings that are tried where these visits a second are measured.
    fn climb(grid: &Grid, visits_per_s: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
        let mut tried = Vec::new();
        while let Some((threads, batch)) = grid.after(&tried) {
            tried.push(Tried { threads, batch, visits_per_s: visits_per_s(threads, batch) });
        }
        tried.iter().map(|setting| (setting.threads, setting.batch)).collect()
    }

    /// The batch sizes where each doubling pays.
    fn all_batches(attributes: &Attributes) -> Vec<usize> {
        let grid = Grid { threads: Sizes::Listed(vec![1]), ..Grid::new(attributes) };
        climb(&grid, |_, batch| batch as f64).into_iter().map(|setting| setting.1).collect()
    }

    #[test]
    fn batches_rise_to_what_the_backend_runs() {
        use Provider::*;
        for (provider, options, fixed, batches, larger) in [
            (Cpu, "", None, &[4, 8, 16, 32][..], None),
            (OpenVino, "", None, &[4, 8, 16, 32], None),
            (Cpu, "batch=16", None, &[4, 8, 16], Some(32)),
            (Cuda, "batch=1024", None, &[64, 128, 256, 512, 1024], None),
            (TensorRt, "batch=1024", None, &[64, 128, 256, 512, 1024], None),
            // What it prefers is the most that it runs, and yet no fixed size.
            (Cuda, "batch=256", None, &[64, 128, 256], Some(512)),
            (Cuda, "batch=1024,min_batch=128", None, &[128, 256, 512, 1024], None),
            (Cuda, "batch=64", None, &[16, 32, 64], Some(128)),
            (Cuda, "batch=600", None, &[64, 128, 256, 512, 600], Some(1024)),
            // These run one size alone.
            (Cuda, "batch=64,steps=1", None, &[64], None),
            (Cuda, "", Some(4), &[4], None),
            (Cpu, "", Some(4), &[4], None),
            (CoreMl, "", None, &[16], Some(32)),
            (DirectMl, "", None, &[16], Some(32)),
        ] {
            let attributes = attributes(provider, options, fixed);
            assert_eq!(all_batches(&attributes), batches, "{provider} {options}");
            assert_eq!(larger_batch(&attributes, Some(provider), None), larger, "{provider} {options}");
        }
        let free = UniformBackend::new();
        assert_eq!(all_batches(free.attributes()), [128, 256]);
        assert_eq!(larger_batch(free.attributes(), None, None), None, "no provider, no key");
    }

    #[test]
    fn a_card_is_searched_until_it_no_longer_pays() {
        let grid = Grid {
            threads: threads(&attributes(Provider::Cuda, "", None), 16),
            ..Grid::new(&attributes(Provider::Cuda, "batch=1024", None))
        };
        // Saturated by 256 positions, of one thread or of several.
        let tried = climb(&grid, |threads, batch| (threads * batch).min(256) as f64);
        let of = |threads: usize| -> Vec<usize> {
            tried.iter().filter(|setting| setting.0 == threads).map(|setting| setting.1).collect()
        };
        assert_eq!(
            (of(1), of(2), of(3)),
            (vec![64, 128, 256, 512, 1024], vec![64, 128, 256, 512], vec![64, 128, 256, 512])
        );
        assert!(of(4).is_empty(), "two numbers of threads brought nothing: {tried:?}");
        // Each thread and each doubling pays.
        let tried = climb(&grid, |threads, batch| (threads * batch) as f64);
        assert_eq!((tried.len(), tried.last()), (6 * 5, Some(&(16, 1024))), "1, 2, 3, 4, 8 and 16 threads");
        // Nothing is measured in the time there is.
        assert_eq!(climb(&grid, |_, _| 0.0).len(), 9);
    }

    #[test]
    fn a_processor_tries_no_more_settings_than_pay() {
        let cpu = attributes(Provider::Cpu, "", None);
        assert_eq!(threads(&cpu, 4), Sizes::Listed(vec![1, 2, 4]));
        let grid = Grid { threads: threads(&cpu, 4), ..Grid::new(&cpu) };
        let tried = climb(&grid, |threads, batch| (threads * batch.min(8)) as f64);
        assert_eq!(tried.len(), 3 * 4, "4, 8, 16 and 32 positions: {tried:?}");
    }

    #[test]
    fn held_settings_are_tried_alone() {
        let grid = Grid { threads: Sizes::Listed(vec![3]), batches: Sizes::Listed(vec![7]) };
        assert_eq!(climb(&grid, |_, _| 1.0), [(3, 7)]);
    }

    #[test]
    fn a_search_saturates_with_the_threads_that_evaluate_most() {
        let setting = |threads, batch, evals_per_s| Measured {
            backend: "x".to_owned(),
            threads,
            batch,
            evals_per_s,
            ..Measured::default()
        };
        let settings = [setting(1, 64, 500.0), setting(1, 128, 900.0), setting(2, 64, 960.0), setting(2, 128, 1000.0)];
        let found = search_saturation(&settings).unwrap();
        assert_eq!((found.threads, found.saturation.batch, found.saturation.is_reached), (2, 64, true));
        let rising = search_saturation(&settings[..2]).unwrap();
        assert_eq!((rising.threads, rising.saturation.batch, rising.saturation.is_reached), (1, 128, false));
        assert_eq!(search_saturation(&settings[..1]), None);
        let card = attributes(Provider::Cuda, "batch=128", None);
        assert_eq!(larger_batch(&card, Some(Provider::Cuda), Some(&found)), None);
        assert_eq!(larger_batch(&card, Some(Provider::Cuda), Some(&rising)), Some(256));
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!((json["batch"].as_u64(), json["backend"].as_str()), (Some(64), Some("x")));
        assert_eq!(serde_json::from_value::<SearchSaturation>(json).unwrap(), found);
    }
}
