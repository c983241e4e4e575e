//! Devices that compute a network wrongly, each in its own way, and the proof that refuses them all.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use crate::common::golden;
use zeitnot_engine::backend::{
    self, Arithmetic, Attributes, Backend, BackendError, BackendSettings, Evaluation, Evaluator, Proof, Query,
};
use zeitnot_engine::network::Network;
use zeitnot_engine::network::testing::{attention_networks, random_network};
use zeitnot_engine::runtime;

/// Boards of the history, and the planes of one.
const HISTORY: usize = 8;
const PLANES_PER_BOARD: usize = 13;
/// The plane that is set when Black is to move.
const BLACK: usize = 108;
/// The rows of a full batch of the devices here.
const FULL: usize = 48;

type Answers = Result<Vec<Evaluation>, BackendError>;
type AreDamaged = fn(usize) -> bool;
type Damage = fn(&mut dyn Evaluator, &[Query], &[Query]) -> Answers;

/// A device that damages the batches that it is to damage.
struct Damaged {
    inner: Box<dyn Evaluator>,
    before: Vec<Query>,
    damage: Damage,
    batches: AreDamaged,
}

impl Evaluator for Damaged {
    fn evaluate(&mut self, batch: &[Query]) -> Answers {
        let answers = match (self.batches)(batch.len()) {
            true => (self.damage)(&mut *self.inner, batch, &self.before),
            false => self.inner.evaluate(batch),
        };
        self.before = batch.to_vec();
        answers
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// The answers about changed planes.
fn shown(inner: &mut dyn Evaluator, batch: &[Query], change: impl Fn(&mut [u64], &mut [f32])) -> Answers {
    let mut batch = batch.to_vec();
    for planes in batch.iter_mut().filter_map(|query| query.planes.as_deref_mut()) {
        change(&mut planes.masks, &mut planes.values);
    }
    inner.evaluate(&batch)
}

/// Changed answers.
fn said(inner: &mut dyn Evaluator, batch: &[Query], mut change: impl FnMut(usize, &mut Evaluation)) -> Answers {
    let mut answers = inner.evaluate(batch)?;
    answers.iter_mut().enumerate().for_each(|(row, answer)| change(row, answer));
    Ok(answers)
}

/// The answers about the planes of other queries.
fn about<'a>(inner: &mut dyn Evaluator, batch: &[Query], others: impl Iterator<Item = &'a Query>) -> Answers {
    let mut batch = batch.to_vec();
    batch.iter_mut().zip(others).for_each(|(query, other)| query.planes.clone_from(&other.planes));
    inner.evaluate(&batch)
}

fn is_blacks(query: &Query) -> bool {
    query.planes.as_ref().is_some_and(|planes| planes.masks[BLACK] != 0)
}

/// The policy indices of promotions come last.
fn is_promotion(index: u16) -> bool {
    index >= 1792
}

const DAMAGES: [(&str, Damage); 24] = [
    ("swaps two inputs", |inner, batch, _| {
        shown(inner, batch, |masks, values| {
            masks.swap(1, 9);
            values.swap(1, 9);
        })
    }),
    ("zeroes a plane", |inner, batch, _| shown(inner, batch, |masks, _| masks[PLANES_PER_BOARD] = 0)),
    ("permutes planes", |inner, batch, _| shown(inner, batch, |masks, _| masks.rotate_left(1))),
    ("permutes ranks", |inner, batch, _| {
        shown(inner, batch, |masks, _| masks.iter_mut().for_each(|mask| *mask = mask.swap_bytes()))
    }),
    ("permutes the policy", |inner, batch, _| said(inner, batch, |_, answer| answer.logits.rotate_left(1))),
    ("flips the side", |inner, batch, _| {
        shown(inner, batch, |masks, _| {
            for board in masks.chunks_exact_mut(PLANES_PER_BOARD).take(HISTORY) {
                board[..12].rotate_left(6);
            }
        })
    }),
    ("exchanges win and loss", |inner, batch, _| said(inner, batch, |_, answer| answer.q = -answer.q)),
    ("scales", |inner, batch, _| {
        said(inner, batch, |_, answer| answer.logits.iter_mut().for_each(|logit| *logit *= 1.1))
    }),
    ("shifts by a row", |inner, batch, _| {
        let others = batch.iter().cycle().skip(1);
        about(inner, batch, others)
    }),
    ("gives NaN", |inner, batch, _| {
        said(inner, batch, |row, answer| {
            if row == 0 {
                *answer.logits.last_mut().unwrap() = f32::NAN;
            }
        })
    }),
    ("gives infinity", |inner, batch, _| {
        said(inner, batch, |row, answer| {
            if row == 0 {
                answer.logits[0] = f32::INFINITY;
            }
        })
    }),
    ("gives stale answers", |inner, batch, before| about(inner, batch, before.iter())),
    // Further ways.
    ("gives one q", |inner, batch, _| said(inner, batch, |_, answer| answer.q = 0.0)),
    ("forgets draws", |inner, batch, _| said(inner, batch, |_, answer| answer.d = 0.0)),
    ("scales the moves left", |inner, batch, _| {
        said(inner, batch, |_, answer| answer.m = answer.m.map(|plies| plies * 1.1 + 0.1))
    }),
    ("forgets the fifty-move counter", |inner, batch, _| shown(inner, batch, |masks, _| masks[109] = 0)),
    ("forgets the history", |inner, batch, _| shown(inner, batch, |masks, _| masks[PLANES_PER_BOARD..104].fill(0))),
    ("forgets castling", |inner, batch, _| shown(inner, batch, |masks, _| masks[104..108].fill(0))),
    ("is wrong for Black", |inner, batch, _| {
        said(inner, batch, |row, answer| {
            if is_blacks(&batch[row]) {
                answer.q = -answer.q;
            }
        })
    }),
    ("is wrong in the last row", |inner, batch, _| {
        let last = batch.len() - 1;
        said(inner, batch, |row, answer| {
            if row == last {
                answer.logits.reverse();
            }
        })
    }),
    ("gives promotions the policy of another move", |inner, batch, _| {
        said(inner, batch, |row, answer| {
            for (index, at) in batch[row].indices.iter().zip(0..) {
                if is_promotion(*index) {
                    answer.logits[at] = answer.logits[(at + 1) % answer.logits.len()];
                }
            }
        })
    }),
    ("gives castling the policy of another move", |inner, batch, _| {
        // From e1 to h1 and a1.
        const CASTLING: [u16; 2] = [103, 97];
        said(inner, batch, |row, answer| {
            for (index, at) in batch[row].indices.iter().zip(0..) {
                if CASTLING.contains(index) {
                    answer.logits[at] = answer.logits[(at + 1) % answer.logits.len()];
                }
            }
        })
    }),
    ("loses an answer", |inner, batch, _| {
        inner.evaluate(batch).map(|mut answers| {
            answers.pop();
            answers
        })
    }),
    ("has no moves left", |inner, batch, _| said(inner, batch, |_, answer| answer.m = None)),
];

/// The sizes of batches in which a device does damage.
const BATCHES: [(&str, AreDamaged); 3] =
    [("in each batch", |_| true), ("in full batches", |size| size == FULL), ("in small batches", |size| size < FULL)];

/// The backend native in float32.
pub(crate) fn native(network: &Network) -> Arc<dyn Backend> {
    let device = "precision=f32".parse().unwrap();
    backend::create("native", Some(network), &BackendSettings { device, cache_size: 0, ..BackendSettings::default() })
        .unwrap()
}

/// The attributes of a card that runs at least so many rows.
fn card(backend: &dyn Backend, smallest_batch: usize) -> Attributes {
    Attributes { is_cpu: false, smallest_batch, maximum_batch: FULL, ..backend.attributes().clone() }
}

fn networks() -> Vec<(String, Network)> {
    let residual = Network::from_bytes(&random_network(1, 2, 16), "random-residual").unwrap();
    let named = golden::networks().into_iter().map(|(name, network)| (name.to_owned(), network));
    named.chain([("random-residual".to_owned(), residual)]).collect()
}

#[test]
fn a_device_that_damages_evaluations_is_refused_whatever_the_damage() {
    for (network, loaded) in networks() {
        let backend = native(&loaded);
        let proof = Proof::new(&*backend).unwrap();
        let has_draws = backend.attributes().has_wdl;
        for (batches, is_damaged) in BATCHES {
            for (name, damage) in DAMAGES {
                let is_nothing = match name {
                    "has no moves left" | "scales the moves left" => !backend.attributes().has_moves_left,
                    "forgets draws" => !has_draws,
                    _ => false,
                };
                if is_nothing {
                    continue;
                }
                let inner = backend.evaluator().unwrap();
                let mut device = Damaged { inner, before: Vec::new(), damage, batches: is_damaged };
                let result = proof.check(&mut device, &card(&*backend, 8), Arithmetic::Float32);
                let error = result.err().unwrap_or_else(|| panic!("{network}: {name} {batches} is not seen"));
                let line = error.to_string();
                assert!(matches!(error, BackendError::Wrong { .. }), "{network}, {name}: {line}");
                assert!(line.contains(" computes this network wrongly: ") && !line.contains('\n'), "{line}");
            }
        }
    }
}

#[test]
fn a_healthy_device_is_never_refused() {
    for (name, network) in networks() {
        let proof = Proof::new(&*native(&network)).unwrap();
        is_proved(&name, &network, &proof);
    }
}

/// Checks ONNX Runtime's CPU, in both types, as though it was a card.
pub(crate) fn is_proved(name: &str, network: &Network, proof: &Proof) {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    for (device, arithmetic, smallest) in [
        ("", Arithmetic::Float32, 1),
        ("planes=packed", Arithmetic::Float32, 16),
        ("datatype=f16", Arithmetic::Float16, 16),
    ] {
        let device = device.parse().unwrap();
        let options = BackendSettings { device, cache_size: 0, ..BackendSettings::default() };
        let backend = backend::create("onnxruntime", Some(network), &options).unwrap();
        let checked = proof.check(&mut *backend.evaluator().unwrap(), &card(&*backend, smallest), arithmetic);
        if let Err(error) = checked {
            panic!("{name}, {arithmetic:?}: {error}");
        }
    }
}

/// Random weights make near ties, which rounding decides either way.
#[test]
fn random_transformers_are_no_cause_to_refuse_a_device() {
    for (name, shape) in attention_networks() {
        for seed in [1, 2] {
            let network = Network::from_bytes(&shape.gzip(seed), name).unwrap();
            is_proved(name, &network, &Proof::new(&*native(&network)).unwrap());
        }
    }
}
