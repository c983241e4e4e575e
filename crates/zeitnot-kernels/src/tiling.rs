//! The ways to compute 3x3 convolutions, and their weights.

use super::{TAPS, winograd};

/// The size of the squares of a board that a 3x3 convolution computes at once (Winograd's filtering).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// F(4x4, 3x3): the least arithmetic.
    Four,
    /// F(2x2, 3x3): 1.8 times the arithmetic, with 0.44 times the weights.
    Two,
}

impl Tiling {
    /// Numbers of a transformed tile: as many products.
    pub const fn numbers(self) -> usize {
        match self {
            Tiling::Four => 36,
            Tiling::Two => 16,
        }
    }

    /// Tiles of a board.
    pub const fn tiles(self) -> usize {
        match self {
            Tiling::Four => 4,
            Tiling::Two => 16,
        }
    }

    /// The kernel of a 3x3 convolution, transformed: `G g G^T`.
    pub fn filter(self, kernel: &[f32; TAPS], out: &mut [f32]) {
        match self {
            Tiling::Four => filter(&<winograd::Four as winograd::Tiling<6, 4>>::FILTER, kernel, out),
            Tiling::Two => filter(&<winograd::Two as winograd::Tiling<4, 2>>::FILTER, kernel, out),
        }
    }

    /// The distance from one number of a tile to the next, where each takes `numbers` numbers: a little more than that,
    /// because 36 numbers at a multiple of 4096 bytes from one another would share the few places that a first-level
    /// cache has for them.
    pub const fn slab(self, numbers: usize) -> usize {
        /// Numbers of a page.
        const PAGE: usize = 1024;
        /// Numbers of five cache lines: an odd number of lines comes back to the same place last.
        const SKEW: usize = 80;
        numbers.next_multiple_of(PAGE) + SKEW
    }
}

fn filter<const IN: usize>(g: &[[f64; 3]; IN], kernel: &[f32; TAPS], out: &mut [f32]) {
    for i in 0..IN {
        let mut row = [0.0; 3];
        for x in 0..3 {
            row[x] = (0..3).map(|y| g[i][y] * f64::from(kernel[y * 3 + x])).sum();
        }
        for j in 0..IN {
            out[i * IN + j] = (0..3).map(|x| row[x] * g[j][x]).sum::<f64>() as f32;
        }
    }
}
