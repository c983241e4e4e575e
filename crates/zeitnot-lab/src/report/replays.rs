//! Draws the charts of managers that were replayed over recorded searches: what their stops lose, and why they stop.

use super::figure::{Figure, Section, Table, color_of, each_once};
use crate::results::ReplayResult;
use zeitnot_base::words::{count, counted, grouped, listed, percent};
use zeitnot_charts::{Axis, Curve, DotPlot, DotRow, LinePlot, Plot, Quantity, Reference, Spread, StackPlot, StackRow};

/// Factor from a regret to thousandths, in which charts show it, as `time replay` prints it.
const SHOWN: f64 = 1e3;
/// Largest relative difference of mean playouts between managers of one run, which `time replay` makes nearly equal.
const SAME_NODES: f64 = 0.02;

/// Builds the section about replays over the same recordings.
pub fn section(name: &str, rows: &[ReplayResult]) -> Section {
    let moves = rows.iter().map(|row| row.moves).max().unwrap_or(0);
    let figures = [regrets(rows), curves(rows), stops(rows)];
    Section {
        title: format!("Replays of {name}"),
        introduction: format!(
            "{} replayed over {} of recorded games. Regret is the value that a long search loses by the move played.",
            counted(managers(rows).len(), "manager"),
            counted(moves, "move")
        ),
        figures: figures.into_iter().flatten().collect(),
        ..Section::default()
    }
}

fn managers(rows: &[ReplayResult]) -> Vec<&str> {
    each_once(rows.iter().map(|row| row.manager.as_str()))
}

/// Whether all rows are of one run, with nearly the same mean playouts.
fn is_one_run(rows: &[ReplayResult]) -> bool {
    let least = rows.iter().map(|row| row.mean_nodes).fold(f64::INFINITY, f64::min);
    rows.iter().all(|row| row.mean_nodes <= least * (1.0 + SAME_NODES))
}

/// The name of a row: the manager, with its playouts where they differ.
fn row_name(row: &ReplayResult, rows: &[ReplayResult]) -> String {
    if is_one_run(rows) { row.manager.clone() } else { format!("{}, {} nodes", row.manager, count(row.mean_nodes)) }
}

fn color(row: &ReplayResult, rows: &[ReplayResult]) -> usize {
    color_of(&managers(rows), &row.manager)
}

/// Draws the regret of each row with its interval, and the oracle as a line if all rows are of one run.
fn regrets(rows: &[ReplayResult]) -> Option<Figure> {
    let best = rows.iter().min_by(|a, b| a.regret.total_cmp(&b.regret))?;
    let dots = rows.iter().map(|row| DotRow {
        name: row_name(row, rows),
        value: Some(row.regret * SHOWN),
        interval: row.regret_interval.map(|ends| ends.map(|end| end * SHOWN)),
        color: color(row, rows),
    });
    // Moves that used more than the clock are shown where there are any.
    let has_forfeits = rows.iter().any(|row| row.forfeits > 0);
    let mut table = Table::with_columns(
        &["manager", "mean nodes", "regret", "95 % interval", "oracle", "of the oracle's gain", "agreement"],
        has_forfeits.then(|| "moves lost on time".to_owned()),
    );
    let shown = |value: f64| grouped(value * SHOWN, 2);
    for row in rows {
        let interval = row
            .regret_interval
            .map_or_else(|| "-".to_owned(), |[low, high]| format!("{} to {}", shown(low), shown(high)));
        let mut cells = vec![
            row.manager.clone(),
            count(row.mean_nodes),
            shown(row.regret),
            interval,
            shown(row.oracle_regret),
            row.oracle_share.map_or_else(|| "-".to_owned(), percent),
            percent(row.agreement),
        ];
        cells.extend(has_forfeits.then(|| row.forfeits.to_string()));
        table.row(cells);
    }
    let (references, oracle) = match is_one_run(rows) {
        true => (
            vec![Reference::Value("oracle: the best stops in hindsight".to_owned(), best.oracle_regret * SHOWN)],
            format!(" The oracle loses {}.", shown(best.oracle_regret)),
        ),
        false => (Vec::new(), String::new()),
    };
    Some(Figure {
        name: "regret-by-manager".to_owned(),
        title: "Regret by manager".to_owned(),
        caption: format!(
            "{} loses least: {} thousandths of a value a move.{oracle} Lines are 95 % intervals.",
            row_name(best, rows),
            shown(best.regret)
        ),
        plot: Plot::Dots(DotPlot {
            axis: Axis::new("regret (thousandths of a value from -1 to 1)", Quantity::Number),
            rows: dots.collect(),
            references,
        }),
        table,
    })
}

/// Draws the regret over the mean playouts where a manager was replayed at several.
fn curves(rows: &[ReplayResult]) -> Option<Figure> {
    let of = |manager: &str| -> Vec<&ReplayResult> {
        let mut own: Vec<&ReplayResult> = rows.iter().filter(|row| row.manager == manager).collect();
        own.sort_by(|a, b| a.mean_nodes.total_cmp(&b.mean_nodes));
        own
    };
    let managers = managers(rows);
    if managers.iter().all(|manager| of(manager).len() < 2) || is_one_run(rows) {
        return None;
    }
    let mut table = Table::new(&["manager", "mean nodes", "regret", "oracle"]);
    let mut curves = Vec::new();
    for (color, manager) in managers.iter().enumerate() {
        let own = of(manager);
        let bars = own.iter().filter_map(|row| {
            let [low, high] = row.regret_interval?;
            Some((row.mean_nodes, low * SHOWN, high * SHOWN))
        });
        let points = own.iter().map(|row| (row.mean_nodes, row.regret * SHOWN)).collect();
        curves.push(Curve { spread: Spread::Bars(bars.collect()), ..Curve::line(manager, color, points) });
        for row in own {
            let [regret, oracle] = [row.regret, row.oracle_regret].map(|value| grouped(value * SHOWN, 2));
            table.row(vec![row.manager.clone(), count(row.mean_nodes), regret, oracle]);
        }
    }
    let mut oracle: Vec<(f64, f64)> = rows.iter().map(|row| (row.mean_nodes, row.oracle_regret * SHOWN)).collect();
    oracle.sort_by(|a, b| a.0.total_cmp(&b.0));
    oracle.dedup_by(|later, earlier| later.0 <= earlier.0 * (1.0 + SAME_NODES));
    curves.push(Curve::line("oracle", managers.len(), oracle));
    let first = of(managers[0]);
    let [least, most] = [first.first()?, first.last()?];
    Some(Figure {
        name: "regret-over-nodes".to_owned(),
        title: "Regret over mean nodes".to_owned(),
        caption: format!(
            "{} loses {} thousandths of a value a move with {} nodes, and {} with {}. Bars are 95 % intervals, side by side.",
            managers[0],
            grouped(least.regret * SHOWN, 2),
            count(least.mean_nodes),
            grouped(most.regret * SHOWN, 2),
            count(most.mean_nodes)
        ),
        plot: Plot::Lines(LinePlot::new(
            Axis::log("mean nodes of a move", Quantity::Number),
            Axis::new("regret (thousandths)", Quantity::Number),
            curves,
        )),
        table,
    })
}

/// Draws how often each reason stopped the searches of each row.
fn stops(rows: &[ReplayResult]) -> Option<Figure> {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for (reason, number) in rows.iter().flat_map(|row| &row.stops) {
        match sums.iter_mut().find(|sum| sum.0 == reason) {
            Some(sum) => sum.1 = sum.1.saturating_add(*number),
            None => sums.push((reason, *number)),
        }
    }
    sums.retain(|(_, number)| *number > 0);
    sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let (main, _) = sums.first()?;
    let reasons: Vec<&str> = sums.iter().map(|sum| sum.0).collect();
    let number = |row: &ReplayResult, reason: &str| row.stops.get(reason).copied().unwrap_or(0);
    let words = |reason: &str| reason.replace('_', " ");
    let mut table = Table::with_columns(&["manager"], reasons.iter().map(|reason| words(reason)));
    for row in rows {
        let counts = reasons.iter().map(|reason| number(row, reason).to_string());
        table.row([row_name(row, rows)].into_iter().chain(counts).collect());
    }
    let bars = rows.iter().map(|row| StackRow {
        name: row_name(row, rows),
        parts: reasons.iter().map(|reason| number(row, reason) as f64).collect(),
    });
    let shares = rows.iter().take(3).map(|row| {
        let all = row.stops.values().fold(0_u64, |all, number| all.saturating_add(*number));
        format!("{} of the searches of {}", percent(number(row, main) as f64 / all.max(1) as f64), row_name(row, rows))
    });
    let caption = format!("\"{}\" ends {}.", words(main), listed(&shares.collect::<Vec<_>>()));
    Some(Figure {
        name: "stops-by-reason".to_owned(),
        title: "Stops by reason".to_owned(),
        caption,
        plot: Plot::Stacks(StackPlot {
            parts: reasons.iter().map(|reason| words(reason)).collect(),
            rows: bars.collect(),
            tells_counts: false,
        }),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(manager: &str, mean_nodes: f64, regret: f64) -> ReplayResult {
        ReplayResult {
            manager: manager.into(),
            moves: 12,
            mean_nodes,
            regret,
            regret_interval: Some([regret / 2.0, 2.0 * regret]),
            agreement: 0.75,
            stops: [("time".to_owned(), 3), ("kld_gain".to_owned(), 9)].into(),
            oracle_regret: 0.001,
            ..ReplayResult::default()
        }
    }

    #[test]
    fn one_run_has_the_oracle_as_a_line() {
        let section = section("a", &[row("smooth", 400.0, 0.0042), row("legacy", 401.0, 0.005)]);
        let names: Vec<&str> = section.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["regret-by-manager", "stops-by-reason"]);
        assert_eq!(
            section.figures[0].caption,
            "smooth loses least: 4.20 thousandths of a value a move. The oracle loses 1.00. Lines are 95 % intervals."
        );
        assert_eq!(
            section.figures[1].caption,
            "\"kld gain\" ends 75 % of the searches of smooth and 75 % of the searches of legacy."
        );
    }

    #[test]
    fn moves_lost_on_time_are_told_where_there_are_any() {
        let rows = [row("smooth", 400.0, 0.004), ReplayResult { forfeits: 3, ..row("alphazero", 400.0, 0.005) }];
        let table = |rows: &[ReplayResult]| section("a", rows).figures[0].table.clone();
        let told = table(&rows);
        assert_eq!(told.head.last().unwrap(), "moves lost on time");
        assert_eq!([told.rows[0].last().unwrap(), told.rows[1].last().unwrap()], ["0", "3"]);
        assert_eq!(table(&rows[..1]).head.last().unwrap(), "agreement");
    }

    #[test]
    fn several_runs_have_curves_and_that_of_the_oracle() {
        let rows = [row("smooth", 800.0, 0.002), row("smooth", 400.0, 0.004), row("legacy", 400.0, 0.005)];
        let section = section("a", &rows);
        let Plot::Lines(plot) = &section.figures[1].plot else { panic!() };
        let names: Vec<&str> = plot.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["smooth", "legacy", "oracle"]);
        assert_eq!(plot.curves[0].points, [(400.0, 4.0), (800.0, 2.0)]);
        assert_eq!(plot.curves[2].points, [(400.0, 1.0), (800.0, 1.0)]);
        let Plot::Dots(dots) = &section.figures[0].plot else { panic!() };
        assert!(dots.references.is_empty() && dots.rows[0].name == "smooth, 800 nodes");
    }
}
