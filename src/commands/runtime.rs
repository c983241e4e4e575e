//! `zeitnot runtime`: which ONNX Runtime is in use, and obtaining the pinned one.

use super::output::say;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use zeitnot::backend::runtime::{Installer, Progress, Status};

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
    /// Obtains the pinned ONNX Runtime with pip, by package name and hash, into the user's cache
    Install {
        /// Installs again even if it is there
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command. `status` fails when no runtime can be used, so that scripts can ask by exit code.
pub fn run(args: RuntimeArgs) -> anyhow::Result<()> {
    match args.command {
        RuntimeCommand::Status { library, json } => status(library, json),
        RuntimeCommand::Install { force } => install(force),
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
    anyhow::ensure!(status.runtime.is_some(), "no ONNX Runtime can be used");
    Ok(())
}

fn install(force: bool) -> anyhow::Result<()> {
    let installer = Installer::for_this_user()?;
    if !force && installer.is_installed() {
        say!("already installed: {}", installer.library().display());
        return Ok(());
    }
    let bar = progress_bar(installer.pin.wheel_bytes)?;
    let result = installer.install(force, &mut |progress| match progress {
        Progress::Waiting => bar.set_message("waiting for another installation"),
        Progress::Downloading { bytes, .. } => {
            bar.set_message("downloading");
            bar.set_position(bytes);
        }
        Progress::Unpacking => {
            bar.set_position(installer.pin.wheel_bytes);
            bar.set_message("unpacking");
        }
    });
    bar.finish_and_clear();
    say!("installed: {}", result?.display());
    say!("{}", Status::now(None));
    Ok(())
}

/// A bar on a terminal; nothing where the output is read by a program.
fn progress_bar(total: u64) -> anyhow::Result<ProgressBar> {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    bar.set_style(ProgressStyle::with_template("{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}")?);
    Ok(bar)
}
