//! `zeitnot time audit`: reads how the players of games spent their clocks, and says what our managers would have granted.

use super::audit_tables;
use crate::commands::flags::flag;
use crate::commands::json_flag;
use crate::commands::output::{self, note};
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use zeitnot_engine::chess::Color;
use zeitnot_engine::engine::Options;
use zeitnot_lab::audit::{
    Advice, GameTimes, LostOnTime, ManagerSums, PlayerClocks, Remarks, advice, game_times, is_tmgr_log, lost_on_time,
    player_name, read_tmgr_log,
};
use zeitnot_lab::{PgnGame, PgnGames, Rereadable};
use zeitnot_text::words::plain;

/// Games lost on time that the table shows; `--json` has all.
const MOST_LOST: usize = 50;

pub fn command() -> Command {
    Command::new("audit")
        .about("Read how the players of games spent their clocks, beside the budgets of our time managers")
        .arg(super::files("Games in PGN with clocks in their comments, or logs of Lc0 with lines of TMGR:"))
        .arg(super::managers("Time manager that is asked about each move", ""))
        .arg(
            flag("overhead", "MS")
                .value_parser(value_parser!(f64))
                .help("Overhead of a move that the managers keep clear [default: that of MoveOverheadMs]"),
        )
        .arg(json_flag())
}

/// A game that was lost on time, with the file and the number of the game.
pub struct LostGame {
    pub file: String,
    pub number: usize,
    pub lost: LostOnTime,
}

/// The sums over all games. No game is kept.
pub struct Audit<'a> {
    pub specs: Vec<&'a str>,
    overhead_ms: f64,
    is_json: bool,
    pub players: PlayerClocks,
    pub managers: Vec<ManagerSums>,
    /// The first games that were lost on time, and how many there are.
    pub lost: Vec<LostGame>,
    pub lost_count: usize,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut specs = super::named_managers(matches);
    let mut named = BTreeSet::new();
    // A manager named twice has one column.
    specs.retain(|spec| named.insert(*spec));
    for spec in &specs {
        zeitnot_time::build(spec)?;
    }
    let overhead_ms = matches.get_one("overhead").copied().unwrap_or(Options::default().move_overhead as f64);
    anyhow::ensure!((0.0..1e9).contains(&overhead_ms), "--overhead {overhead_ms}: a time is a number of milliseconds");
    let mut audit = Audit {
        managers: vec![ManagerSums::default(); specs.len()],
        specs,
        overhead_ms,
        is_json: matches.get_flag("json"),
        players: PlayerClocks::default(),
        lost: Vec::new(),
        lost_count: 0,
    };
    let mut has_log = false;
    for path in super::named_files(matches) {
        let cannot_read = || format!("cannot read {}", path.display());
        let source = Rereadable::new(path).with_context(cannot_read)?;
        let is_log = File::open(source.path()).and_then(is_tmgr_log).with_context(cannot_read)?;
        if is_log {
            let bytes = std::fs::read(source.path()).with_context(cannot_read)?;
            audit_tables::log(path, &read_tmgr_log(&String::from_utf8_lossy(&bytes)), audit.is_json);
        } else {
            audit.file(path, File::open(source.path()).with_context(cannot_read)?)?;
        }
        has_log |= is_log;
    }
    let is_empty = audit.players.is_empty();
    anyhow::ensure!(has_log || !is_empty, "there is no move with a clock to audit, and no game lost on time");
    if audit.is_json {
        audit_tables::summary(&audit);
    } else if !is_empty {
        audit_tables::show(&audit);
    }
    Ok(())
}

impl Audit<'_> {
    /// Reads the games of a file, one after another.
    fn file(&mut self, path: &Path, file: File) -> anyhow::Result<()> {
        let (mut read, mut count) = (0, 0);
        let mut remarks = Remarks::default();
        for game in PgnGames::new(file) {
            let game = game.with_context(|| format!("cannot read {}", path.display()))?;
            count += 1;
            if let Some(problem) = &game.problem {
                note!("{} game {}: {}: the rest of it is left out", path.display(), game.number, plain(problem));
            }
            let times = game_times(&game);
            remarks.add(&game, &times);
            read += usize::from(!times.moves.is_empty());
            self.game(path, &game, &times)?;
        }
        if read < count || count == 0 {
            note!("{}: {read} of {count} games have moves with clocks", path.display());
        }
        for line in remarks.lines() {
            note!("{}: {line}", path.display());
        }
        Ok(())
    }

    fn game(&mut self, path: &Path, game: &PgnGame, times: &GameTimes) -> anyhow::Result<()> {
        let advice = advice(&game.game, &times.moves, &self.specs, self.overhead_ms)?;
        for (sums, advice) in self.managers.iter_mut().zip(&advice) {
            sums.add(&times.moves, advice);
        }
        self.players.add([Color::White, Color::Black].map(|color| Some(player_name(game, color))), times, &advice);
        let lost = lost_on_time(game, times, path);
        if self.is_json {
            self.print(path, game, times, &advice, lost.as_ref());
        }
        if let Some(lost) = lost {
            self.lost_count += 1;
            if self.lost.len() < MOST_LOST {
                self.lost.push(LostGame { file: path.display().to_string(), number: game.number, lost });
            }
        }
        Ok(())
    }

    /// Prints an object for each move of a game, and one for its loss on time.
    fn print(
        &self,
        path: &Path,
        game: &PgnGame,
        times: &GameTimes,
        advice: &[Vec<Option<Advice>>],
        lost: Option<&LostOnTime>,
    ) {
        let file = path.display().to_string();
        let mut lines = String::new();
        let mut line = |object: Value| {
            let _ = writeln!(lines, "{object}");
        };
        for (index, mv) in times.moves.iter().enumerate() {
            let budget = |(spec, advice): (&&str, &Vec<Option<Advice>>)| {
                Some(((*spec).to_owned(), json!(advice[index]?.budget_ms)))
            };
            let budgets: Map<String, Value> = self.specs.iter().zip(advice).filter_map(budget).collect();
            line(json!({
                "file": file,
                "game": game.number,
                "ply": mv.ply,
                "side": if mv.color == Color::White { "white" } else { "black" },
                "clock_ms": mv.clock_ms,
                "used_ms": mv.used_ms,
                "budget_ms": mv.budget_ms,
                "moves_left_true": mv.moves_left,
                "managers": budgets,
            }));
        }
        if let Some(lost) = lost {
            line(json!({ "file": file, "game": game.number, "lost_on_time": lost }));
        }
        if !lines.is_empty() {
            output::text(lines);
        }
    }
}
