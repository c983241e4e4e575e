//! Asks NVIDIA's driver for its version and its cards. (`nvidia-smi` is a program that may be missing where the driver
//! is there, as in containers.)

use std::ffi::{CStr, c_char, c_int, c_uint};

use serde::{Deserialize, Serialize};

use super::library;

/// The driver's library.
const DRIVER: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// NVIDIA's driver and its cards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Driver {
    /// The newest CUDA that the driver runs, such as `13.0`.
    pub cuda: String,
    /// The driver's own version, where the system gives it, such as `580.65.06`.
    pub version: Option<String>,
    /// The names of the cards, in the order of their indices.
    pub cards: Vec<String>,
    /// The compute capability of each card, major and minor number, which decides the code that it runs. Empty in
    /// records of older versions of this program.
    #[serde(default)]
    pub capabilities: Vec<(i32, i32)>,
    /// Places of the cards on the bus, such as `0000:65:00.0`, in the same order.
    #[serde(skip)]
    pub bus_ids: Vec<String>,
}

impl Driver {
    /// The major number of the newest CUDA that the driver runs; 0 if `cuda` does not begin with a number.
    pub(crate) fn cuda_major(&self) -> u32 {
        self.cuda.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0)
    }
}

/// A driver that cannot be asked, and the reason.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The library is not there.
    #[error("there is no NVIDIA driver ({DRIVER} is missing)")]
    Missing,
    /// The driver answered with an error; the number is CUDA's code for it.
    #[error("NVIDIA's driver answers with CUDA error {0}{hint}", hint = hint(*.0))]
    Fails(c_int),
    /// The driver lacks this function.
    #[error("{DRIVER} has no function {0}")]
    TooOld(&'static str),
}

/// `CUDA_ERROR_NO_DEVICE` of CUDA's driver interface.
const NO_DEVICE: c_int = 100;
/// `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH`.
const MISMATCH: c_int = 803;

fn hint(code: c_int) -> &'static str {
    match code {
        NO_DEVICE => " (no card)",
        MISMATCH => " (the driver in the kernel and its library are of different versions: restart the machine)",
        _ => "",
    }
}

type Init = unsafe extern "C" fn(c_uint) -> c_int;
type GetNumber = unsafe extern "C" fn(*mut c_int) -> c_int;
type DeviceGet = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
type DeviceText = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type DeviceAttribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR` of CUDA's driver interface.
const CAPABILITY: [c_int; 2] = [75, 76];

/// Bytes of the buffer for a text about a card: its name or its place on the bus.
const TEXT_LENGTH: usize = 256;

/// Asks the driver for its version and its cards. The driver's library stays loaded.
///
/// # Errors
/// [`DriverError`]. A driver without a card is an error too.
pub fn driver() -> Result<Driver, DriverError> {
    // There is no driver for macOS, whose loader would look for it in the working folder.
    if cfg!(target_os = "macos") {
        return Err(DriverError::Missing);
    }
    // SAFETY: loading a library runs its initialisers; this is the system's own driver, which CUDA is about to load.
    let library = unsafe { library::load_of_system(DRIVER) }.map_err(|_| DriverError::Missing)?;
    // The driver keeps threads of its own: unloading it is not for us.
    let library = Box::leak(Box::new(library));
    macro_rules! function {
        ($name:literal as $type:ty) => {
            // SAFETY: CUDA's driver interface fixes the signature of the function of this name.
            unsafe { library.get::<$type>(concat!($name, "\0").as_bytes()) }.map_err(|_| DriverError::TooOld($name))?
        };
    }
    let init = function!("cuInit" as Init);
    let driver_version = function!("cuDriverGetVersion" as GetNumber);
    let count = function!("cuDeviceGetCount" as GetNumber);
    let get = function!("cuDeviceGet" as DeviceGet);
    let name = function!("cuDeviceGetName" as DeviceText);
    let bus_id = function!("cuDeviceGetPCIBusId" as DeviceText);
    let attribute = function!("cuDeviceGetAttribute" as DeviceAttribute);
    let check = |code: c_int| if code == 0 { Ok(()) } else { Err(DriverError::Fails(code)) };
    // SAFETY: the only argument there is for this function is 0.
    check(unsafe { init(0) })?;
    let (mut version, mut cards) = (0, 0);
    // SAFETY: both pointers are valid for their calls, and the driver is initialised.
    check(unsafe { driver_version(&mut version) })?;
    // SAFETY: as above.
    check(unsafe { count(&mut cards) })?;
    if cards < 1 {
        return Err(DriverError::Fails(NO_DEVICE));
    }
    let device = |index: c_int| {
        let mut device = 0;
        // SAFETY: the pointer is valid, and the index below the number of cards.
        check(unsafe { get(&mut device, index) }).map(|()| device)
    };
    let text = |function: &DeviceText, index: c_int| {
        let device = device(index)?;
        let mut text = [0; TEXT_LENGTH];
        // SAFETY: the buffer is as long as is said; the driver ends the text with a zero byte inside it.
        check(unsafe { function(text.as_mut_ptr(), TEXT_LENGTH as c_int, device) })?;
        // SAFETY: see above; the buffer lives to the end of this function.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    };
    let capability = |index: c_int| {
        let device = device(index)?;
        let mut numbers = [0; CAPABILITY.len()];
        for (number, which) in numbers.iter_mut().zip(CAPABILITY) {
            // SAFETY: the pointer is valid for the call, and the device is one that the driver has named.
            check(unsafe { attribute(number, which, device) })?;
        }
        Ok((numbers[0], numbers[1]))
    };
    let texts =
        |function: &DeviceText| (0..cards).map(|index| text(function, index)).collect::<Result<Vec<_>, DriverError>>();
    let capabilities = (0..cards).map(capability).collect::<Result<_, DriverError>>()?;
    // A network runs without the places.
    let (names, bus_ids) = (texts(&name)?, texts(&bus_id).unwrap_or_default());
    // CUDA writes 13.0 as 13000.
    let cuda = format!("{}.{}", version / 1000, version % 1000 / 10);
    Ok(Driver { cuda, version: kernel_version(), cards: names, capabilities, bus_ids })
}

/// The version of the driver in the kernel, from Linux's `/proc`; `None` where it is not there.
pub fn kernel_version() -> Option<String> {
    version_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The first word in the first line of `text` that is a version number with a dot.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_hold_the_version() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (x)  Sun Jul 27\n\
            GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
        assert_eq!(version_in(text).as_deref(), Some("580.65.06"));
        assert_eq!(version_in("nothing here"), None);
    }

    #[test]
    fn a_machine_says_in_one_line_what_it_has() {
        match driver() {
            Ok(driver) => {
                assert!(!driver.cards.is_empty() && driver.cuda.contains('.') && driver.cuda_major() > 0, "{driver:?}");
                assert_eq!(driver.cards.len(), driver.capabilities.len(), "{driver:?}");
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
        assert!(DriverError::Fails(NO_DEVICE).to_string().contains("no card"));
    }
}
