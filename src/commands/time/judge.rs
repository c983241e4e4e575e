//! `zeitnot time judge`: lets another engine value the choices of recorded searches.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::commands::flags::flag;
use crate::commands::output::{note, say};
use crate::commands::{cores, interrupt, progress};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_games::setup::EngineLine;
use zeitnot_games::{Journal, JournalError};
use zeitnot_lab::recordings::{Judge, judge_all, judgement_of, read_recording, to_be_judged};

pub fn command() -> Command {
    let count = |name, help| flag(name, "N").value_parser(value_parser!(u64).range(1..)).help(help);
    Command::new("judge")
        .about("Let another engine value the moves that recorded searches chose")
        .arg(
            Arg::new("recording")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Recording of time record"),
        )
        .arg(flag("engine", "COMMAND").required(true).help("Judge; before the command may stand option.NAME=VALUE"))
        .arg(count("nodes", "Nodes of each evaluation").default_value("500000"))
        .arg(count("concurrency", "Judges at once [default: the machine's cores]"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let recording = matches.get_one::<PathBuf>("recording").context("clap requires it")?;
    let line = EngineLine::parse(matches.get_one::<String>("engine").context("clap requires it")?)?;
    let nodes = *matches.get_one::<u64>("nodes").context("--nodes has a default")?;
    let (_, searches) = read_recording(recording)?;
    let total = to_be_judged(&searches).count();
    let interrupted = interrupt::on_request()?;
    let start = || Judge::start(&line, nodes, Arc::clone(&interrupted));
    let settings = start()?.settings(&line, &sha256_of_file(recording)?);
    let out = judgement_of(recording);
    let mut journal = Journal::resume(&out, settings, &[]).map_err(|error| match error {
        JournalError::OtherSettings { .. } | JournalError::Line { .. } => {
            anyhow::anyhow!("{error}; delete it for a new judgement")
        }
        other => other.into(),
    })?;
    journal.begin()?;
    let there = journal.entries().len();
    if there > 0 {
        note!("{there} searches of {total} are judged already");
    }
    let threads = matches.get_one::<u64>("concurrency").map_or_else(cores, |count| *count as usize);
    let bar = progress::positions(total as u64);
    bar.set_position(there as u64);
    let judged = judge_all(&searches, &mut journal, threads, &start, &interrupted, &|| bar.inc(1));
    bar.finish_and_clear();
    if interrupted.load(Ordering::SeqCst) {
        interrupt::exit("interrupted: the same command goes on with it");
    }
    judged?;
    say!(
        "{total} of {} searches changed their choice; {} valued their choices in {}",
        searches.len(),
        journal.settings()["judge"].as_str().unwrap_or_default(),
        out.display()
    );
    Ok(())
}
