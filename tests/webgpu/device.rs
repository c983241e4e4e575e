//! Finds the software device, and starts the program with it.

use assert_cmd::Command;
use parking_lot::{Mutex, MutexGuard};
use std::path::PathBuf;
use std::time::Duration;
use zeitnot_engine::runtime::{Installer, Variant};

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
    /// The device with the runtime for it; `None`, and a line that says so, where the runtime is not to be had.
    pub fn find() -> Option<Device> {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock();
        let installed = Installer::for_this_user(Variant::WebGpu).and_then(|it| it.install(false, &mut |_| ()));
        if let Err(error) = installed {
            eprintln!("skipped: WebGPU on a software device: {error}");
            return None;
        }
        Some(Device { driver: PathBuf::from(env!("ZEITNOT_SOFTWARE_CARD")), _turn: turn })
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
