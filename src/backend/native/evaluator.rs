//! One worker's forward pass.

use std::sync::Arc;

use super::buffer::Buffer;
use super::kernels::{Epilogue, FullPlane, Input, Kernels, SetSquare, Shape, SqueezeExcitation, Tiles, Tiling};
use super::plan::{HISTORY, HISTORY_PLANES, HeadPlan, Plan, PolicyPlan, WinogradPlan};
use crate::backend::{BackendError, Evaluation, Evaluator, Query};
use crate::network::{CONVOLUTION_MAP, MOVES, PLANES, Planes, SQUARES};

/// The most positions whose heads are computed together, and so in one call before it is split.
pub(super) const MAXIMUM_BATCH: usize = 64;
/// Every square of a plane.
const ALL: u64 = u64::MAX;

/// What all workers share.
pub(super) struct Shared {
    pub network: String,
    pub plan: Plan,
    pub kernels: Kernels,
}

/// A worker's buffers.
pub(super) struct NativeEvaluator {
    shared: Arc<Shared>,
    /// Positions that go through the tower together.
    chunk: usize,
    /// The tower: `[board][vector][square][lane]`.
    tower: Buffer,
    /// The hidden layer of the policy, and its 1x1 convolution.
    policy: Buffer,
    /// Tiles before and after the products.
    before: Buffer,
    after: Buffer,
    scratch: Buffer,
    value: HeadBuffers,
    moves_left: HeadBuffers,
    full: Vec<FullPlane>,
    set: Vec<SetSquare>,
}

/// The layers of a head, for [`MAXIMUM_BATCH`] positions.
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
    pub(super) fn new(shared: Arc<Shared>) -> NativeEvaluator {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let lanes = kernels.lanes();
        let chunk = chunk(plan, lanes);
        let tiles = |tiling: Tiling, boards: usize| {
            tiling.numbers() * tiling.slab(boards * plan.widest() * tiling.tiles() * lanes)
        };
        let two = if plan.has_two { tiles(Tiling::Two, 1) } else { 0 };
        let tiles = tiles(Tiling::Four, chunk).max(two);
        let policy = match &plan.policy {
            PolicyPlan::Classical { convolution, .. } => convolution.columns,
            PolicyPlan::Convolution { hidden, .. } => hidden.columns,
        };
        let hidden = |block: &super::plan::BlockPlan| block.squeeze_excitation.as_ref().map_or(0, |se| se.hidden);
        let squeezed = plan.blocks.iter().map(hidden).max().unwrap_or(0);
        NativeEvaluator {
            chunk,
            tower: Buffer::new(chunk * plan.columns * SQUARES * lanes),
            policy: Buffer::new(chunk * policy * SQUARES * lanes),
            before: Buffer::new(tiles),
            after: Buffer::new(tiles),
            scratch: Buffer::new(kernels.scratch(plan.columns, squeezed)),
            value: HeadBuffers::new(Some(&plan.value), lanes),
            moves_left: HeadBuffers::new(plan.moves_left.as_ref(), lanes),
            full: Vec::with_capacity(PLANES),
            set: Vec::with_capacity(PLANES * SQUARES),
            shared,
        }
    }

    /// Evaluates at most [`MAXIMUM_BATCH`] positions.
    fn run(&mut self, batch: &[Query], answers: &mut Vec<Evaluation>) -> Result<(), BackendError> {
        let shared = Arc::clone(&self.shared);
        let first = answers.len();
        // Parts of equal size: the last one should not be a small one.
        let parts = batch.len().div_ceil(self.chunk);
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
            (answer.q, answer.d) = match *value {
                [win, draw, loss] => wdl([win, draw, loss]),
                _ => finite(value[0], "value").map(|value| (value.tanh(), 0.0)),
            }
            .map_err(bad)?;
            if let Some(head) = &plan.moves_left {
                let plies = self.moves_left.output[row * head.output.columns * lanes];
                answer.m = Some(finite(plies, "moves left").map_err(bad)?.max(0.0));
            }
        }
        Ok(())
    }

    /// The tower, the policy and the planes of the other heads, for one part of the batch that begins at `row`.
    fn part(
        &mut self,
        shared: &Shared,
        queries: &[Query],
        row: usize,
        answers: &mut Vec<Evaluation>,
    ) -> Result<(), BackendError> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let lanes = kernels.lanes();
        let boards = queries.len();
        // From two boards on, the arithmetic that F(4x4) saves outweighs its larger weights.
        let tiling = if plan.has_two && boards == 1 { Tiling::Two } else { Tiling::Four };
        let board = plan.columns * SQUARES * lanes;
        let slab = tiling.slab(boards * plan.widest() * tiling.tiles() * lanes);
        for (index, query) in queries.iter().enumerate() {
            let planes = query.planes.as_deref().ok_or_else(|| BackendError::Query {
                network: shared.network.clone(),
                problem: "about a position without its planes".to_owned(),
            })?;
            set_squares(planes, &mut self.full, &mut self.set);
            kernels.input(
                tiling,
                Input {
                    full: &self.full,
                    set: &self.set,
                    columns: plan.columns,
                    weights: &plan.input,
                    bias: &plan.input_bias,
                    activation: plan.activation,
                    output: &mut self.tower[index * board..],
                    next: Some(Tiles { numbers: &mut self.before, slab }),
                    board: index,
                },
            );
        }
        let mut pass = Pass { kernels, tiling, boards, slab, before: &mut self.before, after: &mut self.after };
        for block in &plan.blocks {
            pass.products(&block.first);
            pass.epilogue(&block.first, None, false, plan, None, true, &mut self.scratch);
            pass.products(&block.second);
            let se = block.squeeze_excitation.as_ref().map(|se| SqueezeExcitation {
                hidden: se.hidden,
                squeeze: &se.squeeze,
                squeeze_bias: &se.squeeze_bias,
                excite: &se.excite,
                excite_bias: &se.excite_bias,
            });
            pass.epilogue(&block.second, se, true, plan, Some(&mut self.tower), true, &mut self.scratch);
        }
        let shape = |head: &super::plan::MatrixPlan| Shape {
            groups: boards,
            group_rows: SQUARES,
            inner: head.inner,
            columns: head.columns,
        };
        if let PolicyPlan::Convolution { hidden, .. } = &plan.policy {
            pass.products(hidden);
            pass.epilogue(hidden, None, false, plan, Some(&mut self.policy), false, &mut self.scratch);
        }
        if let PolicyPlan::Classical { convolution, .. } = &plan.policy {
            let numbers = boards * convolution.columns * SQUARES * lanes;
            let output = &mut self.policy[..numbers];
            kernels.product(shape(convolution), &self.tower, &convolution.weights, &convolution.bias, output);
            kernels.activate(output, plan.activation);
        }
        let moves_left = plan.moves_left.as_ref().map(|head| (head, &mut self.moves_left));
        for (head, buffers) in [(&plan.value, &mut self.value)].into_iter().chain(moves_left) {
            let numbers = head.convolution.columns * SQUARES * lanes;
            let output = &mut buffers.planes[row * numbers..][..boards * numbers];
            let HeadPlan { convolution, .. } = head;
            kernels.product(shape(convolution), &self.tower, &convolution.weights, &convolution.bias, output);
            kernels.activate(output, plan.activation);
        }
        for (index, query) in queries.iter().enumerate() {
            let logits = self.logits(shared, index, &query.indices)?;
            answers.push(Evaluation { q: 0.0, d: 0.0, m: None, logits });
        }
        Ok(())
    }

    /// The logits of the legal moves of one board of a part.
    fn logits(&self, shared: &Shared, board: usize, indices: &[u16]) -> Result<Box<[f32]>, BackendError> {
        let (plan, kernels) = (&shared.plan, &shared.kernels);
        let lanes = kernels.lanes();
        let logit = |&index: &u16| {
            let index = usize::from(index);
            if index >= MOVES {
                return Err(format!("no policy for the index {index}"));
            }
            let logit = match &plan.policy {
                PolicyPlan::Classical { convolution, rows, bias } => {
                    let numbers = convolution.columns * SQUARES * lanes;
                    kernels.dot(&self.policy[board * numbers..][..numbers], &rows[index * numbers..][..numbers])
                        + bias[index]
                }
                PolicyPlan::Convolution { hidden, taps, bias } => {
                    let numbers = hidden.columns * SQUARES * lanes;
                    let place = usize::from(CONVOLUTION_MAP[index]);
                    let (plane, square) = (place / SQUARES, place % SQUARES);
                    let plane_numbers = taps.len() / bias.len();
                    let taps = &taps[plane * plane_numbers..][..plane_numbers];
                    let board = &self.policy[board * numbers..][..numbers];
                    kernels.convolve_one(board, taps, hidden.columns, square) + bias[plane]
                }
            };
            finite(logit, "policy")
        };
        let problem = |problem| BackendError::Output { network: shared.network.clone(), problem };
        indices.iter().map(logit).collect::<Result<_, _>>().map_err(problem)
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
}

/// Positions that go through the tower together: tiles of a narrow network should stay in a core's own cache (1 MB), the
/// weights of a wide one should be fetched seldom. Measured on an AMD Zen 5 with `benches/native.rs`.
fn chunk(plan: &Plan, lanes: usize) -> usize {
    const NARROW: usize = 96;
    if plan.columns * lanes <= NARROW { 6 } else { 24 }
}

/// One part of a batch on its way through the 3x3 convolutions.
struct Pass<'a> {
    kernels: &'a Kernels,
    tiling: Tiling,
    boards: usize,
    slab: usize,
    before: &'a mut Buffer,
    after: &'a mut Buffer,
}

impl Pass<'_> {
    fn products(&mut self, convolution: &WinogradPlan) {
        let WinogradPlan { inner, columns, four, two, .. } = convolution;
        let weights = match self.tiling {
            Tiling::Four => four,
            Tiling::Two => two,
        };
        let shape = Shape { groups: self.boards, group_rows: self.tiling.tiles(), inner: *inner, columns: *columns };
        self.kernels.products(self.tiling, shape, (self.before, self.slab), weights, (self.after, self.slab));
    }

    #[allow(clippy::too_many_arguments, reason = "the ends of a convolution differ in all of these")]
    fn epilogue(
        &mut self,
        convolution: &WinogradPlan,
        squeeze_excitation: Option<SqueezeExcitation<'_>>,
        residual: bool,
        plan: &Plan,
        output: Option<&mut Buffer>,
        next: bool,
        scratch: &mut Buffer,
    ) {
        let job = Epilogue {
            boards: self.boards,
            columns: convolution.columns,
            tiles: (self.after, self.slab),
            bias: &convolution.bias,
            squeeze_excitation,
            residual,
            activation: plan.activation,
            output: output.map(|output| &mut output[..]),
            next: next.then(|| Tiles { numbers: &mut self.before[..], slab: self.slab }),
        };
        self.kernels.epilogue(self.tiling, job, scratch);
    }
}

/// The dense layers of a head for the whole batch.
fn dense(kernels: &Kernels, plan: &Plan, head: &HeadPlan, rows: usize, buffers: &mut HeadBuffers) {
    let shape = |inner, columns| Shape { groups: rows, group_rows: 1, inner, columns };
    let HeadPlan { hidden, output, .. } = head;
    kernels.product(
        shape(hidden.inner, hidden.columns),
        &buffers.planes,
        &hidden.weights,
        &hidden.bias,
        &mut buffers.hidden,
    );
    kernels.activate(&mut buffers.hidden[..rows * hidden.columns * kernels.lanes()], plan.activation);
    kernels.product(
        shape(output.inner, output.columns),
        &buffers.hidden,
        &output.weights,
        &output.bias,
        &mut buffers.output,
    );
}

/// The planes of a position as the first convolution takes them. Squares that a plane of the history has on all of its
/// boards are told once, with the sum of the weights.
fn set_squares(planes: &Planes, full: &mut Vec<FullPlane>, set: &mut Vec<SetSquare>) {
    full.clear();
    set.clear();
    let mut common = [0; HISTORY_PLANES];
    for (plane, common) in common.iter_mut().enumerate() {
        let boards = || (0..HISTORY).map(|board| board * HISTORY_PLANES + plane);
        if boards().all(|plane| planes.values[plane] == 1.0) {
            *common = boards().fold(ALL, |mask, plane| mask & planes.masks[plane]);
        }
    }
    let history = HISTORY * HISTORY_PLANES;
    let sums = common.iter().enumerate().map(|(plane, &mask)| (PLANES + plane, mask, 1.0));
    let others = planes.masks.iter().zip(&planes.values).enumerate().map(|(plane, (&mask, &value))| {
        let told = if plane < history { common[plane % HISTORY_PLANES] } else { 0 };
        (plane, mask & !told, value)
    });
    for (plane, mask, value) in sums.chain(others) {
        let plane = plane as u32;
        if mask == ALL {
            full.push(FullPlane { plane, value });
            continue;
        }
        let mut rest = mask;
        while rest != 0 {
            set.push(SetSquare { plane, square: rest.trailing_zeros(), value });
            rest &= rest - 1;
        }
    }
}

fn finite(number: f32, what: &str) -> Result<f32, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("{number} as its {what}")) }
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
