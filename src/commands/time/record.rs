//! `zeitnot time record`: records searches of games' positions far beyond their budgets.

use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::flags::{flag, json_flag};
use crate::commands::output::{note, notes, say};
use crate::commands::{cores, interrupt, progress};
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zeitnot_engine::backend::SharedEvaluations;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_engine::engine;
use zeitnot_games::Rereadable;
use zeitnot_games::setup::program_sha256;
use zeitnot_lab::recordings::{
    PositionsError, RecordError, Recorder, Recording, RecordingFile, RecordingFileError, RecordingHeader, Sides,
    read_positions, read_sides, record_all,
};
use zeitnot_lab::results::{LabResult, RecordingSize};

/// Most evaluations that the searches share in a cache: the positions of a game have much in common.
const SHARED_EVALUATIONS: usize = 400_000;
/// The smallest `--growth`, the ratio of visits from one snapshot to the next.
const SMALLEST_GROWTH: f64 = 1.001;

pub fn command() -> Command {
    let file = |name, help| flag(name, "FILE").value_parser(value_parser!(PathBuf)).help(help);
    let number = |name, value: &'static str, usual: &'static str, help| {
        flag(name, value).default_value(usual).value_parser(value_parser!(f64)).help(help)
    };
    let count = |name, help| flag(name, "N").value_parser(value_parser!(u64).range(1..)).help(help);
    let command = Command::new("record")
        .about("Record how searches of games' positions grow, far beyond their budgets, for time replay")
        .arg(file("games", "Games in PGN, of each the positions of one side"))
        .arg(
            file("positions", "Positions in EPD or FEN, one a line")
                .conflicts_with("games")
                .required_unless_present("games"),
        )
        .arg(count("nodes", "Playouts of a move in a game [default: 400]"))
        .arg(number("factor", "X", "16", "Playouts of a recorded search, in those of a move"))
        .arg(number("growth", "X", "1.1", "Growth of visits from snapshot to snapshot"))
        .arg(count("most", "Most positions to record, in whole games [default: all]"))
        .arg(count("concurrency", "Searches at once [default: the machine's cores]"))
        .arg(file("out", "Recording; one that was interrupted goes on").default_value("traces.zt"))
        .arg(json_flag());
    engine_options::add_to(command)
}

/// A failure that ends the recording.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    File(#[from] RecordingFileError),
    #[error("cannot start a thread for searches: {0}")]
    Thread(#[from] std::io::Error),
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let recording = recording(matches)?;
    let source = Source::of(matches)?;
    let (games, total) = source.count(matches.get_one::<u64>("most").copied())?;
    let options = engine_options::engine(matches, MAY_INSTALL)?.options().clone();
    let loaded = engine::load_network(&options, MAY_INSTALL, &notes())?;
    note!("{}", loaded.news);
    let sha256 = loaded.location.as_ref().map(|location| location.sha256()).transpose()?;
    let header = RecordingHeader::new(
        recording.nodes,
        recording.factor,
        recording.growth,
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "program": program_sha256(),
            "network": sha256,
            "backend": loaded.backend.attributes().to_string(),
            "options": options.changed().collect::<BTreeMap<_, _>>(),
            "positions": sha256_of_file(source.file.path())?,
            "sides": "each player once in a pair",
        }),
    );
    let out = matches.get_one::<PathBuf>("out").context("--out has a default")?;
    let mut file = RecordingFile::open(out, &header)?;
    let done = file.searches();
    if done > 0 {
        note!("{done} positions of {total} are recorded already");
    }
    let backend = SharedEvaluations::around(Arc::clone(&loaded.backend), SHARED_EVALUATIONS);
    let make = || Recorder::new(&options, Arc::clone(&backend), recording);
    let threads = matches.get_one::<u64>("concurrency").map_or_else(cores, |count| *count as usize);
    let interrupted = interrupt::on_request()?;
    let bar = progress::positions(total as u64);
    bar.set_position(done as u64);
    let mut snapshots = 0;
    let mut quiet = |_| {};
    let sides = Box::new(source.sides(&mut quiet)?.take(games));
    record_all(sides, done, threads, &make, &interrupted, &mut |search| -> Result<(), Failure> {
        snapshots += search.snapshots.len();
        file.add(&search)?;
        bar.inc(1);
        Ok(())
    })?;
    bar.finish_and_clear();
    if interrupted.load(Ordering::SeqCst) {
        interrupt::exit("interrupted: the same command goes on with it");
    }
    let bytes = std::fs::metadata(out).with_context(|| out.display().to_string())?.len();
    if matches.get_flag("json") {
        let size = RecordingSize { positions: file.searches(), games, snapshots, bytes };
        say!("{}", serde_json::to_string(&LabResult::Recording(size))?);
    } else {
        say!("{} positions of {games} games in {} ({bytes} bytes)", file.searches(), out.display());
    }
    Ok(())
}

fn recording(matches: &ArgMatches) -> anyhow::Result<Recording> {
    let number = |name: &str| matches.get_one::<f64>(name).copied().context("it has a default");
    let nodes = matches.get_one::<u64>("nodes").copied().unwrap_or(400);
    let recording = Recording { nodes, factor: number("factor")?, growth: number("growth")? };
    let Recording { factor, growth, .. } = recording;
    anyhow::ensure!((1.0..=1e6).contains(&factor), "--factor {factor}: a search goes on to its budget at least");
    anyhow::ensure!(
        (SMALLEST_GROWTH..=1e3).contains(&growth),
        "--growth {growth}: visits grow by {SMALLEST_GROWTH} at least from snapshot to snapshot"
    );
    Ok(recording)
}

/// The file of games or positions whose searches are recorded.
struct Source<'a> {
    path: &'a Path,
    /// The file itself, opened so that it can be read three times.
    file: Rereadable<'a>,
    is_pgn: bool,
}

impl<'a> Source<'a> {
    fn of(matches: &'a ArgMatches) -> anyhow::Result<Source<'a>> {
        let games = matches.get_one::<PathBuf>("games");
        let path = games.or(matches.get_one("positions")).context("clap requires one of both")?;
        let file = Rereadable::new(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Source { path, file, is_pgn: games.is_some() })
    }

    fn sides(&'a self, tell: &'a mut (dyn FnMut(String) + Send)) -> Result<Sides<'a>, PositionsError> {
        let path = self.file.path();
        if self.is_pgn { read_sides(path, tell) } else { read_positions(path) }
    }

    /// The number of games to record, whole ones with `most` positions at most, and the number of their positions.
    fn count(&self, most: Option<u64>) -> anyhow::Result<(usize, usize)> {
        let mut tell = |line| note!("{line}: the rest of it is left out");
        let (mut games, mut positions) = (0, 0);
        for side in self.sides(&mut tell)? {
            let sum = positions + side?.plies.len();
            if let Some(most) = most.filter(|most| sum as u64 > *most) {
                anyhow::ensure!(games > 0, "--most {most}: the first game has more positions");
                break;
            }
            (games, positions) = (games + 1, sum);
        }
        anyhow::ensure!(games > 0, "{} has no game with moves", self.path.display());
        Ok((games, positions))
    }
}
