//! Chooses the moments of a game to look at first.

use super::clock_audit::{LONG, chances};
use super::document::{AnalysedMove, Moment, MomentKind, SpentTime, TimeVerdict};
use zeitnot_base::words::{percent, told_time};

/// Most moments of a side.
const MOST: usize = 5;
/// Least expected score that a move has to lose to be a moment, in time trouble `LEAST_LOSS_BY_TIME`. A long thought
/// has to waste `LEAST_WASTE` of a player's time.
const LEAST_LOSS: f64 = 0.1;
const LEAST_LOSS_BY_TIME: f64 = 0.05;
const LEAST_WASTE: f64 = 0.02;
/// Factor of the weight of a loss by a move played at once: such losses are the easiest to mend.
const BY_HASTE: f64 = 1.5;
/// Least number of long thoughts in a row before time trouble that make a moment, if they take `LEAST_SHARE` of the
/// time.
const LONG_THOUGHTS: usize = 2;
const LEAST_SHARE: f64 = 0.2;

/// The moments of a game, the weightiest first. A moment weighs the expected score that the move lost or the share of
/// the player's time that the thought wasted. `used_ms` is all the time that White and Black used.
pub(super) fn moments(moves: &[AnalysedMove], used_ms: [f64; 2]) -> Vec<Moment> {
    let mut found: Vec<(f64, Moment)> = Vec::new();
    for (color, all_ms) in ["white", "black"].into_iter().zip(used_ms) {
        let own: Vec<&AnalysedMove> = moves.iter().filter(|mv| mv.color == color).collect();
        let mut of_side: Vec<(f64, Moment)> = own.iter().filter_map(|mv| moment(mv, all_ms)).collect();
        of_side.extend(ran_down(&own, all_ms));
        of_side.sort_by(heavier);
        found.extend(of_side.into_iter().take(MOST));
    }
    found.sort_by(heavier);
    found.into_iter().map(|(_, moment)| moment).collect()
}

fn heavier(a: &(f64, Moment), b: &(f64, Moment)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.ply.cmp(&b.1.ply))
}

fn numbered(mv: &AnalysedMove) -> String {
    format!("{}{}", mv.number, if mv.color == "white" { "." } else { "..." })
}

/// Time of a move beyond the usual, in milliseconds.
fn excess_ms(mv: &AnalysedMove) -> f64 {
    mv.used_ms.unwrap_or(0.0) - mv.time.as_ref().and_then(|time| time.usual_ms).unwrap_or(0.0)
}

/// The moment that a move makes, with its weight; `None` if it makes none. `all_ms` is all the time of its player. The
/// weight is the points lost or the share of `all_ms` wasted: a whole point weighs as much as all the time.
fn moment(mv: &AnalysedMove, all_ms: f64) -> Option<(f64, Moment)> {
    let loss = mv.expected_loss.unwrap_or(0.0);
    let name = format!("{} {}", numbered(mv), mv.san);
    let better = mv.best.as_ref().map_or_else(String::new, |best| format!("; {} was better", best.san));
    let time = mv.time.as_ref();
    let (used, lost) = (told_time(mv.used_ms.unwrap_or(0.0)), chances(loss));
    let share = excess_ms(mv) / all_ms;
    let (weight, kind, words) = match time.and_then(|time| time.verdict) {
        Some(TimeVerdict::NeededOne) => {
            let words = format!("{name} was played in {used} and lost {lost}{better}.");
            (BY_HASTE * loss, MomentKind::NeededOne, words)
        }
        Some(TimeVerdict::WentWrong) if share >= LEAST_WASTE => {
            let words = format!("{name} took {used} and lost {lost} all the same{better}.");
            (loss.max(share), MomentKind::WentWrong, words)
        }
        Some(TimeVerdict::BoughtNothing) if share >= LEAST_WASTE => {
            let beyond = told_time(excess_ms(mv));
            let words = format!("{name} took {beyond} more than usual, {} of all the time used.", percent(share));
            (share, MomentKind::BoughtNothing, words)
        }
        _ if time.is_some_and(|time| time.in_trouble) && loss >= LEAST_LOSS_BY_TIME => {
            (loss, MomentKind::Trouble, format!("{name} lost {lost} in time trouble{better}."))
        }
        _ if loss >= LEAST_LOSS => {
            let judged = mv.judgement.map_or("Loss", |judgement| judgement.word());
            (loss, MomentKind::Blunder, format!("{judged}: {name} lost {lost}{better}."))
        }
        _ => return None,
    };
    Some((weight, Moment { ply: mv.ply, kind, words }))
}

/// The long thoughts in a row that led a player into time trouble, as a moment with its weight. `own` are the player's
/// moves.
fn ran_down(own: &[&AnalysedMove], all_ms: f64) -> Option<(f64, Moment)> {
    let is_troubled = |mv: &&AnalysedMove| mv.time.as_ref().is_some_and(|time| time.in_trouble);
    let end = own.iter().position(is_troubled)?;
    let is_long = |mv: &&&AnalysedMove| {
        let usual_ms = mv.time.as_ref().and_then(|SpentTime { usual_ms, .. }| *usual_ms);
        usual_ms.is_some_and(|usual_ms| mv.used_ms.is_some_and(|used_ms| used_ms >= LONG * usual_ms))
    };
    let begin = end - own[..end].iter().rev().take_while(is_long).count();
    let (thoughts, rest) = (&own[begin..end], &own[end..]);
    let share = thoughts.iter().map(|mv| excess_ms(mv)).sum::<f64>() / all_ms;
    if thoughts.len() < LONG_THOUGHTS || share < LEAST_SHARE {
        return None;
    }
    let (first, last) = (thoughts[0], thoughts[thoughts.len() - 1]);
    let took = told_time(thoughts.iter().filter_map(|mv| mv.used_ms).sum());
    let left = last.clock_ms.map_or_else(String::new, |ms| format!(" and left {}", told_time(ms)));
    let lost: f64 = rest.iter().filter(|mv| is_troubled(mv)).filter_map(|mv| mv.expected_loss).sum();
    let (from, to) = (numbered(first), numbered(last));
    let words = format!(
        "{from} {} to {to} {} took {took}{left}; in the time trouble behind them {} went.",
        first.san,
        last.san,
        chances(lost)
    );
    Some((share.max(lost), Moment { ply: first.ply, kind: MomentKind::RanDown, words }))
}

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
