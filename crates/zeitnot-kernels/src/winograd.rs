//! Winograd's minimal filtering of an 8x8 board (Lavin and Gray, "Fast algorithms for convolutional neural networks",
//! arXiv:1509.09308): a 3x3 convolution becomes a product for each of 36 (or 16) transformed numbers of a tile.
//!
//! Boards lie as `[board][vector of planes][square][lane]`, transformed tiles as
//! `[number of the tile][board][vector of planes][tile][lane]`.

use super::simd::Simd;

/// Squares of a board.
pub(super) const SQUARES: usize = 64;
/// Squares of a rank.
const SIDE: usize = 8;

/// One-dimensional transforms of tiles of `OUT` results from `IN = OUT + 2` numbers, padding included. A
/// two-dimensional transform applies them along the files and then along the ranks.
pub(super) trait Tiling<const IN: usize, const OUT: usize> {
    /// The transform of the input, `B^T d`.
    unsafe fn input<S: Simd>(d: [S::Vector; IN]) -> [S::Vector; IN];
    /// The transform of products to results, `A^T m`.
    unsafe fn output<S: Simd>(m: [S::Vector; IN]) -> [S::Vector; OUT];
    /// The transform of the 3x3 kernel, `G`.
    const FILTER: [[f64; 3]; IN];
}

/// F(4x4, 3x3): four tiles to a board, and 36 products of 4 multiplications where the direct way takes 576.
///
/// The filtering interpolates at 0, at plus and minus [`A`](Four::A) and [`B`](Four::B), and at infinity.
pub(super) struct Four;

impl Four {
    /// The first pair of points.
    const A: f64 = 1.0;
    /// The second pair of points.
    const B: f64 = 2.0;
    /// The squares of the points, their product and their sum: the coefficients of `(x^2 - A^2)(x^2 - B^2)`.
    const A2: f64 = Four::A * Four::A;
    const B2: f64 = Four::B * Four::B;
    const PRODUCT: f64 = Four::A2 * Four::B2;
    const SUM: f64 = Four::A2 + Four::B2;
}

impl Tiling<6, 4> for Four {
    #[inline(always)]
    unsafe fn input<S: Simd>(d: [S::Vector; 6]) -> [S::Vector; 6] {
        // SAFETY: the caller's.
        unsafe {
            let (a2, b2) = (S::splat(Four::A2 as f32), S::splat(Four::B2 as f32));
            let (a, b) = (S::splat(Four::A as f32), S::splat(Four::B as f32));
            let (product, sum) = (S::splat(Four::PRODUCT as f32), S::splat(Four::SUM as f32));
            let even_a = S::fnma(b2, d[2], d[4]);
            let odd_a = S::fnma(b2, d[1], d[3]);
            let even_b = S::fnma(a2, d[2], d[4]);
            let odd_b = S::fnma(a2, d[1], d[3]);
            [
                S::fma(product, d[0], S::fnma(sum, d[2], d[4])),
                S::fma(a, odd_a, even_a),
                S::fnma(a, odd_a, even_a),
                S::fma(b, odd_b, even_b),
                S::fnma(b, odd_b, even_b),
                S::fma(product, d[1], S::fnma(sum, d[3], d[5])),
            ]
        }
    }

    #[inline(always)]
    unsafe fn output<S: Simd>(m: [S::Vector; 6]) -> [S::Vector; 4] {
        // SAFETY: the caller's.
        unsafe {
            let (a, b) = (S::splat(Four::A as f32), S::splat(Four::B as f32));
            let (a2, b2) = (S::splat(Four::A2 as f32), S::splat(Four::B2 as f32));
            let (a3, b3) = (S::splat((Four::A * Four::A2) as f32), S::splat((Four::B * Four::B2) as f32));
            let (even_a, odd_a) = (S::add(m[1], m[2]), S::sub(m[1], m[2]));
            let (even_b, odd_b) = (S::add(m[3], m[4]), S::sub(m[3], m[4]));
            [
                S::add(m[0], S::add(even_a, even_b)),
                S::fma(b, odd_b, S::mul(a, odd_a)),
                S::fma(b2, even_b, S::mul(a2, even_a)),
                S::fma(b3, odd_b, S::fma(a3, odd_a, m[5])),
            ]
        }
    }

    const FILTER: [[f64; 3]; 6] = {
        const fn point(at: f64, norm: f64) -> [f64; 3] {
            [1.0 / norm, at / norm, at * at / norm]
        }
        let norm_a = 2.0 * Four::A2 * (Four::A2 - Four::B2);
        let norm_b = 2.0 * Four::B2 * (Four::B2 - Four::A2);
        [
            [1.0 / Four::PRODUCT, 0.0, 0.0],
            point(Four::A, norm_a),
            point(-Four::A, norm_a),
            point(Four::B, norm_b),
            point(-Four::B, norm_b),
            [0.0, 0.0, 1.0],
        ]
    };
}

/// F(2x2, 3x3): sixteen tiles to a board, and 16 products of 16 multiplications. Its weights take less than half the
/// memory of those of [`Four`].
pub(super) struct Two;

impl Tiling<4, 2> for Two {
    #[inline(always)]
    unsafe fn input<S: Simd>(d: [S::Vector; 4]) -> [S::Vector; 4] {
        // SAFETY: the caller's.
        unsafe { [S::sub(d[0], d[2]), S::add(d[1], d[2]), S::sub(d[2], d[1]), S::sub(d[3], d[1])] }
    }

    #[inline(always)]
    unsafe fn output<S: Simd>(m: [S::Vector; 4]) -> [S::Vector; 2] {
        // SAFETY: the caller's.
        unsafe { [S::add(m[0], S::add(m[1], m[2])), S::add(S::sub(m[1], m[2]), m[3])] }
    }

    const FILTER: [[f64; 3]; 4] = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.0, 0.0, 1.0]];
}

/// One vector of planes of a board, with an empty rank before the first and after the last.
pub(super) type Board<S> = [<S as Simd>::Vector; (SIDE + 2) * SIDE];

/// Place of a square in a [`Board`].
#[inline(always)]
pub(super) const fn place(square: usize) -> usize {
    SIDE + square
}

/// A board of zeros.
#[inline(always)]
pub(super) unsafe fn empty<S: Simd>() -> Board<S> {
    // SAFETY: the caller's.
    unsafe { [S::splat(0.0); (SIDE + 2) * SIDE] }
}

/// Room for tiles of which the files are transformed and the ranks not yet: one rank of tiles, with an empty file on
/// both sides.
pub(super) type Half<S, const IN: usize> = [[<S as Simd>::Vector; SIDE + 2]; IN];

/// Empty room for half-transformed tiles, whose outer files stay empty.
#[inline(always)]
pub(super) unsafe fn half<S: Simd, const IN: usize>() -> Half<S, IN> {
    // SAFETY: the caller's.
    unsafe { [[S::splat(0.0); SIDE + 2]; IN] }
}

/// Transforms a board into its tiles; `to` is the place of the first number of the first tile, and `slab` the distance
/// from one number of a tile to the next.
#[inline(always)]
pub(super) unsafe fn scatter<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(
    board: &Board<S>,
    half: &mut Half<S, IN>,
    to: *mut f32,
    slab: usize,
) {
    // SAFETY: the caller's: `to` is good for every tile and number.
    unsafe {
        for tile_rank in 0..SIDE / OUT {
            for file in 0..SIDE {
                let mut d = [S::splat(0.0); IN];
                for i in 0..IN {
                    // The first rank of a tile is one before its first result, as the first of a board is.
                    d[i] = board[(tile_rank * OUT + i) * SIDE + file];
                }
                let d = T::input::<S>(d);
                for i in 0..IN {
                    half[i][file + 1] = d[i];
                }
            }
            let to = to.add(tile_rank * (SIDE / OUT) * S::LANES);
            for i in 0..IN {
                for tile_file in 0..SIDE / OUT {
                    let mut d = [S::splat(0.0); IN];
                    for j in 0..IN {
                        d[j] = half[i][tile_file * OUT + j];
                    }
                    let d = T::input::<S>(d);
                    for j in 0..IN {
                        S::store(to.add((i * IN + j) * slab + tile_file * S::LANES), d[j]);
                    }
                }
            }
        }
    }
}

/// Transforms the tiles back into a board and adds a bias; `from` and `slab` are as for [`scatter`].
#[inline(always)]
pub(super) unsafe fn gather<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(
    from: *const f32,
    slab: usize,
    bias: S::Vector,
    board: &mut Board<S>,
) {
    // SAFETY: the caller's: `from` is good for every tile and number.
    unsafe {
        let mut half = [[S::splat(0.0); IN]; OUT];
        for tile_rank in 0..SIDE / OUT {
            for tile_file in 0..SIDE / OUT {
                let from = from.add((tile_rank * (SIDE / OUT) + tile_file) * S::LANES);
                for j in 0..IN {
                    let mut m = [S::splat(0.0); IN];
                    for i in 0..IN {
                        m[i] = S::load(from.add((i * IN + j) * slab));
                    }
                    let y = T::output::<S>(m);
                    for i in 0..OUT {
                        half[i][j] = y[i];
                    }
                }
                for i in 0..OUT {
                    let y = T::output::<S>(half[i]);
                    for j in 0..OUT {
                        board[place((tile_rank * OUT + i) * SIDE + tile_file * OUT + j)] = S::add(y[j], bias);
                    }
                }
            }
        }
    }
}
