//! Finds the software device, and starts the program with it.

use assert_cmd::Command;
use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeitnot_engine::runtime::{Installer, Variant};

/// Folders in which packages of Chromium and of Chrome put the driver of their software device.
const FOLDERS: [&str; 6] = [
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/snap/chromium/current/usr/lib/chromium-browser",
    "/opt/google/chrome",
    "/opt/chromium.org/chromium",
];
/// The variable by which Vulkan's loader is given a driver.
pub const DRIVERS: &str = "VK_ICD_FILENAMES";
/// The smallest network of the repository: its pipelines are compiled in seconds.
pub const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/zeitnot-network/networks/zeitnot-tiny.pb.gz");

/// The software device, held by one test at a time: it fills all cores.
pub struct Device {
    driver: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Device {
    /// The device with the runtime for it; `None`, and a line that says so, where either is not to be had.
    pub fn find() -> Option<Device> {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock();
        let driver = FOLDERS.iter().map(|folder| Path::new(folder).join("vk_swiftshader_icd.json"));
        let Some(driver) = driver.into_iter().find(|path| path.is_file()) else {
            eprintln!(
                "skipped: WebGPU on a software device: no Chromium with one is installed (on Debian: apt-get install \
                 chromium libvulkan1)"
            );
            return None;
        };
        let installed = Installer::for_this_user(Variant::WebGpu).and_then(|it| it.install(false, &mut |_| ()));
        if let Err(error) = installed {
            eprintln!("skipped: WebGPU on a software device: {error}");
            return None;
        }
        Some(Device { driver, _turn: turn })
    }

    /// The program as a command, which finds the device.
    pub fn command(&self) -> Command {
        let mut command = Command::from_std(self.program());
        command.timeout(Duration::from_secs(1800));
        command
    }

    /// The program, which finds the device.
    pub fn program(&self) -> std::process::Command {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_zeitnot"));
        program.env(DRIVERS, &self.driver).env_remove("ORT_DYLIB_PATH").env_remove("RUST_LOG");
        program
    }
}
