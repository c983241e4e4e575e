//! Reads the games that are analysed from their files, as often as they are needed.

use crate::commands::output::note;
use anyhow::Context as _;
use std::fs::File;
use std::path::PathBuf;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_lab::{PgnGame, PgnGames, Rereadable};
use zeitnot_text::printable::plain;

/// The files of games.
pub struct Sources<'a> {
    files: Vec<(&'a PathBuf, Rereadable<'a>)>,
}

/// A game with its number over all files, from 1, and its file.
pub struct NumberedGame {
    pub number: u64,
    pub file: String,
    pub game: PgnGame,
}

impl<'a> Sources<'a> {
    /// Takes the files.
    ///
    /// # Errors
    /// When one cannot be read.
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
            games.map(move |game| Ok((name.clone(), game.with_context(|| format!("cannot read {name}"))?)))
        };
        let numbered = |(index, game): (usize, anyhow::Result<(String, PgnGame)>)| {
            game.map(|(file, game)| NumberedGame { number: index as u64 + 1, file, game })
        };
        self.files.iter().flat_map(read).enumerate().map(numbered)
    }

    /// The number of positions of each game, the one before its first move included. A damaged game gets a line.
    ///
    /// # Errors
    /// When a file cannot be read, or there is no game.
    pub fn positions(&self) -> anyhow::Result<Vec<u64>> {
        let mut positions = Vec::new();
        for read in self.games() {
            let NumberedGame { file, game, .. } = read?;
            if let Some(problem) = &game.problem {
                note!("{file} game {}: {}: the rest of it is left out", game.number, plain(problem));
            }
            positions.push(game.game.positions().len() as u64);
        }
        anyhow::ensure!(!positions.is_empty(), "there is no game to analyse");
        Ok(positions)
    }

    /// The digests of the files.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn digests(&self) -> anyhow::Result<Vec<String>> {
        self.files.iter().map(|(_, file)| Ok(sha256_of_file(file.path())?)).collect()
    }
}
