//! Tests the choice of moments.

use super::*;

/// A game of moves with this loss, time used, usual time and verdict, White's and Black's in turn.
fn game(of: &[(f64, f64, f64, Option<TimeVerdict>, bool)]) -> Vec<AnalysedMove> {
    let of = of.iter().enumerate().map(|(index, &(loss, used_ms, usual_ms, verdict, in_trouble))| AnalysedMove {
        ply: index + 1,
        number: 1 + index as u32 / 2,
        color: if index % 2 == 0 { "white" } else { "black" }.to_owned(),
        san: format!("N{index}"),
        uci: "g1f3".to_owned(),
        fen: String::new(),
        eval: None,
        wdl: None,
        win: None,
        accuracy: None,
        judgement: None,
        glyph: None,
        expected_loss: Some(loss),
        best: None,
        clock_ms: Some(60_000.0),
        used_ms: Some(used_ms),
        time: Some(SpentTime { usual_ms: Some(usual_ms), verdict, cost: loss, in_trouble, words: String::new() }),
    });
    of.collect()
}

const CALM: (f64, f64, f64, Option<TimeVerdict>, bool) = (0.0, 5e3, 5e3, None, false);

#[test]
fn each_side_has_its_own_moments() {
    // Black loses more with every move; White's one loss is told all the same.
    let losses = [0.11, 0.2, 0.0, 0.21, 0.0, 0.22, 0.0, 0.23, 0.0, 0.24, 0.0, 0.25];
    let found = moments(&game(&losses.map(|loss| (loss, 5e3, 5e3, None, false))), [30e3, 30e3]);
    assert_eq!(found.iter().map(|moment| moment.ply).collect::<Vec<_>>(), [12, 10, 8, 6, 4, 1]);
}

#[test]
fn long_thoughts_are_told_by_what_they_took_and_lost() {
    let long = |verdict, loss| (loss, 60e3, 10e3, Some(verdict), false);
    let moves = game(&[long(TimeVerdict::BoughtNothing, 0.0), long(TimeVerdict::WentWrong, 0.07), CALM, CALM]);
    let found = moments(&moves, [100e3, 200e3]);
    let told: Vec<_> = found.iter().map(|moment| (moment.kind, moment.words.as_str())).collect();
    assert_eq!(
        told,
        [
            (MomentKind::BoughtNothing, "1. N0 took 50 s more than usual, 50 % of all the time used."),
            (MomentKind::WentWrong, "1... N1 took 1:00 and lost 7 % of the winning chances all the same."),
        ]
    );
    assert!(moments(&moves[..1], [1e7, 1e7]).is_empty(), "a small part of all the time");
}

#[test]
fn a_run_of_long_thoughts_is_told_with_the_trouble_behind_it() {
    let long = (0.0, 60e3, 10e3, None, false);
    let troubled = (0.3, 5e3, 5e3, None, true);
    let with = |first, second| moments(&game(&[CALM, CALM, first, CALM, second, CALM, troubled, CALM]), [130e3, 20e3]);
    let found = with(long, long);
    assert_eq!((found[0].ply, found[0].kind), (3, MomentKind::RanDown));
    assert_eq!(
        found[0].words,
        "2. N2 to 3. N4 took 2:00 and left 1:00; in the time trouble behind them 30 % of the winning chances went."
    );
    assert_eq!((found[1].ply, found[1].kind), (7, MomentKind::Trouble));
    assert!(with(long, CALM).iter().all(|moment| moment.kind != MomentKind::RanDown), "they were over before");
}
