//! Loads what the options name: network, backend, cache, and an evaluator for each thread.

use super::Options;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use thiserror::Error;
use zeitnot_backend::{Backend, BackendError, BackendSettings, CachedBackend, EvaluatorPool};
use zeitnot_base::announcer::Announcer;
use zeitnot_base::files::{from_os, named_path};
use zeitnot_network::{Location, NetworkError};
use zeitnot_runtime::Provider;
use zeitnot_time::SpecError;
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::managers::human;

/// Why an engine cannot search; displays as one line.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The network file is missing or unfit.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The backend cannot run the network.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The time manager's specification is wrong.
    #[error(transparent)]
    TimeManager(#[from] SpecError),
    /// [`Engine::prepare`](super::Engine::prepare) has not succeeded yet.
    #[error("there is no network to search with")]
    NothingLoaded,
    /// A search ended by a failure of its evaluator.
    #[error("{0}")]
    Search(String),
    /// A device failed while it evaluated.
    #[error("{0}: the device is given up until an option changes")]
    Device(String),
    /// The operating system gives no thread.
    #[error("cannot start a search thread: {0}")]
    Thread(std::io::Error),
    /// A search on the caller's thread has neither limits nor a moment at which `stop` comes.
    #[error("this search has no end: it needs a limit")]
    Endless,
}

/// Whether a missing ONNX Runtime is downloaded.
#[derive(Clone, Copy, Debug)]
pub enum RuntimePolicy {
    /// Use only what is there: under a GUI the engine downloads nothing.
    FindOnly,
    /// Install it, after this function has been called with a line that announces it.
    Install(fn(&str)),
}

/// The options that a loaded backend depends on.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    /// The options whose change loads the network anew, all others at their defaults; `NNCacheSize` as the memory limit
    /// leaves it.
    options: Options,
    /// Whether a Maia may be loaded, where no network is named.
    takes_maia: bool,
}

/// An option's path as text in one spelling, for comparison; empty where the option names none.
fn spelled(text: &str) -> String {
    named_path(text).map_or_else(String::new, |path| from_os(path.as_os_str()))
}

impl Key {
    fn of(options: &Options) -> Key {
        // Where it decides nothing, another time manager loads nothing anew.
        let is_unnamed =
            named_path(&options.weights).is_none() && zeitnot_backend::needs_network(&options.backend).unwrap_or(true);
        let takes_maia = options.against_person || human::rating_of(&options.time_manager).is_some();
        let options = Options {
            backend: options.backend.to_ascii_lowercase(),
            cache: options.cache_positions(),
            weights: spelled(&options.weights),
            runtime: spelled(&options.runtime),
            ..options.only(|facts| facts.network)
        };
        Key { options, takes_maia: is_unnamed && takes_maia }
    }

    /// The network file that `WeightsFile` names.
    fn weights(&self) -> Option<PathBuf> {
        named_path(&self.options.weights)
    }

    /// The library of ONNX Runtime that the options name.
    fn runtime(&self) -> Option<PathBuf> {
        named_path(&self.options.runtime)
    }

    /// The key of the network alone, without a cache in front.
    fn without_cache(self) -> Key {
        Key { options: Options { cache: 0, ..self.options }, ..self }
    }
}

/// Options that could not be loaded, with date and size of the files that they name. Until any of these changes,
/// another try would fail too, and cost up to seconds of the clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    key: Key,
    files: [Option<(SystemTime, u64)>; 2],
}

impl Failure {
    /// The record of a failure to load `options` with the files as they are now.
    pub(crate) fn of(options: &Options) -> Failure {
        let key = Key::of(options);
        let network =
            zeitnot_network::find(key.weights().as_deref()).ok().and_then(|found| found.path().map(PathBuf::from));
        let stamp = |path: Option<&PathBuf>| {
            let metadata = path?.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        let files = [stamp(network.as_ref()), stamp(key.runtime().as_ref())];
        Failure { key, files }
    }
}

/// The network on its device, and how it is loaded.
pub(super) struct Device {
    pub policy: RuntimePolicy,
    pub loaded: Option<Loaded>,
    /// The options that failed to load last, if they did.
    pub failed: Option<Failure>,
    /// `WeightsFile` and Elo of the last level, and the options with the network found for these.
    of_level: Option<((String, u64), Options)>,
}

impl Device {
    pub(super) fn new(policy: RuntimePolicy) -> Device {
        Device { policy, loaded: None, failed: None, of_level: None }
    }

    /// The options by which the network is loaded: `given`, but at a level with the level's network.
    pub(super) fn options(&mut self, given: &Options) -> Options {
        let Some(elo) = given.elo_limit() else { return given.clone() };
        let asked = (given.weights.clone(), elo);
        let loaded = match self.of_level.take() {
            // Looking at the files takes time, and this move may be on the clock.
            Some((known, Options { weights, backend, backend_options, .. })) if known == asked => {
                Options { weights, backend, backend_options, ..given.clone() }
            }
            _ => given.with_network_of_level(),
        };
        if loaded.weights != asked.0 {
            self.of_level = Some((asked, loaded.clone()));
        }
        loaded
    }

    /// The loaded network.
    ///
    /// # Errors
    /// [`EngineError::NothingLoaded`].
    pub(super) fn loaded(&mut self) -> Result<&mut Loaded, EngineError> {
        self.loaded.as_mut().ok_or(EngineError::NothingLoaded)
    }
}

/// A backend in use, and its evaluators.
pub(super) struct Loaded {
    /// The options that named the backend; `None` where the backend was handed in.
    key: Option<Key>,
    /// Location of the backend's network, if it has one.
    pub location: Option<Location>,
    pub backend: Arc<dyn Backend>,
    /// Latency of the backend's batches, as searches of this game have seen it.
    pub latency: BatchLatency,
    evaluators: Arc<EvaluatorPool>,
}

impl Loaded {
    /// The options that decide what the backend computes; `None` where it was handed in.
    pub(super) fn computes(&self) -> Option<impl PartialEq + use<>> {
        self.key.clone().map(Key::without_cache)
    }
}

/// Loads what `options` name, unless `loaded` is just that already, or was handed in. Returns a line on what was
/// loaded, and on whether the user's own options, `asked`, name it; `None` if nothing was loaded.
///
/// # Errors
/// [`EngineError`], and `loaded` is as it was.
pub(super) fn load(
    loaded: &mut Option<Loaded>,
    options: &Options,
    asked: &Options,
    policy: RuntimePolicy,
    announcer: &Announcer,
) -> Result<Option<String>, EngineError> {
    let key = Key::of(options);
    if let Some(present) = loaded.as_mut().filter(|present| present.key.as_ref().is_none_or(|other| *other == key)) {
        present.ensure_evaluators(options)?;
        return Ok(None);
    }
    let LoadedNetwork { backend, location, news } = open(&key, Named::of(asked, options), policy, announcer)?;
    let mut fresh = Loaded { key: Some(key), location, ..Loaded::with(backend) };
    fresh.ensure_evaluators(options)?;
    *loaded = Some(fresh);
    Ok(Some(news))
}

/// A loaded network, ready on its device.
#[derive(Clone)]
pub struct LoadedNetwork {
    /// The backend that runs the network.
    pub backend: Arc<dyn Backend>,
    /// Location of the network, if the backend needs one.
    pub location: Option<Location>,
    /// A line with the network, its device and the reasons for both.
    pub news: String,
}

/// Loads the network that the options name onto its device, without a cache: for several engines that are made on it
/// ([`Engine::with_backend`](super::Engine::with_backend)).
///
/// # Errors
/// [`EngineError`] when it cannot be loaded.
pub fn load_network(
    options: &Options,
    policy: RuntimePolicy,
    announcer: &Announcer,
) -> Result<LoadedNetwork, EngineError> {
    let loaded = options.with_network_of_level();
    open(&Key::of(&loaded).without_cache(), Named::of(options, &loaded), policy, announcer)
}

/// Whether engines with these options can play with one loaded network.
pub fn is_same_network(first: &Options, second: &Options) -> bool {
    let key = |options: &Options| Key::of(&options.with_network_of_level()).without_cache();
    key(first) == key(second)
}

/// How the user's `WeightsFile` relates to the network that was loaded.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Nothing,
    /// `WeightsFile` names the loaded network.
    This,
    /// The network of a level was loaded in place of the named one.
    OfLevel,
    /// `WeightsFile` names another network, which could not be loaded.
    Otherwise,
}

impl Named {
    fn of(asked: &Options, options: &Options) -> Named {
        match () {
            () if asked.elo_limit().is_some() && options.weights == asked.with_network_of_level().weights => {
                if asked.weights == options.weights { Named::This } else { Named::OfLevel }
            }
            () if asked.weights != options.weights => Named::Otherwise,
            () if asked.weights.is_empty() => Named::Nothing,
            () => Named::This,
        }
    }
}

fn open(key: &Key, named: Named, policy: RuntimePolicy, announcer: &Announcer) -> Result<LoadedNetwork, EngineError> {
    let backend_options = BackendSettings {
        runtime: key.runtime(),
        cache_size: key.options.cache as usize,
        history_fill: key.options.history_fill,
        device: key.options.backend_options.parse().map_err(BackendError::from)?,
        announcer: announcer.clone(),
        ..BackendSettings::default()
    };
    let (location, network) = match zeitnot_backend::needs_network(&key.options.backend)? {
        false => (None, None),
        true => {
            let passed_over = |error: &NetworkError| announcer.say(&format!("{error}; it is passed over"));
            let interface = &backend_options.device.interface;
            let (location, network) =
                zeitnot_network::load_for(key.weights().as_deref(), interface, key.takes_maia, passed_over)?;
            // What drives other devices is large and asked for by name.
            if let RuntimePolicy::Install(announce) = policy
                && zeitnot_backend::provider_of(&key.options.backend, &backend_options)? == Some(Provider::Cpu)
                && !zeitnot_backend::takes_native(&key.options.backend, &network, &backend_options)?
            {
                zeitnot_runtime::ensure_installed_at(key.runtime().as_deref(), &announce)
                    .map_err(BackendError::from)?;
            }
            (Some(location), Some(network))
        }
    };
    let backend = zeitnot_backend::create(&key.options.backend, network.as_ref(), &backend_options)?;
    let reason = location.as_ref().map(|location| reason(location, named)).unwrap_or_default();
    let described = network.map(|network| format!("; {}", network.description())).unwrap_or_default();
    let news = format!("{}{described}{reason}", backend.attributes());
    tracing::debug!(news, "loaded");
    Ok(LoadedNetwork { backend, location, news })
}

/// The end of a line on what was loaded: why this network plays.
fn reason(location: &Location, named: Named) -> String {
    let folder = |path: &Path| path.parent().unwrap_or(Path::new(".")).display().to_string();
    match location {
        _ if named == Named::Otherwise => "; in place of what WeightsFile names".to_owned(),
        _ if named == Named::OfLevel => "; for a level (UCI_LimitStrength, Skill Level)".to_owned(),
        _ if named == Named::This => "; named by WeightsFile".to_owned(),
        Location::File(path) => format!("; WeightsFile names none: the newest in {}", folder(path)),
        Location::BuiltIn(_) => "; WeightsFile names none: the one built in".to_owned(),
    }
}

impl Loaded {
    fn with(backend: Arc<dyn Backend>) -> Loaded {
        Loaded { key: None, location: None, backend, latency: BatchLatency::default(), evaluators: Arc::default() }
    }

    /// Puts a cache of this engine's own in front of a backend that was handed in, unless the options ask for none.
    pub(crate) fn handed_in(backend: Arc<dyn Backend>, options: &Options) -> Loaded {
        Loaded::with(match options.cache_positions() {
            0 => backend,
            positions => Arc::new(CachedBackend::new(backend, positions as usize)),
        })
    }

    /// Forgets the cached evaluations and the latency of the game before. `is_to_repeat`: late batches of that game are
    /// waited for, since they must not change anything in the next.
    pub(crate) fn new_game(&mut self, is_to_repeat: bool) {
        if is_to_repeat {
            self.evaluators.wait_for_all();
        }
        self.backend.clear_cache();
        self.evaluators.take_late_batches();
        self.latency = BatchLatency::default();
    }

    /// Makes an evaluator for each search thread, as far as they are missing.
    pub(crate) fn ensure_evaluators(&mut self, options: &Options) -> Result<(), EngineError> {
        let wanted = match options.threads {
            0 => self.backend.attributes().preferred_threads.max(1),
            threads => threads as usize,
        };
        Ok(self.evaluators.ensure(self.backend.as_ref(), wanted)?)
    }

    /// The evaluators for a search.
    pub(crate) fn evaluators(&mut self, options: &Options) -> Result<Arc<EvaluatorPool>, EngineError> {
        self.ensure_evaluators(options)?;
        Ok(Arc::clone(&self.evaluators))
    }

    /// The latency of batches, including batches that ended only after their searches.
    pub(crate) fn latency(&mut self) -> BatchLatency {
        for (positions, took_ms) in self.evaluators.take_late_batches() {
            self.latency.observe(positions, took_ms);
        }
        self.latency.clone()
    }

    /// Why an evaluation has failed since the last call; `None` if none has, and for a backend that was handed in, which
    /// nothing here can replace.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.evaluators.take_failure().filter(|_| self.key.is_some())
    }

    /// Drops the evaluators, so that the next search makes new ones.
    pub(crate) fn forget_evaluators(&mut self) {
        self.evaluators = Arc::default();
    }
}
