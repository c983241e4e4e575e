//! Makes backends by name.

use std::path::PathBuf;
use std::sync::Arc;

use super::names::{BackendKind, kind};
#[cfg(feature = "onnxruntime")]
use super::onnxruntime::{Prover, engines_are_ready, in_fitting_type, probe, with_fitting_runs};
#[cfg(feature = "onnxruntime")]
use super::several::load_side_by_side;
use super::simulated::{CARDS as SIMULATED_CARDS, SimulatedBackend};
use super::{
    Backend, BackendError, CachedBackend, DeviceOptions, NativeBackend, NativeOptions, RandomBackend, UniformBackend,
};
#[cfg(feature = "onnxruntime")]
use super::{BareSession, Compiled, OnnxRuntimeBackend, SeveralDevices, preferences};
use zeitnot_base::announcer::Announcer;
use zeitnot_network::{HistoryFill, Network};
use zeitnot_runtime::{self as runtime, Provider, nvidia, vulkan};

/// The settings of a new backend; [`DeviceOptions`] are what the UCI option `BackendOptions` parses to.
#[derive(Clone, Debug)]
pub struct BackendSettings {
    /// The library of ONNX Runtime, if the user names one.
    pub runtime: Option<PathBuf>,
    /// Positions in the cache (Lc0's `NNCacheSize`); 0 for none.
    pub cache_size: usize,
    /// The content of history planes for positions before the first known one.
    pub history_fill: HistoryFill,
    /// Options for running the network on its device.
    pub device: DeviceOptions,
    /// Seed of the backend `random`.
    pub seed: u64,
    /// Receiver of lines of text about work that takes long.
    pub announcer: Announcer,
}

impl BackendSettings {
    /// Default number of positions in the cache: Lc0's (docs/lc0.md, 5.1).
    pub const DEFAULT_CACHE_SIZE: usize = 2_000_000;
}

impl Default for BackendSettings {
    fn default() -> BackendSettings {
        BackendSettings {
            runtime: None,
            cache_size: BackendSettings::DEFAULT_CACHE_SIZE,
            history_fill: HistoryFill::FenOnly,
            device: DeviceOptions::default(),
            seed: 0,
            announcer: Announcer::default(),
        }
    }
}

/// Whether the backend `name` runs a network.
///
/// # Errors
/// When there is no such backend.
pub fn needs_network(name: &str) -> Result<bool, BackendError> {
    Ok(matches!(kind(name)?, BackendKind::Auto | BackendKind::Native | BackendKind::OnnxRuntime(_)))
}

/// The execution provider of the backend `name`; `None` for a backend without one. For `auto` it is the provider taken
/// here for a network that does not run natively ([`takes_native`]) and has no TensorRT engine ready.
///
/// # Errors
/// When there is no such backend.
pub fn provider_of(name: &str, options: &BackendSettings) -> Result<Option<Provider>, BackendError> {
    Ok(match kind(name)? {
        BackendKind::Auto => Some(CARDS.into_iter().find(|&card| may_run(card, options)).unwrap_or(Provider::Cpu)),
        BackendKind::OnnxRuntime(provider) => Some(provider),
        BackendKind::Native | BackendKind::Uniform | BackendKind::Random | BackendKind::Simulated => None,
    })
}

/// Whether the backend `name` runs this network without ONNX Runtime: `native` does, and so does `auto` if it takes the
/// CPU and `native` is the fastest there.
///
/// # Errors
/// When there is no such backend.
pub fn takes_native(name: &str, network: &Network, options: &BackendSettings) -> Result<bool, BackendError> {
    Ok(match kind(name)? {
        BackendKind::Auto => !CARDS.iter().any(|&card| takes(card, options)) && native_is_faster(network, options),
        BackendKind::Native => true,
        _ => false,
    })
}

/// Checks that a provider loads here with all the libraries it needs, without a network. The process keeps the ONNX
/// Runtime that was loaded for this.
///
/// # Errors
/// When no ONNX Runtime has the provider, or a library is missing.
#[cfg(feature = "onnxruntime")]
pub fn probe_provider(options: &BackendSettings, provider: Provider) -> Result<(), BackendError> {
    probe(&*runtime::load_with(options.runtime.as_deref(), provider)?, provider)
}

/// Makes the backend `name`, with a cache in front unless its size is 0.
///
/// `auto` is a card if one answers and an ONNX Runtime for it is there: through TensorRT for RTX, else through TensorRT
/// if its engine for this network is already built, else through CUDA, else through WebGPU. Otherwise `auto` is the CPU:
/// `native` for networks that run fastest on it, unless an option asks for ONNX Runtime. [`Backend::attributes`] says
/// which backend was taken. Names are case-insensitive, and Lc0's are known (`blas`, `cudnn-auto`, `onnx-cpu`,
/// `onnx-trt`, `trivial` and more).
///
/// # Errors
/// When there is no such backend, when the device that was asked for cannot be used (the CPU never replaces it), when
/// the backend needs a network and gets none, when it cannot run this network, or when the device computes it wrongly
/// ([`Proof`](super::Proof)). Nothing is downloaded: see [`runtime::ensure_installed`].
pub fn create(
    name: &str,
    network: Option<&Network>,
    options: &BackendSettings,
) -> Result<Arc<dyn Backend>, BackendError> {
    let with_network = || network.ok_or_else(|| BackendError::NoNetwork(name.to_owned()));
    let inner: Arc<dyn Backend> = match kind(name)? {
        BackendKind::Auto => automatic(with_network()?, options)?,
        BackendKind::Native => native(with_network()?, options)?,
        BackendKind::OnnxRuntime(provider) => on_provider(provider, with_network()?, options)?,
        BackendKind::Uniform => Arc::new(UniformBackend::new()),
        BackendKind::Random => Arc::new(RandomBackend::new(options.seed)),
        BackendKind::Simulated => {
            options.device.check_for_simulated()?;
            Arc::new(SimulatedBackend::new(options.device.card.unwrap_or(&SIMULATED_CARDS[0])))
        }
    };
    Ok(match options.cache_size {
        0 => inner,
        size => Arc::new(CachedBackend::new(inner, size)),
    })
}

/// A session of ONNX Runtime for the network, without a backend around it, on the first of the devices: for measuring
/// what a backend costs on top.
///
/// # Errors
/// As of [`create`].
#[cfg(feature = "onnxruntime")]
pub fn bare_session(
    provider: Provider,
    network: &Network,
    options: &BackendSettings,
) -> Result<BareSession, BackendError> {
    options.device.check_for(provider)?;
    let runtime = runtime::load_with(options.runtime.as_deref(), provider)?;
    let device = options.device.devices.first().copied().unwrap_or(0);
    BareSession::new(&runtime, provider, device, network, &options.device)
}

/// The providers whose cards `auto` tries, best first.
const CARDS: [Provider; 3] = [Provider::TensorRtRtx, Provider::Cuda, Provider::WebGpu];

/// Whether an ONNX Runtime for this provider is there and its card answers. For WebGPU the card must be one that Vulkan
/// reports (on macOS none is), and no software device: that would be slower than the backends for the CPU.
fn may_run(card: Provider, options: &BackendSettings) -> bool {
    runtime::is_there_with(options.runtime.as_deref(), card)
        && match card {
            Provider::WebGpu => vulkan::device().is_ok_and(|device| !device.is_software),
            _ => runtime::without_card(card).is_none(),
        }
}

/// Whether `auto` tries this provider's card: not if an option is set that only others take.
fn takes(card: Provider, options: &BackendSettings) -> bool {
    options.device.check_for(card).is_ok() && may_run(card, options)
}

/// Whether `auto` tries TensorRT before CUDA: only if its engine is built, as that takes minutes and is left to users
/// who ask for TensorRT.
#[cfg(feature = "onnxruntime")]
fn takes_tensorrt(network: &Network, options: &BackendSettings) -> bool {
    options.device.check_for(Provider::TensorRt).is_ok()
        && runtime::is_there_with(options.runtime.as_deref(), Provider::TensorRt)
        && nvidia::driver().is_ok_and(|driver| engines_are_ready(network, &options.device, &driver).unwrap_or(false))
}

#[cfg(not(feature = "onnxruntime"))]
fn takes_tensorrt(_: &Network, _: &BackendSettings) -> bool {
    false
}

/// The fastest backend that can run here.
fn automatic(network: &Network, options: &BackendSettings) -> Result<Arc<dyn Backend>, BackendError> {
    for card in CARDS.into_iter().filter(|&card| takes(card, options)) {
        if card == Provider::TensorRtRtx && takes(Provider::Cuda, options) {
            // A process has one ONNX Runtime: the one with CUDA serves for both.
            let _ = runtime::load_with(options.runtime.as_deref(), Provider::Cuda);
        }
        if card == Provider::Cuda && takes_tensorrt(network, options) {
            match on_provider(Provider::TensorRt, network, options) {
                Ok(backend) => return Ok(backend),
                Err(error) => options.announcer.say(&format!("CUDA is tried without TensorRT: {error}")),
            }
        }
        match on_provider(card, network, options) {
            Ok(backend) => return Ok(backend),
            Err(error) => options.announcer.say(&format!("{card} is passed over: {error}")),
        }
    }
    if native_is_faster(network, options) {
        return native(network, options);
    }
    on_provider(Provider::Cpu, network, options)
}

/// Whether `auto` takes the backend native on the CPU: no option is set that only ONNX Runtime takes, and either one
/// that only native takes, such as 8 bits, or native is the fastest for this network.
fn native_is_faster(network: &Network, options: &BackendSettings) -> bool {
    let for_onnx_runtime = options.runtime.is_some() || options.device.check_for_native().is_err();
    let for_native = options.device.check_for(Provider::Cpu).is_err();
    !for_onnx_runtime && (for_native || NativeBackend::is_fastest(network))
}

fn native(network: &Network, options: &BackendSettings) -> Result<Arc<dyn Backend>, BackendError> {
    options.device.check_for_native()?;
    let DeviceOptions { isa, arithmetic, policy_head, value_head, .. } = &options.device;
    let native = NativeOptions {
        isa: *isa,
        arithmetic: *arithmetic,
        policy_head: policy_head.as_deref(),
        value_head: value_head.as_deref(),
    };
    Ok(Arc::new(NativeBackend::new(network, &native, options.history_fill)?))
}

#[cfg(feature = "onnxruntime")]
fn on_provider(
    provider: Provider,
    network: &Network,
    options: &BackendSettings,
) -> Result<Arc<dyn Backend>, BackendError> {
    options.device.check_for(provider)?;
    let runtime = runtime::load_with(options.runtime.as_deref(), provider)?;
    let prover = Prover::new(&runtime, provider, network, options);
    let on_device = |device: u32| -> Result<Arc<dyn Backend>, BackendError> {
        let announcer = &options.announcer;
        let load = |device_options: &DeviceOptions| -> Result<OnnxRuntimeBackend, BackendError> {
            let (runtime, fill) = (Arc::clone(&runtime), options.history_fill);
            let backend = OnnxRuntimeBackend::new(runtime, provider, device, network, device_options, fill, announcer)?;
            prover.prove(&backend)?;
            Ok(backend)
        };
        let say = |line: &str| announcer.say(line);
        let backend = in_fitting_type(provider, &options.device, say, |device_options| {
            with_fitting_runs(provider, device_options, say, load)
        })?;
        Ok(Arc::new(backend))
    };
    match *options.device.devices {
        [] => on_device(0),
        [device] => on_device(device),
        ref several => {
            let devices = load_side_by_side(several, loaded_alone(provider, several), on_device)?;
            SeveralDevices::new(devices).map(|several| Arc::new(several) as _).ok_or(BackendError::NoDevice)
        }
    }
}

#[cfg(not(feature = "onnxruntime"))]
fn on_provider(_: Provider, _: &Network, _: &BackendSettings) -> Result<Arc<dyn Backend>, BackendError> {
    Err(runtime::RuntimeError::NotInThisBuild.into())
}

/// Number of devices that are loaded one after another before the rest. With TensorRT, also for RTX, it is 1 for cards
/// of one kind: the engine of the first serves all, and two cards that built it at once would write the same file. If
/// kinds differ or are not known it is all devices, as any two may be of one kind. For other providers it is 0.
#[cfg(feature = "onnxruntime")]
fn loaded_alone(provider: Provider, devices: &[u32]) -> usize {
    if !provider.is_nvidia() || preferences(provider).compiled != Compiled::Kept {
        return 0;
    }
    let Ok(driver) = nvidia::driver() else { return devices.len() };
    let names: Vec<_> = devices.iter().map(|&device| driver.cards.get(device as usize)).collect();
    if names.iter().all(|name| name.is_some() && *name == names[0]) { 1 } else { devices.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> String {
        create(name, None, &BackendSettings::default()).err().unwrap().to_string()
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        let known = "auto, native, onnxruntime, cuda, tensorrt, openvino, coreml, directml, webgpu, tensorrt-rtx, \
                     migraphx, uniform, random";
        assert_eq!(line("gpu9000"), format!("unknown backend gpu9000; there are: {known}"));
    }

    #[test]
    fn an_absent_backend_is_an_error_that_names_another() {
        let text = line("onnx-rocm");
        let start = "the backend onnx-rocm is not in this program, take migraphx or webgpu; there are: auto, ";
        assert!(text.starts_with(start), "{text}");
    }

    #[test]
    fn a_network_is_needed_to_run_one() {
        for name in ["auto", "native", "onnxruntime", "ONNX-CPU", "cuda", "onnx-trt"] {
            assert_eq!(line(name), format!("the backend {name} needs a network, and none was given"));
        }
    }

    #[test]
    fn a_cache_stands_in_front_unless_its_size_is_0() {
        let with = |cache_size| {
            let options = BackendSettings { cache_size, ..BackendSettings::default() };
            create("uniform", None, &options).unwrap().cache_fill()
        };
        assert_eq!((with(0), with(10)), (None, Some(0)));
    }
}
