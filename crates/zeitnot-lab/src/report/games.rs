//! Draws the charts of games with clocks: the courses of the clocks, the budgets, the phases. The games are read twice,
//! one after another: to know their players, and to draw them.

use super::budgets::{BudgetedMove, Budgets};
use super::clock_figures::{PlayerRow, left, phases};
use super::clocks::Clocks;
use super::figure::Section;
use super::lost_games::LostGames;
use super::people::People;
use super::{Added, ReportError, ReportRules};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use zeitnot_analysis::audit::{
    ClockedMove, GameSpeed, GameTimes, PlayerClocks, Remarks, advice, game_times, is_player, lost_on_time, player_name,
};
use zeitnot_base::words::{counted, listed};
use zeitnot_engine::chess::Color;
use zeitnot_games::pgn_reader::{PgnGame, PgnGames};

/// Most players that figures show, as there are no more colours: the players with the most games.
const MOST_PLAYERS: usize = 8;

/// A game whose times are known.
#[derive(Clone, Debug)]
pub struct AuditedGame {
    pub game: PgnGame,
    pub times: GameTimes,
    /// White and Black.
    players: [String; 2],
}

impl AuditedGame {
    /// The game with its times. Where games `are_mixed` in speed, its speed follows the players' names.
    fn new(game: PgnGame, are_mixed: bool) -> AuditedGame {
        let times = game_times(&game);
        let player = |side: usize, color| by_speed(player_name(&game, color), times.speeds[side].filter(|_| are_mixed));
        AuditedGame { players: [player(0, Color::White), player(1, Color::Black)], times, game }
    }

    /// The name of a player, or of its colour where the game does not give it.
    pub fn player(&self, color: Color) -> &str {
        &self.players[usize::from(color == Color::Black)]
    }
}

pub(crate) fn by_speed(player: &str, speed: Option<GameSpeed>) -> String {
    speed.map_or_else(|| player.to_owned(), |speed| format!("{player}, {}", speed.word()))
}

/// For each player and speed: the number of games, and the time on the clock at the start of the first, in
/// milliseconds.
type PlayersAtSpeeds = BTreeMap<(Box<str>, Option<GameSpeed>), (usize, Option<f64>)>;

/// Findings of the first of two readings of the games.
#[derive(Default)]
struct Survey {
    games: usize,
    with_clocks: usize,
    /// Damaged games among the games with clocks.
    damaged: usize,
    /// Whether the file has anything of a game.
    is_pgn: bool,
    players: PlayersAtSpeeds,
    lost: LostGames,
    /// Whether the games of a player at one speed began with different times on the clock.
    has_many_starts: bool,
    /// Whether engines played: their moves have nodes, budgets or the runner's measures.
    is_by_engines: bool,
}

impl Survey {
    /// Whether the players have games of several speeds.
    fn are_mixed(&self) -> bool {
        let mut speeds = self.players.keys().map(|(_, speed)| speed);
        let first = speeds.next();
        speeds.any(|speed| Some(speed) != first)
    }

    fn add_player(&mut self, name: &str, times: &GameTimes, color: Color) {
        let side = usize::from(color == Color::Black);
        let row = self.players.entry((name.into(), times.speeds[side])).or_default();
        row.0 += 1;
        let start_ms = times.start_ms[side];
        self.has_many_starts |= row.1.is_some() && start_ms.is_some() && row.1 != start_ms;
        row.1 = row.1.or(start_ms);
    }
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
    let survey = survey(path, source, rules, added)?;
    let are_mixed = survey.are_mixed();
    let Survey { games, with_clocks, damaged, players, lost, has_many_starts, is_by_engines, .. } = survey;
    if with_clocks == 0 {
        let problem = added.problems.first().cloned();
        return Err(rules.player.clone().map_or(ReportError::NoClocks { games, problem }, ReportError::NoPlayer));
    }
    let (players, others) = shown_players(&players, are_mixed);
    let asks = is_by_engines || !rules.spares_people;
    let specs: &[String] = if asks { &rules.managers } else { &[] };
    let mut clocks = Clocks::new(&players, has_many_starts);
    let mut budgets = Budgets::new(&players, specs);
    let mut people = People::new(&players, specs);
    let mut uses = PlayerClocks::default();
    source.rewind()?;
    let mut index = 0;
    for game in PgnGames::new(source) {
        let game = AuditedGame::new(game?, are_mixed);
        if game.times.moves.is_empty()
            || ![Color::White, Color::Black].iter().any(|color| is_shown(&game, *color, rules))
        {
            continue;
        }
        clocks.add(&game);
        people.iter_mut().for_each(|people| people.add(&game));
        add_moves(&mut budgets, &game, index, &players, (specs, rules.overhead_ms))?;
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
    rules: &ReportRules,
    added: &mut Added,
) -> Result<Survey, ReportError> {
    let mut survey = Survey::default();
    let mut remarks = Remarks::default();
    source.rewind()?;
    for game in PgnGames::new(source) {
        let game = AuditedGame::new(game?, false);
        survey.games += 1;
        survey.is_pgn |= !game.game.tags.is_empty() || !game.game.game.moves().is_empty();
        added.problems.extend(super::problem(&game.game));
        remarks.add(&game.game, &game.times);
        let colors = || [Color::White, Color::Black].into_iter().filter(|color| is_shown(&game, *color, rules));
        if let Some(lost) = lost_on_time(&game.game, &game.times, path, rules.overhead_ms)
            && colors().any(|color| game.times.loss.is_some_and(|loss| loss.color == color))
        {
            survey.lost.add(game.game.number, lost);
        }
        if game.times.moves.is_empty() || colors().next().is_none() {
            continue;
        }
        survey.with_clocks += 1;
        survey.damaged += usize::from(game.game.problem.is_some());
        colors().for_each(|color| survey.add_player(game.player(color), &game.times, color));
        let is_of_engine = |mv: &ClockedMove| mv.nodes.is_some() || mv.budget_ms.is_some() || mv.latency_ms.is_some();
        survey.is_by_engines |= game.times.moves.iter().any(is_of_engine);
    }
    if !survey.is_pgn {
        return Err(ReportError::Unknown);
    }
    added.has_games = true;
    added.remarks.extend(remarks.lines());
    Ok(survey)
}

/// Whether the player of a side is shown: any, or only the one that `rules` name.
fn is_shown(game: &AuditedGame, color: Color, rules: &ReportRules) -> bool {
    rules.player.as_ref().is_none_or(|player| is_player(player_name(&game.game, color), player))
}

/// The players with the most games, named with their speeds where games `are_mixed`, and the number of players left
/// out.
fn shown_players(counts: &PlayersAtSpeeds, are_mixed: bool) -> (Vec<String>, usize) {
    let labelled = |((player, speed), (games, _)): (&(Box<str>, Option<GameSpeed>), &(usize, _))| {
        (by_speed(player, speed.filter(|_| are_mixed)), *games)
    };
    let mut players: Vec<(String, usize)> = counts.iter().map(labelled).collect();
    // Sorted by name before: players with equally many games stay in that order.
    players.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
    let others = players.len().saturating_sub(MOST_PLAYERS);
    (players.into_iter().take(MOST_PLAYERS).map(|(player, _)| player).collect(), others)
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
    (specs, overhead_ms): (&[String], f64),
) -> Result<(), ReportError> {
    let AuditedGame { game: pgn, times, .. } = game;
    let advice = advice(&pgn.game, &times.moves, specs, overhead_ms)?;
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
    let games = zeitnot_games::read_games(text.as_bytes()).unwrap();
    games.into_iter().map(|game| AuditedGame::new(game, false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_the_most_games_come_first() {
        let players = |text: &str| {
            let mut source = std::io::Cursor::new(text.as_bytes());
            let survey =
                survey(Path::new("g.pgn"), &mut source, &ReportRules::default(), &mut Added::default()).unwrap();
            shown_players(&survey.players, false)
        };
        let game =
            |white: &str, black: &str| format!("[White \"{white}\"]\n[Black \"{black}\"]\n\n1. e4 {{0.1/5 1s}} *\n\n");
        let games = [game("b", "c"), game("a", "c"), game("", "c")].concat();
        assert_eq!(players(&games), (["c", "White", "a", "b"].map(str::to_owned).to_vec(), 0));
        let many: String = (0..12).map(|number| game(&format!("p{number:02}"), "c")).collect();
        assert_eq!(players(&many).1, 5);
    }
}
