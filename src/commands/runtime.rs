//! `zeitnot runtime`: shows the ONNX Runtime in use, and installs the pinned one.

use super::output::say;
use super::progress;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use zeitnot_engine::runtime::{CudaVersion, Installed, Installer, Progress, Status, Variant, nvidia};

/// Show or obtain ONNX Runtime, the library that networks are run with
#[derive(Debug, Args)]
pub struct RuntimeArgs {
    #[command(subcommand)]
    command: RuntimeCommand,
}

#[derive(Debug, Subcommand)]
enum RuntimeCommand {
    /// Show which ONNX Runtime is in use, its version and its providers
    Status {
        /// Library to look at, instead of the usual places
        #[arg(long, value_name = "PATH")]
        library: Option<PathBuf>,
        /// Output as JSON
        #[arg(long)]
        json: bool,
    },
    /// Obtain a pinned ONNX Runtime with pip, by package name and hash, into the user's cache
    #[command(group(ArgGroup::new("variant")))]
    Install {
        /// Variant with CUDA, and NVIDIA's libraries that it needs
        ///
        /// 1.6 GB, for CUDA 12 2.0 GB. TensorRT is not among them.
        #[arg(long, group = "variant")]
        gpu: bool,
        /// CUDA, with --gpu [default: 13, or 12 on old drivers and cards]
        ///
        /// CUDA 13 needs NVIDIA's driver 580 or later and cards from Turing on (GTX 16, RTX 20), CUDA 12 driver 525 or
        /// later and cards from Pascal on (GTX 10).
        #[arg(long, value_name = "VERSION", value_parser = ["12", "13"])]
        #[arg(conflicts_with_all = ["openvino", "directml", "webgpu", "tensorrt_rtx", "migraphx"])]
        cuda: Option<String>,
        /// Variant with OpenVINO
        #[arg(long, group = "variant")]
        openvino: bool,
        /// Variant with DirectML, for Windows
        #[arg(long, group = "variant")]
        directml: bool,
        /// Variant with WebGPU, for any graphics card
        #[arg(long, group = "variant")]
        webgpu: bool,
        /// Plugin with TensorRT for RTX, for NVIDIA's RTX 30 and later, and a variant that registers it
        #[arg(long, group = "variant")]
        tensorrt_rtx: bool,
        /// Variant with MIGraphX, for AMD's cards under Linux
        #[arg(long, group = "variant")]
        migraphx: bool,
        /// Installation even of a variant that is there
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command. `status` fails when no runtime can be used, so that scripts can ask by exit code.
pub fn run(args: RuntimeArgs) -> anyhow::Result<()> {
    match args.command {
        RuntimeCommand::Status { library, json } => status(library, json),
        RuntimeCommand::Install { gpu, cuda, openvino, directml, webgpu, tensorrt_rtx, migraphx, force } => {
            let asked = [
                (openvino, Variant::OpenVino),
                (directml, Variant::DirectMl),
                (webgpu, Variant::WebGpu),
                (tensorrt_rtx, Variant::TensorRtRtx),
                (migraphx, Variant::MiGraphX),
            ];
            let variant = match asked.into_iter().find(|(is_asked, _)| *is_asked) {
                _ if gpu || cuda.is_some() => for_cards(cuda.as_deref()),
                Some((_, variant)) => variant,
                None => Variant::Cpu,
            };
            install(variant, force)?;
            if variant == Variant::TensorRtRtx {
                install(Variant::Cpu, false)?;
            }
            for package in Installed::all() {
                say!("{package}");
            }
            Ok(())
        }
    }
}

fn status(library: Option<PathBuf>, json: bool) -> anyhow::Result<()> {
    let status = Status::now(library.as_deref());
    if json {
        say!("{}", serde_json::to_string_pretty(&status)?);
    } else {
        say!("{status}");
    }
    std::io::stdout().flush()?;
    anyhow::ensure!(status.runtime.is_some(), "no ONNX Runtime can be used (the native backend needs none)");
    Ok(())
}

/// The variant for NVIDIA's cards with this version of CUDA. `None`: the version that suits this machine, which is
/// printed.
fn for_cards(cuda: Option<&str>) -> Variant {
    let version = match cuda {
        Some("12") => CudaVersion::Twelve,
        Some(_) => CudaVersion::Thirteen,
        None => {
            let driver = nvidia::driver();
            let version = CudaVersion::for_driver(driver.as_ref().ok());
            match driver {
                Ok(driver) => {
                    say!("for {version}: the driver runs CUDA {}, for {}", driver.cuda, driver.cards.join(", "));
                    if let Some(problem) = version.problem_with(&driver) {
                        say!("it will not run until the driver is newer: {problem}");
                    }
                }
                Err(error) => {
                    say!("for {version}: {error} (--cuda 12 for a driver before 580 or a card before Turing)")
                }
            }
            version
        }
    };
    version.variant()
}

fn install(variant: Variant, force: bool) -> anyhow::Result<()> {
    let installer = Installer::for_this_user(variant)?;
    if !force && installer.is_installed() {
        say!("already installed: {}", installer.library().display());
        return Ok(());
    }
    let bar = progress::bar(installer.pin.bytes())?;
    let result = installer.install(force, &mut |progress| match progress {
        Progress::Waiting => bar.set_message("waiting for another installation"),
        Progress::Downloading { package, bytes, .. } => {
            bar.set_message(package);
            bar.set_position(bytes);
        }
        Progress::Unpacking { package } => {
            bar.set_position(installer.pin.bytes());
            bar.set_message(format!("unpacking {package}"));
        }
    });
    bar.finish_and_clear();
    say!("installed: {}", result?.display());
    Ok(())
}
