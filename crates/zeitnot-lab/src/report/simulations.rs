//! Draws the charts of simulated games: the course of the clocks, the games lost on time, the phases.

use super::clock_figures::{MOST_BANDS, PlayerRow, banded, left, phases};
use super::figure::{Figure, Section, Table, at_control, color_of, each_once};
use crate::results::SimulationResult;
use zeitnot_base::words::{count, counted, percent, time};
use zeitnot_charts::{Axis, DotPlot, DotRow, LinePlot, Plot, Quantity};

/// Builds the section about simulations.
pub fn section(name: &str, simulations: &[SimulationResult]) -> Section {
    let tcs = each_once(simulations.iter().map(|simulation| simulation.tc.as_str()));
    let managers = each_once(simulations.iter().map(|simulation| simulation.manager.as_str()));
    let mut figures = Vec::new();
    for tc in &tcs {
        let own: Vec<&SimulationResult> = simulations.iter().filter(|simulation| simulation.tc == *tc).collect();
        let color = |simulation: &SimulationResult| color_of(&managers, &simulation.manager);
        let clock_use: Vec<PlayerRow> = own
            .iter()
            .map(|simulation| PlayerRow {
                name: simulation.manager.clone(),
                games: simulation.simulation.games,
                left_ms: Some(simulation.simulation.left_ms),
                share_by_phase: simulation.simulation.share_by_phase,
                color: color(simulation),
            })
            .collect();
        let more = [clocks(&own, &color), left(&clock_use), flags(&own, &color), phases(&clock_use)];
        figures.extend(at_control(tc, more));
    }
    let games = simulations.iter().map(|simulation| simulation.simulation.games).fold(0, usize::saturating_add);
    Section {
        title: format!("Simulations of {name}"),
        introduction: format!(
            "{} at {}, {} in all.",
            counted(managers.len(), "manager"),
            counted(tcs.len(), "time control"),
            counted(games, "simulated game")
        ),
        figures,
        ..Section::default()
    }
}

fn clocks(simulations: &[&SimulationResult], color: &dyn Fn(&SimulationResult) -> usize) -> Option<Figure> {
    let mut table = Table::new(&["manager", "move", "5 %", "median", "95 %"]);
    let mut curves = Vec::new();
    for simulation in simulations.iter().filter(|simulation| !simulation.simulation.clock_ms.is_empty()) {
        let moves = &simulation.simulation.clock_ms;
        for mv in moves {
            let times = [mv.clock_ms.p5, mv.clock_ms.p50, mv.clock_ms.p95].map(time);
            table.row([simulation.manager.clone(), count(mv.number as f64)].into_iter().chain(times).collect());
        }
        let course: Vec<_> = moves.iter().map(|mv| (mv.number as f64, mv.clock_ms)).collect();
        curves.push(banded(&simulation.manager, color(simulation), simulations.len(), &course));
    }
    let shown = simulations.iter().find(|simulation| !simulation.simulation.clock_ms.is_empty())?;
    let middle = &shown.simulation.clock_ms[shown.simulation.clock_ms.len() / 2];
    let bands = if simulations.len() <= MOST_BANDS { ", with bands from 5 to 95 %" } else { "" };
    Some(Figure {
        name: "clocks".to_owned(),
        title: "Clocks by move".to_owned(),
        caption: format!(
            "{} has {} at move {}, the median of its games, and {} at their ends. Lines are medians{bands}.",
            shown.manager,
            time(middle.clock_ms.p50),
            count(middle.number as f64),
            time(shown.simulation.left_ms.p50)
        ),
        plot: Plot::Lines(LinePlot::new(
            Axis::new("move", Quantity::Count),
            Axis::new("clock", Quantity::Time),
            curves,
        )),
        table,
    })
}

fn flags(simulations: &[&SimulationResult], color: &dyn Fn(&SimulationResult) -> usize) -> Option<Figure> {
    let worst = simulations.iter().max_by(|a, b| a.simulation.flag_rate.total_cmp(&b.simulation.flag_rate))?;
    let mut table = Table::new(&["manager", "games", "lost on time"]);
    for simulation in simulations {
        table.row(vec![
            simulation.manager.clone(),
            count(simulation.simulation.games as f64),
            percent(simulation.simulation.flag_rate),
        ]);
    }
    let rows = simulations.iter().map(|simulation| DotRow {
        name: simulation.manager.clone(),
        value: Some(simulation.simulation.flag_rate),
        interval: None,
        color: color(simulation),
    });
    let caption = match worst.simulation.flag_rate > 0.0 {
        true => format!(
            "{} loses {} of {} on time, the most.",
            worst.manager,
            percent(worst.simulation.flag_rate),
            counted(worst.simulation.games, "game")
        ),
        false => "No game is lost on time.".to_owned(),
    };
    Some(Figure {
        name: "lost-on-time".to_owned(),
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
    use super::*;
    use crate::simulation::{ClockAt, Simulation};
    use zeitnot_games::sample::Quantiles;

    #[test]
    fn captions_have_the_numbers_of_the_simulation() {
        let at = |number, p50: f64| ClockAt {
            number,
            clock_ms: Quantiles { p5: p50 / 2.0, p50, p95: 2.0 * p50 },
            budget_ms: 0.0,
            used_ms: 0.0,
            games: 1_000,
        };
        let simulation = |manager: &str, flag_rate: f64| SimulationResult {
            manager: manager.into(),
            tc: "10+0.1".into(),
            simulation: Simulation {
                games: 1_000,
                clock_ms: vec![at(1, 10_000.0), at(2, 9_000.0), at(3, 8_500.0)],
                left_ms: Quantiles { p5: 100.0, p50: 2_500.0, p95: 4_000.0 },
                flag_rate,
                share_by_phase: [0.6, 0.3, 0.1],
                ..Simulation::default()
            },
            ..SimulationResult::default()
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
