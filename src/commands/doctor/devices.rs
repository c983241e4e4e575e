//! Checks ONNX Runtime, its execution providers, and the devices that they drive.

use super::{Check, PROBE};
use std::path::Path;
use std::process::Command;
use zeitnot_engine::runtime::{self, CudaVersion, Installed, Provider, nvidia, vulkan};

/// Checks NVIDIA's driver, the runtime that `library` names or that is found, and each provider that could be here.
/// `in_use` is the provider of the configured backend; with `is_auto` the CPU replaces a provider that does not load.
pub(super) fn checks(library: Option<&Path>, in_use: Option<Provider>, is_auto: bool, look: &mut dyn FnMut(Check)) {
    let driver = nvidia::driver();
    look(match &driver {
        Ok(driver) => {
            let version = driver.version.as_deref().unwrap_or("unknown");
            let cards = driver.cards.join(", ");
            let package = CudaVersion::for_driver(Some(driver));
            let finding =
                format!("{cards}; NVIDIA driver {version}, CUDA {}; the runtime for {package} suits", driver.cuda);
            Check::ok("graphics card", finding)
        }
        Err(error) => match nvidia::kernel_version() {
            Some(version) => Check::warning(
                "graphics card",
                format!("the kernel has NVIDIA's driver {version}, but {error}"),
                "install the driver's libraries of the same version (in a container: start it with its GPU)",
            ),
            None => Check::ok("graphics card", format!("none of NVIDIA's: {error}")),
        },
    });
    let installed = Installed::all();
    let provider = in_use.unwrap_or(Provider::Cpu);
    look(match (runtime::load_with(library, provider), in_use) {
        (Ok(runtime), _) => Check::ok("runtime", format!("{runtime}; providers: {}", runtime.providers.join(", "))),
        (Err(error), Some(_)) => Check::error("runtime", error.to_string()),
        (Err(error), None) => Check::ok("runtime", format!("not needed by this backend ({error})")),
    });
    for provider in Provider::ALL {
        let variants = provider.variants();
        let is_here = installed.iter().any(|package| variants.contains(&package.variant) && package.installed);
        let has_package = variants.iter().any(|variant| variant.pin().is_some());
        let could_be = has_package && (provider != Provider::CoreMl || cfg!(target_os = "macos"));
        if !could_be && in_use != Some(provider) {
            continue;
        }
        let name = format!("provider {}", provider.name());
        look(match probe(provider, library) {
            Ok(()) if provider == Provider::WebGpu => Check::ok(name, format!("loads{}", vulkan_device())),
            Ok(()) => Check::ok(name, "loads"),
            Err(problem) if in_use == Some(provider) && is_auto && provider != Provider::Cpu => {
                Check::warning(name, problem, "the backend auto takes the CPU in its place")
            }
            Err(problem) if in_use == Some(provider) => Check::error(name, problem),
            Err(problem) => unused_provider(provider, name, problem, is_here, driver.is_ok()),
        });
    }
}

fn unused_provider(provider: Provider, name: String, problem: String, is_here: bool, has_card: bool) -> Check {
    match provider {
        // Worth a warning if there is a card for it.
        Provider::Cuda if has_card => {
            Check::warning(name, problem, format!("a graphics card is far faster: `{}`", provider.command()))
        }
        _ if is_here => Check::ok(name, format!("not in use, and could not be: {problem}")),
        _ => Check::ok(name, format!("not in use; {problem}")),
    }
}

/// The device that WebGPU takes, as the end of a finding; empty where Vulkan does not name it.
fn vulkan_device() -> String {
    match vulkan::device() {
        Ok(device) if device.is_software => {
            format!(", on the software device {}, which the processor plays and `auto` does not take", device.name)
        }
        Ok(device) => format!(", on {}", device.name),
        Err(_) => String::new(),
    }
}

/// Tries in a process of its own whether a provider loads.
fn probe(provider: Provider, library: Option<&Path>) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("this program cannot be found again: {error}"))?;
    let mut command = Command::new(program);
    command.arg("doctor").arg(format!("--{PROBE}={}", provider.name()));
    if let Some(library) = library {
        command.arg("--onnxruntime").arg(library);
    }
    let output = command.output().map_err(|error| format!("this program cannot be started again: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().rfind(|line| line.starts_with("zeitnot: "));
    // A provider that takes the process down with it leaves no line.
    Err(line.map_or_else(|| format!("it crashes ({})", output.status), |line| line["zeitnot: ".len()..].to_owned()))
}
