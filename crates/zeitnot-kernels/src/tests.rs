//! Every kernel, for every instruction set of this processor, against plain loops in 64-bit floats, on random sizes.

use proptest::prelude::*;

use super::*;

/// Random numbers in -1..1 that depend on the seed alone.
pub(super) struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(super) fn many(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

pub(super) fn all() -> impl Iterator<Item = Kernels> {
    Isa::ALL.into_iter().filter_map(Kernels::new)
}

pub(super) fn assert_close(found: &[f32], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (index, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
        let error = (f64::from(found) - wanted).abs();
        assert!(error <= tolerance * wanted.abs().max(1.0), "{what}, number {index}: {found}, not {wanted}");
    }
}

/// Weights `[row][column]` in the order of the kernels.
pub(super) fn pack(kernels: &Kernels, rows: usize, columns: usize, weights: &[f32]) -> Vec<f32> {
    let lanes = kernels.lanes();
    let mut packed = Vec::new();
    for first in (0..columns).step_by(kernels.panel()) {
        for row in 0..rows {
            let width = kernels.panel().min(columns - first);
            packed.extend_from_slice(&weights[(row * columns + first) * lanes..][..width * lanes]);
        }
    }
    packed
}

/// `planes[plane][square]` in the order of the kernels, and back.
fn blocked(planes: &[f32], rows: usize, lanes: usize) -> Vec<f32> {
    let mut out = vec![0.0; planes.len()];
    for (index, &number) in planes.iter().enumerate() {
        let (plane, row) = (index / rows, index % rows);
        out[(plane / lanes * rows + row) * lanes + plane % lanes] = number;
    }
    out
}

/// A 3x3 convolution of one board in plain loops: `x[input][square]`, `w[output][input][tap]`.
fn convolve(x: &[f32], w: &[f32], inputs: usize, outputs: usize) -> Vec<f64> {
    let mut y = vec![0.0; outputs * SQUARES];
    for output in 0..outputs {
        for square in 0..SQUARES {
            let (rank, file) = (square as i32 / 8, square as i32 % 8);
            for input in 0..inputs {
                for tap in 0..TAPS {
                    let (r, f) = (rank + tap as i32 / 3 - 1, file + tap as i32 % 3 - 1);
                    if (0..8).contains(&r) && (0..8).contains(&f) {
                        let from = input * SQUARES + (r * 8 + f) as usize;
                        let weight = w[(output * inputs + input) * TAPS + tap];
                        y[output * SQUARES + square] += f64::from(x[from]) * f64::from(weight);
                    }
                }
            }
        }
    }
    y
}

/// Every one.
const NONLINEARITIES: [Activation; 8] = [
    Activation::Relu,
    Activation::Mish,
    Activation::None,
    Activation::Tanh,
    Activation::Sigmoid,
    Activation::Selu,
    Activation::Swish,
    Activation::ReluSquared,
];

pub(super) fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Mish => x * x.exp().ln_1p().tanh(),
        Activation::None => x,
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Selu if x > 0.0 => 1.050_700_987_355_480_5 * x,
        Activation::Selu => 1.050_700_987_355_480_5 * 1.673_263_242_354_377_2 * x.exp_m1(),
        Activation::Swish => x / (1.0 + (-x).exp()),
        Activation::ReluSquared => x.max(0.0) * x.max(0.0),
    }
}

fn activations() -> impl Strategy<Value = Activation> {
    prop_oneof![Just(Activation::Relu), Just(Activation::Mish)]
}

fn tilings() -> impl Strategy<Value = Tiling> {
    prop_oneof![Just(Tiling::Four), Just(Tiling::Two)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 24 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_are_those_of_plain_loops(
        seed: u64, groups in 1usize..20, rows in prop_oneof![Just(1usize), Just(4), Just(16), Just(64)],
        inner in 1usize..4, columns in 1usize..6,
    ) {
        let groups = if rows > 4 { groups.min(3) } else { groups };
        for kernels in all() {
            let lanes = kernels.lanes();
            let mut numbers = Numbers(seed);
            let input = numbers.many(groups * rows * inner * lanes);
            let weights = numbers.many(inner * lanes * columns * lanes);
            let bias = numbers.many(columns * lanes);
            let mut output = vec![f32::NAN; groups * rows * columns * lanes];
            let mut wanted = vec![0.0; output.len()];
            for group in 0..groups {
                for row in 0..rows {
                    for column in 0..columns * lanes {
                        let mut sum = f64::from(bias[column]);
                        for k in 0..inner * lanes {
                            let from = ((group * inner + k / lanes) * rows + row) * lanes + k % lanes;
                            sum += f64::from(input[from]) * f64::from(weights[k * columns * lanes + column]);
                        }
                        wanted[((group * columns + column / lanes) * rows + row) * lanes + column % lanes] = sum;
                    }
                }
            }
            let weights = pack(&kernels, inner * lanes, columns, &weights);
            let shape = Shape { groups, group_rows: rows, inner, columns };
            kernels.product(shape, &input, &weights, &bias, &mut output);
            assert_close(&output, &wanted, 1e-4, &format!("{} {shape:?}", kernels.isa()));
        }
    }

    /// The whole path of a convolution: tiles, products, and back with everything that an epilogue can do.
    #[test]
    fn convolutions_are_those_of_plain_loops(
        seed: u64, tiling in tilings(), boards in 1usize..6, inner in 1usize..3, columns in 1usize..3,
        hidden in 0usize..3, residual: bool, activation in activations(),
    ) {
        for kernels in all() {
            let lanes = kernels.lanes();
            let (inputs, outputs) = (inner * lanes, columns * lanes);
            let mut numbers = Numbers(seed);
            let what = format!("{} {tiling:?} {boards} boards {inputs} to {outputs}", kernels.isa());

            // The first convolution makes the boards and their tiles; one full plane and some squares.
            let full = [FullPlane { plane: 0, value: numbers.next() }, FullPlane { plane: 2, value: numbers.next() }];
            let set: Vec<SetSquare> = (0..20)
                .map(|index| SetSquare { plane: 1 + index % 3, square: (numbers.next().abs() * 64.0) as u32 % 64, value: numbers.next() })
                .collect();
            let planes = 4;
            let mut x = vec![0.0; planes * SQUARES];
            for full in full {
                x[full.plane as usize * SQUARES..][..SQUARES].fill(full.value);
            }
            for set in &set {
                x[set.plane as usize * SQUARES + set.square as usize] += set.value;
            }
            let w = numbers.many(inputs * planes * TAPS);
            let bias = numbers.many(inputs);
            let mut packed = vec![0.0; planes * inputs * TAPS];
            for (index, &weight) in w.iter().enumerate() {
                let (output, plane, tap) = (index / (planes * TAPS), index / TAPS % planes, index % TAPS);
                packed[((plane * inner + output / lanes) * TAPS + tap) * lanes + output % lanes] = weight;
            }
            let mut first = convolve(&x, &w, planes, inputs);
            for (index, number) in first.iter_mut().enumerate() {
                *number = activated(*number + f64::from(bias[index / SQUARES]), activation);
            }
            let widest = inner.max(columns);
            let slab = tiling.slab(boards * widest * tiling.tiles() * lanes);
            let mut before = vec![f32::NAN; tiling.numbers() * slab];
            let mut after = before.clone();
            let mut board = vec![f32::NAN; inputs * SQUARES];
            for index in 0..boards {
                let next = Some(Tiles { numbers: &mut before, slab });
                let job = Input {
                    full: &full, set: &set, columns: inner, weights: &packed, bias: &bias, activation,
                    output: &mut board, next, board: index,
                };
                kernels.input(tiling, job);
            }
            let planes_first: Vec<f32> = first.iter().map(|&number| number as f32).collect();
            let wanted: Vec<f64> = blocked(&planes_first, SQUARES, lanes).iter().map(|&number| f64::from(number)).collect();
            assert_close(&board, &wanted, 1e-5, &format!("{what}: first convolution"));

            // The second.
            let w = numbers.many(outputs * inputs * TAPS);
            let bias = numbers.many(outputs);
            let mut weights = vec![0.0; tiling.numbers() * inputs * outputs];
            let mut filter = [0.0; 36];
            for (index, kernel) in w.as_chunks::<TAPS>().0.iter().enumerate() {
                tiling.filter(kernel, &mut filter);
                let (output, input) = (index / inputs, index % inputs);
                for number in 0..tiling.numbers() {
                    weights[(number * inputs + input) * outputs + output] = filter[number];
                }
            }
            let weights: Vec<f32> = (weights.chunks(inputs * outputs))
                .flat_map(|weights| pack(&kernels, inputs, columns, weights))
                .collect();
            let shape = Shape { groups: boards, group_rows: tiling.tiles(), inner, columns };
            kernels.products(tiling, shape, (&before, slab), &weights, (&mut after, slab));

            let mut second = convolve(&planes_first, &w, inputs, outputs);
            for (index, number) in second.iter_mut().enumerate() {
                *number += f64::from(bias[index / SQUARES]);
            }
            // Squeeze and excitation.
            let width = hidden * lanes;
            let (squeeze, squeeze_bias) = (numbers.many(outputs * width), numbers.many(width));
            let (excite, excite_bias) = (numbers.many(width * 2 * outputs), numbers.many(2 * outputs));
            if hidden > 0 {
                let mean = |plane: usize| second[plane * SQUARES..][..SQUARES].iter().sum::<f64>() / 64.0;
                let means: Vec<f64> = (0..outputs).map(mean).collect();
                let layer = |input: &[f64], weights: &[f32], bias: &[f32]| -> Vec<f64> {
                    let column = |column: usize| {
                        let terms = input.iter().enumerate().map(|(row, &number)| number * f64::from(weights[row * bias.len() + column]));
                        terms.sum::<f64>() + f64::from(bias[column])
                    };
                    (0..bias.len()).map(column).collect()
                };
                let middle: Vec<f64> =
                    layer(&means, &squeeze, &squeeze_bias).into_iter().map(|number| activated(number, activation)).collect();
                let excited = layer(&middle, &excite, &excite_bias);
                for (index, number) in second.iter_mut().enumerate() {
                    let plane = index / SQUARES;
                    *number = *number / (1.0 + (-excited[plane]).exp()) + excited[outputs + plane];
                }
            }
            let before_output = numbers.many(boards * outputs * SQUARES);
            let mut output = before_output.clone();
            let mut wanted = vec![0.0; output.len()];
            for index in 0..wanted.len() {
                let place = index % (outputs * SQUARES);
                let (vector, square, lane) = (place / (SQUARES * lanes), place / lanes % SQUARES, place % lanes);
                let number = second[(vector * lanes + lane) * SQUARES + square];
                let added = if residual { f64::from(before_output[index]) } else { 0.0 };
                wanted[index] = activated(number + added, activation);
            }
            let squeeze_excitation = (hidden > 0).then_some(SqueezeExcitation {
                hidden, squeeze: &squeeze, squeeze_bias: &squeeze_bias, excite: &excite, excite_bias: &excite_bias,
            });
            let mut next = vec![f32::NAN; tiling.numbers() * slab];
            let job = Epilogue {
                boards, columns, tiles: (&after, slab), bias: &bias, squeeze_excitation, residual, activation,
                output: Some(&mut output), next: Some(Tiles { numbers: &mut next, slab }),
            };
            kernels.epilogue(tiling, job, &mut vec![f32::NAN; kernels.scratch(columns, hidden)]);
            // The sums have some hundred terms of about one.
            assert_close(&output, &wanted, 3e-4, &what);

            // The tiles of the boards that were kept are those that went on; only relu can be applied again to see
            // them.
            if activation != Activation::Relu {
                continue;
            }
            let mut again = vec![f32::NAN; tiling.numbers() * slab];
            retile(&kernels, tiling, boards, columns, &output, (&mut again, slab));
            for number in 0..tiling.numbers() {
                let size = boards * columns * tiling.tiles() * lanes;
                assert_eq!(next[number * slab..][..size], again[number * slab..][..size], "{what}: next tiles");
            }
        }
    }

    #[test]
    fn moves_are_those_of_plain_loops(seed: u64, columns in 1usize..4, square in 0usize..64) {
        for kernels in all() {
            let lanes = kernels.lanes();
            let mut numbers = Numbers(seed);
            let board = numbers.many(columns * lanes * SQUARES);
            let w = numbers.many(columns * lanes * TAPS);
            let wanted = convolve(&board, &w, columns * lanes, 1)[square];
            let found = kernels.convolve_one(&blocked(&board, SQUARES, lanes), &blocked(&w, TAPS, lanes), columns, square);
            assert_close(&[found], &[wanted], 1e-4, "a move of a plane");
            let (a, b) = (&board[..columns * lanes * TAPS], &w[..]);
            let wanted = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            assert_close(&[kernels.dot(a, b)], &[wanted], 1e-4, "a row");
        }
    }
}

/// Tiles of boards as `[vector][square][lane]`, by way of an epilogue that does nothing: the products of a convolution
/// whose board is zero, plus the board as residual. Relu changes nothing on a board that went through it before.
fn retile(kernels: &Kernels, tiling: Tiling, boards: usize, columns: usize, board: &[f32], next: (&mut [f32], usize)) {
    let lanes = kernels.lanes();
    let slab = tiling.slab(boards * columns * tiling.tiles() * lanes);
    let job = Epilogue {
        boards,
        columns,
        tiles: (&vec![0.0; tiling.numbers() * slab], slab),
        bias: &vec![0.0; columns * lanes],
        squeeze_excitation: None,
        residual: true,
        activation: Activation::Relu,
        output: Some(&mut board.to_vec()),
        next: Some(Tiles { numbers: next.0, slab: next.1 }),
    };
    kernels.epilogue(tiling, job, &mut []);
}

#[test]
fn activations_are_exact_to_a_millionth() {
    for kernels in all() {
        let numbers: Vec<f32> = (-12_000..12_000).map(|step| step as f32 / 100.0).collect();
        for activation in NONLINEARITIES {
            let mut found = numbers.clone();
            kernels.activate(&mut found, activation);
            let wanted: Vec<f64> = numbers.iter().map(|&x| activated(f64::from(x), activation)).collect();
            assert_close(&found, &wanted, 1e-6, &format!("{} {activation:?}", kernels.isa()));
        }
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    for kernels in all() {
        for activation in NONLINEARITIES {
            let mut numbers = vec![f32::NAN; kernels.lanes()];
            kernels.activate(&mut numbers, activation);
            assert!(numbers.iter().all(|number| number.is_nan()), "{} {activation:?}", kernels.isa());
        }
    }
}

#[test]
fn slabs_never_lie_at_the_same_place_of_a_cache() {
    for tiling in [Tiling::Four, Tiling::Two] {
        for numbers in [1, 256, 1024, 4096, 5000] {
            let slab = tiling.slab(numbers);
            assert!(slab >= numbers);
            // The lines of a page, 64 bytes each.
            let mut uses = [0; 64];
            (0..tiling.numbers()).for_each(|number| uses[number * slab * 4 / 64 % 64] += 1);
            assert_eq!(uses.iter().max(), Some(&1), "{tiling:?} {numbers}");
        }
    }
}
