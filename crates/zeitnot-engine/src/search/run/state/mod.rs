//! Holds what the threads of one search share under its lock: the tree, the counters, and the decision to stop.

mod results;
mod stoppers;

use super::batch_size::{batch_size, size_for_tree};
use super::depth_growth::DepthGrowth;
use super::move_limits::MoveLimits;
use crate::search::context::{RemainingLimits, SearchContext};
use crate::search::gather::batch::{Batch, Progress};
use crate::search::root::observer::SharedRootObserver;
use crate::search::tree::Tree;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::{StopReason, Timekeeper};

/// Fewest playouts in a reused tree before their mean depth counts: the first ones go down the best line known.
const FEWEST_FOR_DEPTH: u64 = 100;

/// The state of a search under way.
pub(crate) struct State {
    pub tree: Tree,
    pub time: Timekeeper,
    pub stop: Option<StopReason>,
    /// An evaluator's failure; it ends the search.
    pub error: Option<String>,
    pub limits: MoveLimits,
    /// Time at which the stoppers would end the search as they last saw it, in milliseconds since the move's clock
    /// started; at most the hard limit.
    pub limit_ms: Option<f64>,
    /// The earliest time at which a search that ends by itself may answer, as the time manager last said, in
    /// milliseconds since the move's clock started.
    pub answer_from_ms: Option<f64>,
    /// Time at which `stop` is answered even if nothing is evaluated, in milliseconds since the move's clock started;
    /// `None`: at once.
    pub answer_by_ms: Option<f64>,
    /// Whether the tree had no visit when the search began.
    began_empty: bool,
    progress: Progress,
    batches: u64,
    first_batch_end_ms: Option<f64>,
    /// Measured latency of batches, by which the last batch gets a size that ends in time.
    pub latency: BatchLatency,
    /// Positions that the network evaluated.
    evaluations: u64,
    depth_growth: DepthGrowth,
    /// Whether noise was drawn for this search; the result may be that there is none.
    noise_drawn: bool,
    playouts_expected: f64,
    best_edge: Option<usize>,
    root_visits: Vec<u32>,
    random: Xoshiro256PlusPlus,
    root_observer: Option<SharedRootObserver>,
}

impl State {
    pub(crate) fn new(tree: Tree, time: Timekeeper, latency: BatchLatency, seed: u64, limits: MoveLimits) -> State {
        State {
            began_empty: tree.is_empty(),
            tree,
            time,
            stop: None,
            error: None,
            limits,
            limit_ms: limits.hard_limit_ms,
            answer_from_ms: None,
            answer_by_ms: None,
            progress: Progress::default(),
            batches: 0,
            first_batch_end_ms: None,
            latency,
            evaluations: 0,
            depth_growth: DepthGrowth::default(),
            noise_drawn: false,
            playouts_expected: f64::INFINITY,
            best_edge: None,
            root_visits: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            root_observer: None,
        }
    }

    /// Goes on as the search of a move with these limits: the visits so far count as those of a tree that was kept.
    pub(crate) fn begin_move(&mut self, limits: MoveLimits) {
        (self.limits, self.limit_ms) = (limits, limits.hard_limit_ms);
        self.began_empty = self.tree.is_empty();
        (self.stop, self.answer_from_ms) = (None, None);
        self.progress = Progress::default();
        (self.batches, self.first_batch_end_ms) = (0, None);
        (self.evaluations, self.depth_growth) = (0, DepthGrowth::default());
        self.playouts_expected = f64::INFINITY;
    }

    /// Milliseconds since the move's clock started.
    pub(crate) fn elapsed_ms(&self, context: &SearchContext) -> f64 {
        (context.clock.now_ms() - self.limits.start_ms).max(0.0)
    }

    /// Milliseconds until a search that has ended by itself may be answered; `None` where it need not wait. An error
    /// waits for nothing.
    pub(crate) fn wait_ms(&self, context: &SearchContext) -> Option<f64> {
        let from_ms = self.answer_from_ms.filter(|_| self.stop.is_some() && self.error.is_none())?;
        Some(from_ms - self.elapsed_ms(context)).filter(|wait_ms| *wait_ms > 0.0)
    }

    /// The state with an observer, which sees the root as its visits grow.
    pub(crate) fn observed_by(self, root_observer: Option<SharedRootObserver>) -> State {
        State { root_observer, ..self }
    }

    fn remaining(&self) -> RemainingLimits {
        RemainingLimits {
            node_limit: self.limits.node_limit,
            playouts_expected: self.playouts_expected,
            best_edge: self.best_edge,
        }
    }

    /// Begins to gather a batch.
    pub(crate) fn begin(&self, context: &SearchContext, batch: &mut Batch) {
        batch.begin(self.tree.visits(), &context.params, &self.remaining());
    }

    /// Sends another round of visits down the tree. Returns whether there was one.
    pub(crate) fn pick(&mut self, context: &SearchContext, batch: &mut Batch) -> bool {
        if context.params.noise.epsilon > 0.0 {
            self.make_noise(context);
        }
        let limits = self.remaining();
        let size = self.batch_size(context);
        batch.pick(&mut self.tree, context, &limits, size)
    }

    /// Draws the noise of this search, as soon as the root has moves.
    fn make_noise(&mut self, context: &SearchContext) {
        let root = &self.tree[self.tree.root()];
        let moves = self.tree.view(root).map_or(0, |view| view.moves.len());
        if moves > 0 && !self.noise_drawn {
            self.noise_drawn = true;
            let noise = context.params.noise.draw(moves, &mut self.random);
            self.tree.set_root_noise(noise);
        }
    }

    /// Backs up the leaves that need no network. Returns whether that freed places in the batch.
    pub(crate) fn back_up_out_of_order(&mut self, context: &SearchContext, batch: &mut Batch) -> bool {
        let progress = batch.back_up_out_of_order(&mut self.tree, context);
        self.count(progress);
        progress.playouts > 0
    }

    /// Backs up a batch whose answers have been taken.
    pub(crate) fn back_up(&mut self, context: &SearchContext, batch: &mut Batch) {
        let progress = batch.back_up(&mut self.tree, context);
        self.count(progress);
    }

    /// Positions of the next batch: no more than will be evaluated before a time limit, and without a time limit no
    /// more than the next move can wait for.
    fn batch_size(&self, context: &SearchContext) -> usize {
        let size = match context.nps_limit > 0.0 {
            // A slowed search advances in minibatches, not in leaps.
            true => context.minibatch_size,
            false => match batch_size(&self.latency, context.minibatch_size, context.workers) {
                portion if portion > context.minibatch_size => portion,
                most => size_for_tree(context.least_batch, most, self.tree.visits(), context.workers),
            },
        };
        match self.limit_ms.map(|limit_ms| limit_ms - self.elapsed_ms(context)).or(self.limits.longest_batch_ms) {
            Some(ms) => self.latency.fitting(ms, size),
            None => size,
        }
    }

    /// Whether the search is faster than the limit of playouts a second allows.
    pub(crate) fn too_fast(&self, context: &SearchContext) -> bool {
        let elapsed_ms = self.first_batch_end_ms.map_or(0.0, |end| self.elapsed_ms(context) - end);
        context.nps_limit > 0.0 && self.progress.playouts as f64 * 1e3 > context.nps_limit * elapsed_ms
    }

    /// Whether a time limit is reached.
    pub(crate) fn time_is_up(&self, context: &SearchContext) -> bool {
        self.limit_ms.is_some_and(|limit_ms| self.elapsed_ms(context) >= limit_ms)
    }

    /// Notes that `positions` were evaluated in `took_ms` milliseconds, a minibatch at a time.
    pub(crate) fn observe(&mut self, context: &SearchContext, positions: usize, took_ms: f64) {
        context.calls(positions, took_ms).for_each(|(positions, took_ms)| self.latency.observe(positions, took_ms));
        self.evaluations += positions as u64;
    }

    fn count(&mut self, progress: Progress) {
        self.progress.playouts += progress.playouts;
        self.progress.depth_sum += progress.depth_sum;
        self.progress.collisions += progress.collisions;
        self.progress.deepest = self.progress.deepest.max(progress.deepest);
        self.progress.bounded += progress.bounded;
        if self.progress.playouts >= FEWEST_FOR_DEPTH.min(u64::from(self.tree.visits())) {
            self.tree.note_depth(self.mean_depth());
        }
    }

    fn mean_depth(&self) -> u32 {
        (self.progress.depth_sum / self.progress.playouts.max(1)) as u32
    }
}
