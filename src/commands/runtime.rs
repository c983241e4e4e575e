//! `zeitnot runtime`: shows the ONNX Runtime in use, and installs the pinned one.

use super::output::say;
use super::progress;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use zeitnot::runtime::{Installed, Installer, Progress, Status, Variant};

/// Shows or obtains ONNX Runtime, the library that networks are run with
#[derive(Debug, Args)]
pub struct RuntimeArgs {
    #[command(subcommand)]
    command: RuntimeCommand,
}

#[derive(Debug, Subcommand)]
enum RuntimeCommand {
    /// Shows which ONNX Runtime is in use, its version and its providers
    Status {
        /// The library to look at, instead of the usual places
        #[arg(long, value_name = "PATH")]
        library: Option<PathBuf>,
        /// Prints one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Obtains a pinned ONNX Runtime with pip, by package name and hash, into the user's cache
    #[command(group(ArgGroup::new("variant")))]
    Install {
        /// The one with CUDA and TensorRT, and the libraries of NVIDIA that CUDA needs (1.6 GB)
        #[arg(long, group = "variant")]
        gpu: bool,
        /// The one with OpenVINO
        #[arg(long, group = "variant")]
        openvino: bool,
        /// The one with DirectML, for Windows
        #[arg(long, group = "variant")]
        directml: bool,
        /// Installs again even if it is there
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command. `status` fails when no runtime can be used, so that scripts can ask by exit code.
pub fn run(args: RuntimeArgs) -> anyhow::Result<()> {
    match args.command {
        RuntimeCommand::Status { library, json } => status(library, json),
        RuntimeCommand::Install { gpu, openvino, directml, force } => {
            let chosen = [(gpu, Variant::Gpu), (openvino, Variant::OpenVino), (directml, Variant::DirectMl)];
            let chosen = chosen.into_iter().find(|(is_chosen, _)| *is_chosen);
            install(chosen.map_or(Variant::Cpu, |(_, variant)| variant), force)
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
    for package in Installed::all() {
        say!("{package}");
    }
    Ok(())
}
