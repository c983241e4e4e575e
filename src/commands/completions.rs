//! `zeitnot completions` and `zeitnot man`: print completions for shells and manual pages, from the same declarations
//! as the command line itself.

use super::output;
use crate::commands::flags::flag;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use std::fs;
use std::path::{Path, PathBuf};

pub fn completions_command() -> Command {
    Command::new("completions")
        .about("Print the completions for a shell")
        .after_help("For bash: zeitnot completions bash > ~/.local/share/bash-completion/completions/zeitnot")
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("Shell"))
}

pub fn completions(matches: &ArgMatches, mut cli: Command) -> anyhow::Result<()> {
    let shell = *matches.get_one::<Shell>("shell").context("SHELL is required")?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli, env!("CARGO_PKG_NAME"), &mut script);
    output::text(String::from_utf8(script).context("the completions are text")?);
    Ok(())
}

pub fn man_command() -> Command {
    Command::new("man").about("Print the manual page, or write those of all commands").arg(
        flag("folder", "FOLDER").value_parser(value_parser!(PathBuf)).help("Folder of the pages, one for each command"),
    )
}

pub fn man(matches: &ArgMatches, cli: Command) -> anyhow::Result<()> {
    match matches.get_one::<PathBuf>("folder") {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(cli).render(&mut page).context("cannot make the page")?;
            output::text(String::from_utf8(page).context("the page is text")?);
            Ok(())
        }
        Some(folder) => write_pages(folder, cli).with_context(|| format!("cannot write into {}", folder.display())),
    }
}

fn write_pages(folder: &Path, cli: Command) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(cli, folder)
}
