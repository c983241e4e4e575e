//! Tests that events and answers of an event log keep every field through JSON.

use super::*;
use crate::accounting::Accounted;
use crate::{ShownLines, StopReason, TimeManager, managers};
use proptest::prelude::*;

fn number() -> BoxedStrategy<f64> {
    let odd = prop::sample::select(vec![0.0, -0.0, 0.1 + 0.2, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN]);
    prop_oneof![4 => -1e6..1e6_f64, 1 => odd, 1 => Just(f64::NEG_INFINITY), 2 => prop::num::f64::NORMAL].boxed()
}

fn some<T: std::fmt::Debug + Clone + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    prop::option::of(strategy).boxed()
}

fn request() -> impl Strategy<Value = MoveRequest> {
    let numbers = (number(), number(), number(), number(), some(number()), some(number()));
    let counts = (any::<u32>(), any::<u64>(), some(any::<u32>()), some(any::<u32>()), some(any::<u32>()));
    (numbers, counts, some(any::<u32>()), any::<bool>()).prop_map(|(numbers, counts, moves_to_go, in_check)| {
        MoveRequest {
            clock_ms: numbers.0,
            increment_ms: numbers.1,
            moves_to_go,
            ply: counts.0,
            overhead_ms: numbers.2,
            lag_ms: numbers.3,
            evaluation_ms: numbers.4,
            missing_increment_ms: numbers.3,
            is_foreign_clock: numbers.3 > 0.0,
            reused_nodes: counts.1,
            moves_left_plies: numbers.5,
            pieces: counts.2,
            legal_moves: counts.3,
            captures: counts.4,
            in_check,
            recaptures: counts.3,
            reply_prior: numbers.5,
            opponent_clock_ms: numbers.4,
        }
    })
}

fn snapshot() -> impl Strategy<Value = SearchSnapshot<'static>> {
    let numbers = (number(), some(number()), some(number()), some(number()), some(number()));
    let counts = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>(), some(any::<u32>()), any::<u32>());
    let lines = some(prop::sample::select(vec![ShownLines::Unvisited, ShownLines::Visited, ShownLines::Proven]));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), lines);
    let visits = prop::collection::vec(any::<u32>(), 0..9);
    let priors = prop::collection::vec((0..9_000_u16).prop_map(|prior| f32::from(prior) / 9e3), 0..9);
    let places = (visits, priors, some(0..99_usize));
    (numbers, counts, flags, places).prop_map(|(numbers, counts, flags, (visits, priors, best_move))| SearchSnapshot {
        elapsed_ms: numbers.0,
        since_first_batch_ms: numbers.1,
        new_nodes: counts.0,
        total_nodes: counts.1,
        batches: counts.2,
        average_depth: counts.3,
        mate_depth: counts.4,
        root_visits: visits.into(),
        root_priors: priors.into(),
        win_found: flags.0,
        may_resign: flags.1,
        losing_edges: counts.5,
        need_more_time: flags.2,
        best_move,
        best_value: numbers.2,
        second_value: numbers.3,
        moves_left_plies: numbers.4,
        lines: flags.3,
    })
}

const STOPS: [StopReason; 11] = [
    StopReason::Time,
    StopReason::MoveTime,
    StopReason::Nodes,
    StopReason::Playouts,
    StopReason::Depth,
    StopReason::Mate,
    StopReason::KldGain,
    StopReason::OnlyMove,
    StopReason::OnlyNonLosingMove,
    StopReason::WinFound,
    StopReason::CannotBeOvertaken,
];

fn stop() -> BoxedStrategy<Option<StopReason>> {
    some(prop::sample::select(STOPS.to_vec()))
}

fn outcome() -> impl Strategy<Value = MoveOutcome> {
    let times = (number(), some(number()), some(number()));
    (times, any::<u64>(), stop()).prop_map(
        |((elapsed_ms, first_evaluation_ms, limit_reached_at_ms), total_nodes, stop)| MoveOutcome {
            elapsed_ms,
            total_nodes,
            stop,
            first_evaluation_ms,
            limit_reached_at_ms,
        },
    )
}

fn search_start() -> impl Strategy<Value = SearchStart> {
    let limits = (any::<bool>(), any::<bool>(), some(any::<u64>()), some(number()), some(any::<u32>()));
    let params = (number(), number(), number(), number(), any::<u64>(), any::<u64>());
    (limits, params, some(number())).prop_map(|(limits, params, evaluation_ms)| SearchStart {
        limits: SearchLimits {
            infinite: limits.0,
            ponder: limits.1,
            nodes: limits.2,
            playouts: limits.2,
            movetime_ms: limits.3,
            depth: limits.4,
            mate: limits.4,
        },
        stoppers: StopperParams {
            smart_pruning_factor: params.0,
            smart_pruning_minimum_batches: params.4,
            kld_gain_interval: params.5,
            minimum_kld_gain: params.1,
            overhead_ms: params.2,
            overhead_is_set: limits.0,
            nodes_per_second_limit: params.3,
        },
        evaluation_ms,
    })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    (stop(), some(number()), some(number()), (some(number()), some(number()), some(number()))).prop_map(
        |(stop, remaining_ms, remaining_playouts, (nps, usual_ms, answer_from_ms))| Verdict {
            stop,
            remaining_ms,
            remaining_playouts,
            nps,
            usual_ms,
            answer_from_ms,
        },
    )
}

/// Written and read again; equal to the bit, which their debug text shows.
fn comes_back(event: &Event, answer: Option<&Answer>) {
    let text = write(event, answer);
    let mut lines = text.lines();
    match read(lines.next().unwrap()) {
        Ok(Line::Event(read)) => assert_eq!(format!("{read:?}"), format!("{event:?}"), "{text}"),
        other => panic!("{text}: {other:?}"),
    }
    match (lines.next().map(|line| read(line).unwrap()), answer) {
        (None, None) => {}
        (Some(Line::Answer(read)), Some(answer)) => assert_eq!(format!("{read:?}"), format!("{answer:?}"), "{text}"),
        other => panic!("{text}: {other:?}"),
    }
}

proptest! {
    #[test]
    fn events_and_answers_serialise_without_loss(
        request in request(),
        snapshot in snapshot(),
        outcome in outcome(),
        start in search_start(),
        verdict in verdict(),
        index in any::<prop::sample::Index>(),
    ) {
        let title = managers()[index.index(managers().len())].title();
        let mut manager = Accounted::build(&title).unwrap();
        let plan = manager.plan(&request);
        manager.observe(&snapshot);
        manager.finish(&outcome);
        comes_back(&Event::Plan(request), Some(&Answer::Plan(plan)));
        comes_back(&Event::Observe(snapshot), Some(&Answer::Observe(verdict)));
        let account = manager.last_move().unwrap().clone();
        comes_back(&Event::Finish(outcome), Some(&Answer::Finish(account)));
        comes_back(&Event::Search(start), None);
    }
}

#[test]
fn stop_reasons_have_names_that_stay() {
    let names: Vec<_> = STOPS.iter().map(|stop| serde_json::to_string(stop).unwrap()).collect();
    insta::assert_snapshot!(names.join(" "), @r#""time" "movetime" "nodes" "playouts" "depth" "mate" "kld_gain" "only_move" "only_non_losing_move" "win_found" "cannot_be_overtaken""#);
}

#[test]
fn missing_fields_of_events_are_defaults() {
    let read = |text: &str| match read(text).unwrap() {
        Line::Event(event) => event,
        Line::Answer(answer) => panic!("{answer:?}"),
    };
    let plan = read(r#"{"event":"plan","clock_ms":60000}"#);
    assert_eq!(plan, Event::Plan(MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() }));
    assert_eq!(read(r#"{"event":"observe","t_ms":0}"#), Event::Observe(SearchSnapshot::default()));
    assert_eq!(read(r#"{"event":"search"}"#), Event::Search(SearchStart::default()));
    let null = r#"{"event":"plan","clock_ms":1,"movestogo":null,"moves_left":null,"evaluation_ms":null}"#;
    assert_eq!(read(null), Event::Plan(MoveRequest { clock_ms: 1.0, ..MoveRequest::default() }));
    for bad in [r#"{"event":"plan"}"#, r#"{"event":"plan","clock_ms":1,"klock":2}"#, r#"{"event":"dance"}"#, "[]", "7"]
    {
        assert!(super::read(bad).is_err(), "{bad}");
    }
}
