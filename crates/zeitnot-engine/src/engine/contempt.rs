//! Rescales win, draw and loss by the sharpness of the game and the strength of one side (docs/lc0.md, 3.7).

use super::words::words;
use super::{GoParams, OptionError};
use crate::search::WdlRescale;
use zeitnot_chess::Color;

/// Change of the natural log-odds with one Elo, `ln 10 / 400`, doubled: once for each player.
const ODDS_PER_ELO: f32 = std::f32::consts::LN_10 / 200.0;
/// Least target draw rate used, 0 to 1; lower ones are raised to it. The spread for 0 is infinite (Lc0's limit).
const LEAST_DRAW_RATE: f32 = 0.001;

// The model of Lc0's simplified conversion, fitted to games between engines and between people (docs/lc0.md, 3.7).
/// Spread `s` (see `wdl_rescale`) of games between the weakest players.
const SCALE_ZERO: f32 = 15.0;
/// Elo over which the precision, 1 / spread, grows e-fold, far above [`ELO_OFFSET`].
const ELO_SLOPE: f32 = 425.0;
/// Elo at which the growing part of the precision is 1, in multiples of [`ELO_SLOPE`].
const ELO_OFFSET: f32 = 6.75;
/// Rating around which Elo of single games becomes Elo of game pairs from one opening: differences below count half.
const PAIR_MIDPOINT: f32 = 2737.0;
/// Width, in Elo, of the change at [`PAIR_MIDPOINT`].
const PAIR_SHARPNESS: f32 = 250.0;

words! {
    /// Whom contempt favours (`ContemptMode`).
    pub enum ContemptMode {
        /// The side that plays.
        Play = "play",
        /// White.
        WhiteSideAnalysis = "white_side_analysis",
        /// Black.
        BlackSideAnalysis = "black_side_analysis",
        /// Nobody.
        Disable = "disable",
    }
}

/// The side that contempt favours in a move's search; `None` for nobody.
pub(super) fn side(mode: ContemptMode, turn: Color, go: &GoParams) -> Option<Color> {
    match mode {
        ContemptMode::WhiteSideAnalysis => Some(Color::White),
        ContemptMode::BlackSideAnalysis => Some(Color::Black),
        ContemptMode::Play => {
            // Nobody plays in an analysis without end. What is pondered on will be our move.
            let plays = !go.infinite && (go.ponder || !go.limits(turn, false).infinite);
            plays.then_some(turn)
        }
        ContemptMode::Disable => None,
    }
}

/// The contempt, in Elo, that `text` states for `opponent`: the first value whose name is part of the opponent's name,
/// else the last value without a name, else `default`.
///
/// # Errors
/// [`OptionError::Contempt`].
pub(super) fn parse(text: &str, opponent: &str, default: f32) -> Result<f32, OptionError> {
    let error = || OptionError::Contempt(text.to_owned());
    let opponent = opponent.to_lowercase();
    let (mut unnamed, mut named) = (default, None);
    for entry in text.split(',').filter(|_| !text.trim().is_empty()) {
        let (name, value) = entry.rsplit_once('=').map_or((None, entry), |(name, value)| (Some(name.trim()), value));
        let value = value.trim().parse().ok().filter(|value: &f32| value.is_finite()).ok_or_else(error)?;
        match name {
            None => unnamed = value,
            Some("") => return Err(error()),
            Some(name) if named.is_none() && opponent.contains(&name.to_lowercase()) => named = Some(value),
            Some(_) => {}
        }
    }
    Ok(named.unwrap_or(unnamed))
}

/// The options that a rescaling is computed from, under their names in `Options`.
pub(super) struct RescaleOptions<'a> {
    pub contempt: &'a str,
    pub opponent: &'a str,
    pub rating_advantage: f32,
    pub contempt_max: f32,
    pub wdl_draw_rate_reference: f32,
    pub wdl_draw_rate_target: f32,
    pub wdl_book_exit_bias: f32,
    pub wdl_calibration_elo: f32,
    pub wdl_contempt_attenuation: f32,
    pub wdl_max_s: f32,
    pub wdl_eval_objectivity: f32,
}

/// The rescaling that the options ask for, without a side to favour as yet.
pub(super) fn rescale(options: &RescaleOptions) -> WdlRescale {
    // What is no contempt was refused when it was set.
    let elo = parse(options.contempt, options.opponent, options.rating_advantage).unwrap_or(0.0);
    let elo = elo.clamp(-options.contempt_max, options.contempt_max);
    let reference = scale_of_draw_rate(options.wdl_draw_rate_reference);
    let (ratio, diff) = match options.wdl_calibration_elo {
        0.0 => by_draw_rate(reference, options.wdl_draw_rate_target, options.wdl_book_exit_bias, elo),
        own => by_elo(reference, own, elo),
    };
    WdlRescale {
        ratio,
        diff: diff * options.wdl_contempt_attenuation,
        side: None,
        max_spread: options.wdl_max_s,
        objectivity: options.wdl_eval_objectivity,
    }
}

/// The spread at which equal positions have the draw rate `rate`, 0 to 1.
fn scale_of_draw_rate(rate: f32) -> f32 {
    1.0 / ((1.0 + rate) / (1.0 - rate)).ln()
}

/// `ratio` and `diff` of the rescaling for a target draw rate (0: that of `reference`) and a contempt of `elo`.
/// `reference`: the spread of the reference draw rate; `bias`: the strength of the better side at the book's end.
fn by_draw_rate(reference: f32, target_rate: f32, bias: f32, elo: f32) -> (f32, f32) {
    let target = match target_rate {
        0.0 => reference,
        rate => scale_of_draw_rate(rate.max(LEAST_DRAW_RATE)),
    };
    // How steeply the expected score from one side of an opening follows a shift.
    let answer = |distance: f32| (0.5 * distance / target).cosh().powi(-2);
    let diff = target / (reference * reference) / (answer(1.0 - bias) + answer(1.0 + bias)) * ODDS_PER_ELO * elo;
    (target / reference, diff)
}

/// `ratio` and `diff` of the rescaling for our own rating and a contempt, both in Elo. `reference`: the spread of the
/// reference draw rate.
fn by_elo(reference: f32, own: f32, contempt: f32) -> (f32, f32) {
    let pair_elo = |elo: f32| elo + 0.5 * PAIR_SHARPNESS * (1.0 + ((PAIR_MIDPOINT - elo) / PAIR_SHARPNESS).exp()).ln();
    let (ours, theirs) = (pair_elo(own), pair_elo(own - contempt));
    let scale = |elo: f32| 1.0 / (1.0 / SCALE_ZERO + (elo / ELO_SLOPE - ELO_OFFSET).exp());
    let mu = |elo: f32| {
        -ODDS_PER_ELO * SCALE_ZERO * ELO_SLOPE * (1.0 + (ELO_OFFSET - elo / ELO_SLOPE).exp() / SCALE_ZERO).ln()
    };
    let target = ((scale(ours).powi(2) + scale(theirs).powi(2)) / 2.0).sqrt();
    (target / reference, (mu(ours) - mu(theirs)) / (reference * reference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Options;

    #[test]
    fn contempt_by_opponent() {
        let elo = |text: &str, opponent: &str| parse(text, opponent, 7.0);
        assert_eq!(elo("", "Bob"), Ok(7.0));
        assert_eq!(elo("30", "Bob"), Ok(30.0));
        let list = "50,gm bob=300,Bob=100";
        assert_eq!(elo(list, "GM 2700 human GM Bobby"), Ok(300.0));
        assert_eq!(elo(list, "IM 2400 human bobby"), Ok(100.0));
        assert_eq!(elo(list, "none none computer Alice"), Ok(50.0));
        assert_eq!(elo("Alice=-20.5", "Bob"), Ok(7.0));
        for bad in ["x", "Bob=", "=5", "1,,2", "nan", "Bob=inf"] {
            assert_eq!(elo(bad, "Bob"), Err(OptionError::Contempt(bad.to_owned())));
        }
    }

    #[test]
    fn without_contempt_nothing_is_rescaled() {
        assert_eq!(rescale(&Options::default().rescale_options()), WdlRescale::NONE);
    }

    #[test]
    fn draw_rates_and_contempt() {
        // A draw rate of 1/2 is a spread of 1 / ln 3 = 0.910239, one of 0.8 of 1 / ln 9, half of it.
        let reference = scale_of_draw_rate(0.5);
        assert!((reference - 0.910_239).abs() < 1e-6);
        let (ratio, diff) = by_draw_rate(reference, 0.8, 0.65, 100.0);
        assert!((ratio - 0.5).abs() < 1e-6);
        // 0.455120 / 0.828535 / (0.865589 + 0.101094) * ln 10 / 200 * 100: the bias 0.65 is 0.35 from White's even
        // chance (0.175 / 0.455120 = 0.384514, cosh 1.074841) and 1.65 from Black's (1.812709, cosh 3.145121).
        assert!((diff - 0.654_209).abs() < 1e-4, "{diff}");
        assert_eq!(by_draw_rate(reference, 0.0, 0.65, 0.0), (1.0, 0.0));
        assert_eq!(by_draw_rate(reference, 1e-6, 0.65, 50.0), by_draw_rate(reference, 0.001, 0.65, 50.0));
    }

    #[test]
    fn who_is_favoured() {
        let mut options = Options::default();
        let (nodes, endless) = (GoParams { nodes: Some(5), ..GoParams::default() }, GoParams::default());
        let sides = |options: &Options| [&nodes, &endless].map(|go| side(options.contempt_mode, Color::Black, go));
        assert_eq!(sides(&options), [Some(Color::Black), None]);
        let pondering = GoParams { ponder: true, wtime: Some(1e3), btime: Some(1e3), ..GoParams::default() };
        assert_eq!(
            side(options.contempt_mode, Color::White, &pondering),
            Some(Color::White),
            "the tree is kept at ponderhit"
        );
        options.set("ContemptMode", "white_side_analysis").unwrap();
        assert_eq!(sides(&options), [Some(Color::White); 2]);
        options.set("ContemptMode", "disable").unwrap();
        assert_eq!(sides(&options), [None; 2]);
    }
}
