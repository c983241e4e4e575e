//! Draws the times of moves beside those that people of a rating take on the same clock.

use super::clock_figures::MOST_BANDS;
use super::figure::{Figure, Table};
use super::games::AuditedGame;
use std::collections::BTreeMap;
use zeitnot_analysis::analysis::SHORT_OF_TIME;
use zeitnot_base::words::{count, percent, time};
use zeitnot_charts::{Axis, Curve, LinePlot, Plot, Quantity, Spread};
use zeitnot_engine::chess::Color;
use zeitnot_games::sample::{Mean, Quantiles, Sample};
use zeitnot_time::managers::human::{Curve as PeopleCurve, rating_of};

/// Consecutive move numbers that make a group; then the least moves of a group that is shown, and the most times that
/// are kept for its quantiles.
const STRIDE: u32 = 5;
const LEAST_MOVES: usize = 20;
const MOST_TIMES: usize = 4_000;
/// Least variance of the shares of people's time, relative to the square of their mean, for a correlation to be told.
const LEAST_VARIANCE: f64 = 1e-3;

/// Times of a player's moves at neighbouring move numbers: used, by people on the same clock, and a sample of those
/// used.
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

/// The times of one player's moves, in groups of [`STRIDE`] move numbers.
#[derive(Clone, Debug, Default)]
struct TimesOfPlayer {
    groups: BTreeMap<u32, Group>,
    /// The time of each move as a share of people's mean time: its mean, that of its square, and that of its product
    /// with the share of the next move.
    share: Mean,
    squared: Mean,
    with_next: Mean,
}

impl TimesOfPlayer {
    fn variance(&self) -> f64 {
        let mean = self.share.mean();
        (self.squared.mean() - mean * mean).max(0.0)
    }

    /// A sentence about the player: how its times compare with those of people rated `rating`.
    fn told(&self, player: &str, rating: f64) -> String {
        let (mean, variance) = (self.share.mean(), self.variance());
        let rhythm = match variance > LEAST_VARIANCE * mean * mean {
            true => format!(", neighbouring ones correlate by {:.2}", (self.with_next.mean() - mean * mean) / variance),
            false => String::new(),
        };
        format!(
            "{player} takes {} of the time of people rated {rating:.0} on lichess: moves deviate by {:.2} of the mean{rhythm}.",
            percent(mean),
            variance.sqrt() / mean
        )
    }

    /// The groups with enough moves: for each the middle of its move numbers, its first move number, and its times.
    fn told_groups(&self) -> impl Iterator<Item = (f64, u32, &Group)> {
        let enough = self.groups.iter().filter(|(_, group)| group.used.count >= LEAST_MOVES);
        enough.map(|(at, group)| (f64::from(at * STRIDE) + f64::from(STRIDE + 1) / 2.0, at * STRIDE + 1, group))
    }
}

/// The times of players' moves, beside those of people of one rating.
#[derive(Clone, Debug)]
pub struct People<'a> {
    rating: f64,
    players: &'a [String],
    times: Vec<TimesOfPlayer>,
}

impl<'a> People<'a> {
    /// No times yet of these players, to be compared with people of the rating that the first `human` manager among
    /// `specs` has; `None` where none is `human`.
    pub fn new(players: &'a [String], specs: &[String]) -> Option<People<'a>> {
        let rating = specs.iter().find_map(|spec| rating_of(spec))?;
        Some(People { rating, players, times: vec![TimesOfPlayer::default(); players.len()] })
    }

    /// Adds the moves of a game.
    pub fn add(&mut self, game: &AuditedGame) {
        let positions = game.game.game.positions();
        for (side, color) in [Color::White, Color::Black].into_iter().enumerate() {
            let player = self.players.iter().position(|player| player == game.player(color));
            let (Some(player), Some(start_ms)) = (player, game.times.start_ms[side]) else { continue };
            let times = &mut self.times[player];
            let mut before = None;
            for mv in game.times.moves.iter().filter(|mv| mv.color == color) {
                if mv.clock_ms.is_none_or(|clock_ms| clock_ms < SHORT_OF_TIME * start_ms) {
                    before = None;
                    continue;
                }
                let number = positions[mv.ply].ply() / 2 + 1;
                let curve = PeopleCurve::new(start_ms / 1e3, mv.increment_ms / 1e3, self.rating);
                let people_ms = 1e3 * curve.mean_s(f64::from(number));
                let group = times.groups.entry((number - 1) / STRIDE).or_default();
                group.used.add(mv.used_ms);
                group.people.add(people_ms);
                group.times.add(mv.used_ms as f32);
                let share = mv.used_ms / people_ms;
                times.share.add(share);
                times.squared.add(share * share);
                before.into_iter().for_each(|before: f64| times.with_next.add(before * share));
                before = Some(share);
            }
        }
    }

    /// Draws the mean times by move number beside those of people, with the band in which nine of ten moves lie.
    /// `None` without enough moves.
    pub fn figure(&self) -> Option<Figure> {
        let players = || self.players.iter().zip(&self.times).enumerate();
        let told =
            || players().filter(|(_, (_, times))| times.share.mean() > 0.0 && times.told_groups().next().is_some());
        let count_told = told().count();
        if count_told == 0 {
            return None;
        }
        let mut table = Table::new(&["player", "from move", "moves", "mean time", "of people", "share", "5 %", "95 %"]);
        let (mut curves, mut people) = (Vec::new(), BTreeMap::new());
        for (color, (player, times)) in told() {
            let (mut used, mut band) = (Vec::new(), Vec::new());
            for (middle, from, group) in times.told_groups() {
                let [mean, usual] = [group.used, group.people].map(Mean::mean);
                let Quantiles { p5, p95, .. } = group.times.quantiles();
                used.push((middle, mean));
                band.push((middle, p5, p95));
                let known = people.entry(from).or_insert((middle, Mean::default()));
                known.1 = known.1.join(group.people);
                let moves = count(group.used.count as f64);
                let row = [moves, time(mean), time(usual), percent(mean / usual), time(p5), time(p95)];
                table.row([player.clone(), from.to_string()].into_iter().chain(row).collect());
            }
            let spread = if count_told <= MOST_BANDS { Spread::Band(band) } else { Spread::None };
            curves.push(Curve { spread, ..Curve::line(player, color, used) });
        }
        let usual = people.into_values().map(|(middle, mean)| (middle, mean.mean())).collect();
        curves.push(Curve::line(&format!("people rated {:.0}", self.rating), self.players.len(), usual));
        let told: Vec<String> = told().map(|(_, (player, times))| times.told(player, self.rating)).collect();
        Some(Figure {
            name: "beside-people".to_owned(),
            title: "Time of a move beside that of people".to_owned(),
            caption: format!(
                "{} Nine of ten moves lie in a band; moves with less than a quarter of the clock are left out.",
                told.join(" ")
            ),
            plot: Plot::Lines(LinePlot {
                x: Axis::new("move", Quantity::Number),
                y: Axis::new("time", Quantity::Time),
                curves,
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
        let players = ["White", "Black"].map(str::to_owned);
        assert!(People::new(&players, &["smooth".to_owned(), "nonsense(".to_owned()]).is_none());
        let specs = ["smooth", "human(elo=1500)", "human(elo=1100)"].map(str::to_owned);
        let mut people = People::new(&players, &specs).unwrap();
        assert!(people.figure().is_none(), "there are no moves");
        for _ in 0..5 {
            game().iter().for_each(|game| people.add(game));
        }
        let figure = people.figure().unwrap();
        assert!(
            figure.caption.starts_with(
                "White takes 200 % of the time of people rated 1500 on lichess: moves deviate by 0.00 of the mean. Black takes 100 %"
            ),
            "{}",
            figure.caption
        );
        let shares: Vec<[&str; 2]> = figure.table.rows.iter().map(|row| [row[0].as_str(), row[5].as_str()]).collect();
        assert!(shares.contains(&["White", "200 %"]) && shares.contains(&["Black", "100 %"]), "{shares:?}");
    }
}
