//! Accuracy of moves and of a game, and the average loss of centipawns, by lichess' formulas.
//!
//! Sources: lila, `AccuracyPercent.scala` and `AccuracyCP.scala`; scalalib, `Maths.scala` for the means.

use super::evaluation::Eval;
use zeitnot_engine::chess::Color;

/// Scale of the curve of a move's accuracy over its loss in per cent, with `DECAY`, `SHIFT` and lichess' `BONUS`.
const SCALE: f64 = 103.1668100711649;
const DECAY: f64 = -0.04354415386753951;
const SHIFT: f64 = -3.166924740191411;
const BONUS: f64 = 1.0;
/// Plies of a game for each position of the windows that weigh moves; `WIDTHS` bounds the positions of a window.
const PLIES_PER_WIDTH: usize = 10;
const WIDTHS: (usize, usize) = (2, 8);
/// Bounds of the weight of a move.
const WEIGHTS: (f64, f64) = (0.5, 12.0);
/// Least accuracy in a harmonic mean.
const LEAST: f64 = 1.0;

/// The accuracy of a move in per cent, by the mover's chance to win before and after it.
pub(crate) fn move_accuracy(before: f64, after: f64) -> f64 {
    if after >= before {
        return 100.0;
    }
    (SCALE * libm::exp(DECAY * (before - after)) + SHIFT + BONUS).clamp(0.0, 100.0)
}

/// The side that makes the move with this index, from 0.
fn mover(first: Color, index: usize) -> Color {
    if index.is_multiple_of(2) { first } else { first.other() }
}

/// The accuracies of the moves in per cent. `evals` has the position before the first move and that after each move.
pub(crate) fn move_accuracies(evals: &[Option<Eval>], first: Color) -> Vec<Option<f64>> {
    let of_move = |(index, pair): (usize, &[Option<Eval>])| {
        let (before, after) = (pair[0]?.win_percent(), pair[1]?.win_percent());
        Some(match mover(first, index) {
            Color::White => move_accuracy(before, after),
            Color::Black => move_accuracy(after, before),
        })
    };
    evals.windows(2).enumerate().map(of_move).collect()
}

/// The accuracies of White and of Black: for each the mean of two means over its moves, one weighted by how much the
/// chances swing around a move, and the harmonic one. `None` for a side without a move between two evaluations.
pub(crate) fn game_accuracy(evals: &[Option<Eval>], first: Color) -> [Option<f64>; 2] {
    let moves = evals.len().saturating_sub(1);
    let width = (moves / PLIES_PER_WIDTH).clamp(WIDTHS.0, WIDTHS.1);
    let wins: Vec<Option<f64>> = evals.iter().map(|eval| eval.map(Eval::win_percent)).collect();
    // The first windows are the same: one ends at each of the first moves.
    let first_window = &wins[..width.min(wins.len())];
    let early = std::iter::repeat_n(first_window, width.min(wins.len()).saturating_sub(2));
    let weights: Vec<Option<f64>> = match wins.len() < width {
        true => early.chain([&wins[..]]).map(weight).collect(),
        false => early.chain(wins.windows(width)).map(weight).collect(),
    };
    let accuracies = move_accuracies(evals, first);
    [Color::White, Color::Black].map(|color| {
        let own = |(index, (accuracy, weight)): (usize, (&Option<f64>, &Option<f64>))| {
            (mover(first, index) == color).then_some(((*accuracy)?, (*weight)?))
        };
        let own: Vec<(f64, f64)> = accuracies.iter().zip(&weights).enumerate().filter_map(own).collect();
        if own.is_empty() {
            return None;
        }
        let weighted: f64 = own.iter().map(|(accuracy, weight)| accuracy * weight).sum();
        let weights: f64 = own.iter().map(|(_, weight)| weight).sum();
        let inverse: f64 = own.iter().map(|(accuracy, _)| 1.0 / accuracy.max(LEAST)).sum();
        Some((weighted / weights + own.len() as f64 / inverse) / 2.0)
    })
}

/// The weight of a move in its game's accuracy: the standard deviation of the chances to win in its window, bounded.
fn weight(window: &[Option<f64>]) -> Option<f64> {
    let wins: Vec<f64> = window.iter().copied().collect::<Option<_>>()?;
    let mean = wins.iter().sum::<f64>() / wins.len() as f64;
    let variance = wins.iter().map(|win| (win - mean) * (win - mean)).sum::<f64>() / wins.len() as f64;
    Some(variance.sqrt().clamp(WEIGHTS.0, WEIGHTS.1))
}

/// Centipawns that White and Black lose by a move on average, each cut at 1,000; `None` for a side without a move
/// between two evaluations.
pub fn average_loss_cp(evals: &[Option<Eval>], first: Color) -> [Option<f64>; 2] {
    [Color::White, Color::Black].map(|color| {
        let loss = |(index, pair): (usize, &[Option<Eval>])| {
            let gain = pair[1]?.centipawns() - pair[0]?.centipawns();
            let loss = if color.is_white() { -gain } else { gain };
            (mover(first, index) == color).then_some(f64::from(loss.max(0)))
        };
        let losses: Vec<f64> = evals.windows(2).enumerate().filter_map(loss).collect();
        (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::super::evaluation::START;
    use super::*;

    fn evals(cps: &[i32]) -> Vec<Option<Eval>> {
        [START].into_iter().chain(cps.iter().map(|cp| Eval::Cp(*cp))).map(Some).collect()
    }

    #[track_caller]
    fn near(found: [Option<f64>; 2], known: [f64; 2], within: f64) {
        for (found, known) in found.into_iter().zip(known) {
            assert!((found.unwrap() - known).abs() <= within, "{found:?} for {known}");
        }
    }

    // lila's own tests of the formula (AccuracyPercentTest).
    #[test]
    fn accuracies_are_those_of_lilas_tests() {
        let often = |times: usize, cps: &[i32]| cps.repeat(times);
        let with = |cps: Vec<i32>, last: i32| [cps, vec![last]].concat();
        for (cps, white, black, within) in [
            (vec![15, 15], 100.0, 100.0, 1.0),
            (vec![-900, -900], 10.0, 100.0, 5.0),
            (vec![15, 900], 100.0, 10.0, 5.0),
            (vec![-900, 0], 10.0, 10.0, 5.0),
            (often(20, &[15]), 100.0, 100.0, 1.0),
            (with(often(20, &[15]), -900), 50.0, 100.0, 5.0),
            (with(often(21, &[15]), 900), 100.0, 50.0, 5.0),
            (often(5, &[-50, 15]), 76.0, 76.0, 8.0),
            (often(50, &[-50, 15]), 76.0, 76.0, 8.0),
            (often(50, &[-135, 15]), 54.0, 54.0, 8.0),
            (often(50, &[-435, 15]), 20.0, 20.0, 8.0),
        ] {
            near(game_accuracy(&evals(&cps), Color::White), [white, black], within);
            let mirrored: Vec<Option<Eval>> = evals(&cps.iter().map(|cp| 30 - cp).collect::<Vec<_>>());
            near(game_accuracy(&mirrored, Color::Black), [black, white], within);
        }
        assert_eq!(game_accuracy(&evals(&[]), Color::White), [None, None]);
    }

    #[test]
    fn a_move_loses_by_the_curve() {
        assert_eq!(move_accuracy(40.0, 60.0), 100.0);
        // 103.1668 e^(-0.435442) - 3.1669 + 1 by hand: 66.744 - 2.167.
        assert!((move_accuracy(60.0, 50.0) - 64.58).abs() < 0.01, "{}", move_accuracy(60.0, 50.0));
        assert_eq!(move_accuracy(100.0, 0.0), 0.0);
    }

    #[test]
    fn centipawns_are_cut_and_gains_do_not_count() {
        near(average_loss_cp(&evals(&[-85, 3000, 3000, 2000]), Color::White), [50.0, 542.5], 1e-9);
        assert_eq!(average_loss_cp(&evals(&[0]), Color::White), [Some(15.0), None]);
    }

    #[test]
    fn moves_beside_a_missing_evaluation_do_not_count() {
        let mut evals = evals(&[15, 15, -900, -900, -900]);
        evals[3] = None;
        let accuracies = move_accuracies(&evals, Color::White);
        assert_eq!(accuracies, [Some(100.0), Some(100.0), None, None, Some(100.0)]);
        near(game_accuracy(&evals, Color::White), [100.0, 100.0], 0.0);
    }
}
