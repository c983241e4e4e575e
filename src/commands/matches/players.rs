//! Makes the players of a match from its flags, and the pairs that play each other.

use crate::commands::engine_options;
use crate::commands::flags::match_flags;
use crate::commands::output::note;
use clap::ArgMatches;
use std::path::PathBuf;
use std::sync::Arc;
use zeitnot_games::setup::{self, Contestant, EngineLine};
use zeitnot_games::{ExternalPlayer, Player as _};

/// The players of a match, and who plays whom.
pub struct Players {
    pub all: Vec<Contestant>,
    /// Whether all play all, or else the first plays each of the others.
    pub is_round_robin: bool,
    /// Whether castling follows the rules of Chess960.
    pub chess960: bool,
}

impl Players {
    /// The players that the flags name.
    pub fn of(matches: &ArgMatches) -> anyhow::Result<Players> {
        let lines = matches.get_many::<String>("engine").unwrap_or_default();
        anyhow::ensure!(
            lines.len() != 1,
            "--engine: a round robin has two engines or more; --engine2 names one opponent"
        );
        let mut all = lines.map(|line| engine(line)).collect::<anyhow::Result<Vec<_>>>()?;
        let is_round_robin = !all.is_empty();
        if !is_round_robin {
            all.push(own(matches, "option1", "name1", "Zeitnot 1")?);
            all.extend(opponents(matches)?);
        }
        let engine = engine_options::engine(matches, engine_options::MAY_INSTALL)?;
        if engine.options().ponder {
            all.iter_mut().for_each(Contestant::let_ponder);
        }
        setup::check(&all)?;
        let chess960 = all[0].options().unwrap_or(engine.options()).chess960;
        Ok(Players { all, is_round_robin, chess960 })
    }

    /// The pairs that play each other, as indices of players.
    pub fn pairs(&self) -> Vec<[usize; 2]> {
        match_flags::pairings(self.all.len(), !self.is_round_robin)
    }
}

/// A player: this engine with the options of the flag `flag`. `usual` is its name without the flag `name_flag`.
fn own(matches: &ArgMatches, flag: &str, name_flag: &str, usual: &str) -> anyhow::Result<Contestant> {
    let settings = matches.get_many::<String>(flag).unwrap_or_default().map(String::as_str);
    let mut player = match_flags::own_player(matches, &format!("--{flag}"), settings, usual)?;
    if let Some(name) = matches.get_one::<String>(name_flag) {
        name.clone_into(&mut player.name);
    }
    Ok(player)
}

/// The second configuration of this engine, another engine, or the engines of a pool.
fn opponents(matches: &ArgMatches) -> anyhow::Result<Vec<Contestant>> {
    let mut opponents = match (matches.get_one::<PathBuf>("pool"), matches.get_one::<String>("engine2")) {
        (Some(path), _) => setup::pool(path)?,
        (None, Some(command)) => {
            let settings = matches.get_many::<String>("option2").unwrap_or_default().map(String::as_str);
            let options = match_flags::pairs("--option2", settings)?;
            vec![external(command.clone(), options, matches.get_one::<String>("name2").cloned())?]
        }
        (None, None) => vec![own(matches, "option2", "name2", "Zeitnot 2")?],
    };
    if let Some(rating) = matches.get_one::<f64>("rating2") {
        opponents[0].rating = Some(*rating);
    }
    Ok(opponents)
}

/// The engine of a round robin that a value of `--engine` describes.
fn engine(line: &str) -> anyhow::Result<Contestant> {
    let EngineLine { name, rating, options, command } = EngineLine::parse(line)?;
    let mut engine = external(command, options, name)?;
    engine.rating = rating;
    Ok(engine)
}

/// Another engine. Without a name it is asked for its own.
fn external(command: String, options: Vec<(String, String)>, name: Option<String>) -> anyhow::Result<Contestant> {
    let name = match name {
        Some(name) => name,
        None => {
            note!("asking {command} for its name");
            ExternalPlayer::start(&command, &options, None, Arc::default())?.name().to_owned()
        }
    };
    Ok(Contestant::external(command, options, name))
}
