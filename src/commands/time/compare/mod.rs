//! `zeitnot time compare`: plays several time managers, or other configurations, against each other at several time
//! controls.

mod cells;
mod folder;
mod tables;

use crate::commands::engine_options;
use crate::commands::flags::{flag, json_flag, match_flags, switch, time_flags};
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use folder::{Cell, Folder};
use serde_json::json;
use std::path::PathBuf;
use zeitnot_engine::digest::sha256;
use zeitnot_engine::{child, managers};
use zeitnot_games::setup::{self, Contestant, EngineLine};
use zeitnot_games::{Comparison, TimeControl};
use zeitnot_lab::results::{ComparisonResult, LabResult};

/// Most characters in the name of a file, without its ending.
const LONGEST_NAME: usize = 120;

pub fn command() -> Command {
    let command = Command::new("compare")
        .about("Play time managers, or any configurations, against each other at several time controls")
        .arg(
            Arg::new("specs")
                .value_name("SPEC")
                .required_unless_present("cells")
                .num_args(2..)
                .help("Time managers, or options such as FpuValue=0.4;CPuct=2"),
        )
        .args(cells::args())
        .arg(time_flags::time_controls())
        .arg(
            flag("games", "N")
                .default_value("100")
                .value_parser(value_parser!(u64).range(2..))
                .help("Games of each pair at each time control"),
        )
        .arg(
            flag("engine", "COMMAND")
                .help("Another engine for the time managers to play in: [option.NAME=VALUE] COMMAND"),
        )
        .arg(switch("gauntlet", "Games of the first one against each of the others alone"))
        .arg(
            flag("out", "FOLDER")
                .default_value("compare")
                .value_parser(value_parser!(PathBuf))
                .help("Folder of games and tables; games there are not played again"),
        )
        .arg(switch("csv", "Output as CSV").conflicts_with("json"))
        .arg(json_flag());
    engine_options::add_to(match_flags::add_to(command).mut_arg("clock", |clock| clock.default_value("virtual")))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let out = matches.get_one::<PathBuf>("out").context("--out has a default")?;
    if let Some(declaration) = matches.get_one::<String>("cells") {
        return cells::run(matches, declaration, out);
    }
    cells::refuse_flags(matches)?;
    let specs: Vec<&String> = matches.get_many("specs").unwrap_or_default().collect();
    let tcs = time_flags::controls_with_speeds(matches)?;
    let games = *matches.get_one::<u64>("games").context("--games has a default")?;
    let contestants = match matches.get_one::<String>("engine") {
        Some(engine) => driven(engine, &specs),
        None => specs.iter().map(|spec| contestant(matches, spec)).collect(),
    };
    let mut contestants = contestants?;
    setup::check(&contestants)?;
    let clock = match_flags::clock(matches, 0)?;
    let chess960 = contestants[0].options().is_some_and(|options| options.chess960);
    let mut plan = match_flags::plan(matches, &clock, Default::default(), games, chess960)?;
    plan.rules = plan.rules.at(tcs[0]);
    let pairs = match_flags::pairings(contestants.len(), matches.get_flag("gauntlet"));
    for pair in &pairs {
        // Each pair by itself: what makes one player random varies only the games that it plays.
        folder::check(&plan, &clock, pair.map(|player| &contestants[player]))?;
    }
    match_flags::load(&mut contestants, plan.concurrency, &clock)?;
    let mut folder = Folder::new(out, plan, games * (pairs.len() * tcs.len()) as u64)?;
    let settings = match_flags::settings(matches, &["tc", "nps", "clock"])?;
    let identities = contestants.iter().map(Contestant::identity).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = contestants.iter().map(|contestant| contestant.name.clone()).collect();
    let tc_names: Vec<String> = tcs.iter().map(TimeControl::to_string).collect();
    let mut comparison = Comparison::default();
    for (at, tc) in tcs.iter().enumerate() {
        let clock = match_flags::clock(matches, at)?;
        let mut played = Vec::new();
        for players in &pairs {
            let [first, second] = players.map(|player| &names[player]);
            let records = folder.play(Cell {
                name: file_name(&format!("{tc} {first} - {second}")),
                players: players.map(|player| &contestants[player]),
                identities: players.map(|player| &identities[player]),
                control: *tc,
                clock: &clock,
                settings: json!({ "tc": tc.to_string(), "clock": clock.settings(), "match": settings }),
            })?;
            played.push(([first.clone(), second.clone()], records));
        }
        comparison.add(&tc_names[at], &played);
    }
    let ranking = comparison.ranking(&names, &tc_names);
    let markdown = tables::markdown(&comparison, ranking.as_deref().ok(), &tc_names);
    let result = ComparisonResult::new(&comparison, ranking.as_deref().unwrap_or_default());
    let (csv, json) = (tables::csv(&comparison), serde_json::to_string(&LabResult::Comparison(result))?);
    for (extension, text) in [("md", &markdown), ("csv", &csv), ("json", &format!("{json}\n"))] {
        let path = out.join("comparison").with_extension(extension);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let end = folder.end();
    match (matches.get_flag("json"), matches.get_flag("csv")) {
        (true, _) => say!("{json}"),
        (_, true) => say!("{}", csv.trim_end()),
        _ => say!("{}", markdown.trim_end()),
    }
    if let Err(error) = ranking {
        note!("no ranking: {error}");
    }
    note!("games and tables in {}", out.display());
    end
}

/// A player: this engine with the time manager, or the options joined by semicolons, that `spec` gives.
fn contestant(matches: &ArgMatches, spec: &str) -> anyhow::Result<Contestant> {
    let settings = engine_options::settings_of(spec);
    let mut contestant = match_flags::own_player(matches, "player", settings.iter().map(String::as_str), spec)?;
    spec.clone_into(&mut contestant.name);
    Ok(contestant)
}

/// The players in another engine: a time manager in front of it each.
fn driven(engine: &str, specs: &[&String]) -> anyhow::Result<Vec<Contestant>> {
    let EngineLine { options, command, .. } = EngineLine::parse(engine).context("--engine")?;
    let program = std::env::current_exe().context("this program has no file")?;
    let program = program.to_str().context("this program's path is no text")?.to_owned();
    let words = child::words(&command).context("--engine: a quotation mark is not closed")?;
    let player = |spec: &&String| {
        managers::check(spec).with_context(|| (*spec).clone())?;
        let driver =
            [&program, "time", "drive", "--manager", spec, "--"].into_iter().chain(words.iter().map(String::as_str));
        Ok(Contestant::driven(child::join(driver), command.clone(), options.clone(), (*spec).clone()))
    };
    specs.iter().map(player).collect()
}

/// The name of the files of a pair at a time control, without an ending; `text` names all three.
fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.,=()".contains(c);
    let name: String = text.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST_NAME).collect();
    // Long specifications, and those that differ in other characters alone, are distinguished by their digest.
    let digest = match name == text.replace([' ', '/'], "_") {
        true => String::new(),
        false => sha256(text.as_bytes()).map(|digest| format!("-{}", &digest[..16])).unwrap_or_default(),
    };
    format!("{name}{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_hold_specifications() {
        assert_eq!(file_name("40/60 smooth(preset=lc0) - simple"), "40_60_smooth(preset=lc0)_-_simple");
        let [one, other] = ["A=a;b", "A=a_b"].map(file_name);
        assert!(one.starts_with("A=a_b-") && other == "A=a_b", "{one} {other}");
        assert!(file_name(&"x".repeat(500)).len() < 160);
    }
}
