//! Draws the charts of games with clocks: the courses of the clocks, the budgets, the phases. The games are read twice,
//! one after another: to know their players, and to draw them.

use super::budgets::{BudgetedMove, Budgets};
use super::clock_figures::{PlayerRow, left, phases};
use super::clocks::Clocks;
use super::figure::Section;
use super::lost_games::LostGames;
use super::people::People;
use super::{Added, ReportError, ReportRules};
use crate::audit::{GameTimes, PlayerClocks, Remarks, advice, game_times, lost_on_time, player_name};
use crate::games::pgn_reader::{PgnGame, PgnGames};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use zeitnot_engine::chess::Color;
use zeitnot_text::words::{counted, listed};

/// Most players that figures show, as there are no more colours: the players with the most games.
const MOST_PLAYERS: usize = 8;

/// A game whose times are known.
#[derive(Clone, Debug)]
pub struct AuditedGame {
    /// The game.
    pub game: PgnGame,
    /// The times of the game.
    pub times: GameTimes,
}

impl AuditedGame {
    fn new(game: PgnGame) -> AuditedGame {
        AuditedGame { times: game_times(&game), game }
    }

    /// The name of a player, or of its colour where the game does not give it.
    pub fn player(&self, color: Color) -> &str {
        player_name(&self.game, color)
    }
}

/// Findings of a first reading of the games.
#[derive(Default)]
struct Survey {
    games: usize,
    with_clocks: usize,
    /// Damaged games among the games with clocks.
    damaged: usize,
    /// Whether the file has anything of a game.
    is_pgn: bool,
    players: BTreeMap<Box<str>, usize>,
    lost: LostGames,
}

/// Builds the section about the games of a file.
///
/// # Errors
/// [`ReportError`], when the file is no PGN, no move has a clock, or a manager does not exist.
pub fn section(
    path: &Path,
    source: &mut (impl Read + Seek),
    rules: &ReportRules,
    added: &mut Added,
) -> Result<Section, ReportError> {
    let Survey { games, with_clocks, damaged, players, lost, .. } = survey(path, source, rules.overhead_ms, added)?;
    if with_clocks == 0 {
        return Err(ReportError::NoClocks { games, problem: added.problems.first().cloned() });
    }
    let (players, others) = shown_players(&players);
    let specs = &rules.managers;
    let mut clocks = Clocks::new(&players);
    let mut budgets = Budgets::new(&players, specs);
    let mut people = People::new(&players, specs);
    let mut uses = PlayerClocks::default();
    source.rewind()?;
    let mut index = 0;
    for game in PgnGames::new(source) {
        let game = AuditedGame::new(game?);
        if game.times.moves.is_empty() {
            continue;
        }
        clocks.add(&game);
        people.iter_mut().for_each(|people| people.add(&game));
        add_moves(&mut budgets, &game, index, &players, rules)?;
        let shown = |color| Some(game.player(color)).filter(|player| players.iter().any(|shown| shown == player));
        uses.add([Color::White, Color::Black].map(shown), &game.times, &[]);
        index += 1;
    }
    let uses = clock_uses(&uses, &players);
    let figures = [
        clocks.figure(),
        budgets.beside_used(),
        budgets.beside_managers(),
        people.and_then(|people| people.figure()),
        budgets.moves_left(),
        left(&uses),
        phases(&uses),
    ];
    let mut introduction = format!("{} with clocks", counted(with_clocks, "game"));
    if with_clocks < games {
        introduction += &format!(" of {games}");
    }
    introduction += &format!(": {}", listed(&players));
    if others > 0 {
        introduction += &format!("; {} with fewer games are left out", counted(others, "player"));
    }
    if damaged > 0 {
        introduction += &format!("; {} damaged and read as far as it is sound", counted(damaged, "game"));
    }
    Ok(Section {
        title: format!("Games of {}", path.display()),
        introduction: format!("{introduction}."),
        figures: figures.into_iter().flatten().collect(),
        listing: lost.listing(),
        ..Section::default()
    })
}

/// Reads the games for the first time.
fn survey(
    path: &Path,
    source: &mut (impl Read + Seek),
    overhead_ms: f64,
    added: &mut Added,
) -> Result<Survey, ReportError> {
    let mut survey = Survey::default();
    let mut remarks = Remarks::default();
    source.rewind()?;
    for game in PgnGames::new(source) {
        let game = AuditedGame::new(game?);
        survey.games += 1;
        survey.is_pgn |= !game.game.tags.is_empty() || !game.game.game.moves().is_empty();
        added.problems.extend(super::problem(&game.game));
        remarks.add(&game.game, &game.times);
        if let Some(lost) = lost_on_time(&game.game, &game.times, path, overhead_ms) {
            survey.lost.add(game.game.number, lost);
        }
        if game.times.moves.is_empty() {
            continue;
        }
        survey.with_clocks += 1;
        survey.damaged += usize::from(game.game.problem.is_some());
        for color in [Color::White, Color::Black] {
            let player = game.player(color);
            match survey.players.get_mut(player) {
                Some(games) => *games += 1,
                None => drop(survey.players.insert(player.into(), 1)),
            }
        }
    }
    if !survey.is_pgn {
        return Err(ReportError::Unknown);
    }
    added.has_games = true;
    added.remarks.extend(remarks.lines());
    Ok(survey)
}

/// The players with the most games, and how many others there are.
fn shown_players(counts: &BTreeMap<Box<str>, usize>) -> (Vec<String>, usize) {
    let mut players: Vec<(&str, usize)> = counts.iter().map(|(player, games)| (&**player, *games)).collect();
    // Sorted by name before: players with equally many games stay in that order.
    players.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
    let others = players.len().saturating_sub(MOST_PLAYERS);
    (players.into_iter().take(MOST_PLAYERS).map(|(player, _)| player.to_owned()).collect(), others)
}

fn clock_uses(clocks: &PlayerClocks, players: &[String]) -> Vec<PlayerRow> {
    let none: &[&str] = &[];
    let clocks: Vec<_> = clocks.clocks(none).collect();
    let of = |(color, player): (usize, &String)| {
        let clock = clocks.iter().find(|clock| clock.player == *player)?;
        Some(PlayerRow {
            name: player.clone(),
            games: clock.games,
            left_ms: (clock.known_ends > 0).then_some(clock.clock_left_ms),
            share_by_phase: clock.share_by_phase,
            color,
        })
    };
    players.iter().enumerate().filter_map(of).collect()
}

/// Adds every move of a game, with the budgets of the managers.
fn add_moves(
    budgets: &mut Budgets,
    game: &AuditedGame,
    index: usize,
    players: &[String],
    rules: &ReportRules,
) -> Result<(), ReportError> {
    let AuditedGame { game: pgn, times } = game;
    let advice = advice(&pgn.game, &times.moves, &rules.managers, rules.overhead_ms)?;
    let place = |color| players.iter().position(|player| player == game.player(color));
    let places = [place(Color::White), place(Color::Black)];
    let mut numbers = [0; 2];
    for (at, mv) in times.moves.iter().enumerate() {
        let side = usize::from(mv.color == Color::Black);
        numbers[side] += 1;
        let of_managers = || advice.iter().map(|advice| advice[at]);
        // Managers are not asked where no clock is known.
        let is_asked = mv.clock_ms.is_some();
        budgets.add(&BudgetedMove {
            game: index,
            player: places[side],
            number: numbers[side],
            used_ms: mv.used_ms,
            budget_ms: mv.budget_ms,
            moves_left: f64::from(mv.moves_left),
            budgets_ms: of_managers().map(|advice| advice.map(|advice| advice.budget_ms)).collect(),
            estimates: of_managers().filter(|_| is_asked).map(|advice| advice?.moves_left).collect(),
        });
    }
    Ok(())
}

/// The games of a text, for tests.
#[cfg(test)]
pub fn audited(text: &str) -> Vec<AuditedGame> {
    let games = crate::read_games(text.as_bytes()).unwrap();
    games.into_iter().map(AuditedGame::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_the_most_games_come_first() {
        let players = |text: &str| {
            let mut source = std::io::Cursor::new(text.as_bytes());
            let survey = survey(Path::new("g.pgn"), &mut source, 200.0, &mut Added::default()).unwrap();
            shown_players(&survey.players)
        };
        let game =
            |white: &str, black: &str| format!("[White \"{white}\"]\n[Black \"{black}\"]\n\n1. e4 {{0.1/5 1s}} *\n\n");
        let games = [game("b", "c"), game("a", "c"), game("", "c")].concat();
        assert_eq!(players(&games), (["c", "White", "a", "b"].map(str::to_owned).to_vec(), 0));
        let many: String = (0..12).map(|number| game(&format!("p{number:02}"), "c")).collect();
        assert_eq!(players(&many).1, 5);
    }
}
