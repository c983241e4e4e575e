//! Chooses the moments of a game to look at first.

use super::document::{AnalysedMove, Moment, MomentKind, TimeVerdict};
use zeitnot_text::words::{percent, time};

/// Most moments of a game.
const MOST: usize = 5;
/// Least expected score that a loss has to cost, and least share of a player's time that a thought has to waste.
const LEAST_LOSS: f64 = 0.1;
const LEAST_LOSS_BY_TIME: f64 = 0.05;
const LEAST_WASTE: f64 = 0.02;
/// What a loss for want of time weighs beside another of the same size: it is the easiest to mend.
const BY_HASTE: f64 = 1.5;

/// The moments, the weightiest first: the expected score that moves lost, and the share of a player's time that thoughts
/// wasted. `troubled` are the moves in time trouble, from 0; `used_ms` is all the time of White and of Black.
pub(super) fn moments(moves: &[AnalysedMove], troubled: &[usize], used_ms: [f64; 2]) -> Vec<Moment> {
    let mut found: Vec<(f64, Moment)> =
        moves.iter().filter_map(|mv| moment(mv, troubled.contains(&(mv.ply - 1)), used_ms)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.ply.cmp(&b.1.ply)));
    found.into_iter().take(MOST).map(|(_, moment)| moment).collect()
}

/// The moment that a move is, with its weight.
fn moment(mv: &AnalysedMove, is_in_trouble: bool, used_ms: [f64; 2]) -> Option<(f64, Moment)> {
    let loss = mv.expected_loss.unwrap_or(0.0);
    let is_white = mv.color == "white";
    let name = format!("{}{} {}", mv.number, if is_white { "." } else { "..." }, mv.san);
    let better = mv.best.as_ref().map_or_else(String::new, |best| format!("; {} was better", best.san));
    let all_ms = used_ms[usize::from(!is_white)];
    let (verdict, usual_ms) = mv.time.as_ref().map_or((None, None), |time| (time.verdict, time.usual_ms));
    let wasted_ms = mv.used_ms.unwrap_or(0.0) - usual_ms.unwrap_or(0.0);
    let (weight, kind, words) = match verdict {
        Some(TimeVerdict::NeededOne) => {
            let used = time(mv.used_ms.unwrap_or(0.0));
            let words = format!("{name} was played in {used} and lost {loss:.2} points{better}.");
            (BY_HASTE * loss, MomentKind::NeededOne, words)
        }
        Some(TimeVerdict::BoughtNothing) if wasted_ms >= LEAST_WASTE * all_ms => {
            let share = wasted_ms / all_ms;
            let words =
                format!("{name} took {} more than usual, {} of all the time used.", time(wasted_ms), percent(share));
            (share, MomentKind::BoughtNothing, words)
        }
        _ if is_in_trouble && loss >= LEAST_LOSS_BY_TIME => {
            (loss, MomentKind::Trouble, format!("{name} lost {loss:.2} points in time trouble{better}."))
        }
        _ if loss >= LEAST_LOSS => {
            let judged = mv.judgement.map_or("Loss", |judgement| judgement.word());
            (loss, MomentKind::Blunder, format!("{judged}: {name} lost {loss:.2} points{better}."))
        }
        _ => return None,
    };
    Some((weight, Moment { ply: mv.ply, kind, words }))
}
