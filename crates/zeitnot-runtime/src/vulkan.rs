//! Asks Vulkan's loader for the devices of this machine: ONNX Runtime's WebGPU does not name the one that it takes.

use std::ffi::CStr;
use std::sync::OnceLock;

use super::library;
use super::vulkan_calls::{self as vk, PhysicalDeviceType};

/// Vulkan's loader.
const LOADER: &str = if cfg!(windows) { "vulkan-1.dll" } else { "libvulkan.so.1" };

/// The environment variables that limit Vulkan's loader to some drivers: the newer name, and the older.
const DRIVERS: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The words for a software renderer, which emulates a card on the processor, in descriptions of devices.
pub const SOFTWARE: &str = "software device";

/// A device that Vulkan knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The device's name, such as `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// The driver's own version number, which its maker encodes.
    pub driver_version: u32,
    /// Whether the device is a software renderer, which emulates a card on the processor.
    pub is_software: bool,
}

/// Why Vulkan names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VulkanError {
    /// The loader is not there.
    #[error("there is no Vulkan ({LOADER} is missing; Debian and Ubuntu have it in libvulkan1)")]
    Missing,
    /// The loader is there, and no driver that it can use.
    #[error(
        "Vulkan finds no graphics card and no driver for one ({0}; NVIDIA's needs libX11 and libXext even without a screen, \
         AMD's and Intel's is in mesa-vulkan-drivers)"
    )]
    NoDriver(String),
}

/// The device that WebGPU takes, which is the fastest kind of those there are: the first discrete card, else the first
/// integrated one, else a software device. It is looked for once in a process.
///
/// # Errors
/// [`VulkanError`] where there is none.
pub fn device() -> Result<&'static Device, VulkanError> {
    static FOUND: OnceLock<Result<Device, VulkanError>> = OnceLock::new();
    FOUND.get_or_init(|| best(find()?)).as_ref().map_err(Clone::clone)
}

/// Whether [`device`] is a software renderer on the processor; false where there is no device.
pub fn is_software() -> bool {
    device().is_ok_and(|device| device.is_software)
}

/// The device that Dawn, the library inside ONNX Runtime's WebGPU, prefers.
fn best(devices: Vec<(PhysicalDeviceType, Device)>) -> Result<Device, VulkanError> {
    let rank = |kind: PhysicalDeviceType| match kind {
        PhysicalDeviceType::DISCRETE_GPU => 0,
        PhysicalDeviceType::INTEGRATED_GPU => 1,
        PhysicalDeviceType::CPU => 2,
        _ => 3,
    };
    let first = devices.into_iter().min_by_key(|(kind, _)| rank(*kind));
    first.map(|(_, device)| device).ok_or_else(|| VulkanError::NoDriver("it lists no device".to_owned()))
}

/// Words for an error on the driver files that Vulkan's loader is limited to, empty without a limit. `value` reads an
/// environment variable.
fn limit(value: impl Fn(&str) -> Option<String>) -> String {
    let set = |name| Some((name, value(name).filter(|files| !files.is_empty())?));
    let set = DRIVERS.into_iter().find_map(set);
    set.map_or(String::new(), |(name, files)| format!(", limited by {name}={files}"))
}

/// All devices with their kinds.
fn find() -> Result<Vec<(PhysicalDeviceType, Device)>, VulkanError> {
    // macOS has none, and its loader would look for it in the working folder.
    if cfg!(target_os = "macos") {
        return Err(VulkanError::Missing);
    }
    // SAFETY: loading a library runs its initialisers; this is the system's own, which WebGPU is about to load.
    let library = unsafe { library::load_of_system(LOADER) }.map_err(|_| VulkanError::Missing)?;
    // Drivers keep threads of their own: unloading them is not for us.
    let library = Box::leak(Box::new(library));
    // SAFETY: Vulkan fixes the signature of the function of this name.
    let get = unsafe { library.get::<vk::GetInstanceProcAddr>(b"vkGetInstanceProcAddr\0") };
    let get = *get.map_err(|_| VulkanError::Missing)?;
    // SAFETY: the function is the loader's, which stays loaded.
    let found = unsafe { vk::physical_devices(get) };
    let found = found.map_err(|code| {
        let name = vk::ERRORS.iter().find(|(known, _)| *known == code).map(|(_, name)| (*name).to_owned());
        let name = name.unwrap_or_else(|| code.to_string());
        VulkanError::NoDriver(format!("{name}{}", limit(|name| std::env::var(name).ok())))
    })?;
    let described = found.into_iter().map(|properties| {
        let is_software = properties.device_type == PhysicalDeviceType::CPU;
        let name =
            CStr::from_bytes_until_nul(&properties.device_name).unwrap_or_default().to_string_lossy().into_owned();
        (properties.device_type, Device { name, driver_version: properties.driver_version, is_software })
    });
    Ok(described.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_comes_before_what_plays_one() {
        let device = |kind, name: &str| {
            (kind, Device { name: name.to_owned(), driver_version: 1, is_software: kind == PhysicalDeviceType::CPU })
        };
        let all = [
            device(PhysicalDeviceType::CPU, "software"),
            device(PhysicalDeviceType::INTEGRATED_GPU, "integrated"),
            device(PhysicalDeviceType::DISCRETE_GPU, "first"),
            device(PhysicalDeviceType::DISCRETE_GPU, "second"),
        ];
        let name = |devices: &[(PhysicalDeviceType, Device)]| best(devices.to_vec()).map(|device| device.name);
        assert_eq!(name(&all).as_deref(), Ok("first"));
        assert_eq!(name(&all[..2]).as_deref(), Ok("integrated"));
        assert!(best(all[..1].to_vec()).unwrap().is_software);
        assert!(matches!(name(&[]), Err(VulkanError::NoDriver(_))));
    }

    #[test]
    fn the_variable_that_limits_vulkan_is_named() {
        let with = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, files)| (*files).to_owned());
            limit(find)
        };
        assert_eq!(with(&[]), "");
        assert_eq!(
            with(&[("VK_DRIVER_FILES", ""), ("VK_ICD_FILENAMES", "/a.json")]),
            ", limited by VK_ICD_FILENAMES=/a.json"
        );
    }

    #[test]
    fn a_machine_says_in_one_line_what_it_has() {
        match device() {
            Ok(device) => assert!(!device.name.is_empty()),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}
