//! Computes the tower of residual blocks for a few positions at a time.

use super::prepared::{BlockPlan, HISTORY, HISTORY_PLANES, TowerPlan, WinogradPlan};
use zeitnot_kernels::{
    Buffer, Epilogue, FullPlane, Input, Kernels, SetSquare, Shape, SqueezeExcitation, Tiles, Tiling,
};
use zeitnot_network::{PLANES, Planes, SQUARES};

/// Every square of a plane.
const ALL: u64 = u64::MAX;

/// A worker's buffers for the tower.
pub(super) struct Tower {
    chunk: usize,
    /// The residual stream, which the blocks add to: `[board][vector][square][lane]`.
    boards: Buffer,
    /// Transformed tiles that the products of a convolution read; the field `after` has those that they write.
    before: Buffer,
    after: Buffer,
    scratch: Buffer,
    full: Vec<FullPlane>,
    set: Vec<SetSquare>,
}

impl Tower {
    pub(super) fn new(plan: &TowerPlan, kernels: &Kernels) -> Tower {
        let lanes = kernels.lanes();
        let chunk = chunk(plan, lanes);
        let tiles = |tiling: Tiling, boards: usize| tiling.numbers() * slab(plan, kernels, tiling, boards);
        let two = if plan.has_two { tiles(Tiling::Two, 1) } else { 0 };
        let tiles = tiles(Tiling::Four, chunk).max(two);
        let hidden = |block: &BlockPlan| block.squeeze_excitation.as_ref().map_or(0, |se| se.hidden);
        let hidden = plan.blocks.iter().map(hidden).max().unwrap_or(0);
        Tower {
            chunk,
            boards: Buffer::new(chunk * plan.columns * SQUARES * lanes),
            before: Buffer::new(tiles),
            after: Buffer::new(tiles),
            scratch: Buffer::new(kernels.scratch(plan.columns, hidden)),
            full: Vec::with_capacity(PLANES + HISTORY_PLANES),
            set: Vec::with_capacity(PLANES * SQUARES),
        }
    }

    /// The most positions that [`run`](Self::run) takes.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// The output of the last block: `[board][vector][square][lane]`.
    pub(super) fn boards(&self) -> &[f32] {
        &self.boards
    }

    /// Computes the output of the last block, and its tiles, from positions.
    pub(super) fn run(&mut self, plan: &TowerPlan, kernels: &Kernels, positions: &[&Planes]) {
        let boards = positions.len();
        self.enter(plan, kernels, positions);
        for block in &plan.blocks {
            self.products(plan, kernels, &block.first, boards);
            self.epilogue(plan, kernels, End::First(&block.first), boards);
            self.products(plan, kernels, &block.second, boards);
            self.epilogue(plan, kernels, End::Second(block), boards);
        }
    }

    /// Computes the 3x3 convolution of a head, with its activation, from the output of the last block.
    pub(super) fn convolve(
        &mut self,
        plan: &TowerPlan,
        kernels: &Kernels,
        convolution: &WinogradPlan,
        boards: usize,
        output: &mut [f32],
    ) {
        self.products(plan, kernels, convolution, boards);
        self.epilogue(plan, kernels, End::Last(convolution, output), boards);
    }

    /// Computes the first convolution, and the tiles of the next one.
    fn enter(&mut self, plan: &TowerPlan, kernels: &Kernels, positions: &[&Planes]) {
        let tiling = tiling(plan, positions.len());
        let slab = slab(plan, kernels, tiling, positions.len());
        let numbers = plan.columns * SQUARES * kernels.lanes();
        for (board, planes) in positions.iter().enumerate() {
            set_squares(planes, &mut self.full, &mut self.set);
            let job = Input {
                full: &self.full,
                set: &self.set,
                columns: plan.columns,
                weights: &plan.input,
                bias: &plan.input_bias,
                activation: plan.activation,
                output: &mut self.boards[board * numbers..],
                next: Some(Tiles { numbers: &mut self.before, slab }),
                board,
            };
            kernels.input(tiling, job);
        }
    }

    fn products(&mut self, plan: &TowerPlan, kernels: &Kernels, convolution: &WinogradPlan, boards: usize) {
        let WinogradPlan { inner, columns, four, two, .. } = convolution;
        let tiling = tiling(plan, boards);
        let slab = slab(plan, kernels, tiling, boards);
        let weights = match tiling {
            Tiling::Four => four,
            Tiling::Two => two,
        };
        let shape = Shape { groups: boards, group_rows: tiling.tiles(), inner: *inner, columns: *columns };
        kernels.products(tiling, shape, (&self.before, slab), weights, (&mut self.after, slab));
    }

    fn epilogue(&mut self, plan: &TowerPlan, kernels: &Kernels, end: End<'_>, boards: usize) {
        let tiling = tiling(plan, boards);
        let slab = slab(plan, kernels, tiling, boards);
        let residual = matches!(end, End::Second(_));
        let next = !matches!(end, End::Last(..));
        let (convolution, squeeze_excitation, output) = match end {
            End::First(convolution) => (convolution, None, None),
            End::Second(block) => (&block.second, block.squeeze_excitation.as_ref(), Some(&mut self.boards[..])),
            End::Last(convolution, output) => (convolution, None, Some(output)),
        };
        let job = Epilogue {
            boards,
            columns: convolution.columns,
            tiles: (&self.after, slab),
            bias: &convolution.bias,
            squeeze_excitation: squeeze_excitation.map(|se| SqueezeExcitation {
                hidden: se.hidden,
                squeeze: &se.squeeze,
                squeeze_bias: &se.squeeze_bias,
                excite: &se.excite,
                excite_bias: &se.excite_bias,
            }),
            residual,
            activation: plan.activation,
            output,
            next: next.then(|| Tiles { numbers: &mut self.before[..], slab }),
        };
        kernels.epilogue(tiling, job, &mut self.scratch);
    }
}

/// The convolution that an epilogue follows.
enum End<'a> {
    /// The first convolution of a block.
    First(&'a WinogradPlan),
    /// The second convolution of a block.
    Second(&'a BlockPlan),
    /// A convolution after the tower, and the place for its boards.
    Last(&'a WinogradPlan, &'a mut [f32]),
}

/// The tiling for `boards` positions. From two positions on, F(4x4) saves more arithmetic than its larger weights cost.
fn tiling(plan: &TowerPlan, boards: usize) -> Tiling {
    if plan.has_two && boards == 1 { Tiling::Two } else { Tiling::Four }
}

/// Distance, in numbers, between successive transformed numbers of a tile when `boards` positions are computed
/// together; all convolutions of the network use the same.
fn slab(plan: &TowerPlan, kernels: &Kernels, tiling: Tiling, boards: usize) -> usize {
    tiling.slab(boards * plan.widest * tiling.tiles() * kernels.lanes())
}

/// Positions that go through the tower together: tiles of a narrow network should stay in a core's own cache (1 MB),
/// the weights of a wide one should be fetched seldom. Measured on an AMD Zen 5 with `benches/native.rs`.
fn chunk(plan: &TowerPlan, lanes: usize) -> usize {
    const NARROW: usize = 96;
    if plan.columns * lanes <= NARROW { 6 } else { 24 }
}

/// Writes the planes of a position as the first convolution takes them. A square that is set in a plane of all boards
/// of the history is entered once, with the sum of the weights.
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
        let summed = if plane < history { common[plane % HISTORY_PLANES] } else { 0 };
        (plane, mask & !summed, value)
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
