//! `zeitnot net list`: lists the well-known networks.

use super::super::output::say;
use super::size;
use crate::commands::flags::json_flag;
use clap::{ArgMatches, Command};
use serde_json::{Value, json};
use zeitnot_engine::network::catalogue::{ENTRIES, Entry, Size};
use zeitnot_engine::network::user_folder;

pub fn command() -> Command {
    Command::new("list")
        .about("List well-known networks, with a line of advice each")
        .after_help(
            "zeitnot net fetch NAME downloads one.\n\
             Larger networks of a family are stronger and slower; the Maias play like people.",
        )
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) {
    let folder = user_folder();
    let is_here = |file_name: String| folder.as_ref().is_some_and(|folder| folder.join(file_name).is_file());
    if matches.get_flag("json") {
        let entry = |entry: &Entry| {
            let mut object = json!(entry);
            object["fetched"] = Value::Bool(is_here(entry.file_name()));
            object
        };
        say!("{}", Value::Array(ENTRIES.iter().map(entry).collect()));
        return;
    }
    let width = ENTRIES.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let widest = ENTRIES.iter().map(|entry| entry.architecture.len()).max().unwrap_or(0);
    for entry in ENTRIES {
        let mark = if is_here(entry.file_name()) { '*' } else { ' ' };
        let about = if matches!(entry.size, Size::About(_)) { "~" } else { "" };
        let megabytes = format!("{about}{}", size(entry.size.bytes()));
        let licence = entry.licence.map(|licence| format!(" ({licence})")).unwrap_or_default();
        say!(
            "{mark} {:<width$}  {:<widest$}  {megabytes:>9}  {:<10}  {}{licence}",
            entry.name,
            entry.architecture,
            entry.hardware.in_words(),
            entry.advice
        );
    }
    match folder {
        Some(folder) => say!("\n*: fetched into {}", folder.display()),
        None => say!("\n*: fetched"),
    }
}
