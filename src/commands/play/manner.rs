//! Reads and writes the options that decide how strong the engine plays, and how. The file of a game keeps them, so
//! that it goes on against the same opponent.

use super::args;
use anyhow::Context as _;
use clap::ArgMatches;
use zeitnot_engine::engine::{Options, options};
use zeitnot_games::Limits;

/// Options that choose the opponent: with one of them on the command line all of them in the file are ignored.
const PLAYER: [&str; 5] = ["WeightsFile", "UCI_LimitStrength", "UCI_Elo", "Skill Level", "SelfElo"];
/// Options that change how the opponent plays.
const PLAY: [&str; 5] = ["TimeManager", "NodesPerMove", "Temperature", "PolicyTemperature", "SearchAlgorithm"];

/// The options of [`PLAYER`] and [`PLAY`] that were set, and the limits, as words of a shell: `UCI_Elo=1500 nodes=200`.
pub fn of(options: &Options, limits: &Limits) -> String {
    let set = PLAYER.into_iter().chain(PLAY).filter(|name| options.was_set.contains(name));
    let set = set.filter_map(|name| Some((name, options::find(name)?.value(options))));
    let limits = [("nodes", limits.nodes), ("depth", limits.depth.map(u64::from))];
    let limits = limits.into_iter().filter_map(|(name, limit)| Some((name, limit?.to_string())));
    let words = set.filter(|(name, value)| may_be_kept(name, value)).chain(limits);
    let words = words.filter_map(|(name, value)| {
        Some(format!("{}={}", shlex::try_quote(name).ok()?, shlex::try_quote(&value).ok()?))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a game's file may set this option: it may come from strangers, and must not start a program.
fn may_be_kept(name: &str, value: &str) -> bool {
    PLAYER.iter().chain(&PLAY).any(|known| *known == name) && !(name == "TimeManager" && value.contains("external"))
}

/// Sets the options that `text`, from the file, names and the command line does not. Returns the limits of the engine.
pub fn restore(text: &str, matches: &ArgMatches, options: &mut Options) -> anyhow::Result<Limits> {
    let (given, mut limits) = (options.was_set.clone(), args::engine_limits(matches));
    let is_other_player = PLAYER.iter().any(|name| given.contains(name));
    for word in shlex::split(text).context("a quotation mark is not closed")? {
        let (name, value) = word.split_once('=').with_context(|| format!("{word}: no NAME=VALUE"))?;
        match name {
            "nodes" => limits.nodes = limits.nodes.or(Some(value.parse().context(word.clone())?)),
            "depth" => limits.depth = limits.depth.or(Some(value.parse().context(word.clone())?)),
            _ if !may_be_kept(name, value) => anyhow::bail!("{word} is not for a file of games"),
            _ if given.contains(name) || PLAYER.contains(&name) && is_other_player => {}
            _ => options.set(name, value)?,
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(text: &str, flags: &[&str]) -> anyhow::Result<(Options, Limits)> {
        let matches = args::command().try_get_matches_from([&["play", "--resume"], flags].concat()).unwrap();
        let mut options = args::options(&matches)?;
        let limits = restore(text, &matches, &mut options)?;
        Ok((options, limits))
    }

    #[test]
    fn the_opponent_of_a_file_is_the_one_that_began() {
        let mut options = Options { against_person: true, ..Options::default() };
        let limits = Limits { nodes: Some(200), ..Limits::default() };
        assert_eq!(of(&options, &Limits::default()), "");
        let set = [
            ("UCI_LimitStrength", "true"),
            ("UCI_Elo", "1500"),
            ("TimeManager", "human(elo=1500)"),
            ("Skill Level", "3"),
        ];
        for (name, value) in set {
            options.set(name, value).unwrap();
        }
        let kept_by = of(&options, &limits);
        assert_eq!(
            kept_by,
            "UCI_LimitStrength=true UCI_Elo=1500 'Skill Level'=3 TimeManager='human(elo=1500)' nodes=200"
        );
        let (again, of_file) = restored(&kept_by, &[]).unwrap();
        assert_eq!((&again, of_file.nodes), (&options, Some(200)));
        // The command line counts before the file; who plays is one question.
        let (again, of_file) = restored(&kept_by, &["--nodes=5", "--time-manager=smooth"]).unwrap();
        assert_eq!((again.elo_limit(), again.time_manager.as_str(), of_file.nodes), (Some(1500), "smooth", Some(5)));
        let (again, _) = restored(&kept_by, &["--weights=zeitnot-small"]).unwrap();
        assert_eq!((again.elo_limit(), again.time_manager.as_str()), (None, "human(elo=1500)"));
    }

    #[test]
    fn a_file_starts_nothing_and_opens_nothing_else() {
        for text in
            ["LogFile=x", "'TimeManager=external(command=\"x\")'", "Nonsense=1", "nodes=many", "UCI_Elo=x", "a", "'"]
        {
            assert!(restored(text, &[]).is_err(), "{text}");
        }
        let mut options = Options::default();
        options.set("TimeManager", "external(command=\"x\")").unwrap();
        assert_eq!(of(&options, &Limits::default()), "");
    }
}
