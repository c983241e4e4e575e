//! Reads the games that are analysed from their files, as often as they are needed.

use crate::commands::output::note;
use anyhow::Context as _;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use zeitnot_analysis::audit::{Remarks, game_times};
use zeitnot_base::files::from_any_encoding;
use zeitnot_base::printable::plain;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_games::{PgnGame, PgnGames, Rereadable};

/// The files of games.
pub struct Sources<'a> {
    files: Vec<(&'a PathBuf, Rereadable<'a>)>,
}

/// A game with its number over all files, from 1; `file` is the name of its file, `place` where that can be read.
pub struct NumberedGame {
    pub number: u64,
    pub file: String,
    place: PathBuf,
    pub game: PgnGame,
}

impl NumberedGame {
    /// The rest of the game's text, behind the moves that were read; empty where the whole game was.
    pub fn rest(&self) -> anyhow::Result<String> {
        rest_of(&self.game, &self.place)
    }
}

/// The rest of a game's text, behind the moves that were read; `place` is the path of its file.
pub fn rest_of(game: &PgnGame, place: &Path) -> anyhow::Result<String> {
    let (mut rest, Range { start, end }) = (Vec::new(), game.rest.clone());
    if start < end {
        let mut file = File::open(place)?;
        file.seek(SeekFrom::Start(start))?;
        file.take(end - start).read_to_end(&mut rest)?;
    }
    Ok(from_any_encoding(&rest).replace('\r', ""))
}

impl<'a> Sources<'a> {
    /// Opens the files, so that they can be read several times.
    pub fn new(paths: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<Sources<'a>> {
        let open = |path: &'a PathBuf| {
            Ok((path, Rereadable::new(path).with_context(|| format!("cannot read {}", path.display()))?))
        };
        Ok(Sources { files: paths.map(open).collect::<anyhow::Result<_>>()? })
    }

    /// The games of all files, one after another.
    pub fn games(&self) -> impl Iterator<Item = anyhow::Result<NumberedGame>> + Send + '_ {
        let read = |(path, file): &(&PathBuf, Rereadable<'_>)| {
            let name = path.display().to_string();
            let games: Box<dyn Iterator<Item = std::io::Result<PgnGame>> + Send> = match File::open(file.path()) {
                Ok(file) => Box::new(PgnGames::new(file)),
                Err(error) => Box::new(std::iter::once(Err(error))),
            };
            let place = file.path().to_owned();
            games.map(move |game| {
                Ok((name.clone(), place.clone(), game.with_context(|| format!("cannot read {name}"))?))
            })
        };
        let numbered = |(index, game): (usize, anyhow::Result<(String, PathBuf, PgnGame)>)| {
            game.map(|(file, place, game)| NumberedGame { number: index as u64 + 1, file, place, game })
        };
        self.files.iter().flat_map(read).enumerate().map(numbered)
    }

    /// The number of positions of each game, the one before its first move included. Damaged games, and assumptions
    /// about the clocks of a file, are reported on standard error.
    pub fn positions(&self) -> anyhow::Result<Vec<u64>> {
        let mut positions = Vec::new();
        let mut remarks: Vec<(String, Remarks)> = Vec::new();
        for read in self.games() {
            let NumberedGame { file, game, .. } = read?;
            if let Some(problem) = &game.problem {
                let (number, problem) = (game.number, plain(problem));
                note!(
                    "{file} game {number}: {problem}: the rest of it is left out of the analysis, and stays in --out"
                );
            }
            positions.push(game.game.positions().len() as u64);
            if remarks.last().is_none_or(|(last, _)| *last != file) {
                remarks.push((file, Remarks::default()));
            }
            remarks.iter_mut().last().into_iter().for_each(|(_, remarks)| remarks.add(&game, &game_times(&game)));
        }
        for (file, remarks) in &remarks {
            remarks.lines().for_each(|line| note!("{file}: {line}"));
        }
        anyhow::ensure!(!positions.is_empty(), "there is no game to analyse");
        Ok(positions)
    }

    /// The digests of the files.
    pub fn digests(&self) -> anyhow::Result<Vec<String>> {
        self.files.iter().map(|(_, file)| Ok(sha256_of_file(file.path())?)).collect()
    }
}
