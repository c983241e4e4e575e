//! Makes the answer of a search from the tree, or, where an answer is due before any evaluation, from mates, the cache
//! and material.

use super::state::State;
use crate::search::context::SearchContext;
use crate::search::request::{EndReason, Guess, SearchEnd};
use crate::search::root::last_look::{look, look_by_material};
use crate::search::root::report::Line;
use zeitnot_chess::Move;

/// Makes the answer from the tree as it stands, and tells the time manager what the move really took. `with_cache`:
/// where nothing was evaluated, the cache may give the policy.
pub(crate) fn conclude(context: &SearchContext, state: &mut State, with_cache: bool) -> SearchEnd {
    let mut report = state.report(context);
    let time = state.end_move(report.elapsed_ms, report.nodes);
    let drawn = state.line_to_play(context);
    let mut guess = None;
    if report.lines.is_empty()
        && let Some((grounds, line)) = unsearched(context, with_cache)
    {
        guess = Some(grounds);
        (report.depth, report.tree_depth, report.seldepth) = (1, 1, 1);
        report.lines.push(line);
    }
    let first = |line: &Line| line.moves.first().copied();
    let is_other = |best: &&Line| drawn.as_ref().is_some_and(|drawn| first(drawn) != first(best));
    let not_drawn = report.lines.first().filter(is_other).cloned();
    if let (Some(drawn), Some(_)) = (drawn, &not_drawn) {
        // GUIs take the first line for that of the move.
        report.lines.retain(|line| first(line) != first(&drawn));
        report.lines.insert(0, drawn);
        report.lines.truncate(context.multi_pv.max(1));
    }
    let line = report.lines.first();
    SearchEnd {
        best: line.and_then(|line| line.moves.first().copied()),
        ponder: line.and_then(|line| line.moves.get(1).copied()),
        move_stats: if context.with_move_stats { state.move_stats(context) } else { Vec::new() },
        reason: match (state.stop, guess) {
            _ if state.error.is_some() => EndReason::Failed,
            (_, Some(guess)) => EndReason::Unevaluated(guess),
            (Some(reason), None) => EndReason::Stopper(reason),
            (None, None) if line.is_none() => EndReason::NoMoves,
            (None, None) => EndReason::Stopped,
        },
        error: state.error.clone(),
        time,
        report,
        not_drawn,
    }
}

/// The move to play when nothing was evaluated, and its report for the GUI; `None` without a legal move.
pub(crate) fn unsearched(context: &SearchContext, with_cache: bool) -> Option<(Guess, Line)> {
    let position = context.game.current();
    let legal = position.legal_moves();
    let is_allowed = |mv: &Move| context.search_moves.is_empty() || context.search_moves.contains(mv);
    let allowed: Vec<Move> = legal.iter().copied().filter(is_allowed).collect();
    let moves = if allowed.is_empty() { &legal[..] } else { &allowed };
    let cached = if with_cache { context.cached(&context.game) } else { None };
    let cached = cached.filter(|evaluation| evaluation.logits.len() == legal.len());
    let (mv, mates) = match &cached {
        None => look_by_material(&context.game, moves)?,
        Some(evaluation) => {
            let logit = |mv: &Move| legal.iter().position(|other| other == mv).map(|number| evaluation.logits[number]);
            let order = |a: &&Move, b: &&Move| logit(a).unwrap_or_default().total_cmp(&logit(b).unwrap_or_default());
            let pick = |left: &[Move]| left.iter().max_by(order).copied();
            look(&context.game, moves, pick(moves)?, pick, |_| evaluation.q > context.draw.at(1))
        }
    };
    let line = |mv: Move, wl: f32, d: f32, m: Option<f32>, mate: Option<i32>| {
        let shown = context.params.wdl_rescale.shown(wl, d, position.turn());
        let q = wl + d * context.draw.at(1);
        Line { moves: vec![mv], wl: shown.wl, d: shown.d, mu: shown.mu, q, m, mate, visits: 0 }
    };
    Some(match cached {
        _ if mates => (Guess::Mate, line(mv, 1.0, 0.0, None, Some(1))),
        Some(evaluation) => (Guess::CachedPolicy, line(mv, evaluation.q, evaluation.d, evaluation.m, None)),
        // Nothing is known of the result: as good as even, with all chances of a draw.
        None => (Guess::Material, line(mv, 0.0, 1.0, None, None)),
    })
}
