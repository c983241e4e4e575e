//! Tests the shape of each result: the fields that tools stand on, and that it is read as it was written.

use super::*;
use serde_json::{Value, json};

/// The score of some games.
fn with_score(mut object: Value) -> Value {
    let score = json!({
        "games": 4, "wins": 1, "draws": 2, "losses": 1, "pentanomial": [0, 1, 0, 1, 0], "elo": 0.0, "elo_error": 34.5,
        "nelo": null, "nelo_error": null, "forfeits": [1, 0],
    });
    object.as_object_mut().unwrap().extend(score.as_object().unwrap().clone());
    object
}

fn quantiles() -> Value {
    json!({ "p5": 1.5, "p50": 2.0, "p95": 1e-7 })
}

/// An object of each kind, with all of its fields.
fn results() -> Vec<Value> {
    let lost = json!({
        "player": "a", "side": "white", "drawn": false, "ply": 12, "move": "7.", "in_file": false, "clock_ms": 100.0,
        "used_ms": null, "over_ms": null, "latency_ms": null,
        "longest": { "ply": 4, "move": "3. Nf3", "used_ms": 5000.0 }, "explain": "zeitnot time explain",
    });
    let player = json!({
        "player": "a", "games": 2, "all_games": 3, "moves": 40, "mean_ms": 99.5, "known_ends": 2, "clock_left_ms": quantiles(),
        "share_by_phase": [0.5, 0.25, 0.25], "hoarded": 0, "rushed": 1, "risked": 2, "overrun": 3, "lost_on_time": 1,
        "budget_to_used": { "smooth": 1.25 },
    });
    let used = json!({
        "tc": "10+0.1", "player": "a", "games": 4, "clock_left_ms": quantiles(), "share_by_phase": [0.5, 0.5, 0.0],
        "by_move": [{ "from_move": 1, "mean_ms": 5.0, "mean_playouts": 3.0, "moves": 20 }], "mean_playouts": 9.0,
        "mean_moves": 30.5,
    });
    let cell = with_score(json!({ "tc": "10+0.1", "first": "a", "second": "b", "clock_left_ms": quantiles() }));
    vec![
        json!({
            "kind": "game", "game": 2, "white": "b", "black": "a", "result": "1/2-1/2", "termination": "stalemate",
            "plies": 101, "clocks_ms": [1234.567, -3.0], "forfeit": false, "error": null,
        }),
        json!({
            "kind": "match",
            "summary": with_score(json!({
                "los": 0.5, "llr": -1.25, "sprt": "H0", "drawn_forfeits": [0, 1], "seconds": 3.5,
            })),
        }),
        json!({
            "kind": "rating",
            "rating": {
                "elo": 2800.5, "elo_error": 30.0, "anchors": { "b": 2750.0 },
                "all": [{ "player": "b", "value": { "kind": "anchor", "elo": 2750.0 }, "games": 4, "points": 1.5 }],
            },
        }),
        json!({
            "kind": "comparison", "cells": [cell], "times": [used],
            "ranking": [{
                "manager": "a", "elo": 0.0, "elo_error": 0.0, "by_tc": [{ "elo": null, "elo_error": null }],
            }],
        }),
        json!({
            "kind": "replay", "manager": "smooth", "traces": "1f", "tc": "10+0.1", "batch": 8, "moves": 12,
            "mean_nodes": 400.5, "nps": 2000.0, "regret": 0.004, "regret_interval": [0.001, 0.009], "agreement": 0.75,
            "gain": 0.0, "gain_interval": null, "oracle_share": null, "forfeits": 0, "stops": { "kld_gain": 9, "time": 3 },
            "oracle_regret": 0.001,
        }),
        json!({ "kind": "recording", "positions": 60, "games": 2, "snapshots": 1500, "bytes": 40_000 }),
        json!({ "kind": "verification", "games": 2, "moves": 100, "answers": 5000 }),
        json!({
            "kind": "simulation", "manager": "smooth", "tc": "10+0.1", "traces": "1f", "fit": null, "nps": null, "batch": 8,
            "lag": "20,100", "seed": 1, "games": 2000,
            "clock_ms": [{
                "move": 1, "p5": 1.0, "p50": 2.0, "p95": 3.0, "budget_ms": 5.0, "used_ms": 4.0, "games": 2000,
            }],
            "left_ms": quantiles(), "flag_rate": 0.0035, "share_by_phase": [0.5, 0.4, 0.1], "regret": null,
            "regret_by_phase": null, "beyond_record": 0.5, "mean_ms": 99.5, "mean_playouts": 50.0, "gain": 0.125,
            "gain_interval": [-0.5, 0.75], "games_per_s": 900.0,
        }),
        json!({
            "kind": "move", "file": "g.pgn", "game": 1, "ply": 0, "side": "white", "clock_ms": null, "used_ms": 1.5,
            "budget_ms": null, "moves_left_true": 30, "managers": { "smooth": 2.5 },
        }),
        json!({ "kind": "lost-on-time", "file": "g.pgn", "game": 1, "lost_on_time": lost }),
        json!({
            "kind": "audit",
            "summary": {
                "players": [player], "lost_on_time": 1,
                "managers": [{
                    "manager": "smooth", "moves": 40, "moves_left_error": { "median": 12.0, "mean": 13.5 },
                    "budget_to_used": 1.25,
                }],
            },
        }),
        json!({
            "kind": "batch-speed", "batch": 16, "evals_per_s": 300.5, "mean_evals_per_s": 290.0, "p95_evals_per_s": 250.0,
            "evals_per_cpu_s": 150.0, "latency_p50_ms": 53.0, "latency_p95_ms": 60.0, "batches": 40,
            "versus_evals_per_s": 150.25, "versus_evals_per_cpu_s": 75.0, "ratio": 2.0, "cpu_ratio": null,
            "in_turn_ms": 75.5, "cards": null,
            "threads": 1, "backend": "native", "device": "cpu", "version": "0.1.0",
        }),
    ]
}

#[test]
fn every_result_is_read_as_it_was_written() {
    let mut kinds = std::collections::BTreeSet::new();
    for value in results() {
        let result: LabResult =
            serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(serde_json::from_str::<LabResult>(&text).unwrap(), result);
        assert!(text.starts_with("{\"kind\":\""), "the kind comes first: {text}");
        kinds.insert(value["kind"].as_str().unwrap().to_owned());
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove("kind");
        assert!(serde_json::from_value::<LabResult>(without).unwrap_err().to_string().contains("kind"), "{value}");
    }
    assert_eq!(kinds.len(), 12, "an object of each kind: {kinds:?}");
}

#[test]
fn results_have_the_fields_that_tools_stand_on() {
    let has = |kind: &str, fields: &str| {
        let results = results();
        let object = results.iter().find(|value| value["kind"] == kind).unwrap();
        let object = object.get("summary").unwrap_or(object);
        for field in fields.split(' ') {
            assert!(object.pointer(field).is_some(), "{kind} without {field}: {object}");
        }
    };
    has("game", "/game /white /black /result /termination /clocks_ms/1 /plies /forfeit");
    has("match", "/games /wins /draws /losses /pentanomial/4 /elo /elo_error /los /llr /forfeits/1 /seconds");
    has(
        "comparison",
        "/cells/0/tc /cells/0/first /cells/0/second /cells/0/elo /cells/0/elo_error /cells/0/pentanomial/4",
    );
    has(
        "comparison",
        "/cells/0/forfeits/1 /cells/0/clock_left_ms/p5 /cells/0/clock_left_ms/p50 /cells/0/clock_left_ms/p95",
    );
    has("comparison", "/ranking/0/manager /ranking/0/elo /ranking/0/elo_error");
    has("replay", "/manager /moves /mean_nodes /regret /agreement /stops/time /oracle_regret");
    has(
        "simulation",
        "/clock_ms/0/move /clock_ms/0/p5 /clock_ms/0/p50 /clock_ms/0/p95 /left_ms/p5 /left_ms/p50 /left_ms/p95",
    );
    has("simulation", "/flag_rate /share_by_phase/2 /games_per_s");
    has("batch-speed", "/batch /evals_per_s /evals_per_cpu_s /versus_evals_per_s /versus_evals_per_cpu_s /ratio");
    has("move", "/file /game /ply /side /clock_ms /used_ms /moves_left_true /managers/smooth");
}

#[test]
fn intervals_without_ends_are_null() {
    assert_eq!(known([1.0, 2.0]), Some([1.0, 2.0]));
    assert_eq!((known([f64::NEG_INFINITY, 2.0]), known([1.0, f64::NAN])), (None, None));
}
