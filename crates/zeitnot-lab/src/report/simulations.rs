//! Draws the charts of simulated games: the course of the clocks, the games lost on time, the phases.

use super::clock_use::{ClockUse, left, phases};
use super::comparisons::each_once;
use super::figure::{Figure, Section, Table};
use super::records::SimulationRecord;
use zeitnot_charts::{Axis, Curve, DotPlot, DotRow, LinePlot, Plot, Quantity, Spread};
use zeitnot_text::words::{count, counted, percent, slug, time};

/// Curves of a chart whose bands are drawn; more hide each other.
const MOST_BANDS: usize = 3;

/// Builds the section about simulations.
pub fn section(name: &str, simulations: &[SimulationRecord]) -> Section {
    let tcs = each_once(simulations.iter().map(|simulation| simulation.tc.as_str()));
    let managers = each_once(simulations.iter().map(|simulation| simulation.manager.as_str()));
    let mut figures = Vec::new();
    for tc in &tcs {
        let own: Vec<&SimulationRecord> = simulations.iter().filter(|simulation| simulation.tc == *tc).collect();
        let color = |simulation: &SimulationRecord| {
            managers.iter().position(|manager| *manager == simulation.manager).unwrap_or(0)
        };
        let clock_use: Vec<ClockUse> = own
            .iter()
            .map(|simulation| ClockUse {
                name: simulation.manager.clone(),
                games: simulation.games as usize,
                left_ms: Some(simulation.left_ms),
                share_by_phase: simulation.share_by_phase,
                color: color(simulation),
            })
            .collect();
        let named = |name: &str| format!("{name}-{}", slug(tc));
        let more = [
            clocks(&named("clocks"), &own, &color),
            left(&named("clock-left"), &clock_use),
            flags(&named("lost-on-time"), &own, &color),
            phases(&named("time-by-phase"), &clock_use),
        ];
        figures.extend(
            more.into_iter().flatten().map(|figure| Figure { title: format!("{}, {tc}", figure.title), ..figure }),
        );
    }
    let games: u64 = simulations.iter().map(|simulation| simulation.games).fold(0, u64::saturating_add);
    Section {
        title: format!("Simulations of {name}"),
        introduction: format!(
            "{} at {}, {} in all.",
            counted(managers.len(), "manager"),
            counted(tcs.len(), "time control"),
            counted(games as usize, "simulated game")
        ),
        figures,
        ..Section::default()
    }
}

fn clocks(name: &str, simulations: &[&SimulationRecord], color: &dyn Fn(&SimulationRecord) -> usize) -> Option<Figure> {
    let mut table = Table::new(&["manager", "move", "5 %", "median", "95 %"]);
    let mut curves = Vec::new();
    for simulation in simulations.iter().filter(|simulation| !simulation.clock_ms.is_empty()) {
        let moves = &simulation.clock_ms;
        for mv in moves {
            let times = [mv.clock_ms.p5, mv.clock_ms.p50, mv.clock_ms.p95].map(time);
            table.row([simulation.manager.clone(), count(mv.number)].into_iter().chain(times).collect());
        }
        let band = moves.iter().map(|mv| (mv.number, mv.clock_ms.p5, mv.clock_ms.p95)).collect();
        let points = moves.iter().map(|mv| (mv.number, mv.clock_ms.p50)).collect();
        let spread = if simulations.len() <= MOST_BANDS { Spread::Band(band) } else { Spread::None };
        curves.push(Curve { spread, ..Curve::line(&simulation.manager, color(simulation), points) });
    }
    let shown = simulations.iter().find(|simulation| !simulation.clock_ms.is_empty())?;
    let middle = &shown.clock_ms[shown.clock_ms.len() / 2];
    let bands = if simulations.len() <= MOST_BANDS { ", with bands from 5 to 95 %" } else { "" };
    Some(Figure {
        name: name.to_owned(),
        title: "Clocks by move".to_owned(),
        caption: format!(
            "{} has {} at move {}, the median of its games, and {} at their ends. Lines are medians{bands}.",
            shown.manager,
            time(middle.clock_ms.p50),
            count(middle.number),
            time(shown.left_ms.p50)
        ),
        plot: Plot::Lines(LinePlot::new(
            Axis::new("move", Quantity::Count),
            Axis::new("clock", Quantity::Time),
            curves,
        )),
        table,
    })
}

fn flags(name: &str, simulations: &[&SimulationRecord], color: &dyn Fn(&SimulationRecord) -> usize) -> Option<Figure> {
    let worst = simulations.iter().max_by(|a, b| a.flag_rate.total_cmp(&b.flag_rate))?;
    let mut table = Table::new(&["manager", "games", "lost on time"]);
    for simulation in simulations {
        table.row(vec![simulation.manager.clone(), count(simulation.games as f64), percent(simulation.flag_rate)]);
    }
    let rows = simulations.iter().map(|simulation| DotRow {
        name: simulation.manager.clone(),
        value: Some(simulation.flag_rate),
        interval: None,
        color: color(simulation),
    });
    let caption = match worst.flag_rate > 0.0 {
        true => format!(
            "{} loses {} of {} on time, the most.",
            worst.manager,
            percent(worst.flag_rate),
            counted(worst.games as usize, "game")
        ),
        false => "No game is lost on time.".to_owned(),
    };
    Some(Figure {
        name: name.to_owned(),
        title: "Games lost on time".to_owned(),
        caption,
        plot: Plot::Dots(DotPlot {
            axis: Axis::new("share of games lost on time", Quantity::Share),
            rows: rows.collect(),
            references: Vec::new(),
        }),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::super::records::ClockRecord;
    use super::*;
    use crate::time_use::Quantiles;

    #[test]
    fn captions_have_the_numbers_of_the_simulation() {
        let at =
            |number: f64, p50: f64| ClockRecord { number, clock_ms: Quantiles { p5: p50 / 2.0, p50, p95: 2.0 * p50 } };
        let simulation = |manager: &str, flag_rate: f64| SimulationRecord {
            manager: manager.into(),
            tc: "10+0.1".into(),
            traces: None,
            fit: None,
            nps: None,
            batch: None,
            lag: None,
            seed: None,
            games: 1_000,
            clock_ms: vec![at(1.0, 10_000.0), at(2.0, 9_000.0), at(3.0, 8_500.0)],
            left_ms: Quantiles { p5: 100.0, p50: 2_500.0, p95: 4_000.0 },
            flag_rate,
            share_by_phase: [0.6, 0.3, 0.1],
        };
        let section = section("s.json", &[simulation("smooth", 0.0), simulation("simple", 0.004)]);
        let captions: Vec<&str> = section.figures.iter().map(|figure| figure.caption.as_str()).collect();
        assert!(
            captions[0].starts_with("smooth has 9 s at move 2, the median of its games, and 2.5 s at their ends."),
            "{}",
            captions[0]
        );
        assert_eq!(captions[2], "simple loses 0.4 % of 1,000 games on time, the most.");
        assert_eq!(section.figures[2].title, "Games lost on time, 10+0.1");
    }
}
