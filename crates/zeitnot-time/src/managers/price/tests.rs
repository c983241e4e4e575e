use super::root_history::RootHistory;
use super::*;
use crate::build;

fn request(clock_ms: f64, increment_ms: f64) -> MoveRequest {
    MoveRequest { clock_ms, increment_ms, ply: 30, overhead_ms: 200.0, ..MoveRequest::default() }
}

/// The root of a search of two moves after some nodes at 1000 a second.
fn root<'a>(visits: &'a [u32; 2], values: &'a [Option<f32>; 2]) -> SearchSnapshot<'a> {
    let nodes = u64::from(visits[0] + visits[1]) + 1;
    SearchSnapshot {
        elapsed_ms: nodes as f64,
        since_first_batch_ms: Some(nodes as f64),
        new_nodes: nodes,
        total_nodes: nodes,
        root_visits: visits.into(),
        root_values: values.into(),
        root_priors: (&[0.6, 0.4]).into(),
        best_move: Some(0),
        ..SearchSnapshot::default()
    }
}

/// The first moment at which a search stops whose visits grow evenly.
fn stop(manager: &mut dyn TimeManager, share: f64, values: [f32; 2]) -> (u64, Option<StopReason>) {
    for nodes in (8..40_000_u32).step_by(8) {
        let first = (f64::from(nodes) * share) as u32;
        let values = values.map(Some);
        let visits = [first, nodes - first];
        let verdict = manager.observe(&root(&visits, &values));
        if verdict.stop.is_some() {
            return (u64::from(nodes), verdict.stop);
        }
    }
    (40_000, None)
}

fn price() -> Box<dyn TimeManager> {
    let mut manager = build("price").unwrap();
    manager.set_nps(1_000.0);
    manager
}

#[test]
fn a_clear_choice_stops_before_a_close_one() {
    let at = |share, values| {
        let mut manager = price();
        let plan = manager.plan(&request(60_000.0, 0.0));
        let stop = stop(manager.as_mut(), share, values);
        assert!(stop.0 as f64 <= plan.hard_limit_ms + 9.0, "{stop:?} {plan}");
        stop
    };
    let (clear, close) = (at(0.95, [0.3, -0.5]), at(0.55, [0.11, 0.10]));
    assert_eq!(clear.1, Some(StopReason::Price));
    assert!(clear.0 >= LEAST_NODES && 3 * clear.0 < close.0, "{clear:?} {close:?}");
}

#[test]
fn more_time_lowers_the_price_of_nodes() {
    let nodes = |clock_ms| {
        let mut manager = price();
        manager.plan(&request(clock_ms, 0.0));
        stop(manager.as_mut(), 0.6, [0.15, 0.10]).0
    };
    assert!(nodes(10_000.0) < nodes(60_000.0), "{} {}", nodes(10_000.0), nodes(60_000.0));
}

#[test]
fn without_values_a_move_takes_its_average_time() {
    let mut manager = price();
    let plan = manager.plan(&request(60_000.0, 0.0));
    let bare = SearchSnapshot { elapsed_ms: plan.budget_ms, total_nodes: 900, ..SearchSnapshot::default() };
    assert_eq!(manager.observe(&bare).stop, Some(StopReason::Time));
    assert!(plan.extra_ms > plan.budget_ms, "{plan}");
}

#[test]
fn moves_that_take_less_than_their_average_lower_the_price_of_nodes() {
    let mut manager = price();
    let price_of = |manager: &mut dyn TimeManager| {
        let plan = manager.plan(&request(60_000.0, 0.0));
        (plan.term("priced_nodes").unwrap().value, plan.term("average_move_time").unwrap().value)
    };
    let (first, average_ms) = price_of(manager.as_mut());
    for _ in 0..30 {
        manager.finish(&MoveOutcome { elapsed_ms: 0.3 * average_ms, total_nodes: 9, ..MoveOutcome::default() });
        price_of(manager.as_mut());
    }
    let (last, _) = price_of(manager.as_mut());
    assert!(last > first, "{first} {last}");
    assert!((manager.estimates().timeuse.unwrap() - 0.3).abs() < 0.1, "{:?}", manager.estimates());
}

#[test]
fn the_inputs_need_values_and_see_what_changed() {
    let mut history = RootHistory::default();
    let unvalued = SearchSnapshot { root_values: (&[]).into(), ..root(&[60, 40], &[None, None]) };
    assert_eq!(history.inputs(&unvalued), None);
    let values = [Some(0.1), Some(0.0)];
    let first = history.inputs(&root(&[60, 40], &values)).unwrap();
    let later = history.inputs(&root(&[60, 140], &values)).unwrap();
    assert!(first.iter().chain(&later).all(|input| input.is_finite()));
    // The visits have moved, the values have not.
    assert!(later[11] > first[11] && later[14] == 0.0 && later[15] == 0.0, "{first:?} {later:?}");
    let risen = history.inputs(&root(&[160, 140], &[Some(0.12), Some(-0.05)])).unwrap();
    assert!(risen[14] > 0.0 && risen[15] < 0.0, "{risen:?}");
}

#[test]
fn a_root_is_looked_at_when_the_tree_has_grown_by_a_tenth() {
    let mut manager = price();
    manager.plan(&request(60_000.0, 0.0));
    let mut at = |visits: [u32; 2], values: [f32; 2], new_nodes: u64| {
        let values = values.map(Some);
        manager.observe(&SearchSnapshot { new_nodes, ..root(&visits, &values) })
    };
    let (close, clear) = ([0.11, 0.10], [0.5, -0.5]);
    // A tree that was kept: nothing is known of how it grew.
    let kept = at([999, 0], clear, 0);
    assert_eq!((kept.stop, kept.remaining_playouts), (None, None));
    assert_eq!(at([1_049, 20], clear, 70).stop, None, "it is not a tenth larger");
    let looked = at([600, 520], close, 121);
    assert!(looked.stop.is_none() && looked.remaining_playouts.unwrap() > 0.0, "{looked:?}");
    let between = at([1_150, 20], clear, 171);
    assert_eq!(between.stop, None);
    assert!(between.remaining_playouts.unwrap() < looked.remaining_playouts.unwrap(), "{between:?}");
    assert_eq!(at([1_300, 20], clear, 321).stop, Some(StopReason::Price));
}
