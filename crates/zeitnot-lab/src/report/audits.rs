//! Draws the charts of an audit that `time audit --json` printed: times used beside the budgets of managers, and the
//! phases.

use super::budgets::{BudgetedMove, Budgets};
use super::clock_figures::{PlayerRow, left, phases};
use super::figure::Section;
use super::games::by_speed;
use super::lost_games::LostGames;
use crate::results::{AuditMove, AuditSums, LostGame};
use std::collections::{BTreeMap, BTreeSet};
use zeitnot_analysis::audit::PlayerClock;
use zeitnot_base::words::{counted, listed};
use zeitnot_games::sample::Quantiles;

/// The name under which charts show all moves as one player's, as the lines of an audit do not name the players.
const ALL: &str = "all moves";

/// An audit: its moves, the games that were lost on time, and its sums if it came to an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    pub moves: Vec<AuditMove>,
    pub lost: Vec<LostGame>,
    pub sums: Option<AuditSums>,
}

/// Builds the section about an audit.
pub fn section(name: &str, audit: &Audit) -> Section {
    let specs: BTreeSet<&String> = audit.moves.iter().flat_map(|mv| mv.managers.keys()).collect();
    let specs: Vec<String> = specs.into_iter().cloned().collect();
    let all = [ALL.to_owned()];
    let mut budgets = Budgets::new(&all, &specs);
    let mut numbers = Numbers::default();
    audit.moves.iter().for_each(|mv| budgets.add(&budgeted_move(mv, &mut numbers, &specs)));
    let speeds: BTreeSet<_> = audit.sums.iter().flat_map(|sums| &sums.players).map(|player| player.speed).collect();
    let is_mixed = speeds.len() > 1;
    let clock = |(color, player): (usize, &PlayerClock)| PlayerRow {
        name: by_speed(&player.player, player.speed.filter(|_| is_mixed)),
        games: player.games,
        // An audit has zeros where it knows no clock.
        left_ms: Some(player.clock_left_ms).filter(|left_ms| *left_ms != Quantiles::default()),
        share_by_phase: player.share_by_phase,
        color,
    };
    let players: Vec<PlayerRow> = audit.sums.iter().flat_map(|sums| &sums.players).enumerate().map(clock).collect();
    let figures = [budgets.beside_managers(), budgets.beside_used(), left(&players), phases(&players)];
    let names: Vec<String> = players.iter().map(|player| player.name.clone()).collect();
    let by = if names.is_empty() { String::new() } else { format!(" of {}", listed(&names)) };
    let mut lost = LostGames::default();
    audit.lost.iter().for_each(|game| lost.add(game.game, game.lost_on_time.clone()));
    Section {
        title: format!("Audit of {name}"),
        introduction: format!("{}{by}.", counted(audit.moves.len(), "audited move")),
        figures: figures.into_iter().flatten().collect(),
        listing: lost.listing(),
        ..Section::default()
    }
}

/// The number given to each game so far, by file and number in it, and the count of moves of each of its sides.
#[derive(Default)]
struct Numbers<'a> {
    games: BTreeMap<(&'a str, usize), usize>,
    moves: BTreeMap<(usize, &'a str), usize>,
}

/// The move of an audit's line for the charts, numbered among the moves of its side. Its budget by a manager of `specs`
/// that the line does not name is `None`.
fn budgeted_move<'a>(mv: &'a AuditMove, numbers: &mut Numbers<'a>, specs: &[String]) -> BudgetedMove {
    let next = numbers.games.len();
    let game = *numbers.games.entry((&mv.file, mv.game)).or_insert(next);
    let number = numbers.moves.entry((game, &mv.side)).or_insert(0);
    *number += 1;
    BudgetedMove {
        game,
        player: Some(0),
        number: *number,
        used_ms: mv.used_ms,
        budget_ms: mv.budget_ms,
        moves_left: f64::from(mv.moves_left_true),
        budgets_ms: specs.iter().map(|spec| mv.managers.get(spec).copied()).collect(),
        estimates: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_counted_on_their_side_of_their_game() {
        let mv = |file: &str, game: usize, side: &str| AuditMove {
            file: file.into(),
            game,
            ply: 0,
            side: side.into(),
            clock_ms: None,
            used_ms: 100.0,
            budget_ms: None,
            moves_left_true: 1,
            managers: [("smooth".to_owned(), 50.0)].into(),
        };
        let moves = vec![
            mv("f", 1, "white"),
            mv("f", 1, "black"),
            mv("f", 1, "white"),
            mv("g", 1, "white"),
            mv("f", 2, "white"),
        ];
        let audit = Audit { moves, ..Audit::default() };
        let (specs, mut numbers) = (["smooth", "none"].map(str::to_owned), Numbers::default());
        let audited: Vec<BudgetedMove> = audit.moves.iter().map(|mv| budgeted_move(mv, &mut numbers, &specs)).collect();
        let numbers: Vec<(usize, usize)> = audited.iter().map(|mv| (mv.game, mv.number)).collect();
        assert_eq!(numbers, [(0, 1), (0, 1), (0, 2), (1, 1), (2, 1)]);
        assert_eq!(audited[0].budgets_ms, [Some(50.0), None]);
        assert_eq!(section("a.jsonl", &audit).introduction, "5 audited moves.");
    }
}
