//! `zeitnot time report`: writes a page with charts about games, matches, comparisons, replays, simulations, audits and tunings.

use super::charts::{show, write_charts};
use crate::commands::flags::{flag, switch};
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Command, value_parser};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use zeitnot_engine::engine::Options;
use zeitnot_lab::Rereadable;
use zeitnot_lab::report::{Report, ReportRules, page};
use zeitnot_text::files::write_whole;
use zeitnot_text::words::plain;

pub fn command() -> Command {
    let path = |name, value_name, help| flag(name, value_name).value_parser(value_parser!(PathBuf)).help(help);
    Command::new("report")
        .about("Write a page with charts about games, matches, comparisons, replays, simulations, audits and tunings")
        .arg(super::files("Games in PGN, outputs of --json, courses of time tune, or logs of Lc0").long_help(
            "Games in PGN with clocks or times in their comments, outputs of match, time compare, time replay, time simulate or time \
             audit with --json, courses of time tune, or logs of Lc0 with lines of TMGR:; each is known by its content",
        ))
        .arg(path("out", "FILE.html", "Page, which needs no other file"))
        .arg(path("svg", "FOLDER", "Folder of the charts as SVG files"))
        .arg(
            switch("chart", "Charts and tables in the terminal"),
        )
        .arg(
            flag("game", "N")
                .value_parser(value_parser!(usize))
                .help("Game whose board is shown, by its number in each PGN [default: the first with clocks]"),
        )
        .arg(super::managers("Time manager that is asked about the moves of games", ""))
        .arg(
            flag("overhead", "MS")
                .value_parser(value_parser!(f64))
                .help("Overhead of a move that the managers keep clear [default: that of MoveOverheadMs]"),
        )
        .group(ArgGroup::new("outputs").args(["out", "svg", "chart"]).multiple(true).required(true))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let overhead_ms = matches.get_one("overhead").copied().unwrap_or(Options::default().move_overhead as f64);
    anyhow::ensure!((0.0..1e9).contains(&overhead_ms), "--overhead {overhead_ms}: a time is a number of milliseconds");
    let mut managers: Vec<String> = super::named_managers(matches).into_iter().map(str::to_owned).collect();
    let mut named = BTreeSet::new();
    // A manager named twice is one curve.
    managers.retain(|spec| named.insert(spec.clone()));
    for spec in &managers {
        zeitnot_time::build(spec)?;
    }
    let rules = ReportRules { managers, overhead_ms, game: matches.get_one("game").copied() };
    let files: Vec<&PathBuf> = super::named_files(matches).collect();
    let out = matches.get_one::<PathBuf>("out");
    if let Some(out) = out {
        let is_input = files.iter().any(|file| is_same(file, out));
        anyhow::ensure!(!is_input, "--out {}: that is an input", out.display());
    }
    let is_asked = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    let asks_games = ["game", "manager"].into_iter().any(is_asked);
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
    if asks_games && !has_games {
        note!("--game and --manager have no effect: no input is PGN");
    }
    let sections = report.sections();
    if let Some(out) = out {
        let page = page(&sections)?;
        write_whole(out, page.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("svg") {
        write_charts(folder, &sections)?.iter().for_each(|path| say!("{}", path.display()));
    }
    if matches.get_flag("chart") {
        show(&sections);
    }
    if let Some(out) = out {
        let charts: usize = sections.iter().map(|section| section.all_figures().count()).sum();
        note!("{charts} charts in {}", out.display());
    }
    Ok(())
}

/// The name of a file without its folders, which are nobody else's business.
fn file_name(path: &Path) -> &Path {
    Path::new(path.file_name().unwrap_or(path.as_os_str()))
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
