//! The ways to compute 3x3 convolutions, and their weights.

use super::{TAPS, winograd};

/// The size of the tiles that a board is cut into, for 3x3 convolutions by Winograd's filtering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// F(4x4, 3x3), tiles of 4x4 squares: the least arithmetic.
    Four,
    /// F(2x2, 3x3), tiles of 2x2 squares: 1.8 times the arithmetic of `Four`, with 0.44 times the weights.
    Two,
}

impl Tiling {
    /// Numbers in a transformed tile, each of which takes part in a matrix product of its own.
    pub const fn numbers(self) -> usize {
        match self {
            Tiling::Four => 36,
            Tiling::Two => 16,
        }
    }

    /// Number of tiles of a board.
    pub const fn tiles(self) -> usize {
        match self {
            Tiling::Four => 4,
            Tiling::Two => 16,
        }
    }

    /// Transforms the kernel of a 3x3 convolution: `G g G^T`.
    pub fn filter(self, kernel: &[f32; TAPS], out: &mut [f32]) {
        match self {
            Tiling::Four => filter(&<winograd::Four as winograd::Tiling<6, 4>>::FILTER, kernel, out),
            Tiling::Two => filter(&<winograd::Two as winograd::Tiling<4, 2>>::FILTER, kernel, out),
        }
    }

    /// The distance from one number of a tile to the next: a little more than the `numbers` values that one number has
    /// over all tiles and planes, because 36 values at multiples of 4096 bytes from one another would share the few
    /// places that a first-level cache has for them.
    pub const fn slab(self, numbers: usize) -> usize {
        /// Numbers of a page.
        const PAGE: usize = 1024;
        /// Numbers of five cache lines. With an odd number of lines, it takes the most steps to come back to the same
        /// place of the cache.
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
