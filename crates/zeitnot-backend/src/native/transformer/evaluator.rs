//! Runs one worker's forward pass of a network with attention.

use std::mem;
use std::sync::Arc;

use super::super::evaluator::{finite, planes_of, score};
use super::super::tower::Tower;
use super::dense::Work;
use super::encoder::EncoderBuffers;
use super::heads::{HeadBuffers, PolicyBuffers};
use super::plan::TransformerNetwork;
use super::quantise::Moments;
use crate::{BackendError, Evaluation, Evaluator, Query};
use zeitnot_kernels::{Buffer, RowShape};
use zeitnot_network::SQUARES;

/// The most positions that are computed together: the weights of smolgen and of the heads are read once for all of
/// them, other weights once for each position.
pub(super) const CHUNK: usize = 8;

/// A worker's buffers, for [`CHUNK`] positions.
pub(in super::super) struct TransformerEvaluator {
    shared: Arc<TransformerNetwork>,
    work: Work,
    tower: Option<Tower>,
    /// The rows of a board from the tower, in a network with a transformer on top.
    tower_rows: Buffer,
    /// The rows that go through the encoders: `[board][vector][square][lane]`.
    rows: Buffer,
    features: Buffer,
    encoders: EncoderBuffers,
    policy: PolicyBuffers,
    value: HeadBuffers,
    moves_left: HeadBuffers,
}

impl TransformerEvaluator {
    pub(in super::super) fn new(shared: Arc<TransformerNetwork>) -> TransformerEvaluator {
        let (plan, lanes) = (&shared.plan, shared.kernels.lanes());
        let embedding = plan.embedding.as_ref();
        let tower_columns = plan.tower.as_ref().map_or(0, |tower| tower.columns);
        let all = plan.encoders.iter().chain(&plan.policy.encoders);
        let other = embedding.and_then(|embedding| Some(&embedding.dense.as_ref()?.feed_forward));
        TransformerEvaluator {
            tower: plan.tower.as_ref().map(|tower| Tower::new(tower, &shared.kernels)),
            tower_rows: Buffer::new(tower_columns * RowShape::BOARD * lanes),
            rows: Buffer::new(CHUNK * plan.columns * RowShape::BOARD * lanes),
            features: Buffer::new(embedding.map_or(0, |embedding| embedding.features(lanes))),
            encoders: EncoderBuffers::new(all, other, CHUNK, lanes),
            policy: PolicyBuffers::new(&plan.policy, CHUNK, lanes),
            value: HeadBuffers::new(Some(&plan.value), CHUNK, lanes),
            moves_left: HeadBuffers::new(plan.moves_left.as_ref(), CHUNK, lanes),
            work: Work::new(shared.kernels),
            shared,
        }
    }

    /// Evaluates at most [`CHUNK`] positions.
    fn run(&mut self, queries: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let shared = Arc::clone(&self.shared);
        self.run_layers(&shared, queries)?;
        for (board, query) in queries.iter().enumerate() {
            let answer = self.answer(&shared, board, &query.indices);
            let bad = |problem| BackendError::Output { network: shared.network.clone(), problem };
            answers.push(answer.map_err(bad)?);
        }
        Ok(())
    }

    /// Runs at most [`CHUNK`] positions and returns the moments of the inputs of the `count` layers that are to be
    /// quantised.
    pub(super) fn moments(&mut self, queries: &[Query], count: usize) -> Result<Vec<Moments>, BackendError> {
        let shared = Arc::clone(&self.shared);
        self.work.moments = vec![Moments::default(); count];
        self.run_layers(&shared, queries)?;
        Ok(mem::take(&mut self.work.moments))
    }

    /// Runs all layers for at most [`CHUNK`] positions; the heads' buffers have the outputs.
    fn run_layers(&mut self, shared: &TransformerNetwork, queries: &[Query]) -> Result<(), BackendError> {
        let (plan, boards) = (&shared.plan, queries.len());
        self.embed(shared, queries)?;
        for encoder in &plan.encoders {
            encoder.run(&mut self.work, plan.smolgen.as_ref(), boards, &mut self.rows, &mut self.encoders);
        }
        let buffers = (&mut self.policy, &mut self.encoders);
        plan.policy.run(&mut self.work, plan.smolgen.as_ref(), boards, &self.rows, buffers);
        plan.value.run(&mut self.work, boards, &self.rows, &mut self.value);
        if let Some(head) = &plan.moves_left {
            head.run(&mut self.work, boards, &self.rows, &mut self.moves_left);
        }
        Ok(())
    }

    /// Computes the rows of some boards before the first encoder, or before the heads where there is no encoder.
    fn embed(&mut self, shared: &TransformerNetwork, queries: &[Query]) -> Result<(), BackendError> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let lanes = kernels.lanes();
        let planes = planes_of(&shared.network, queries)?;
        let size = plan.columns * RowShape::BOARD * lanes;
        let parts = self.tower.as_ref().map_or(CHUNK, |tower| tower.chunk().min(CHUNK));
        for (part, planes) in planes.chunks(parts).enumerate() {
            if let (Some(tower), Some(plan)) = (&mut self.tower, &plan.tower) {
                tower.run(plan, kernels, planes);
            }
            for (index, planes) in planes.iter().enumerate() {
                let rows = &mut self.rows[(part * parts + index) * size..][..size];
                let to = if plan.embedding.is_some() { &mut self.tower_rows[..] } else { &mut rows[..] };
                if let Some(tower) = &self.tower {
                    // Each vector of planes has its squares, and then an empty row.
                    let boards = tower.boards().chunks_exact(SQUARES * lanes);
                    let columns = to.len() / (RowShape::BOARD * lanes);
                    let board = boards.skip(index * columns).take(columns);
                    for (from, to) in board.zip(to.chunks_exact_mut(RowShape::BOARD * lanes)) {
                        to[..SQUARES * lanes].copy_from_slice(from);
                    }
                }
                if let Some(embedding) = &plan.embedding {
                    let buffers = (&mut self.features[..], &mut self.encoders);
                    embedding.run(&mut self.work, planes, &self.tower_rows, rows, buffers);
                }
            }
        }
        Ok(())
    }

    /// The evaluation of one of the boards, with the logits of these moves.
    fn answer(&self, shared: &TransformerNetwork, board: usize, indices: &[u16]) -> Result<Evaluation, String> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let mut logits = Vec::with_capacity(indices.len());
        for &index in indices {
            let logit = plan.policy.logit(kernels, &self.policy, board, usize::from(index));
            let logit = logit.ok_or_else(|| format!("no policy for the index {index}"))?;
            logits.push(finite(logit, "policy")?);
        }
        let (q, d) = score(plan.value.outputs(kernels, &self.value, board))?;
        let m = match &plan.moves_left {
            Some(head) => {
                let plies = head.outputs(kernels, &self.moves_left, board)[0];
                Some(finite(plies, "moves left")?.max(0.0))
            }
            None => None,
        };
        Ok(Evaluation { q, d, m, logits: logits.into() })
    }
}

impl Evaluator for TransformerEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let mut answers = Vec::with_capacity(batch.len());
        // Parts of equal size: the last one should not be a small one.
        let parts = batch.len().div_ceil(CHUNK).max(1);
        for queries in batch.chunks(batch.len().div_ceil(parts).max(1)) {
            self.run(queries, &mut answers)?;
        }
        Ok(answers)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}
