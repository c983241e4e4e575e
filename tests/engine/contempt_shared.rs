//! Contempt and sharpness against Lc0's, with maia-1900 from ../shared.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::GoParams;

/// Lc0's logarithm and logistic are approximations: win minus loss and draw are off by so much at most.
const ROUGH: f32 = 0.012;

const WHITE_TO_MOVE: &str = "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 3 30";
const BLACK_TO_MOVE: &str = "8/8/4kpp1/3p1b2/p6P/2B5/6P1/6K1 b - - 2 47";

type Golden = (&'static [(&'static str, &'static str)], [(f32, f32); 2], [(f32, f32); 2]);

/// Lc0 0.32.1, `lc0 --backend=eigen --weights=maia-1900.pb.gz`, options `Threads` 1, `MinibatchSize` 1, `MaxPrefetch`
/// 0, `TaskWorkers` 0, `OutOfOrderEval` false, `NNCacheSize` 0, `VerboseMoveStats` true and those named, `go nodes 2`:
/// WL and D of the best move and of the root, in the two positions.
const GOLDEN: &[Golden] = &[
    (&[], [(0.02320, 0.465), (-0.02310, 0.457)], [(0.80365, 0.088), (0.74774, 0.133)]),
    (&[("Contempt", "200")], [(0.62745, 0.258), (0.60849, 0.266)], [(0.99050, 0.006), (0.97667, 0.015)]),
    (&[("Contempt", "-200")], [(-0.59879, 0.275), (-0.63617, 0.249)], [(0.29576, 0.308), (0.05841, 0.330)]),
    (
        &[("Contempt", "100"), ("ContemptMode", "white_side_analysis")],
        [(0.35644, 0.393), (0.32178, 0.399)],
        [(0.70260, 0.164), (0.51228, 0.241)],
    ),
    (
        &[("Contempt", "100"), ("ContemptMode", "black_side_analysis")],
        [(-0.31400, 0.408), (-0.36164, 0.386)],
        [(0.96799, 0.019), (0.92766, 0.044)],
    ),
    (&[("Contempt", "1000")], [(0.92836, 0.054), (0.92562, 0.055)], [(0.99936, 0.000), (0.99815, 0.001)]),
    (
        &[("WDLDrawRateTarget", "0.8"), ("Contempt", "100")],
        [(0.32076, 0.617), (0.27756, 0.642)],
        [(0.99866, 0.001), (0.99021, 0.009)],
    ),
    (
        &[("WDLCalibrationElo", "2000"), ("Contempt", "150")],
        [(0.45155, 0.127), (0.44464, 0.126)],
        [(0.82601, 0.037), (0.78086, 0.044)],
    ),
    (
        &[("WDLCalibrationElo", "3200"), ("Contempt", "250"), ("WDLContemptAttenuation", "0.5")],
        [(0.41914, 0.485), (0.37692, 0.508)],
        [(0.99607, 0.003), (0.98291, 0.014)],
    ),
    (
        &[("Contempt", "50,gm bob=300,Bob=100"), ("UCI_Opponent", "GM 2700 human gm bobby")],
        [(0.81342, 0.136), (0.80326, 0.142)],
        [(0.99723, 0.002), (0.99256, 0.005)],
    ),
    (&[("UCI_RatingAdv", "120")], [(0.41181, 0.371), (0.38312, 0.378)], [(0.97522, 0.015), (0.94203, 0.036)]),
    (
        &[("WDLMaxS", "0.5"), ("Contempt", "100")],
        [(0.11981, 0.737), (0.06857, 0.748)],
        [(0.99925, 0.001), (0.98424, 0.015)],
    ),
];

/// The values of [`GOLDEN`]'s kind with `WDLEvalObjectivity` at its default, 1 (a half in the second): what is shown
/// and no more.
const SHOWN: &[Golden] = &[
    (&[("Contempt", "200")], [(0.02266, 0.466), (-0.02119, 0.459)], [(0.89773, 0.061), (0.78763, 0.125)]),
    (
        &[
            ("WDLDrawRateTarget", "0.9"),
            ("WDLDrawRateReference", "0.6"),
            ("WDLBookExitBias", "0.3"),
            ("Contempt", "100"),
            ("WDLEvalObjectivity", "0.5"),
        ],
        [(0.38692, 0.573), (0.33442, 0.613)],
        [(0.99994, 0.000), (0.99939, 0.001)],
    ),
    (&[("WDLDrawRateTarget", "0.8")], [(0.02238, 0.764), (-0.02478, 0.753)], [(0.99171, 0.007), (0.94741, 0.047)]),
];

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn contempt_is_lc0s() {
    let shared = crate::common::shared();
    let weights = shared.join("nets/maia-1900.pb.gz");
    let check = |golden: &Golden, objectivity: Option<&str>| {
        let (options, white, black) = golden;
        let mut engine = crate::common::engine(&[
            ("WeightsFile", weights.to_str().unwrap()),
            ("Threads", "1"),
            ("MinibatchSize", "1"),
            ("OutOfOrderEval", "false"),
            ("NNCacheSize", "0"),
            ("VerboseMoveStats", "true"),
        ]);
        for (name, value) in objectivity.map(|value| ("WDLEvalObjectivity", value)).iter().chain(*options) {
            engine.set_option(name, value).unwrap();
        }
        for (fen, expected) in [(WHITE_TO_MOVE, white), (BLACK_TO_MOVE, black)] {
            engine.set_game(Game::from_fen(fen, false).unwrap());
            let end = crate::common::search(&mut engine, &GoParams { nodes: Some(2), ..GoParams::default() });
            let ours = end.move_stats.iter().rev().take(2).rev().map(|stats| (stats.wl.unwrap(), stats.d.unwrap()));
            for ((wl, d), expected) in ours.zip(expected) {
                let close = (wl - expected.0).abs() < ROUGH && (d - expected.1).abs() < ROUGH;
                assert!(close, "{options:?} {fen}: {wl} {d} for {expected:?}");
            }
        }
    };
    GOLDEN.iter().for_each(|golden| check(golden, Some("0")));
    SHOWN.iter().for_each(|golden| check(golden, None));
}
