//! Puts the analysis of a game together from the facts about its positions and the times of its moves.

use super::accuracy::{average_loss_cp, game_accuracy, move_accuracies};
use super::annotated_pgn::{is_judgement, without_commands};
use super::clock_audit::{SideClock, TimedMove, audit, side};
use super::clock_sums::ClockSums;
use super::document::{
    AnalysedGame, AnalysedMove, AnalysedSide, AnalysedStart, BetterMove, GameParts, OwnNotes, SpentTime,
};
use super::evaluation::{Eval, START};
use super::judgement::{Judgement, judge};
use super::moments::moments;
use super::phase::Phase;
use super::position_facts::PositionFacts;
use crate::audit::{ClockedMove, GameTimes, Remark, game_times, move_times, player_name};
use std::collections::BTreeMap;
use zeitnot_engine::chess::{Color, Game, parse_uci, to_uci};
use zeitnot_games::pgn_reader::PgnGame;

/// Puts together the analysis of a game in `file`. `facts` has the position before the first move and the one after
/// each move; `None` where nothing is known about a position.
///
/// The usual start position counts as 15 centipawns, as on lichess; another one as its own evaluation, if any.
pub fn analysed(file: &str, game: &PgnGame, facts: &[Option<PositionFacts>]) -> AnalysedGame {
    let positions = game.game.positions();
    let first = positions[0].turn();
    let eval = |index: usize| facts[index].as_ref()?.eval(positions[index].turn());
    let start = if game.game.starts_from_standard() { None } else { eval(0) };
    let mut evals: Vec<Option<Eval>> = (0..positions.len()).map(eval).collect();
    evals[0] = Some(start.unwrap_or(START));
    let mut moves = moves(game, facts, &evals);
    let phases = Phase::of_game(&game.game);
    let times = game_times(game);
    let speed = times.speeds.into_iter().max().flatten();
    let clocks = clocks(game, &times, facts, &mut moves, &phases);
    let (accuracies, losses) = (game_accuracy(&evals, first), average_loss_cp(&evals, first));
    let of_side = |color: Color| {
        let own = || moves.iter().filter(|mv| mv.color == name(color));
        let judged = |kind| own().filter(|mv| mv.judgement == Some(kind)).count() as u32;
        AnalysedSide {
            name: player_name(game, color).to_owned(),
            elo: rating(game, color),
            accuracy: accuracies[side(color)],
            average_loss_cp: losses[side(color)],
            // The sum of no numbers is -0.
            expected_loss: own().filter_map(|mv| mv.expected_loss).fold(0.0, |sum, loss| sum + loss),
            inaccuracies: judged(Judgement::Inaccuracy),
            mistakes: judged(Judgement::Mistake),
            blunders: judged(Judgement::Blunder),
            clock: clocks[side(color)].told(),
        }
    };
    AnalysedGame {
        file: file.to_owned(),
        game: game.number,
        tags: game.tags.iter().cloned().collect::<BTreeMap<_, _>>(),
        start: AnalysedStart {
            fen: game.game.start_fen(),
            eval: eval(0).map(Into::into),
            wdl: facts[0].as_ref().and_then(|facts| facts.wdl),
            win: eval(0).map(Eval::win_percent),
        },
        white: of_side(Color::White),
        black: of_side(Color::Black),
        moments: moments(&moves, clocks.map(|sums| sums.used_ms)),
        moves,
        speed,
        notes: own_notes(game),
        parts: GameParts { clocks, phases },
    }
}

/// The word for a side.
fn name(color: Color) -> &'static str {
    if color.is_white() { "white" } else { "black" }
}

/// The rating of a side by the tags.
fn rating(game: &PgnGame, color: Color) -> Option<u32> {
    game.tag(if color.is_white() { "WhiteElo" } else { "BlackElo" }).trim().parse().ok()
}

/// The analysed moves, still without their times.
fn moves(game: &PgnGame, facts: &[Option<PositionFacts>], evals: &[Option<Eval>]) -> Vec<AnalysedMove> {
    let positions = game.game.positions();
    let is_chess960 = game.game.is_chess960();
    let accuracies = move_accuracies(evals, positions[0].turn());
    let mut until = game.game.clone();
    until.truncate(0);
    let mut moves = Vec::with_capacity(game.game.moves().len());
    for (index, mv) in game.game.moves().iter().enumerate() {
        let (before, after) = (facts[index].as_ref(), facts[index + 1].as_ref());
        let (position, color) = (&positions[index], positions[index].turn());
        let uci = to_uci(*mv, is_chess960);
        let is_best = before.and_then(|facts| facts.line.first()).is_some_and(|best| *best == uci);
        let best = before.filter(|_| !is_best).and_then(|facts| better_move(&until, facts));
        let san = until.san(*mv);
        until.push(*mv);
        // lichess judges only where there is a better move (lila, `Analysis.infoAdvices`).
        let is_searched = before.is_some_and(|facts| facts.early.is_some());
        let judgement = (|| judge(evals[index]?, evals[index + 1]?, color, is_searched))().filter(|_| !is_best);
        let eval = evals[index + 1];
        let said = move_times(game.comments_of(index));
        moves.push(AnalysedMove {
            ply: index + 1,
            number: u32::from(position.fullmoves()),
            color: name(color).to_owned(),
            san,
            uci,
            fen: until.fen(),
            eval: eval.map(Into::into),
            wdl: after.and_then(|facts| facts.wdl),
            win: eval.map(Eval::win_percent),
            accuracy: accuracies[index],
            judgement,
            glyph: judgement.map(|judgement| judgement.glyph().to_owned()),
            expected_loss: loss(before, after, color, is_best),
            best,
            clock_ms: said.clock_ms,
            used_ms: said.used_ms,
            time: None,
        });
    }
    moves
}

/// Expected score that a move of `mover` loses, 0 if it `is_best` by the search; `None` where an evaluation is missing.
fn loss(before: Option<&PositionFacts>, after: Option<&PositionFacts>, mover: Color, is_best: bool) -> Option<f64> {
    let gain = after?.expected(mover.other())? - before?.expected(mover)?;
    let loss = if mover.is_white() { -gain } else { gain };
    Some(if is_best { 0.0 } else { loss.max(0.0) })
}

/// The first move of the best line in a position, with its line; `None` where no line is known.
fn better_move(game: &Game, facts: &PositionFacts) -> Option<BetterMove> {
    let turn = game.current().turn();
    let mut ahead = Game::from_fen(&game.fen(), game.is_chess960()).ok()?;
    let mut line = Vec::with_capacity(facts.line.len());
    for uci in &facts.line {
        let Ok(mv) = parse_uci(ahead.current().chess(), uci) else { break };
        line.push(ahead.san(mv));
        ahead.push(mv);
    }
    Some(BetterMove {
        san: line.first()?.clone(),
        uci: facts.line.first()?.clone(),
        line,
        eval: facts.eval(turn).map(Into::into),
    })
}

/// Adds the times to the moves. Returns the sums of White's and of Black's use of the clock.
fn clocks(
    game: &PgnGame,
    times: &GameTimes,
    facts: &[Option<PositionFacts>],
    moves: &mut [AnalysedMove],
    phases: &[Phase],
) -> [ClockSums; 2] {
    if times.remarks.contains(&Remark::NotLeft) {
        moves.iter_mut().for_each(|mv| mv.clock_ms = None);
    }
    [Color::White, Color::Black].map(|color| {
        let own: Vec<&ClockedMove> = times.moves.iter().filter(|mv| mv.color == color).collect();
        let clock = side_clock(game, times, color);
        let timed: Vec<TimedMove<'_>> =
            own.iter().map(|mv| timed(game, facts, &moves[mv.ply], mv, phases[mv.ply])).collect();
        let (told, sums) = audit(&timed, &clock);
        for (mv, told) in own.into_iter().zip(told) {
            add_time(&mut moves[mv.ply], mv, told);
        }
        sums
    })
}

/// The game's own comments and variations, by the number of plies before them.
fn own_notes(game: &PgnGame) -> BTreeMap<usize, OwnNotes> {
    let of = |(ply, comments): (usize, &Vec<String>)| {
        let own =
            comments.iter().filter(|comment| !is_judgement(comment)).map(|comment| without_commands(comment, &[]));
        let variations = game.variations.get(ply).cloned().unwrap_or_default();
        (ply, OwnNotes { comments: own.filter(|comment| !comment.is_empty()).collect(), variations })
    };
    game.comments.iter().enumerate().map(of).filter(|(_, notes)| *notes != OwnNotes::default()).collect()
}

fn side_clock(game: &PgnGame, times: &GameTimes, color: Color) -> SideClock {
    let clock = SideClock::new(game.time_control(color), times.start_ms[side(color)], rating(game, color));
    let increment_ms = clock.increment_ms.max(times.next_increment_ms[side(color)]);
    SideClock { increment_ms, step_ms: times.step_ms, ..clock }
}

/// The facts about a move with a known time, seen from the mover's side.
fn timed<'a>(
    game: &PgnGame,
    facts: &[Option<PositionFacts>],
    mv: &'a AnalysedMove,
    times: &'a ClockedMove,
    phase: Phase,
) -> TimedMove<'a> {
    let before = facts[times.ply].as_ref();
    let position = &game.game.positions()[times.ply];
    let of_mover = |white: f64| if times.color.is_white() { white } else { 1.0 - white };
    TimedMove {
        times,
        number: mv.number,
        phase,
        expected: before.and_then(|facts| facts.expected(times.color)).map(of_mover),
        loss: mv.expected_loss,
        is_forced: position.legal_moves().len() == 1,
        is_early: before.and_then(|facts| Some(facts.early.as_ref()? == facts.line.first()?)),
        better: mv.best.as_ref().map(|best| best.san.as_str()),
    }
}

fn add_time(mv: &mut AnalysedMove, times: &ClockedMove, told: SpentTime) {
    mv.used_ms = Some(times.used_ms);
    let after = || Some((times.clock_ms? - times.used_ms + times.increment_ms).max(0.0));
    mv.clock_ms = mv.clock_ms.or_else(after);
    mv.time = Some(told);
}

#[cfg(test)]
#[path = "analysed_tests.rs"]
mod tests;
