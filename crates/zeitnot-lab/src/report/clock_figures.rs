//! Draws how players used their clocks over all of their games: the course, the clock left at the end, and the shares
//! of the phases.

use super::figure::{Figure, Table};
use zeitnot_base::words::{percent, time};
use zeitnot_charts::{Axis, Curve, DotPlot, DotRow, Plot, Quantity, Spread, StackPlot, StackRow};
use zeitnot_games::clock_use::ByPhase;
use zeitnot_games::sample::Quantiles;

/// Most curves of a chart that have bands; more bands would hide each other, so that only medians are drawn.
pub const MOST_BANDS: usize = 3;

/// The curve of a clock over the moves of many games: the median, and in a chart of at most [`MOST_BANDS`] `curves` the
/// band from 5 to 95 %.
pub(crate) fn banded(name: &str, color: usize, curves: usize, course: &[(f64, Quantiles)]) -> Curve {
    let band = course.iter().map(|(number, clock_ms)| (*number, clock_ms.p5, clock_ms.p95)).collect();
    let points = course.iter().map(|(number, clock_ms)| (*number, clock_ms.p50)).collect();
    let spread = if curves <= MOST_BANDS { Spread::Band(band) } else { Spread::None };
    Curve { spread, ..Curve::line(name, color, points) }
}

/// How one player used its clock.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRow {
    /// The player, with its time control where there are several.
    pub name: String,
    pub games: usize,
    /// The clock at the end of the games, in milliseconds; `None` where it is not known.
    pub left_ms: Option<Quantiles>,
    /// Shares of all time used in moves 1 to 15 out of book, 16 to 40, and later.
    pub share_by_phase: [f64; 3],
    /// The index of the player's colour among those of the charts.
    pub color: usize,
}

/// Draws the clock that each player had left: its median, and 90 % of the games. `None` where no clock is known.
pub fn left(players: &[PlayerRow]) -> Option<Figure> {
    let players: Vec<(&PlayerRow, Quantiles)> =
        players.iter().filter_map(|player| Some((player, player.left_ms?))).collect();
    let (most, most_ms) = players.iter().max_by(|a, b| a.1.p50.total_cmp(&b.1.p50))?;
    let (least, least_ms) = players.iter().min_by(|a, b| a.1.p50.total_cmp(&b.1.p50))?;
    let rows = players.iter().map(|(player, left_ms)| DotRow {
        name: player.name.clone(),
        value: Some(left_ms.p50),
        interval: Some([left_ms.p5, left_ms.p95]),
        color: player.color,
    });
    let axis = Axis::new("clock at the end", Quantity::Time);
    let mut table = Table::new(&["player", "games", "5 %", "median", "95 %"]);
    for (PlayerRow { name, games, .. }, left_ms) in &players {
        table.row(vec![name.clone(), games.to_string(), time(left_ms.p5), time(left_ms.p50), time(left_ms.p95)]);
    }
    let [most_ms, least_ms] = [most_ms, least_ms].map(|left_ms| time(left_ms.p50));
    let main = match players.len() {
        1 => format!("{} has {most_ms} left at the end, the median of its games.", most.name),
        _ if most_ms == least_ms => format!("All have {most_ms} left at the end."),
        _ => format!(
            "{} has {most_ms} left at the end, {} has {least_ms}: the most and the least.",
            most.name, least.name
        ),
    };
    Some(Figure {
        name: "clock-left".to_owned(),
        title: "Clock left at the end".to_owned(),
        caption: format!("{main} Points are medians; 90 % of the games end within the lines."),
        plot: Plot::Dots(DotPlot { axis, rows: rows.collect(), references: Vec::new() }),
        table,
    })
}

/// Draws the share of its time that each player used in each phase. `None` where nobody used any time.
pub fn phases(players: &[PlayerRow]) -> Option<Figure> {
    let used: Vec<&PlayerRow> =
        players.iter().filter(|player| player.share_by_phase.iter().sum::<f64>() > 0.0).collect();
    let first = |player: &&&PlayerRow| player.share_by_phase[0];
    let most = used.iter().max_by(|a, b| first(a).total_cmp(&first(b)))?;
    let least = used.iter().min_by(|a, b| first(a).total_cmp(&first(b)))?;
    let [first_phase, second_phase, third_phase] = ByPhase::NAMES;
    let mut table = Table::new(&["player", first_phase, second_phase, third_phase]);
    for player in players {
        table.row([player.name.clone()].into_iter().chain(player.share_by_phase.map(percent)).collect());
    }
    let rows =
        players.iter().map(|player| StackRow { name: player.name.clone(), parts: player.share_by_phase.to_vec() });
    let caption = match &used[..] {
        [player] => {
            let [one, two, three] = player.share_by_phase.map(percent);
            format!(
                "{} uses {one} of its time in moves 1 to 15 out of book, {two} in moves 16 to 40, {three} later.",
                player.name
            )
        }
        _ if percent(most.share_by_phase[0]) == percent(least.share_by_phase[0]) => {
            format!("All use {} of their time in moves 1 to 15 out of book.", percent(most.share_by_phase[0]))
        }
        _ => format!(
            "{} uses {} of its time in moves 1 to 15 out of book, the most; {} uses {}, the least.",
            most.name,
            percent(most.share_by_phase[0]),
            least.name,
            percent(least.share_by_phase[0])
        ),
    };
    Some(Figure {
        name: "time-by-phase".to_owned(),
        title: "Time by phase".to_owned(),
        caption,
        plot: Plot::Stacks(StackPlot {
            parts: ByPhase::NAMES.map(str::to_owned).to_vec(),
            rows: rows.collect(),
            tells_counts: false,
        }),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(name: &str, p50: f64, share_by_phase: [f64; 3]) -> PlayerRow {
        let left_ms = Some(Quantiles { p5: p50 / 2.0, p50, p95: 2.0 * p50 });
        PlayerRow { name: name.into(), games: 20, left_ms, share_by_phase, color: 0 }
    }

    #[test]
    fn captions_name_the_ends() {
        let players = [player("a", 2_500.0, [0.5, 0.3, 0.2]), player("b", 900.0, [0.25, 0.5, 0.25])];
        let left = left(&players).unwrap();
        assert!(
            left.caption.starts_with("a has 2.5 s left at the end, b has 900 ms: the most and the least."),
            "{}",
            left.caption
        );
        assert_eq!(left.table.rows[1], ["b", "20", "450 ms", "900 ms", "1.8 s"]);
        let alike = super::phases(&[players[0].clone(), players[0].clone()]).unwrap();
        assert_eq!(alike.caption, "All use 50 % of their time in moves 1 to 15 out of book.");
        let phases = phases(&players[..1]).unwrap();
        assert_eq!(
            phases.caption,
            "a uses 50 % of its time in moves 1 to 15 out of book, 30 % in moves 16 to 40, 20 % later."
        );
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(left(&[]).is_none() && phases(&[]).is_none());
        let unknown = PlayerRow { left_ms: None, ..player("a", 1.0, [1.0, 0.0, 0.0]) };
        assert!(left(std::slice::from_ref(&unknown)).is_none());
        let both = left(&[unknown, player("b", 9.0, [0.0; 3])]).unwrap();
        assert!(both.table.rows.len() == 1 && both.caption.starts_with("b has 9 ms left"), "{}", both.caption);
        assert!(phases(&[player("a", 1.0, [0.0; 3])]).is_none());
    }
}
