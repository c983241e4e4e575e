//! Runs one worker's forward pass: the tower, then the heads.

use std::sync::Arc;

use super::prepared::{HeadPlan, MatrixPlan, PolicyPlan, ResidualNetwork, ResidualPlan};
use super::tower::Tower;
use crate::{BackendError, Evaluation, Evaluator, Query};
use zeitnot_kernels::{Buffer, Kernels, Shape};
use zeitnot_network::{CONVOLUTION_MAP, MOVES, Planes, SQUARES};

/// The most positions whose heads are computed together; a larger batch is split.
pub(super) const MAXIMUM_BATCH: usize = 64;

/// A worker's evaluator of a residual network, with its buffers.
pub(super) struct NativeEvaluator {
    shared: Arc<ResidualNetwork>,
    tower: Tower,
    /// The planes before the last layer of the policy.
    policy: Buffer,
    value: HeadBuffers,
    moves_left: HeadBuffers,
}

/// Buffers for the outputs of a head's layers, for [`MAXIMUM_BATCH`] positions.
struct HeadBuffers {
    planes: Buffer,
    hidden: Buffer,
    output: Buffer,
}

impl HeadBuffers {
    fn new(head: Option<&HeadPlan>, lanes: usize) -> HeadBuffers {
        let buffer = |vectors: usize| Buffer::new(MAXIMUM_BATCH * vectors * lanes);
        HeadBuffers {
            planes: buffer(head.map_or(0, |head| head.hidden.inner)),
            hidden: buffer(head.map_or(0, |head| head.hidden.columns)),
            output: buffer(head.map_or(0, |head| head.output.columns)),
        }
    }
}

impl NativeEvaluator {
    pub(super) fn new(shared: Arc<ResidualNetwork>) -> NativeEvaluator {
        let (plan, lanes) = (&shared.plan, shared.kernels.lanes());
        let tower = Tower::new(&plan.tower, &shared.kernels);
        NativeEvaluator {
            policy: Buffer::new(tower.chunk() * plan.policy.columns() * SQUARES * lanes),
            tower,
            value: HeadBuffers::new(Some(&plan.value), lanes),
            moves_left: HeadBuffers::new(plan.moves_left.as_ref(), lanes),
            shared,
        }
    }

    /// Evaluates at most [`MAXIMUM_BATCH`] positions.
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let shared = Arc::clone(&self.shared);
        let first = answers.len();
        // Parts of equal size: the last one should not be a small one.
        let parts = batch.len().div_ceil(self.tower.chunk());
        let part = batch.len().div_ceil(parts);
        for (index, queries) in batch.chunks(part).enumerate() {
            self.part(&shared, queries, index * part, answers)?;
        }
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        dense(kernels, plan, &plan.value, batch.len(), &mut self.value);
        if let Some(head) = &plan.moves_left {
            dense(kernels, plan, head, batch.len(), &mut self.moves_left);
        }
        let lanes = kernels.lanes();
        let bad = |problem| BackendError::Output { network: shared.network.clone(), problem };
        for (row, answer) in answers[first..].iter_mut().enumerate() {
            let value = &self.value.output[row * plan.value.output.columns * lanes..][..plan.value_outputs];
            (answer.q, answer.d) = score(value).map_err(bad)?;
            if let Some(head) = &plan.moves_left {
                let plies = self.moves_left.output[row * head.output.columns * lanes];
                answer.m = Some(finite(plies, "moves left").map_err(bad)?.max(0.0));
            }
        }
        Ok(())
    }

    /// Evaluates the part of the batch that begins at `row`, but for the dense layers of the value and moves-left
    /// heads: it computes the tower, adds answers with their logits, and keeps the planes that those heads begin with.
    fn part(
        &mut self,
        shared: &ResidualNetwork,
        queries: &[Query],
        row: usize,
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), BackendError> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let boards = queries.len();
        self.tower.run(&plan.tower, kernels, &planes_of(&shared.network, queries)?);
        match &plan.policy {
            PolicyPlan::Convolution { hidden, .. } => {
                self.tower.convolve(&plan.tower, kernels, hidden, boards, &mut self.policy);
            }
            PolicyPlan::Classical { convolution, .. } => {
                planes(kernels, plan, convolution, boards, self.tower.boards(), &mut self.policy);
            }
        }
        let moves_left = plan.moves_left.as_ref().map(|head| (head, &mut self.moves_left));
        for (head, buffers) in [(&plan.value, &mut self.value)].into_iter().chain(moves_left) {
            let output = &mut buffers.planes[row * head.convolution.columns * SQUARES * kernels.lanes()..];
            planes(kernels, plan, &head.convolution, boards, self.tower.boards(), output);
        }
        for (board, query) in queries.iter().enumerate() {
            let logits = self.logits(shared, board, &query.indices)?;
            answers.push(Evaluation { q: 0.0, d: 0.0, m: None, logits });
        }
        Ok(())
    }

    /// The logits of the moves with these policy indices, for the board with the index `board` in the current part.
    fn logits(&self, shared: &ResidualNetwork, board: usize, indices: &[u16]) -> Result<Box<[f32]>, BackendError> {
        let problem = |problem| BackendError::Output { network: shared.network.clone(), problem };
        let mut logits = Vec::with_capacity(indices.len());
        for &index in indices {
            let logit = self.logit(shared, board, usize::from(index)).and_then(|logit| finite(logit, "policy"));
            logits.push(logit.map_err(problem)?);
        }
        Ok(logits.into())
    }

    fn logit(&self, shared: &ResidualNetwork, board: usize, index: usize) -> Result<f32, String> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        if index >= MOVES {
            return Err(format!("no policy for the index {index}"));
        }
        let columns = plan.policy.columns();
        let numbers = columns * SQUARES * kernels.lanes();
        let planes = &self.policy[board * numbers..][..numbers];
        Ok(match &plan.policy {
            PolicyPlan::Classical { rows, bias, .. } => {
                kernels.dot(planes, &rows[index * numbers..][..numbers]) + bias[index]
            }
            PolicyPlan::Convolution { taps, bias, .. } => {
                let place = usize::from(CONVOLUTION_MAP[index]);
                let (plane, square) = (place / SQUARES, place % SQUARES);
                let plane_numbers = taps.len() / bias.len();
                let taps = &taps[plane * plane_numbers..][..plane_numbers];
                kernels.convolve_one(planes, taps, columns, square) + bias[plane]
            }
        })
    }
}

impl Evaluator for NativeEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(MAXIMUM_BATCH) {
            self.run(part, &mut answers)?;
        }
        Ok(answers)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

/// Computes a 1x1 convolution of some boards, and the activation.
fn planes(
    kernels: &Kernels,
    plan: &ResidualPlan,
    convolution: &MatrixPlan,
    boards: usize,
    input: &[f32],
    output: &mut [f32],
) {
    let MatrixPlan { inner, columns, weights, bias } = convolution;
    let shape = Shape { groups: boards, group_rows: SQUARES, inner: *inner, columns: *columns };
    kernels.product(shape, input, weights, bias, output);
    kernels.activate(&mut output[..boards * columns * SQUARES * kernels.lanes()], plan.tower.activation);
}

/// Computes the dense layers of a head for the whole batch.
fn dense(kernels: &Kernels, plan: &ResidualPlan, head: &HeadPlan, rows: usize, buffers: &mut HeadBuffers) {
    let shape = |inner, columns| Shape { groups: rows, group_rows: 1, inner, columns };
    let HeadPlan { hidden, output, .. } = head;
    kernels.product(
        shape(hidden.inner, hidden.columns),
        &buffers.planes,
        &hidden.weights,
        &hidden.bias,
        &mut buffers.hidden,
    );
    kernels.activate(&mut buffers.hidden[..rows * hidden.columns * kernels.lanes()], plan.tower.activation);
    kernels.product(
        shape(output.inner, output.columns),
        &buffers.hidden,
        &output.weights,
        &output.bias,
        &mut buffers.output,
    );
}

/// The planes of some positions; an error if a position has none.
pub(super) fn planes_of<'a>(network: &str, queries: &'a [Query]) -> Result<Vec<&'a Planes>, BackendError> {
    let planes = |query: &'a Query| {
        query.planes.as_deref().ok_or_else(|| BackendError::Query {
            network: network.to_owned(),
            problem: "about a position without its planes".to_owned(),
        })
    };
    queries.iter().map(planes).collect()
}

pub(super) fn finite(number: f32, what: &str) -> Result<f32, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("{number} as its {what}")) }
}

/// Expected score and draw probability from the outputs of a value head: the logits of win, draw and loss, or one
/// number.
pub(super) fn score(outputs: &[f32]) -> Result<(f32, f32), String> {
    match *outputs {
        [win, draw, loss] => wdl([win, draw, loss]),
        _ => finite(outputs[0], "value").map(|value| (value.tanh(), 0.0)),
    }
}

/// Expected score and draw probability from the logits of win, draw and loss.
fn wdl(logits: [f32; 3]) -> Result<(f32, f32), String> {
    for logit in logits {
        finite(logit, "value")?;
    }
    let largest = logits.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let [win, draw, loss] = logits.map(|logit| (logit - largest).exp());
    let sum = win + draw + loss;
    Ok(((win - loss) / sum, draw / sum))
}
