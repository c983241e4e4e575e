//! `zeitnot time compare`: plays several time managers, or other configurations, against each other at several time
//! controls.

mod tables;

use crate::commands::flags::{flag, json_flag, match_flags, switch, time_flags};
use crate::commands::output::{note, notes, say};
use crate::commands::warnings::Warnings;
use crate::commands::{engine_options, interrupt, missing_games, progress};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::digest::sha256;
use zeitnot_lab::results::{ComparisonResult, LabResult};
use zeitnot_lab::setup::{self, Contestant, MatchClock, MatchSetup};
use zeitnot_lab::{Comparison, GameRecord, Journal, MatchPlan, TimeControl};
use zeitnot_text::printable::plain;

/// Most characters in the name of a journal.
const LONGEST_NAME: usize = 120;

pub fn command() -> Command {
    let command = Command::new("compare")
        .about("Play time managers, or any configurations, against each other at several time controls")
        .arg(
            Arg::new("specs")
                .value_name("SPEC")
                .required(true)
                .num_args(2..)
                .help("Time managers, or options such as FpuValue=0.4;CPuct=2"),
        )
        .arg(time_flags::time_controls())
        .arg(
            flag("games", "N")
                .default_value("100")
                .value_parser(value_parser!(u64).range(2..))
                .help("Games of each pair at each time control"),
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
    let specs: Vec<&String> = matches.get_many("specs").unwrap_or_default().collect();
    let tcs = time_flags::controls_with_speeds(matches)?;
    let games = *matches.get_one::<u64>("games").context("--games has a default")?;
    let out = matches.get_one::<PathBuf>("out").context("--out has a default")?;
    let mut contestants = specs.iter().map(|spec| contestant(matches, spec)).collect::<anyhow::Result<Vec<_>>>()?;
    setup::check(&contestants)?;
    let clock = match_flags::clock(matches, 0)?;
    let chess960 = contestants[0].options().is_some_and(|options| options.chess960);
    let mut setup = match_flags::setup(matches, &clock, Default::default(), chess960)?;
    setup.rules = setup.rules_at(tcs[0]);
    let pairs = match_flags::pairings(contestants.len(), matches.get_flag("gauntlet"));
    for pair in &pairs {
        // Each pair by itself: what makes one player random varies only the games that it plays.
        let [first, second] = pair.map(|player| &contestants[player]);
        setup
            .check_repetition(&clock, games, [first, second], &notes())
            .with_context(|| format!("{} - {}", first.name, second.name))?;
    }
    match_flags::load(&mut contestants, setup.concurrency, &clock)?;
    std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;

    let total = games * (pairs.len() * tcs.len()) as u64;
    let interrupted = interrupt::on_request()?;
    let bar = progress::games(total);
    let grid = Grid {
        contestants: &contestants,
        identities: contestants.iter().map(Contestant::identity).collect::<Result<_, _>>()?,
        program: setup::program_sha256(),
        settings: match_flags::settings(matches, &["tc", "nps", "clock"])?,
        setup,
        games,
        out,
        warnings: Warnings::default(),
    };
    let names: Vec<String> = contestants.iter().map(|contestant| contestant.name.clone()).collect();
    let tc_names: Vec<String> = tcs.iter().map(TimeControl::to_string).collect();
    let mut comparison = Comparison::default();
    for (at, tc) in tcs.iter().enumerate() {
        let mut played = Vec::new();
        for &players in &pairs {
            bar.set_message(plain(&format!("{tc}: {} - {}", names[players[0]], names[players[1]])));
            let records = grid.play(players, *tc, &match_flags::clock(matches, at)?, &bar, &interrupted)?;
            if interrupted.load(Ordering::SeqCst) {
                bar.finish_and_clear();
                interrupt::exit("interrupted: the same command goes on with it");
            }
            played.push((players.map(|player| names[player].clone()), records));
        }
        comparison.add(&tc_names[at], &played);
    }
    bar.finish_and_clear();
    let ranking = comparison.ranking(&names, &tc_names);
    let markdown = tables::markdown(&comparison, ranking.as_deref().ok(), &tc_names);
    let result = ComparisonResult::new(&comparison, ranking.as_deref().unwrap_or_default());
    let (csv, json) = (tables::csv(&comparison), serde_json::to_string(&LabResult::Comparison(result))?);
    for (extension, text) in [("md", &markdown), ("csv", &csv), ("json", &format!("{json}\n"))] {
        let path = out.join("comparison").with_extension(extension);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match (matches.get_flag("json"), matches.get_flag("csv")) {
        (true, _) => say!("{json}"),
        (_, true) => say!("{}", csv.trim_end()),
        _ => say!("{}", markdown.trim_end()),
    }
    if let Err(error) = ranking {
        note!("no ranking: {error}");
    }
    note!("games and tables in {}", out.display());
    let errors = grid.warnings.count();
    anyhow::ensure!(
        errors == 0,
        "players had {errors} errors, of which each kind is told above: the figures are not of what was named alone"
    );
    Ok(())
}

/// A time manager, or options joined by semicolons.
fn contestant(matches: &ArgMatches, spec: &str) -> anyhow::Result<Contestant> {
    let settings = engine_options::settings_of(spec);
    let mut contestant = match_flags::own_player(matches, "player", settings.iter().map(String::as_str), spec)?;
    spec.clone_into(&mut contestant.name);
    Ok(contestant)
}

/// The settings that all pairs of players and time controls share.
struct Grid<'a> {
    contestants: &'a [Contestant],
    /// The settings that distinguish each contestant from others, in the journals.
    identities: Vec<Value>,
    /// The SHA-256 of this program.
    program: Option<String>,
    /// The flags that decide the games, without those of a time control.
    settings: Value,
    /// Rules, start positions and concurrency; the rules have the first of the time controls.
    setup: MatchSetup,
    games: u64,
    out: &'a Path,
    warnings: Warnings,
}

impl Grid<'_> {
    /// Plays the missing games of two players at a time control. Returns all of their games there, in order.
    fn play(
        &self,
        players: [usize; 2],
        tc: TimeControl,
        clock: &MatchClock,
        bar: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<Vec<GameRecord>> {
        let [first, second] = players.map(|player| &self.contestants[player]);
        let settings = json!({
            "program": self.program,
            "games": self.games,
            "tc": tc.to_string(),
            "clock": clock.settings(),
            "first": self.identities[players[0]],
            "second": self.identities[players[1]],
            "match": self.settings,
        });
        let path = self.out.join(file_name(&format!("{tc} {} - {}", first.name, second.name)));
        let mut journal = Journal::resume(&path, settings, &["games"])?;
        if !journal.games().is_empty() {
            bar.suspend(|| note!("{}: {} games are there and not played again", path.display(), journal.games().len()));
        }
        let opening = |pair: u64| self.setup.starts.get(pair);
        let plan = MatchPlan { rules: self.setup.rules_at(tc), ..self.setup.plan(self.games, &opening) };
        missing_games::play(&plan, [first, second], clock, &mut journal, bar, interrupted, &self.warnings)
            .with_context(|| format!("{tc}: {} - {}: the same command goes on with it", first.name, second.name))
    }
}

/// The file name of the journal of two players at a time control, made from `text`.
fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.,=()".contains(c);
    let name: String = text.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST_NAME).collect();
    // Long specifications, and those that differ in other characters alone, are distinguished by their digest.
    let digest = match name == text.replace([' ', '/'], "_") {
        true => String::new(),
        false => sha256(text.as_bytes()).map(|digest| format!("-{}", &digest[..16])).unwrap_or_default(),
    };
    format!("{name}{digest}.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_hold_specifications() {
        assert_eq!(file_name("40/60 smooth(preset=lc0) - simple"), "40_60_smooth(preset=lc0)_-_simple.jsonl");
        let [one, other] = ["A=a;b", "A=a_b"].map(file_name);
        assert!(one.starts_with("A=a_b-") && other == "A=a_b.jsonl", "{one} {other}");
        assert!(file_name(&"x".repeat(500)).len() < 160);
    }
}
