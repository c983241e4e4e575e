//! Draws the charts of games with clocks: the courses of the clocks, the budgets, the phases, and one game move by move.

use super::board::Board;
use super::budgets::{AuditedMove, beside_managers, beside_used, moves_left};
use super::clock_use::{ClockUse, left, phases};
use super::clocks::clocks;
use super::figure::Section;
use super::words::{counted, listed};
use super::{ReportError, ReportRules};
use crate::chess::Color;
use crate::lab::audit::{GameTimes, advice, game_times, player_clocks};
use crate::lab::pgn_reader::PgnGame;
use std::collections::BTreeMap;

/// Players that figures show, those with the most games: there are no more colours.
const MOST_PLAYERS: usize = 8;

/// A game whose times are known.
#[derive(Clone, Debug)]
pub struct AuditedGame {
    /// The game.
    pub game: PgnGame,
    /// Its times.
    pub times: GameTimes,
}

impl AuditedGame {
    /// The name of a player, or of its colour where the game does not tell it.
    pub fn player(&self, color: Color) -> &str {
        let name = if color == Color::White { "White" } else { "Black" };
        Some(self.game.tag(name)).filter(|tag| !tag.is_empty()).unwrap_or(name)
    }
}

/// Builds the section about the games of a file.
///
/// # Errors
/// [`ReportError`], when no move has a clock, the game whose board is asked for is not there, or a manager is none.
pub fn section(name: &str, games: Vec<PgnGame>, rules: &ReportRules) -> Result<Section, ReportError> {
    let count = games.len();
    let problem = games.iter().find_map(super::problem);
    let with_times = |game: PgnGame| AuditedGame { times: game_times(&game), game };
    let games: Vec<AuditedGame> =
        games.into_iter().map(with_times).filter(|game| !game.times.moves.is_empty()).collect();
    let first = games.first().ok_or(ReportError::NoClocks { games: count, problem })?;
    let chosen = match rules.game {
        None => first,
        Some(number) => {
            let chosen = games.iter().find(|game| game.game.number == number);
            chosen.ok_or(ReportError::NoGame { number, games: count })?
        }
    };
    let (players, others) = players(&games);
    let moves = audited_moves(&games, rules)?;
    let clock_use = clock_use(&games, &players);
    let specs = &rules.managers;
    let figures = [
        clocks(&games, &players),
        beside_used(&players, &moves),
        beside_managers(specs, &moves),
        moves_left(specs, &moves),
        left("clock-left", &clock_use),
        phases("time-by-phase", &clock_use),
    ];
    let mut introduction = format!("{} with clocks", counted(games.len(), "game"));
    if games.len() < count {
        introduction += &format!(" of {count}");
    }
    introduction += &format!(": {}", listed(&players));
    if others > 0 {
        introduction += &format!("; {} with fewer games are left out", counted(others, "player"));
    }
    let damaged = games.iter().filter(|game| game.game.problem.is_some()).count();
    if damaged > 0 {
        introduction += &format!("; {} damaged and read as far as it is sound", counted(damaged, "game"));
    }
    Ok(Section {
        name: String::new(),
        title: format!("Games of {name}"),
        introduction: format!("{introduction}."),
        figures: figures.into_iter().flatten().collect(),
        board: Some(Board::new(chosen)),
    })
}

/// The players with the most games, and how many others there are.
fn players(games: &[AuditedGame]) -> (Vec<String>, usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for game in games {
        for color in [Color::White, Color::Black] {
            *counts.entry(game.player(color)).or_default() += 1;
        }
    }
    let mut players: Vec<(&str, usize)> = counts.into_iter().collect();
    // Sorted by name before: those with as many games stay in that order.
    players.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
    let others = players.len().saturating_sub(MOST_PLAYERS);
    (players.into_iter().take(MOST_PLAYERS).map(|(player, _)| player.to_owned()).collect(), others)
}

fn clock_use(games: &[AuditedGame], players: &[String]) -> Vec<ClockUse> {
    let named = games.iter().map(|game| ([Color::White, Color::Black].map(|color| game.player(color)), &game.times));
    let clocks = player_clocks(named);
    let is_told = |player: &str| {
        let sides = |game: &&AuditedGame| {
            let end_of =
                |(side, color): (usize, Color)| game.player(color) == player && game.times.end_ms[side].is_some();
            [Color::White, Color::Black].into_iter().enumerate().any(end_of)
        };
        games.iter().any(|game| sides(&game))
    };
    let of = |(color, player): (usize, &String)| {
        let clock = clocks.iter().find(|clock| clock.player == *player)?;
        Some(ClockUse {
            name: player.clone(),
            games: clock.games,
            left_ms: is_told(player).then_some(clock.clock_left_ms),
            share_by_phase: clock.share_by_phase,
            color,
        })
    };
    players.iter().enumerate().filter_map(of).collect()
}

/// Every move of the games, with the budgets of the managers.
fn audited_moves(games: &[AuditedGame], rules: &ReportRules) -> Result<Vec<AuditedMove>, ReportError> {
    let mut all = Vec::new();
    for (index, game) in games.iter().enumerate() {
        let plans = rules.managers.iter().map(|spec| advice(&game.game.game, &game.times, spec, rules.overhead_ms));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut numbers = [0; 2];
        for (at, mv) in game.times.moves.iter().enumerate() {
            let number = &mut numbers[usize::from(mv.color == Color::Black)];
            *number += 1;
            all.push(AuditedMove {
                game: index,
                player: game.player(mv.color).to_owned(),
                number: *number,
                used_ms: mv.used_ms,
                budget_ms: mv.budget_ms,
                moves_left: f64::from(mv.moves_left),
                budgets_ms: plans.iter().map(|plans| Some(plans[at].budget_ms)).collect(),
                estimates: plans.iter().map(|plans| plans[at].estimated_moves_left()).collect(),
            });
        }
    }
    Ok(all)
}

/// The games of a text, for tests.
#[cfg(test)]
pub fn audited(text: &str) -> Vec<AuditedGame> {
    let games = crate::lab::read_games(text.as_bytes()).unwrap();
    games.into_iter().map(|game| AuditedGame { times: game_times(&game), game }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_the_most_games_come_first() {
        let game =
            |white: &str, black: &str| format!("[White \"{white}\"]\n[Black \"{black}\"]\n\n1. e4 {{0.1/5 1s}} *\n\n");
        let games = audited(&[game("b", "c"), game("a", "c"), game("", "c")].concat());
        assert_eq!(players(&games), (["c", "White", "a", "b"].map(str::to_owned).to_vec(), 0));
        let many: String = (0..12).map(|number| game(&format!("p{number:02}"), "c")).collect();
        assert_eq!(players(&audited(&many)).1, 5);
    }
}
