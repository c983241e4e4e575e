//! Draws the times of moves beside those that people of a rating take on the same clock.

use super::figure::{Figure, Table};
use super::games::AuditedGame;
use crate::sample::{Mean, Quantiles, Sample};
use std::collections::BTreeMap;
use zeitnot_charts::{Axis, Curve, LinePlot, Plot, Quantity, Spread};
use zeitnot_engine::chess::Color;
use zeitnot_text::words::{count, percent, time};
use zeitnot_time::managers::human::{Curve as PeopleCurve, rating_of};

/// Share of the clock at the start below which a move is left out: people are short of time.
const SHORT_OF_TIME: f64 = 0.25;
/// Moves that are averaged together, the least of a group, and the most that are kept for its quantiles.
const STRIDE: u32 = 5;
const LEAST_MOVES: usize = 20;
const MOST_TIMES: usize = 4_000;

/// Times of neighbouring numbers of moves.
#[derive(Clone, Debug)]
struct Group {
    used: Mean,
    people: Mean,
    times: Sample,
}

impl Default for Group {
    fn default() -> Group {
        Group { used: Mean::default(), people: Mean::default(), times: Sample::new(MOST_TIMES) }
    }
}

/// The times of all moves, in groups, with those of people of one rating.
#[derive(Clone, Debug)]
pub struct People {
    rating: f64,
    groups: BTreeMap<u32, Group>,
    /// The share of people's mean time that each move took: of all moves, squared, and multiplied with the next one's.
    share: Mean,
    squared: Mean,
    with_next: Mean,
}

impl People {
    /// Empty times, for the rating of the first of these managers that is `human`; `None` where none is.
    pub fn new(specs: &[String]) -> Option<People> {
        let rating = specs.iter().find_map(|spec| rating_of(spec))?;
        let (share, squared, with_next) = Default::default();
        Some(People { rating, groups: BTreeMap::new(), share, squared, with_next })
    }

    /// Adds the moves of a game.
    pub fn add(&mut self, game: &AuditedGame) {
        let positions = game.game.game.positions();
        for (side, color) in [Color::White, Color::Black].into_iter().enumerate() {
            let Some(start_ms) = game.times.start_ms[side] else { continue };
            let mut before = None;
            for mv in game.times.moves.iter().filter(|mv| mv.color == color) {
                let is_short = mv.clock_ms.is_none_or(|clock_ms| clock_ms < SHORT_OF_TIME * start_ms);
                if is_short {
                    before = None;
                    continue;
                }
                let number = positions[mv.ply].ply() / 2 + 1;
                let curve = PeopleCurve::new(start_ms / 1e3, mv.increment_ms / 1e3, self.rating);
                let people_ms = 1e3 * curve.mean_s(f64::from(number));
                let group = self.groups.entry((number - 1) / STRIDE).or_default();
                group.used.add(mv.used_ms);
                group.people.add(people_ms);
                group.times.add(mv.used_ms as f32);
                let share = mv.used_ms / people_ms;
                self.share.add(share);
                self.squared.add(share * share);
                before.into_iter().for_each(|before: f64| self.with_next.add(before * share));
                before = Some(share);
            }
        }
    }

    /// Deviation of the shares, by their mean.
    fn deviation(&self) -> f64 {
        let mean = self.share.mean();
        (self.squared.mean() - mean * mean).max(0.0).sqrt() / mean
    }

    /// Correlation of the shares of two moves of a player in succession.
    fn correlation(&self) -> f64 {
        let mean = self.share.mean();
        (self.with_next.mean() - mean * mean) / (self.squared.mean() - mean * mean)
    }

    /// Draws the means by number of move, people's beside them, and the band in which nine of ten moves lie. `None`
    /// without enough moves.
    pub fn figure(&self) -> Option<Figure> {
        let groups: Vec<_> = self.groups.iter().filter(|(_, group)| group.used.count >= LEAST_MOVES).collect();
        if groups.is_empty() || self.share.mean() <= 0.0 {
            return None;
        }
        let middle = |group: u32| f64::from(group * STRIDE) + f64::from(STRIDE + 1) / 2.0;
        let mut table = Table::new(&["from move", "moves", "mean time", "of people", "share", "5 %", "95 %"]);
        let (mut used, mut people, mut band) = (Vec::new(), Vec::new(), Vec::new());
        for (number, group) in groups {
            let (at, [mean, usual]) = (middle(*number), [group.used, group.people].map(Mean::mean));
            let Quantiles { p5, p95, .. } = group.times.quantiles();
            used.push((at, mean));
            people.push((at, usual));
            band.push((at, p5, p95));
            let from = (number * STRIDE + 1).to_string();
            let moves = count(group.used.count as f64);
            table.row(vec![from, moves, time(mean), time(usual), percent(mean / usual), time(p5), time(p95)]);
        }
        let rating = self.rating;
        Some(Figure {
            name: "beside-people".to_owned(),
            title: "Time of a move beside that of people".to_owned(),
            caption: format!(
                "Moves take {} of the time of people rated {rating:.0} on lichess; the deviation is {:.2} of the mean, and \
                 neighbouring moves correlate by {:.2}. Nine of ten moves lie in the band; moves with less than a quarter of the \
                 clock are left out.",
                percent(self.share.mean()),
                self.deviation(),
                self.correlation()
            ),
            plot: Plot::Lines(LinePlot {
                x: Axis::new("move", Quantity::Number),
                y: Axis::new("time", Quantity::Time),
                curves: vec![
                    Curve { spread: Spread::Band(band), ..Curve::line("time used", 0, used) },
                    Curve::line(&format!("people rated {rating:.0}"), 1, people),
                ],
                references: Vec::new(),
            }),
            table,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::audited;
    use super::*;

    /// A game of 180 s in which Black's moves take as long as people's, and White's twice as long.
    fn game() -> Vec<AuditedGame> {
        let curve = PeopleCurve::new(180.0, 0.0, 1500.0);
        let shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
        let moves = (0..40).map(|ply| {
            let seconds = curve.mean_s(f64::from(ply / 2 + 1)) * f64::from(2 - ply % 2);
            format!("{} {{[%emt 0:00:{seconds:06.3}]}}", shuffle[ply as usize % 4])
        });
        let moves: Vec<String> = moves.collect();
        audited(&format!("[TimeControl \"180\"]\n\n{} *\n", moves.join(" ")))
    }

    #[test]
    fn times_are_measured_by_those_of_people() {
        assert!(People::new(&["smooth".to_owned(), "nonsense(".to_owned()]).is_none());
        let specs = ["smooth", "human(elo=1500)", "human(elo=1100)"].map(str::to_owned);
        let mut people = People::new(&specs).unwrap();
        assert!(people.figure().is_none(), "there are no moves");
        for _ in 0..5 {
            game().iter().for_each(|game| people.add(game));
        }
        // White's times are 2 and Black's 1, but for the end of White's clock.
        let (share, correlation) = (people.share.mean(), people.correlation());
        assert!((1.4..1.5).contains(&share) && correlation > 0.95, "{share} {correlation}");
        let figure = people.figure().unwrap();
        assert!(figure.caption.contains("of people rated 1500"), "{}", figure.caption);
        assert_eq!((figure.table.rows[0][0].as_str(), figure.table.rows[0][4].as_str()), ("1", "150 %"));
    }
}
