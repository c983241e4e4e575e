//! `zeitnot time compare --cells`: plays cells that were declared before their games, and writes their page.

use super::folder::{self, Cell, Folder};
use crate::commands::flags::{flag, match_flags, switch};
use crate::commands::output::{note, say};
use crate::commands::today;
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zeitnot::uci::did_you_mean;
use zeitnot_base::files::read_text;
use zeitnot_engine::backend::CostModel;
use zeitnot_engine::clock::VirtualClock;
use zeitnot_games::proof::{PlayedCell, Proof, ProofCell, page};
use zeitnot_games::setup::{self, Contestant, MatchClock};
use zeitnot_games::{MatchPlan, OpeningOrder, Openings, Rules, Starts};

/// The name by which `--cells` takes the declaration that is built in.
const BUILT_IN: &str = "builtin";

/// Flags of a comparison that cannot be given with declared cells, since the declaration decides them.
const OF_OTHERS: [&str; 21] = [
    "specs",
    "engine",
    "tc",
    "nps",
    "clock",
    "gauntlet",
    "openings",
    "fen",
    "plies",
    "order",
    "seed",
    "draw",
    "resign",
    "tb",
    "max-moves",
    "lag",
    "jitter",
    "batch-ms",
    "like",
    "csv",
    "json",
];

/// The flags of declared cells.
pub fn args() -> [Arg; 3] {
    [
        flag("cells", "FILE")
            .conflicts_with_all(OF_OTHERS)
            .help("Cells that were declared before their games, in place of SPEC; or builtin")
            .long_help(
                "Cells that were declared before their games, in place of SPEC: a file of JSON, or builtin, the games that show what \
                 the default manager is worth. On a virtual clock with native networks the same program plays the same games \
                 again, and prints the same digest",
            ),
        flag("scale", "NODES")
            .action(ArgAction::Append)
            .help("Only the cells of about so many new nodes a move; may be given again"),
        switch("quick", "Some games at each scale of the cells"),
    ]
}

/// Refuses flags of cells where there are none. (clap requires nothing of what conflicts with an argument that is there.)
pub fn refuse_flags(matches: &ArgMatches) -> anyhow::Result<()> {
    let given = [("scale", matches.contains_id("scale")), ("quick", matches.get_flag("quick"))];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => anyhow::bail!("--{name} is about declared cells: --cells names them"),
        None => Ok(()),
    }
}

pub fn run(matches: &ArgMatches, declaration: &str, out: &Path) -> anyhow::Result<()> {
    let proof = match declaration {
        BUILT_IN => Proof::built_in(),
        file => {
            let text = read_text(Path::new(file)).with_context(|| {
                let near = did_you_mean(file, [BUILT_IN]);
                format!("cannot read {file} (the cells inside the program are called {BUILT_IN}{near})")
            })?;
            Proof::read(&text).map_err(|reason| anyhow::anyhow!("{file}: {reason}"))?
        }
    };
    let is_quick = matches.get_flag("quick");
    let scales: Vec<&String> = matches.get_many("scale").unwrap_or_default().collect();
    let is_asked = matches.value_source("games") == Some(ValueSource::CommandLine);
    let most = matches.get_one::<u64>("games").copied().filter(|_| is_asked);
    if let Some(odd) = most.filter(|most| !most.is_multiple_of(2)) {
        anyhow::bail!("--games {odd}: each opening is played twice, so an even number");
    }
    let games = |cell: &ProofCell| if is_quick { cell.quick } else { cell.games }.min(most.unwrap_or(u64::MAX));
    let is_of_scale =
        |cell: &ProofCell| scales.is_empty() || scales.iter().any(|scale| **scale == cell.scale.to_string());
    let cells: Vec<&ProofCell> = proof.cells.iter().filter(|cell| is_of_scale(cell) && games(cell) > 0).collect();
    let known: BTreeSet<u64> = proof.cells.iter().map(|cell| cell.scale).collect();
    let known: Vec<String> = known.iter().map(u64::to_string).collect();
    if let Some(other) = scales.iter().find(|scale| !known.contains(scale)) {
        anyhow::bail!("--scale {other}: no cell has this scale; there are {}", known.join(", "));
    }
    anyhow::ensure!(!cells.is_empty(), "{declaration}: no cell has this scale, or is part of a quick run");
    let plain = match_flags::own_player(matches, "", std::iter::empty(), "")?;
    if let Some((name, _)) = plain.options().and_then(|options| options.changed().next()) {
        anyhow::bail!("{name} is set, but declared cells are played with the options of their declaration alone");
    }
    let heading = heading(&proof);
    note!("{heading}");
    let total = cells.iter().map(|cell| games(cell)).sum();
    note!("{total} games, which come into {}", out.display());
    let book = PathBuf::from(&proof.book);
    let openings = Openings::read(std::slice::from_ref(&book), None)?;
    let openings = openings.in_order(OpeningOrder::Shuffled { seed: proof.seed });
    let plan = MatchPlan {
        rules: Rules { seed: proof.seed, ..Rules::default() },
        games: 0,
        starts: Starts::Many(openings),
        chess960: false,
        concurrency: match_flags::concurrency(matches, &clock(cells[0]).with_context(|| cells[0].file_name())?),
        sprt: None,
        tells_moves: false,
    };
    let mut folder = Folder::new(out, plan, total)?;
    let players = |cell: &ProofCell, plan: &MatchPlan| {
        let clock = clock(cell)?;
        let mut players =
            [contestant(matches, &proof, cell, &proof.first)?, contestant(matches, &proof, cell, &cell.second)?];
        folder::check(plan, &clock, players.each_ref())?;
        match_flags::load(&mut players, plan.concurrency, &clock)?;
        anyhow::Ok((players, clock))
    };
    // A network or manager that is not there is told before hours of games.
    for cell in &cells {
        folder.series.plan.games = games(cell);
        players(cell, &folder.series.plan).with_context(|| cell.file_name())?;
    }
    let mut book_settings = json!({ "seed": proof.seed, "book": proof.book });
    setup::add_digests(&mut book_settings, [&book].into_iter().filter(|book| !Openings::is_built_in(book)))?;
    let mut played = Vec::new();
    for cell in cells {
        folder.series.plan.games = games(cell);
        let (players, clock) = players(cell, &folder.series.plan)?;
        let mut settings = book_settings.clone();
        settings["cell"] = cell.file_name().into();
        let identities = [players[0].identity()?, players[1].identity()?];
        let games = folder.play(Cell {
            name: cell.file_name(),
            players: players.each_ref(),
            identities: identities.each_ref(),
            control: cell.time_control(),
            clock: &clock,
            settings,
        })?;
        played.push(PlayedCell { cell: cell.clone(), games });
    }
    let end = folder.end();
    let text = page(&proof, &played, &heading);
    // A page of its own for each choice of cells: a smaller one does not take the place of a larger one.
    let choice = scales.iter().map(|scale| format!("-{scale}")).chain(is_quick.then(|| "-quick".to_owned()));
    let choice = choice.chain(most.map(|most| format!("-games-{most}")));
    let path = out.join(format!("page{}.md", choice.collect::<String>()));
    std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    say!("{}", text.trim_end());
    note!("games and page in {}", out.display());
    end
}

/// The program's version and digest, the date and the instruction set in one line.
fn heading(proof: &Proof) -> String {
    let program = setup::program_sha256().map_or_else(String::new, |digest| format!(" (SHA-256 {})", &digest[..16]));
    format!("Zeitnot {}{program}, {}, native networks with {}.", env!("CARGO_PKG_VERSION"), today(), proof.isa)
}

/// The virtual clock on which a cell is played.
fn clock(cell: &ProofCell) -> anyhow::Result<MatchClock> {
    Ok(MatchClock::Virtual { cost: CostModel::constant(cell.nps)?, playout_ms: VirtualClock::PLAYOUT_MS })
}

/// A player: this engine with the network of a cell and a time manager.
fn contestant(matches: &ArgMatches, proof: &Proof, cell: &ProofCell, manager: &str) -> anyhow::Result<Contestant> {
    let settings = [
        format!("WeightsFile={}", cell.network),
        "Backend=native".to_owned(),
        format!("BackendOptions=isa={}", proof.isa),
        format!("TimeManager={manager}"),
    ];
    let mut contestant = match_flags::own_player(matches, "declared", settings.iter().map(String::as_str), manager)?;
    manager.clone_into(&mut contestant.name);
    Ok(contestant)
}
