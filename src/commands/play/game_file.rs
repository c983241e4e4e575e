//! Keeps the game in a PGN file from move to move, and takes up a game that was interrupted.

use crate::commands::output::note;
use crate::commands::today;
use anyhow::Context as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use zeitnot_analysis::audit::move_times;
use zeitnot_engine::chess::to_uci;
use zeitnot_games::{Evaluation, GameRecord, MoveRecord, PgnGame, Termination, read_games, write_pgn};

/// The event of the games.
const EVENT: &str = "zeitnot play";

/// The tag of the engine's manner of playing.
const MANNER: &str = "EngineOptions";

/// A PGN file whose last game is under way.
pub struct GameFile {
    path: PathBuf,
    file: File,
    /// The byte at which the game begins.
    start: u64,
    date: String,
    /// The engine's manner of playing ([`manner`](super::manner)), for a game that goes on.
    pub manner: String,
}

impl GameFile {
    /// Opens the file, or makes it; the game goes behind what is there.
    pub fn open(path: &Path) -> anyhow::Result<GameFile> {
        let (mut file, there) = opened(path, true)?;
        if there.last().is_some_and(|last| *last != b'\n') {
            file.seek(SeekFrom::End(0))?;
            file.write_all(b"\n\n").with_context(|| cannot_write(path))?;
        }
        let start = file.metadata()?.len();
        Ok(GameFile { path: path.to_owned(), file, start, date: today(), manner: String::new() })
    }

    /// Opens the file and reads its last game, which goes on in its place.
    pub fn resume(path: &Path) -> anyhow::Result<(GameFile, PgnGame)> {
        let (file, there) = opened(path, false)?;
        let name = path.display();
        let begin = b"[Event \"";
        let is_begin = |at: &usize| there[*at..].starts_with(begin) && (*at == 0 || there[at - 1] == b'\n');
        let start = (0..there.len()).rev().find(is_begin).with_context(|| format!("{name} has no game"))?;
        let game = read_games(&there[start..])?.into_iter().next().with_context(|| format!("{name} has no game"))?;
        anyhow::ensure!(game.tag("Event") == EVENT, "the last game of {name} is not of zeitnot play");
        if let Some(result) = game.result.filter(|result| *result != "*") {
            anyhow::bail!("the last game of {name} is over ({result})");
        }
        if let Some(problem) = &game.problem {
            note!("{name}: {problem}: the game goes on from there");
        }
        let (date, manner) = (game.tag("Date").to_owned(), game.tag(MANNER).to_owned());
        Ok((GameFile { path: path.to_owned(), file, start: start as u64, date, manner }, game))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The game as PGN.
    pub fn text(&self, record: &GameRecord) -> Vec<u8> {
        let mut text = Vec::new();
        write_pgn(&mut text, record, EVENT, &self.date).expect("memory takes what is written");
        if let Some(end) = text.windows(2).position(|two| two == b"\n\n").filter(|_| !self.manner.is_empty()) {
            let value = self.manner.replace('\\', "\\\\").replace('"', "\\\"");
            text.splice(end + 1..end + 1, format!("[{MANNER} \"{value}\"]\n").into_bytes());
        }
        text
    }

    /// Writes the game in place of what the file has of it.
    pub fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let mut text = self.text(record);
        let end = self.start + text.len() as u64;
        let metadata = self.file.metadata()?;
        let was = metadata.len().saturating_sub(self.start) as usize;
        // One write has all of it, blank lines in place of a longer game: the program may be killed at any moment.
        text.resize(text.len().max(was), b'\n');
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.start))?;
            self.file.write_all(&text)?;
            if metadata.is_file() { self.file.set_len(end) } else { Ok(()) }
        };
        write().with_context(|| cannot_write(&self.path))
    }

    /// Writes the game to another file, which must be new.
    pub fn save_as(&self, path: &Path, record: &GameRecord) -> std::io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(&self.text(record))
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {} (--pgn=FILE names another file)", path.display())
}

/// The file, which no other game may use, and what is in it.
fn opened(path: &Path, is_new: bool) -> anyhow::Result<(File, Vec<u8>)> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(is_new).truncate(false).open(path).with_context(|| {
            if is_new { cannot_write(path) } else { format!("cannot go on with {}", path.display()) }
        })?;
    // Some file systems have no locks.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    anyhow::ensure!(!is_taken, "{} has a game that is being played (--pgn=FILE names another file)", path.display());
    let mut there = Vec::new();
    if file.metadata()?.is_file() {
        file.read_to_end(&mut there).with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok((file, there))
}

/// The record of a game that was read, with `start_ms` on the clocks at its start.
pub fn record_of(pgn: &PgnGame, start_ms: [f64; 2]) -> anyhow::Result<GameRecord> {
    let network = |tag: &str| Some(pgn.tag(tag).to_owned()).filter(|name| !name.is_empty());
    let control = |tag: &str| Some(pgn.tag(tag)).filter(|text| !text.is_empty()).unwrap_or(pgn.tag("TimeControl"));
    let networks = ["WhiteNetwork", "BlackNetwork"].map(network);
    anyhow::ensure!(
        networks[0].is_some() != networks[1].is_some(),
        "the tags of the game do not tell who has which side (WhiteNetwork or BlackNetwork is the engine's)"
    );
    let is_standard = pgn.game.starts_from_standard();
    let chess960 = pgn.tag("Variant").eq_ignore_ascii_case("chess960");
    let (mut moves, mut clocks_ms) = (Vec::new(), start_ms);
    for (ply, (position, mv)) in pgn.game.positions().iter().zip(pgn.game.moves()).enumerate() {
        let (side, comments) = (position.turn(), pgn.comments_of(ply));
        let times = move_times(comments);
        if let Some(clock_ms) = times.clock_ms {
            clocks_ms[usize::from(side.is_black())] = clock_ms;
        }
        let told = |name: &str| command(comments, name);
        let evaluation = told("eval").and_then(|text| evaluation(&text, side.is_white()));
        moves.push(MoveRecord {
            uci: to_uci(*mv, chess960),
            san: position.san(*mv),
            white: side.is_white(),
            used_ms: times.used_ms.unwrap_or(0.0),
            clocks_ms,
            budget_ms: times.budget_ms,
            hard_limit_ms: told("limit").and_then(|text| move_times(&[format!("[%emt {text}]")]).used_ms),
            nodes: times.nodes.unwrap_or(0),
            playouts: 0,
            depth: evaluation.map_or(0, |(_, depth)| depth),
            evaluation: evaluation.map(|(evaluation, _)| evaluation),
        });
    }
    Ok(GameRecord {
        game: 1,
        players: ["White", "Black"].map(|tag| pgn.tag(tag).to_owned()),
        first_is_white: networks[0].is_none(),
        networks,
        controls: ["WhiteTimeControl", "BlackTimeControl"].map(|tag| control(tag).to_owned()),
        start_fen: (!is_standard).then(|| pgn.game.start_fen()),
        chess960,
        opening: Vec::new(),
        moves,
        white_won: None,
        termination: Termination::Unfinished,
        forfeit: None,
        error: None,
        clocks_ms,
    })
}

/// The value of a command such as `[%eval 0.31,5]` in the comments of a move.
fn command(comments: &[String], name: &str) -> Option<String> {
    let text = comments.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = text.split_once(&format!("[%{name} "))?;
    rest.split_once(']').map(|(value, _)| value.to_owned())
}

/// The evaluation of a comment, from the view of the side that moved, and its depth.
fn evaluation(text: &str, is_white: bool) -> Option<(Evaluation, u32)> {
    let (score, depth) = text.split_once(',')?;
    let sign = if is_white { 1 } else { -1 };
    let (cp, mate) = match score.strip_prefix('#') {
        Some(moves) => (0, Some(sign * moves.parse::<i32>().ok()?)),
        None => (sign * (score.parse::<f64>().ok()? * 100.0).round() as i32, None),
    };
    Some((Evaluation { cp, mate, q: None }, depth.parse().ok()?))
}
