//! Makes sessions: their threads, optimisation, execution provider and its options.

mod settings;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use ort::ep::{self, ArbitrarilyConfigurableExecutionProvider as _, ExecutionProviderDispatch};
use ort::session::Session;
use ort::session::builder::{AutoDevicePolicy, GraphOptimizationLevel, SessionBuilder};
use sha2::{Digest as _, Sha256};

use super::captured_runs::{Card, CudaCard};
use super::device_session::in_turn;
use super::{DeviceSession, ModelIo, first_line};
use crate::device_options::Graphs;
use crate::{BackendError, Compiled, CpuShare, DeviceOptions, Label, Rows, Sharing, preferences};
use zeitnot_base::announcer::Announcer;
use zeitnot_network::external_data;
use zeitnot_network::{EndTypes, ModelInput, OnnxModel, Precision};
use zeitnot_runtime::{Provider, Runtime, missing_library, nvidia, ort_log, tensorrt_rtx, user_cache, vulkan};

/// Threads of ONNX Runtime inside one worker's session on a CPU. One is best: two workers with one thread each do more
/// than one with two (2.1 times at batch 1, 1.05 times at batch 32; measured on two cores).
const CPU_THREADS: usize = 1;
/// The name of the open dimension in the models that Lc0 and this crate write.
const BATCH_DIMENSION: &str = "batch";
/// Beginning of ONNX Runtime's message about a provider, where the reason is in the log alone.
const NO_REASON: &str = "Failed to load provider";
/// Part of its message where WebGPU finds no device that is fit.
const NO_ADAPTER: &str = "Failed to get a WebGPU adapter";
/// ONNX Runtime's words where a provider would leave operators to the CPU although that is switched off.
const LEFT_TO_CPU: &str = "fallback to CPU EP has been explicitly disabled";
/// The beginning of ONNX Runtime's words about an operator that no provider of the session computes in its type.
const NO_KERNEL: &str = "Could not find an implementation";
/// ONNX Runtime's setting for the folder of the external data of a model that comes from memory.
const EXTERNAL_FOLDER: &str = "session.model_external_initializers_file_folder_path";
/// Characters of a model's hash in the name of its folder: 64 bits distinguish the networks of a user.
const HASH_LENGTH: usize = 16;

/// Makes the card of this index.
pub(super) type CardMaker = Box<dyn Fn(u32) -> Result<Box<dyn Card>, String> + Send + Sync>;

/// The parameters of a session.
pub(super) struct SessionPlan {
    pub(super) provider: Provider,
    pub(super) device: u32,
    pub(super) threads: usize,
    optimization: GraphOptimizationLevel,
    pub(super) rows: Rows,
    /// Whether sizes of runs that take too long are left out: not where the user has named the largest.
    pub(super) may_leave_out_sizes: bool,
    pub(super) precision: Precision,
    /// Runs in flight, each in a session of its own; not used where each worker has a session.
    runs: usize,
    /// The maker of the card that captures runs as graphs; `None` for plain runs.
    pub(super) card: Option<CardMaker>,
    /// Whether runs are captured even where that is slower.
    pub(super) wants_captures: bool,
    /// The provider's options by ONNX Runtime's names.
    settings: Vec<(&'static str, String)>,
    /// The user's options of the provider, which come after `settings`.
    given: Vec<(String, String)>,
    /// OpenVINO's device.
    pub(super) units: Option<String>,
    /// Folder for networks that the provider compiles, made when a network is loaded; `None` if nothing is kept.
    pub(super) cache: Option<PathBuf>,
    /// Folder of the model's external data, if it has any.
    external: Option<PathBuf>,
    /// Whether operators that the provider lacks may run on the CPU.
    leaves_to_cpu: bool,
}

impl SessionPlan {
    /// The plan for a model on the device of this index.
    pub(super) fn new(
        provider: Provider,
        device: u32,
        precision: Precision,
        options: &DeviceOptions,
        model: &OnnxModel,
    ) -> Result<SessionPlan, BackendError> {
        let usual = preferences(provider);
        let captures = options.captures(provider);
        let mut plan = SessionPlan {
            provider,
            device,
            threads: options.threads.unwrap_or(CPU_THREADS),
            optimization: match options.optimize.unwrap_or(3) {
                0 => GraphOptimizationLevel::Disable,
                1 => GraphOptimizationLevel::Level1,
                2 => GraphOptimizationLevel::Level2,
                // The full level is 1.65 times as fast as none on a 6x64 network.
                _ => GraphOptimizationLevel::All,
            },
            rows: match provider {
                Provider::Cuda if captures => options.captured_rows(provider, model.has_convolutions()),
                Provider::Cuda if model.has_convolutions() => options.one_size(provider),
                Provider::WebGpu if vulkan::is_software() => options.few_sizes(),
                _ => options.rows(provider),
            },
            may_leave_out_sizes: options.batch.is_none(),
            precision,
            runs: options.runs.unwrap_or(usual.runs_in_flight),
            card: captures.then(|| -> CardMaker { Box::new(|device| Ok(Box::new(CudaCard::new(device)?))) }),
            wants_captures: options.graphs == Graphs::On,
            settings: Vec::new(),
            given: options.provider.clone(),
            units: options.units.clone().or_else(|| usual.units.map(str::to_owned)),
            cache: None,
            external: external_data::folder(model).map(Path::to_path_buf),
            leaves_to_cpu: usual.cpu == CpuShare::AtOnce,
        };
        // Nothing is kept for a provider that is only tried, without a network.
        let wanted = plan.is_compiled() || options.cache_dir.is_some();
        if wanted && !model.bytes.is_empty() {
            plan.cache = Some(compiled_folder(provider, &plan.rows, options, model)?);
        }
        plan.settings = settings::of(&plan, options, model);
        Ok(plan)
    }

    /// Whether the provider compiles a network into a form that is kept by default.
    fn is_compiled(&self) -> bool {
        match preferences(self.provider).compiled {
            Compiled::NotKept => false,
            Compiled::KeptOffCpu => !self.is_cpu(),
            Compiled::Kept => true,
        }
    }

    pub(super) fn is_cpu(&self) -> bool {
        self.units.as_deref() == Some("CPU")
    }

    /// The assignment of sessions to workers.
    pub(super) fn sharing(&self) -> Sharing {
        if self.is_cpu() { Sharing::PerWorker } else { Sharing::InTurn(self.runs) }
    }

    /// The device and its driver.
    pub(super) fn device_name(&self, runtime: &Runtime) -> String {
        let device = match preferences(self.provider).label {
            Label::Plain(name) => name.to_owned(),
            Label::Indexed(name) => format!("{name} {}", self.device),
            Label::Units(name) => format!("{name} {}", self.units.as_deref().unwrap_or_default()),
            Label::NvidiaCard => {
                let card = nvidia::driver().ok().and_then(|driver| driver.cards.get(self.device as usize).cloned());
                let card = card.map(|card| format!(" {card}")).unwrap_or_default();
                format!("gpu {}{card}{}", self.device, if self.card.is_some() { ", CUDA graphs" } else { "" })
            }
            Label::Vulkan => {
                // An option may choose another one.
                let device = vulkan::device().ok().filter(|_| self.given.is_empty());
                let kind = if device.is_some_and(|device| device.is_software) { vulkan::SOFTWARE } else { "" };
                let name = device.map_or("", |device| &device.name);
                ["WebGPU", kind, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
            }
        };
        format!("{device}, ONNX Runtime {}", runtime.version)
    }

    /// ONNX Runtime's name for the memory of the device.
    pub(super) fn memory(&self) -> String {
        match self.is_cpu() {
            true => "cpu:0".to_owned(),
            false => format!("gpu:{}", self.device),
        }
    }

    /// Loads the network into a session, which may take minutes where the network must be compiled.
    pub(super) fn commit(
        &self,
        mut builder: SessionBuilder,
        model_io: &ModelIo,
    ) -> Result<DeviceSession, BackendError> {
        self.make_cache()?;
        let session = DeviceSession::make(self.provider, || builder.commit_from_memory(&model_io.model.bytes))
            .map_err(|error| self.load_error(model_io, &error))?;
        let Some(card) = &self.card else { return Ok(session) };
        in_turn(self.provider, || card(self.device))
            .and_then(|card| session.captured_by(card))
            .map_err(|reason| BackendError::Load { network: model_io.network.clone(), reason })
    }

    /// The first session of the network, made with this plan's builder. Operators that the provider lacks run on the CPU
    /// only if the network does not load otherwise, and `announcer` says so.
    pub(super) fn first_session(
        &mut self,
        runtime: &Runtime,
        builder: SessionBuilder,
        model_io: &ModelIo,
        announcer: &Announcer,
    ) -> Result<DeviceSession, BackendError> {
        match self.commit(builder, model_io) {
            Err(BackendError::Load { reason, .. })
                if preferences(self.provider).cpu != CpuShare::Never && reason.contains(LEFT_TO_CPU) =>
            {
                let (network, provider) = (&model_io.network, self.provider);
                announcer.say(&format!("{provider} has not all operators of {network}: the others run on the CPU"));
                self.leaves_to_cpu = true;
                self.commit(self.builder(runtime, model_io)?, model_io)
            }
            result => result,
        }
    }

    /// The error for a network that ONNX Runtime does not take.
    pub(super) fn load_error(&self, model_io: &ModelIo, error: &ort::Error) -> BackendError {
        let mut reason = first_line(error);
        if self.precision == Precision::Bfloat16 && reason.starts_with(NO_KERNEL) {
            reason =
                format!("{} does not compute it in bfloat16, other types than bf16 may run ({reason})", self.provider);
        }
        BackendError::Load { network: model_io.network.clone(), reason }
    }

    fn make_cache(&self) -> Result<(), BackendError> {
        let Some(folder) = &self.cache else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|reason| BackendError::Cache { folder: folder.clone(), reason })
    }

    /// The builder of a session, with the settings and the provider.
    pub(super) fn builder(&self, runtime: &Runtime, model_io: &ModelIo) -> Result<SessionBuilder, BackendError> {
        // ONNX Runtime's settings are text.
        let no_text = || ort::Error::new("its external data lie in a folder whose name is no UTF-8");
        let build = || -> ort::Result<SessionBuilder> {
            let builder = Session::builder(runtime.environment())?
                .with_optimization_level(self.optimization)?
                .with_intra_threads(self.threads)?
                .with_inter_threads(1)?
                // Without a policy, ort lets ONNX Runtime pick a device by itself.
                .with_auto_device(AutoDevicePolicy::PreferCPU)?
                .with_log_level(ort::logging::LogLevel::Error)?;
            let builder = match self.rows.only() {
                Some(rows) => builder.with_dimension_override(BATCH_DIMENSION, rows as i64)?,
                None => builder,
            };
            let builder = match &self.external {
                Some(folder) => builder.with_config_entry(EXTERNAL_FOLDER, folder.to_str().ok_or_else(no_text)?)?,
                None => builder,
            };
            let builder = if self.leaves_to_cpu { builder } else { builder.with_disable_cpu_fallback()? };
            // DirectML does not work with it (ONNX Runtime's documentation of the provider).
            Ok(builder.with_memory_pattern(self.provider != Provider::DirectMl)?)
        };
        let builder = build().map_err(|error| self.load_error(model_io, &error))?;
        self.register(runtime, builder)
    }

    /// Registers the providers with a session's builder; if one does not load, the error names the library that it
    /// misses.
    fn register(&self, runtime: &Runtime, builder: SessionBuilder) -> Result<SessionBuilder, BackendError> {
        // The log is the process's, and devices are loaded side by side.
        static ONE_AT_A_TIME: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock();
        ort_log::take();
        let registered = match self.provider {
            Provider::TensorRtRtx => self.with_plugin(runtime, builder),
            _ => builder.with_execution_providers(self.dispatches()).map_err(ort::Error::from),
        };
        registered.map_err(|error| {
            // Some providers write to the log alone why they do not load.
            let logged = ort_log::take().unwrap_or_default();
            let said = error.message();
            let backend = self.provider.name();
            match missing_library::name_in(said).or_else(|| missing_library::name_in(&logged)) {
                Some(library) => {
                    let advice = missing_library::advice(&library, self.provider);
                    BackendError::MissingLibrary { backend, library, advice }
                }
                None => {
                    let text = if said.starts_with(NO_REASON) && !logged.is_empty() { &logged } else { said };
                    let device = if text.contains(NO_ADAPTER) { vulkan::device().ok() } else { None };
                    let reason = match device {
                        Some(device) => format!(
                            "it takes no device that Vulkan lists: {} lacks what it needs (a newer driver may have it)",
                            device.name
                        ),
                        None => ort_log::plain(text),
                    };
                    BackendError::Provider { backend, reason }
                }
            }
        })
    }

    /// The builder with the plugin of TensorRT for RTX on its card.
    fn with_plugin(&self, runtime: &Runtime, builder: SessionBuilder) -> ort::Result<SessionBuilder> {
        tensorrt_rtx::register(runtime)?;
        let is_its_own = |device: &ort::device::Device<'_>| device.ep().is_ok_and(|name| name == tensorrt_rtx::NAME);
        let offered: Vec<_> = runtime.environment().devices().filter(is_its_own).collect();
        let count = offered.len();
        let Some(device) = offered.into_iter().nth(self.device as usize) else {
            let card = self.device_name(runtime);
            return Err(ort::Error::new(format!("it finds {count} cards that it drives, and not {card}")));
        };
        let settings = self.settings.iter().map(|(key, value)| (*key, value));
        let given = self.given.iter().map(|(key, value)| (&**key, value));
        let options: Vec<(String, String)> = settings
            .chain(given)
            .map(|(key, value)| (format!("{}.{key}", tensorrt_rtx::NAME), value.clone()))
            .collect();
        Ok(builder.with_devices([device], Some(&options))?)
    }

    /// The settings of CUDA for the operators that TensorRT does not take.
    fn substitute(&self) -> Vec<(&'static str, String)> {
        settings::cuda(self.device, self.precision)
    }

    /// The providers to register, best first; the CPU is always behind them.
    fn dispatches(&self) -> Vec<ExecutionProviderDispatch> {
        macro_rules! with_settings {
            ($provider:expr, $settings:expr, $given:expr) => {{
                let ep = $settings.iter().fold($provider, |ep, (key, value)| ep.with_arbitrary_config(key, value));
                $given.iter().fold(ep, |ep, (key, value)| ep.with_arbitrary_config(key, value)).build()
            }};
        }
        let (settings, given) = (&self.settings, &self.given);
        let none: [(String, String); 0] = [];
        let list = match self.provider {
            Provider::Cpu => Vec::new(),
            Provider::Cuda => vec![with_settings!(ep::CUDA::default(), settings, given)],
            // CUDA takes what TensorRT does not.
            Provider::TensorRt => vec![
                with_settings!(ep::TensorRT::default(), settings, given),
                with_settings!(ep::CUDA::default(), self.substitute(), none),
            ],
            Provider::OpenVino => vec![with_settings!(ep::OpenVINO::default(), settings, given)],
            Provider::CoreMl => vec![with_settings!(ep::CoreML::default(), settings, given)],
            Provider::WebGpu => vec![with_settings!(ep::WebGPU::default(), settings, given)],
            Provider::DirectMl => vec![ep::DirectML::default().with_device_id(self.device.cast_signed()).build()],
            Provider::MiGraphX => vec![ep::MIGraphX::default().with_device_id(self.device.cast_signed()).build()],
            // A plugin is registered by its device.
            Provider::TensorRtRtx => Vec::new(),
        };
        list.into_iter().map(ExecutionProviderDispatch::error_on_failure).collect()
    }
}

/// Checks that a provider loads on the first device, with all the libraries it needs and without a network.
///
/// # Errors
/// As for a backend.
pub(crate) fn probe(runtime: &Runtime, provider: Provider) -> Result<(), BackendError> {
    let model = OnnxModel {
        bytes: Vec::new(),
        input: ModelInput::Dense(String::new()),
        policy: String::new(),
        value: zeitnot_network::ValueOutput::Wdl(String::new()),
        moves_left: None,
        types: EndTypes::default(),
        folder: None,
    };
    let plan = SessionPlan::new(provider, 0, preferences(provider).precision, &DeviceOptions::default(), &model)?;
    let failed = |error: ort::Error| BackendError::Provider { backend: provider.name(), reason: first_line(&error) };
    let builder = Session::builder(runtime.environment()).map_err(failed)?;
    plan.register(runtime, builder).map(|_| ())
}

/// The folder for what a provider compiles from this model for runs of these sizes. Each model with its weights has one
/// of its own: TensorRT's provider names its engines by the names in a graph, which are the same in every network of a
/// family. The folder lies in the user's cache, not beside the binary, where Lc0 puts it and many may not write (Lc0's
/// issue 2414).
fn compiled_folder(
    provider: Provider,
    rows: &Rows,
    options: &DeviceOptions,
    model: &OnnxModel,
) -> Result<PathBuf, BackendError> {
    let root = compiled_root(provider, options).ok_or(BackendError::NoCacheFolder)?;
    let mut hasher = Sha256::new_with_prefix(&model.bytes);
    external_data::digests(model).iter().for_each(|digest| hasher.update(digest));
    // What is compiled with other options is another engine.
    let mut given = options.provider.clone();
    given.sort();
    given.iter().for_each(|(key, value)| hasher.update(format!("{key}={value},")));
    let hash: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let Rows { least, most, .. } = rows;
    Ok(root.join(format!("{}-{least}-{most}", &hash[..HASH_LENGTH])))
}

/// The folder of all that a provider compiles; `None` for a user without a home folder.
pub(super) fn compiled_root(provider: Provider, options: &DeviceOptions) -> Option<PathBuf> {
    let root = options.cache_dir.clone().or_else(|| Some(user_cache()?.join("compiled")));
    root.map(|root| root.join(provider.name()))
}

/// The names of TensorRT's engines in a folder.
pub(super) fn engines(folder: &Path) -> impl Iterator<Item = String> {
    let names = entries(folder).filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".engine"))
}

/// Entries of a folder; nothing where there is no folder.
pub(super) fn entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

/// The line to say before a session is made that may take minutes; `None` for any other. TensorRT's always may: an
/// engine that is there can be for another card or version, and is then built anew.
pub(super) fn can_be_compiled_long(plan: &SessionPlan) -> Option<String> {
    if plan.provider == Provider::WebGpu {
        let sizes: Vec<String> = plan.rows.sizes().iter().map(ToString::to_string).collect();
        return Some(format!(
            "WebGPU: compiling its pipelines for runs of {} positions; that takes seconds on a card, and up to minutes on a \
             software device",
            sizes.join(", ")
        ));
    }
    let folder = plan.cache.as_deref()?;
    let place = folder.display();
    match plan.provider {
        Provider::TensorRt if engines(folder).next().is_some() => Some(format!(
            "TensorRT: loading its engine from {place}; that takes minutes if it was built for another card or version of \
             TensorRT, and seconds if not"
        )),
        Provider::TensorRt => Some(format!(
            "TensorRT: building its engine for this network, card and batch, once; that takes minutes, up to ten for a large \
             network. It is kept in {place}, and `zeitnot net fetch --prepare` builds it ahead"
        )),
        Provider::TensorRtRtx => Some(format!(
            "TensorRT for RTX: building its engine for this network and card; that may take a minute, and less with what is \
             kept in {place}"
        )),
        _ => None,
    }
}
