//! Assembles the results of an analysis and writes their files, each file as a whole.

use super::games::Searched;
use super::sources::{NumberedGame, Sources, rest_of};
use crate::commands::output::{self, note, say};
use anyhow::Context as _;
use clap::ArgMatches;
use std::fs::File;
use std::path::{Path, PathBuf};
use zeitnot_analysis::analysis::{
    Analysis, analysed, annotated_with_rest, facts_in_comments, is_annotation_of, page_data,
};
use zeitnot_base::files::{is_same_file, write_whole};
use zeitnot_base::words::counted;
use zeitnot_charts::game_page;
use zeitnot_games::PgnGames;

/// The files that results are written to.
pub struct Outputs<'a> {
    pgn: Option<&'a PathBuf>,
    json: Option<&'a PathBuf>,
    html: Option<&'a PathBuf>,
}

impl<'a> Outputs<'a> {
    /// The output files that the command line names; fails where one is named twice, holds `games` or cannot be
    /// written.
    pub fn of(matches: &'a ArgMatches, games: &[&Path]) -> anyhow::Result<Outputs<'a>> {
        let outputs =
            Outputs { pgn: matches.get_one("out"), json: matches.get_one("json"), html: matches.get_one("html") };
        let all: Vec<&Path> = outputs.all().collect();
        for (index, path) in all.iter().enumerate() {
            let name = path.display();
            anyhow::ensure!(
                !all[..index].iter().any(|other| is_same_file(other, path)),
                "{name} is named for two results"
            );
            anyhow::ensure!(
                !games.iter().any(|other| is_same_file(other, path)),
                "{name} has the games: name another file"
            );
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            anyhow::ensure!(
                is_standard(path) || folder.is_dir() && !path.is_dir(),
                "cannot write {}: it has no folder, or is one",
                path.display()
            );
        }
        Ok(outputs)
    }

    /// Refuses to overwrite a file with content, except a result of an analysis, or the games of `sources`.
    pub fn check(&self, sources: &Sources<'_>) -> anyhow::Result<()> {
        let has_games = |path: &Path| {
            let (others, mut known) = (PgnGames::new(File::open(path)?), sources.games());
            let mut count = 0;
            for other in others {
                // Where there is no game to analyse, nothing is written.
                let (other, Some(known)) = (other?, known.next().transpose()?) else { return Ok(count == 0) };
                let is_same_rest = other.problem.is_none() || words(&rest_of(&other, path)?) == words(&known.rest()?);
                if !is_same_rest || !is_annotation_of(&other, &known.game) {
                    return Ok(false);
                }
                count += 1;
            }
            anyhow::Ok(count > 0 || path.metadata()?.len() == 0)
        };
        let marked = [(self.json, "\"kind\":\"analysis\""), (self.html, "<title>Game analysis</title>")];
        for (path, mark) in marked {
            path.map_or(Ok(()), |path| output::check_is_ours(path, mark))?;
        }
        match self.pgn.filter(|path| path.is_file() && !has_games(path).unwrap_or(false)) {
            Some(path) => anyhow::bail!("{} has something else in it: delete it, or name another file", path.display()),
            None => Ok(()),
        }
    }

    /// The output files: games, JSON, page.
    fn all(&self) -> impl Iterator<Item = &'a Path> {
        self.pgn.into_iter().chain(self.json).chain(self.html).map(PathBuf::as_path)
    }

    /// The first output that is not the standard output.
    pub fn file(&self) -> Option<&'a Path> {
        self.all().find(|path| !is_standard(path))
    }

    /// Writes all files. Without searches, the facts are those of the games' comments.
    pub fn write(&self, sources: &Sources<'_>, searched: Option<&Searched>, limit: &str) -> anyhow::Result<()> {
        let (mut games, mut pgn) = (Vec::new(), String::new());
        for read in sources.games() {
            let read = read?;
            let rest = read.rest().with_context(|| format!("cannot read {}", read.file))?;
            let NumberedGame { number, file, game, .. } = read;
            let facts = match searched {
                Some(searched) => searched.facts(number),
                None => facts_in_comments(&game),
            };
            anyhow::ensure!(facts.len() == game.game.positions().len(), "{file} has changed since it was analysed");
            let analysed = analysed(&file, &game, &facts);
            let depths: Vec<u32> = match searched {
                Some(_) => facts.iter().skip(1).map(|facts| facts.as_ref().map_or(0, |facts| facts.depth)).collect(),
                None => Vec::new(),
            };
            pgn += &annotated_with_rest(&game, &analysed, &depths, &rest);
            games.push(analysed);
        }
        let network = searched.and_then(|searched| searched.network.clone());
        let analysis = Analysis::new(env!("CARGO_PKG_VERSION"), network, limit, games);
        if !analysis.is_judged() {
            note!("no move has an evaluation: nothing is judged");
        }
        if let Some(path) = self.json {
            write(path, &serde_json::to_vec(&analysis)?)?;
        }
        if let Some(path) = self.html {
            write(path, game_page(&page_data(&analysis).to_string()).as_bytes())?;
        }
        if let Some(path) = self.pgn {
            write(path, pgn.as_bytes())?;
        }
        let place = self.file().map(|path| format!(" in {}", path.display())).unwrap_or_default();
        let sums = format!("{}{place}: {}", counted(analysis.games(), "game"), judgements(&analysis));
        if self.all().any(is_standard) {
            note!("{sums}")
        } else {
            say!("{sums}")
        }
        Ok(())
    }
}

/// The numbers of inaccuracies, mistakes and blunders in all games, in words.
fn judgements(analysis: &Analysis) -> String {
    let [inaccuracies, mistakes, blunders] = analysis.judgements();
    let inaccurate = if inaccuracies == 1 { "inaccuracy" } else { "inaccuracies" };
    format!("{inaccuracies} {inaccurate}, {}, {}", counted(mistakes, "mistake"), counted(blunders, "blunder"))
}

/// The words of a PGN text without move numbers and results.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit() || c == '*')).collect()
}

/// Whether a path is `-`, the standard output.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if is_standard(path) {
        output::text(format_args!("{}\n", String::from_utf8_lossy(bytes).trim_end()));
        return Ok(());
    }
    write_whole(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
