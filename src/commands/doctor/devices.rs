//! Checks ONNX Runtime, its execution providers, and the devices that they drive.

use super::{Check, PROBE};
use std::path::Path;
use std::process::Command;
use zeitnot_engine::runtime::{self, CudaVersion, Installed, Provider, Variant, nvidia, vulkan};

/// Checks NVIDIA's driver, the runtime that `library` names or that is found, and each provider that could be here.
/// `in_use` is the provider of the configured backend; with `is_auto` the CPU replaces a provider that does not load.
pub(super) fn checks(library: Option<&Path>, in_use: Option<Provider>, is_auto: bool, look: &mut dyn FnMut(Check)) {
    let driver = nvidia::driver();
    let installed = Installed::all();
    let is_here =
        |variants: &[Variant]| installed.iter().any(|package| variants.contains(&package.variant) && package.installed);
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
            None => {
                let is_used = in_use.is_some_and(|provider| provider != Provider::Cpu) || is_here(&[Variant::WebGpu]);
                other_card(vulkan::device().ok(), is_used, &error.to_string())
            }
        },
    });
    let provider = in_use.unwrap_or(Provider::Cpu);
    let mut told = String::new();
    look(match (runtime::load_with(library, provider), in_use) {
        (Ok(runtime), _) => Check::ok("runtime", format!("{runtime}; providers: {}", runtime.providers.join(", "))),
        (Err(error), in_use) => {
            told = error.to_string();
            match in_use {
                Some(_) => Check::error("runtime", &*told),
                None => Check::unused("runtime", format!("not needed by this backend ({told})")),
            }
        }
    });
    for provider in Provider::ALL {
        let variants = provider.variants();
        let has_package = variants.iter().any(|variant| variant.pin().is_some());
        let could_be = has_package && (provider != Provider::CoreMl || cfg!(target_os = "macos"));
        if !could_be && in_use != Some(provider) {
            continue;
        }
        let name = format!("provider {}", provider.name());
        look(match probe(provider, library).map_err(|problem| without_what_was_told(problem, &told)) {
            Ok(()) if provider == Provider::WebGpu => Check::ok(name, format!("loads{}", vulkan_device())),
            Ok(()) => Check::ok(name, "loads"),
            Err(problem) if in_use == Some(provider) && is_auto && provider != Provider::Cpu => {
                Check::warning(name, problem, "the backend auto takes the CPU in its place")
            }
            Err(problem) if in_use == Some(provider) => Check::error(name, problem),
            Err(problem) => unused_provider(provider, name, problem, is_here(variants), driver.is_ok()),
        });
    }
}

/// The check of other makers' cards where NVIDIA's driver is missing, for this `reason`; a warning if no installed
/// runtime uses a card that is there.
fn other_card(device: Option<&vulkan::Device>, is_used: bool, reason: &str) -> Check {
    let name = "graphics card";
    match device.filter(|device| !device.is_software) {
        Some(device) if is_used => Check::ok(name, format!("{} (Vulkan)", device.name)),
        Some(device) => {
            let advice = format!("`{}`", Provider::WebGpu.command());
            Check::warning(name, format!("{} (Vulkan); nothing here uses it", device.name), advice)
        }
        None => Check::unused(name, format!("none of NVIDIA's: {reason}")),
    }
}

/// A problem without the list of unusable libraries at its end, if `told`, the text of an earlier check, has that list.
fn without_what_was_told(problem: String, told: &str) -> String {
    match problem.find(" (found but not usable: ") {
        Some(at) if told.contains(&problem[at..]) => problem[..at].to_owned(),
        _ => problem,
    }
}

fn unused_provider(provider: Provider, name: String, problem: String, is_here: bool, has_card: bool) -> Check {
    match provider {
        // Worth a warning if there is a card for it.
        Provider::Cuda if has_card => {
            Check::warning(name, problem, format!("a graphics card is far faster: `{}`", provider.command()))
        }
        _ if is_here => Check::unused(name, format!("installed, and {problem}")),
        _ => Check::unused(name, problem),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_nothing_uses_is_a_warning() {
        let card = |is_software| vulkan::Device { name: "RX 7900".to_owned(), driver_version: 1, is_software };
        let warning = other_card(Some(&card(false)), false, "no driver").to_string();
        let line = "warning  graphics card: RX 7900 (Vulkan); nothing here uses it; `zeitnot runtime install --webgpu`";
        assert_eq!(warning, line);
        assert_eq!(
            other_card(Some(&card(false)), true, "no driver").to_string(),
            "ok       graphics card: RX 7900 (Vulkan)"
        );
        for device in [None, Some(&card(true))] {
            let line = other_card(device, false, "no driver").to_string();
            assert_eq!(line, "unused   graphics card: none of NVIDIA's: no driver");
        }
    }

    #[test]
    fn unusable_libraries_are_told_once() {
        let problem = "no ONNX Runtime with X was found (found but not usable: a is broken)";
        let short = |told: &str| without_what_was_told(problem.to_owned(), told);
        assert_eq!(short("none was found (found but not usable: a is broken)"), "no ONNX Runtime with X was found");
        assert_eq!(
            (short(""), short("none was found (found but not usable: b is broken)")),
            (problem.into(), problem.into())
        );
    }
}
