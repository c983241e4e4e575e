//! `zeitnot time report`: writes a page with charts about games, matches, comparisons, replays, simulations and audits.

use super::asked;
use super::charts::write_charts;
use crate::commands::flags::{flag, time_flags};
use crate::commands::output::{self, note, say};
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Command, value_parser};
use std::fs;
use std::path::{Path, PathBuf};
use zeitnot_base::files::{is_same_file, write_whole};
use zeitnot_base::printable::plain;
use zeitnot_games::Rereadable;
use zeitnot_lab::report::{Report, ReportRules, page};

pub fn command() -> Command {
    let path = |name, value_name, help| flag(name, value_name).value_parser(value_parser!(PathBuf)).help(help);
    Command::new("report")
        .about("Write a page with charts about games, matches, comparisons, replays, simulations and audits")
        .arg(time_flags::files("Games in PGN, or outputs of --json").long_help(
            "Games in PGN with clocks or times in their comments, or outputs of match, time compare, time replay, time simulate or \
             time audit with --json",
        ))
        .arg(path("out", "FILE.html", "Page, which needs no other file"))
        .arg(path("svg", "FOLDER", "Folder of the charts as SVG files"))
        .args(asked::args("Time manager asked of engines; named, of people, too"))
        .group(ArgGroup::new("outputs").args(["out", "svg"]).multiple(true).required(true))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (managers, overhead_ms) = asked::managers(matches)?;
    let is_asked = matches.value_source("manager") == Some(ValueSource::CommandLine);
    let player = matches.get_one("player").cloned();
    let rules = ReportRules { managers, overhead_ms, spares_people: !is_asked, player };
    let files: Vec<&PathBuf> = time_flags::named_files(matches).collect();
    let out = matches.get_one::<PathBuf>("out");
    if let Some(out) = out {
        let is_input = files.iter().any(|file| is_same_file(file, out));
        anyhow::ensure!(!is_input, "--out {}: that is an input", out.display());
        output::check_is_ours(out, "<title>Time report</title>")?;
    }
    let mut has_games = false;
    let mut report = Report::default();
    for path in files {
        let cannot_read = || format!("cannot read {}", path.display());
        let source = Rereadable::new(path).with_context(cannot_read)?;
        let mut file = fs::File::open(source.path()).with_context(cannot_read)?;
        let added = report.add(file_name(path), &mut file, &rules).with_context(|| path.display().to_string())?;
        has_games |= added.has_games;
        for problem in &added.problems {
            note!("{} {}", path.display(), plain(problem));
        }
        for remark in &added.remarks {
            note!("{}: {remark}", path.display());
        }
    }
    if is_asked && !has_games {
        note!("--manager has no effect: no input is PGN");
    }
    let sections = report.sections();
    if let Some(out) = out {
        let page = page(&sections)?;
        write_whole(out, page.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("svg") {
        write_charts(folder, &sections)?.iter().for_each(|path| say!("{}", path.display()));
    }
    if let Some(out) = out {
        let charts: usize = sections.iter().map(|section| section.figures.len()).sum();
        note!("{charts} charts in {}", out.display());
    }
    Ok(())
}

/// The name of a file without its folders, which are nobody else's business.
fn file_name(path: &Path) -> &Path {
    Path::new(path.file_name().unwrap_or(path.as_os_str()))
}
