//! The parameters of the search, with Lc0's defaults (docs/lc0.md, 3 and 5.1).

use crate::search::root::temperature::Temperature;
use crate::search::root::wdl_rescale::WdlRescale;
use crate::search::tree::root_noise::Noise;
use zeitnot_network::Ratings;

/// First-play urgency: the value of an unvisited move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fpu {
    /// The parent's value, less this times the square root of the sum of the visited moves' priors.
    Reduction(f32),
    /// This value at all nodes.
    Absolute(f32),
}

/// The exploration term: `init + factor * ln((N + base) / base)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cpuct {
    /// Value for few visits.
    pub init: f32,
    /// Visits over which cpuct grows.
    pub base: f32,
    /// Factor of the growth.
    pub factor: f32,
}

impl Cpuct {
    /// Value at a node of `visits`.
    pub(crate) fn at(&self, visits: u32) -> f32 {
        if self.factor == 0.0 {
            return self.init;
        }
        self.init + self.factor * ((visits as f32 + self.base) / self.base).ln()
    }
}

/// The moves-left utility in decided positions (docs/lc0.md, 3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MovesLeftParams {
    /// Largest effect, in units of Q.
    pub max_effect: f32,
    /// Effect a ply, in units of Q.
    pub slope: f32,
    /// |Q| above which the utility has an effect.
    pub threshold: f32,
    /// Constant factor of the effect.
    pub constant_factor: f32,
    /// Factor of |Q|.
    pub scaled_factor: f32,
    /// Factor of Q squared.
    pub quadratic_factor: f32,
}

/// Parameters of the search. Names and defaults are Lc0's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchParams {
    /// Positions in a batch; 0: the backend's preferred size, fewer in a small tree on a CPU.
    pub minibatch_size: usize,
    /// Bytes that tree and cache may take together; `None`: no limit.
    pub memory_limit: Option<usize>,
    /// Playouts a second not to be exceeded; 0: no limit.
    pub nps_limit: f32,
    /// Exploration below the root.
    pub cpuct: Cpuct,
    /// Exploration at the root.
    pub cpuct_at_root: Cpuct,
    /// Value of unvisited moves.
    pub fpu: Fpu,
    /// Value of unvisited moves at the root; `None`: as `fpu` says.
    pub fpu_at_root: Option<Fpu>,
    /// Divisor of the policy's logits.
    pub policy_temperature: f32,
    /// Value of a draw for White, -1 to 1.
    pub draw_score: f32,
    /// Sharpness and contempt.
    pub wdl_rescale: WdlRescale,
    /// Noise on the priors of the root.
    pub noise: Noise,
    /// Temperature by which the move is chosen.
    pub temperature: Temperature,
    /// Chance that a player of a level overlooks how its move ends the game; `None` for the engine itself.
    pub overlooks: Option<f32>,
    /// Ratings by which the network plays; `None` where it plays by none.
    pub ratings: Option<Ratings>,
    /// The moves-left utility.
    pub moves_left: MovesLeftParams,
    /// Whether proven results travel up the tree.
    pub sticky_endgames: bool,
    /// Whether a first repetition inside the search counts as a draw.
    pub two_fold_draws: bool,
    /// Whether terminals and cache hits are backed up while a batch is still gathered.
    pub out_of_order_eval: bool,
    /// Most visits that a batch may back up out of order, as a multiple of its size.
    pub max_out_of_order_evals_factor: f32,
    /// Most nodes at which visits of one batch may collide, in a tree of any size.
    pub max_collision_events: u32,
    /// Most visits of one batch that may collide in a large tree.
    pub max_collision_visits: u32,
    /// Visits of the tree up to which only one visit of a batch may collide.
    pub max_collision_visits_scaling_start: u32,
    /// Visits of the tree from which on [`SearchParams::max_collision_visits`] may collide.
    pub max_collision_visits_scaling_end: u32,
    /// Exponent of the growth between these two.
    pub max_collision_visits_scaling_power: f32,
}

/// Lc0's defaults.
impl SearchParams {
    /// Lc0's defaults as a constant, from which the engine's options take theirs.
    pub(crate) const LC0: SearchParams = SearchParams {
        minibatch_size: 0,
        memory_limit: None,
        nps_limit: 0.0,
        cpuct: Cpuct { init: 1.745, base: 38739.0, factor: 3.894 },
        cpuct_at_root: Cpuct { init: 1.745, base: 38739.0, factor: 3.894 },
        fpu: Fpu::Reduction(0.330),
        fpu_at_root: None,
        policy_temperature: 1.359,
        draw_score: 0.0,
        wdl_rescale: WdlRescale::NONE,
        noise: Noise::NONE,
        temperature: Temperature::NONE,
        overlooks: None,
        ratings: None,
        moves_left: MovesLeftParams {
            max_effect: 0.0345,
            slope: 0.0027,
            threshold: 0.8,
            constant_factor: 0.0,
            scaled_factor: 1.6521,
            quadratic_factor: -0.6521,
        },
        sticky_endgames: true,
        two_fold_draws: true,
        out_of_order_eval: true,
        max_out_of_order_evals_factor: 2.4,
        max_collision_events: 917,
        max_collision_visits: 80_000,
        max_collision_visits_scaling_start: 28,
        max_collision_visits_scaling_end: 145_000,
        max_collision_visits_scaling_power: 1.25,
    };

    /// Visits that may collide while one batch is gathered, for a tree of `visits` (docs/lc0.md, 3.3).
    pub(crate) fn collision_visits(&self, visits: u32) -> u32 {
        let (start, end) = (self.max_collision_visits_scaling_start, self.max_collision_visits_scaling_end);
        if visits >= end {
            return self.max_collision_visits;
        }
        if visits <= start {
            return 1;
        }
        let share = (f64::from(visits - start) / f64::from(end - start))
            .powf(f64::from(self.max_collision_visits_scaling_power));
        (1.0 + f64::from(self.max_collision_visits.saturating_sub(1)) * share).round() as u32
    }
}

impl Default for SearchParams {
    fn default() -> Self {
        SearchParams::LC0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuct_grows_with_visits() {
        let cpuct = SearchParams::LC0.cpuct;
        assert!((cpuct.at(0) - 1.745).abs() < 1e-6);
        // 1.745 + 3.894 ln(2) at N = base.
        assert!((cpuct.at(38739) - 4.444_115).abs() < 1e-4);
    }

    #[test]
    fn collisions_are_budgeted_by_the_size_of_the_tree() {
        let params = SearchParams::LC0;
        assert_eq!(params.collision_visits(0), 1);
        assert_eq!(params.collision_visits(28), 1);
        assert_eq!(params.collision_visits(145_000), 80_000);
        // round(1 + 79999 * ((10000 - 28) / 144972)^1.25): 0.068786^1.25 = 0.0352266, times 79999 = 2818.1, plus 1.
        assert_eq!(params.collision_visits(10_000), 2819);
    }
}
