//! `zeitnot time audit`: reads how the players of games spent their clocks, and says what our managers would have
//! granted.

use super::{asked, audit_tables};
use crate::commands::flags::{json_flag, time_flags};
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::{ArgMatches, Command};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use zeitnot_analysis::audit::{
    Advice, GameTimes, ManagerSums, PlayerClocks, Remarks, advice, game_times, is_player, lost_on_time, player_name,
};
use zeitnot_base::printable::plain;
use zeitnot_engine::chess::Color;
use zeitnot_games::{PgnGame, PgnGames, Rereadable, is_match_journal};
use zeitnot_lab::report::MATCH_JOURNAL;
use zeitnot_lab::results::{AuditMove, AuditSums, LabResult, LostGame, ManagerTotals};

/// Most bytes of a journal's first line, the settings.
const MOST_SETTINGS: u64 = 1 << 20;
/// Games lost on time that the table shows; `--json` has all.
const MOST_LOST: usize = 50;

pub fn command() -> Command {
    Command::new("audit")
        .about("Read how the players of games spent their clocks, beside the budgets of our time managers")
        .arg(time_flags::files("Games in PGN with clocks or times in their comments"))
        .args(asked::args("Time manager that is asked about each move"))
        .arg(json_flag())
}

/// The sums of an audit over all games; the games themselves are not kept.
struct Audit {
    specs: Vec<String>,
    overhead_ms: f64,
    is_json: bool,
    /// The only player that is looked at; `None`: all.
    player: Option<String>,
    players: PlayerClocks,
    managers: Vec<ManagerSums>,
    /// The first games that were lost on time; `lost_count` counts all of them.
    lost: Vec<LostGame>,
    lost_count: usize,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (specs, overhead_ms) = asked::managers(matches)?;
    let mut audit = Audit {
        managers: vec![ManagerSums::default(); specs.len()],
        specs,
        overhead_ms,
        is_json: matches.get_flag("json"),
        player: matches.get_one("player").cloned(),
        players: PlayerClocks::default(),
        lost: Vec::new(),
        lost_count: 0,
    };
    for path in time_flags::named_files(matches) {
        let cannot_read = || format!("cannot read {}", path.display());
        let source = Rereadable::new(path).with_context(cannot_read)?;
        anyhow::ensure!(!is_journal(source.path()).with_context(cannot_read)?, "{}: {MATCH_JOURNAL}", path.display());
        audit.file(path, File::open(source.path()).with_context(cannot_read)?)?;
    }
    let is_empty = audit.players.is_empty();
    if let Some(player) = audit.player.as_ref().filter(|_| is_empty) {
        anyhow::bail!("--player {player}: no game of that player has a clock");
    }
    anyhow::ensure!(!is_empty, "there is no move with a clock to audit, and no game lost on time");
    if audit.is_json {
        print([LabResult::Audit { summary: audit.sums() }])?;
    } else {
        audit_tables::show(&audit.sums(), &audit.specs, &audit.lost);
    }
    Ok(())
}

/// Whether a file is the journal of a match, by its first line.
fn is_journal(path: &Path) -> std::io::Result<bool> {
    let mut first = Vec::new();
    BufReader::new(File::open(path)?.take(MOST_SETTINGS)).read_until(b'\n', &mut first)?;
    Ok(serde_json::from_slice(&first).is_ok_and(|first| is_match_journal(&first)))
}

/// Prints each result as a line of JSON.
fn print(results: impl IntoIterator<Item = LabResult>) -> anyhow::Result<()> {
    for result in results {
        say!("{}", serde_json::to_string(&result)?);
    }
    Ok(())
}

impl Audit {
    /// Audits the games of a file.
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
        let is_shown = |color| self.player.as_ref().is_none_or(|player| is_player(player_name(game, color), player));
        let mut times = times.clone();
        times.moves.retain(|mv| is_shown(mv.color));
        times.loss = times.loss.filter(|loss| is_shown(loss.color));
        let times = &times;
        let shown =
            [Color::White, Color::Black].map(|color| Some(player_name(game, color)).filter(|_| is_shown(color)));
        let advice = advice(&game.game, &times.moves, &self.specs, self.overhead_ms)?;
        for (sums, advice) in self.managers.iter_mut().zip(&advice) {
            sums.add_game(&times.moves, advice);
        }
        self.players.add(shown, times, &advice);
        let lost = lost_on_time(game, times, path, self.overhead_ms).map(|lost_on_time| LostGame {
            file: path.display().to_string(),
            game: game.number,
            lost_on_time,
        });
        if self.is_json {
            let moves = times.moves.iter().enumerate().map(|(index, _)| self.line(path, game, times, &advice, index));
            print(moves.map(LabResult::Move))?;
            print(lost.clone().map(|lost| LabResult::LostOnTime(Box::new(lost))))?;
        }
        self.lost_count += usize::from(lost.is_some());
        self.lost.extend(lost.filter(|_| self.lost.len() < MOST_LOST));
        Ok(())
    }

    /// The result for the move at `index` of the game's moves with times.
    fn line(
        &self,
        path: &Path,
        game: &PgnGame,
        times: &GameTimes,
        advice: &[Vec<Option<Advice>>],
        index: usize,
    ) -> AuditMove {
        let mv = &times.moves[index];
        let budget = |(spec, advice): (&String, &Vec<Option<Advice>>)| Some((spec.clone(), advice[index]?.budget_ms));
        AuditMove {
            file: path.display().to_string(),
            game: game.number,
            ply: mv.ply,
            side: if mv.color == Color::White { "white" } else { "black" }.to_owned(),
            clock_ms: mv.clock_ms,
            used_ms: mv.used_ms,
            budget_ms: mv.budget_ms,
            moves_left_true: mv.moves_left,
            managers: self.specs.iter().zip(advice).filter_map(budget).collect(),
        }
    }

    fn sums(&self) -> AuditSums {
        let managers = self.specs.iter().zip(&self.managers).map(|(spec, sums)| ManagerTotals::new(spec, sums));
        AuditSums {
            players: self.players.clocks(&self.specs).collect(),
            lost_on_time: self.lost_count,
            managers: managers.collect(),
        }
    }
}
