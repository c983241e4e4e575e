//! `zeitnot time prove`: plays the declared games that show what the default manager is worth, and writes their page.

use crate::commands::flags::{flag, match_flags, switch};
use crate::commands::output::{note, notes, say};
use crate::commands::warnings::Warnings;
use crate::commands::{cores, engine_options, interrupt, missing_games, progress, today};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::ProgressBar;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::backend::CostModel;
use zeitnot_engine::clock::{MonotonicClock, VirtualClock};
use zeitnot_engine::engine::{Engine, Options};
use zeitnot_engine::network::{self, Location};
use zeitnot_lab::proof::{PlayedCell, Proof, ProofCell, page};
use zeitnot_lab::setup::{self, Contestant, MatchClock, MatchSetup, Starts};
use zeitnot_lab::{Journal, OpeningOrder, Openings, Rules, write_pgn};

/// The event of the games in their PGN.
const EVENT: &str = "zeitnot time prove";

pub fn command() -> Command {
    Command::new("prove")
        .about("Play the declared games that show what the default manager is worth")
        .long_about(
            "Play the declared games that show what the default manager is worth. On a virtual clock with the networks inside the \
             program the same program plays the same games again, and prints the same digest",
        )
        .arg(
            flag("scale", "NODES")
                .action(ArgAction::Append)
                .value_parser(["150", "1500", "15000"])
                .hide_possible_values(true)
                .help("150, 1500 or 15000 new nodes a move, about; may be given again [default: all]"),
        )
        .arg(switch("quick", "Some games at each scale"))
        .arg(flag("games", "N").value_parser(value_parser!(u64).range(2..)).help("Most games of a cell [default: all]"))
        .arg(
            flag("out", "FOLDER")
                .default_value("prove")
                .value_parser(value_parser!(PathBuf))
                .help("Folder of games and page; games there are not played again"),
        )
        .arg(concurrency())
}

fn concurrency() -> Arg {
    flag("concurrency", "N")
        .value_parser(value_parser!(u64).range(1..=256))
        .help("Games at once [default: the machine's cores]")
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let proof = Proof::declared();
    let is_quick = matches.get_flag("quick");
    let scales: Vec<&String> = matches.get_many("scale").unwrap_or_default().collect();
    let most = matches.get_one::<u64>("games").copied().unwrap_or(u64::MAX);
    anyhow::ensure!(
        most.is_multiple_of(2) || most == u64::MAX,
        "--games {most}: each opening is played twice, so an even number"
    );
    let games = |cell: &ProofCell| if is_quick { cell.quick } else { cell.games }.min(most);
    let cells: Vec<&ProofCell> = proof
        .cells
        .iter()
        .filter(|cell| scales.is_empty() || scales.iter().any(|scale| **scale == cell.scale.to_string()))
        .filter(|cell| games(cell) > 0)
        .collect();
    let out = matches.get_one::<PathBuf>("out").context("--out has a default")?;
    std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let concurrency = matches.get_one::<u64>("concurrency").map_or_else(cores, |games| *games as usize);
    let heading = heading(&proof);
    note!("{heading}");
    let interrupted = interrupt::on_request()?;
    let all = cells.iter().map(|cell| games(cell)).sum();
    note!("{all} games in {} cells, which come into {}", cells.len(), out.display());
    let bar = progress::games(all);
    let table = Table { proof: &proof, out, concurrency, bar: &bar, interrupted: &interrupted };
    let mut played = Vec::new();
    for cell in cells {
        bar.set_message(cell.file_name());
        let of_cell = table.play(cell, games(cell))?;
        bar.suspend(|| note!("{}: {} games", cell.file_name(), of_cell.games.len()));
        played.push(of_cell);
        if interrupted.load(Ordering::SeqCst) {
            bar.finish_and_clear();
            interrupt::exit("interrupted: the same command goes on with it");
        }
    }
    bar.finish_and_clear();
    let text = page(&proof, &played, &heading);
    // A page of its own for each choice of cells: a smaller one does not take the place of a larger one.
    let choice = scales.iter().map(|scale| format!("-{scale}")).chain(is_quick.then(|| "-quick".to_owned()));
    let path = out.join(format!("page{}.md", choice.collect::<String>()));
    std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    say!("{}", text.trim_end());
    note!("games and page in {}", out.display());
    Ok(())
}

/// Program, date and instruction set in one line.
fn heading(proof: &Proof) -> String {
    let program = setup::program_sha256().map_or_else(String::new, |digest| format!(" (SHA-256 {})", &digest[..16]));
    format!("Zeitnot {}{program}, {}, native networks with {}.", env!("CARGO_PKG_VERSION"), today(), proof.isa)
}

/// The settings that all cells share.
struct Table<'a> {
    proof: &'a Proof,
    out: &'a Path,
    concurrency: usize,
    bar: &'a ProgressBar,
    interrupted: &'a AtomicBool,
}

impl Table<'_> {
    /// Plays the missing games of a cell, and writes all as PGN.
    fn play(&self, cell: &ProofCell, games: u64) -> anyhow::Result<PlayedCell> {
        let Proof { seed, book, .. } = self.proof;
        let clock = MatchClock::Virtual { cost: CostModel::constant(cell.nps)?, playout_ms: VirtualClock::PLAYOUT_MS };
        let mut players = [self.contestant(cell, &self.proof.first)?, self.contestant(cell, &cell.second)?];
        match_flags::load(&mut players, self.concurrency, &clock)?;
        let openings = Openings::read(&[PathBuf::from(book)], None)?.in_order(OpeningOrder::Shuffled { seed: *seed });
        let rules = Rules { seed: *seed, ..Rules::default() };
        let mut setup =
            MatchSetup { rules, starts: Starts::Many(openings), chess960: false, concurrency: self.concurrency };
        setup.rules = setup.rules_at(cell.time_control());
        let [first, second] = &players;
        setup.check_repetition(&clock, games, [first, second], &notes())?;
        let settings = json!({
            "program": setup::program_sha256(),
            "games": games,
            "cell": cell.file_name(),
            "seed": seed,
            "book": book,
            "first": first.identity()?,
            "second": second.identity()?,
        });
        let path = self.out.join(format!("{}.jsonl", cell.file_name()));
        let mut journal = Journal::resume(&path, settings, &["games"])?;
        let opening = |pair: u64| setup.starts.get(pair);
        let plan = setup.plan(games, &opening);
        let played = missing_games::play(
            &plan,
            [first, second],
            &clock,
            &mut journal,
            self.bar,
            self.interrupted,
            &Warnings::default(),
        )
        .with_context(|| format!("{}: the same command goes on with it", cell.file_name()))?;
        let pgn = self.out.join(format!("{}.pgn", cell.file_name()));
        let mut file = BufWriter::new(File::create(&pgn).with_context(|| format!("cannot write {}", pgn.display()))?);
        for game in journal.games().values() {
            write_pgn(&mut file, game, EVENT, &today())?;
        }
        file.flush().with_context(|| format!("cannot write {}", pgn.display()))?;
        Ok(PlayedCell { cell: cell.clone(), games: played })
    }

    /// This engine with the network of a cell and a time manager.
    fn contestant(&self, cell: &ProofCell, manager: &str) -> anyhow::Result<Contestant> {
        let place = network::find(Some(Path::new(&cell.network)))?;
        anyhow::ensure!(
            matches!(place, Location::BuiltIn(_)),
            "{}: the declared network is inside the program; {place} would play in its place",
            cell.file_name()
        );
        let clock = Arc::new(MonotonicClock::new());
        let mut engine = Engine::new(Options::default(), clock, engine_options::MAY_INSTALL);
        let isa = format!("isa={}", self.proof.isa);
        for (name, value) in [
            ("WeightsFile", cell.network.as_str()),
            ("Backend", "native"),
            ("BackendOptions", &isa),
            ("TimeManager", manager),
        ] {
            engine.set_option(name, value).with_context(|| format!("{name}={value}"))?;
        }
        Ok(Contestant::own(engine.options().clone(), manager.to_owned()))
    }
}
