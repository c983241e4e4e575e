//! The kernels of transformers, for every instruction set of this processor, against plain loops in 64-bit floats.

use proptest::prelude::*;

use super::activation::Activation;
use super::buffer::Buffer;
use super::tests::{Numbers, activated, all, assert_close, pack};
use super::winograd::SQUARES;
use super::{ByteMatrix, Kernels, Matrix, NormPlan, QuantisedRows, RowShape, RowStart};

/// Place of a number of a row.
fn place(shape: &RowShape, lanes: usize, vectors: usize, group: usize, row: usize, column: usize) -> usize {
    ((group * vectors + column / lanes) * shape.pitch + row) * lanes + column % lanes
}

/// A product in plain loops; `input` as the kernel has it, `weights` as `[row][column]`, `start` as the output.
fn product(shape: &RowShape, lanes: usize, input: &[f32], weights: &[f32], start: &[f64]) -> Vec<f64> {
    let mut output = start.to_vec();
    for group in 0..shape.groups {
        for row in 0..shape.rows {
            for column in 0..shape.columns * lanes {
                let products = (0..shape.inner * lanes).map(|inner| {
                    let number = input[place(shape, lanes, shape.inner, group, row, inner)];
                    f64::from(number) * f64::from(weights[inner * shape.columns * lanes + column])
                });
                output[place(shape, lanes, shape.columns, group, row, column)] += products.sum::<f64>();
            }
        }
    }
    output
}

fn check_product(kernels: &Kernels, shape: RowShape, seed: u64) {
    let (lanes, mut numbers) = (kernels.lanes(), Numbers(seed));
    let size = |vectors: usize| shape.groups * vectors * shape.pitch * lanes;
    let input = numbers.many(size(shape.inner));
    let weights = numbers.many(shape.inner * lanes * shape.columns * lanes);
    let packed = pack(kernels, shape.inner * lanes, shape.columns, &weights);
    let bias = numbers.many(shape.columns * lanes);
    let what = format!("{} {shape:?}", kernels.isa());
    // Places without a row are left as they are.
    let mut start = vec![0.0; size(shape.columns)];
    for group in 0..shape.groups {
        for row in 0..shape.rows {
            for (column, &bias) in bias.iter().enumerate() {
                start[place(&shape, lanes, shape.columns, group, row, column)] = f64::from(bias);
            }
        }
    }
    let wanted = product(&shape, lanes, &input, &weights, &start);
    let mut found = vec![0.0; size(shape.columns)];
    let activation = Activation::None;
    kernels.rows(shape, &input, Matrix::Packed(&packed), RowStart::Bias(&bias), activation, &mut found);
    assert_close(&found, &wanted, 1e-5, &what);
    let plain = Matrix::Plain { numbers: &weights, row: shape.columns * lanes, column: lanes };
    let started: Vec<f32> = start.iter().map(|&number| number as f32).collect();
    let mut other = vec![0.0; size(shape.columns)];
    kernels.rows(shape, &input, plain, RowStart::Numbers(&started), activation, &mut other);
    assert_eq!(found, other, "{what}: a plain matrix, and numbers to start from");
    let mut other = started.clone();
    kernels.rows(shape, &input, plain, RowStart::Output, Activation::Selu, &mut other);
    let wanted: Vec<f64> = wanted.iter().map(|&number| activated(number, Activation::Selu)).collect();
    assert_close(&other, &wanted, 1e-5, &what);
    kernels.rows(shape, &input, plain, RowStart::Nothing, activation, &mut found);
    let wanted = product(&shape, lanes, &input, &weights, &vec![0.0; start.len()]);
    assert_close(&found, &wanted, 1e-5, &what);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 24 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_of_rows_are_those_of_plain_loops(
        groups in 1..14usize, rows in 1..30usize, spare in 0..2usize, inner in 1..4usize, columns in 1..8usize, seed: u64,
    ) {
        for kernels in all() {
            check_product(&kernels, RowShape { groups: groups.min(3), rows, pitch: rows + spare, inner, columns }, seed);
            check_product(&kernels, RowShape::single(groups, inner, columns), seed);
        }
    }

    #[test]
    fn normalisations_are_those_of_plain_loops(rows in 1..9usize, features in 1..70usize, seed: u64) {
        for kernels in all() {
            let (lanes, mut numbers) = (kernels.lanes(), Numbers(seed));
            let columns = features.div_ceil(lanes);
            let mut plan = NormPlan {
                columns,
                features,
                epsilon: 1e-3,
                mask: Buffer::new(columns * lanes),
                gammas: Buffer::new(columns * lanes),
                betas: Buffer::new(columns * lanes),
            };
            plan.mask[..features].fill(1.0);
            plan.gammas[..features].copy_from_slice(&numbers.many(features));
            plan.betas[..features].copy_from_slice(&numbers.many(features));
            let shape = RowShape { groups: 2, rows, pitch: rows + 1, inner: 0, columns };
            let size = 2 * columns * shape.pitch * lanes;
            let [input, branch] = [numbers.many(size), numbers.many(size)];
            let mut found = input.clone();
            kernels.normalise(&plan, (2, rows, rows + 1), &mut found, Some(&branch));
            for (group, row) in (0..2).flat_map(|group| (0..rows).map(move |row| (group, row))) {
                let at = |feature| place(&shape, lanes, columns, group, row, feature);
                let sums: Vec<f64> =
                    (0..features).map(|feature| f64::from(input[at(feature)]) + f64::from(branch[at(feature)])).collect();
                let mean = sums.iter().sum::<f64>() / features as f64;
                let variance = sums.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / features as f64;
                for feature in 0..columns * lanes {
                    let wanted = sums.get(feature).map_or(0.0, |x| {
                        let normal = (x - mean) / (variance + 1e-3).sqrt();
                        normal * f64::from(plan.gammas[feature]) + f64::from(plan.betas[feature])
                    });
                    let found = f64::from(found[at(feature)]);
                    prop_assert!((found - wanted).abs() < 1e-4, "{}: {found}, not {wanted}", kernels.isa());
                }
            }
        }
    }
}

/// A product of bytes against the same of the numbers that they stand for: rows are quantised by the kernel.
fn check_bytes(kernels: &Kernels, shape: RowShape, seed: u64) {
    let (lanes, mut numbers) = (kernels.lanes(), Numbers(seed));
    let (rows, columns) = (shape.inner * lanes, shape.columns * lanes);
    let what = format!("{} {shape:?}", kernels.isa());
    let input = numbers.many(shape.groups * rows * shape.pitch);
    let weights = numbers.many(rows * columns);
    let of_column = |column: usize| weights.iter().copied().skip(column).step_by(columns).collect::<Vec<f32>>();
    let scales: Vec<f32> = (0..columns).map(|column| kernels.byte_scale(&of_column(column))).collect();
    let byte = |(at, &weight): (usize, &f32)| (weight / scales[at % columns]).round_ties_even() as i8;
    let bytes: Vec<i8> = weights.iter().enumerate().map(byte).collect();
    let factors: Vec<f32> = numbers.many(rows).iter().map(|number| number + 2.0).collect();
    let sums: Vec<f32> =
        (0..columns).map(|column| (0..rows).map(|row| f32::from(bytes[row * columns + column])).sum()).collect();
    // Four rows to a word, and as many rows as vectors of words hold.
    let inner = shape.inner.div_ceil(4);
    let mut words = vec![0u32; inner * lanes * columns];
    for row in 0..rows {
        for column in 0..columns {
            let byte = u32::from(bytes[row * columns + column].cast_unsigned());
            words[row / 4 * columns + column] |= byte << (8 * (row % 4));
        }
    }
    let words: Vec<f32> = words.into_iter().map(f32::from_bits).collect();
    let words: Vec<u32> = pack(kernels, inner * lanes, shape.columns, &words).into_iter().map(f32::to_bits).collect();
    let mut quantised = QuantisedRows::default();
    kernels.quantise((shape.groups, shape.rows, shape.pitch), shape.inner, &input, &factors, &mut quantised);
    let mut found = vec![0.0; shape.groups * columns * shape.pitch];
    let weights = ByteMatrix { words: &words, scales: &scales, sums: &sums };
    let words_shape = RowShape { inner, ..shape };
    kernels.rows_of_bytes(words_shape, &quantised, weights, RowStart::Nothing, Activation::None, &mut found);
    for (group, row) in (0..shape.groups).flat_map(|group| (0..shape.rows).map(move |row| (group, row))) {
        let number = |inner: usize| input[place(&shape, lanes, shape.inner, group, row, inner)] * factors[inner];
        let of_row: Vec<f32> = (0..rows).map(number).collect();
        let least = of_row.iter().copied().fold(f32::INFINITY, f32::min);
        let step = (of_row.iter().copied().fold(f32::NEG_INFINITY, f32::max) - least) / 255.0;
        for column in 0..columns {
            let products = of_row.iter().enumerate().map(|(inner, number)| {
                let level = f64::from((number - least) / step).round_ties_even();
                (f64::from(least) + f64::from(step) * level) * f64::from(bytes[inner * columns + column])
            });
            let wanted = products.sum::<f64>() * f64::from(scales[column]);
            let found = f64::from(found[place(&shape, lanes, shape.columns, group, row, column)]);
            // A number between two levels may be rounded to either.
            let either = 2.0 * f64::from(step) * 127.0 + 1e-3;
            assert!((found - wanted).abs() <= either, "{what}: {found}, not {wanted}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 24 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_of_bytes_are_those_of_the_numbers_they_stand_for(
        groups in 1..10usize, rows in 1..30usize, inner in 1..10usize, columns in 1..5usize, seed: u64,
    ) {
        for kernels in all() {
            check_bytes(&kernels, RowShape { groups: groups.min(2), rows, pitch: rows + 1, inner, columns }, seed);
            check_bytes(&kernels, RowShape::single(groups, inner, columns), seed);
        }
    }
}

#[test]
fn no_sum_of_bytes_overflows() {
    for kernels in all() {
        let lanes = kernels.lanes();
        let (rows, shape) = (4 * lanes, RowShape::single(1, 4, 1));
        // The worst that a column may be: any rows of the eight in two words, with the largest bytes of both.
        for counted in (1..=255u32).step_by(if cfg!(miri) { 50 } else { 1 }) {
            for sign in [1.0, -1.0] {
                let column: Vec<f32> =
                    (0..rows).map(|row| if counted >> (row % 8) & 1 == 1 { sign } else { 0.0 }).collect();
                let scale = kernels.byte_scale(&column);
                let bytes: Vec<i8> = column.iter().map(|weight| (weight / scale).round_ties_even() as i8).collect();
                let mut words = vec![0; lanes * lanes];
                for (row, byte) in bytes.iter().enumerate() {
                    for lane in 0..lanes {
                        words[row / 4 * lanes + lane] |= u32::from(byte.cast_unsigned()) << (8 * (row % 4));
                    }
                }
                let input: Vec<f32> = column.iter().map(|weight| weight.abs() * 255.0).collect();
                let mut quantised = QuantisedRows::default();
                kernels.quantise((1, 1, 1), 4, &input, &vec![1.0; rows], &mut quantised);
                let sum = bytes.iter().map(|&byte| f32::from(byte)).sum::<f32>();
                let (scales, sums) = (vec![1.0; lanes], vec![sum; lanes]);
                let weights = ByteMatrix { words: &words, scales: &scales, sums: &sums };
                let mut found = vec![0.0; lanes];
                let words_shape = RowShape { inner: 1, ..shape };
                kernels.rows_of_bytes(
                    words_shape,
                    &quantised,
                    weights,
                    RowStart::Nothing,
                    Activation::None,
                    &mut found,
                );
                // Where the input is 0, the weight is.
                let wanted = 255.0 * sum;
                assert!(found.iter().all(|&found| found == wanted), "{}: {found:?}, not {wanted}", kernels.isa());
            }
        }
    }
}

#[test]
fn sums_of_bytes_are_exact() {
    let mut numbers = Numbers(11);
    for kernels in all() {
        let (lanes, inner, rows) = (kernels.lanes(), 3, 9);
        let shape = RowShape { groups: 1, rows, pitch: rows, inner: 4 * inner, columns: 2 };
        let (width, columns) = (4 * inner * lanes, 2 * lanes);
        // Every level, the smallest and the largest in each row: their step is 1.
        let mut input: Vec<f32> = numbers.many(rows * width).iter().map(|x| (127.5 * (x + 1.0)).floor()).collect();
        for row in 0..rows {
            for (column, level) in [(0, 0.0), (1, 255.0)] {
                input[place(&shape, lanes, shape.inner, 0, row, column)] = level;
            }
        }
        // Four products have sums of 16 bits.
        let bytes: Vec<i8> = numbers.many(width * columns).iter().map(|x| (31.9 * x) as i8).collect();
        let byte = |row: usize, column: usize| bytes[row * columns + column];
        let word = |at: usize| {
            u32::from_ne_bytes(std::array::from_fn(|row| byte(at / columns * 4 + row, at % columns).cast_unsigned()))
        };
        let words: Vec<f32> = (0..width / 4 * columns).map(|at| f32::from_bits(word(at))).collect();
        let words: Vec<u32> = pack(&kernels, width / 4, 2, &words).into_iter().map(f32::to_bits).collect();
        let sum = |column| (0..width).map(|row| f32::from(byte(row, column))).sum();
        let (scales, sums): (_, Vec<f32>) = (vec![1.0; columns], (0..columns).map(sum).collect());
        let mut quantised = QuantisedRows::default();
        kernels.quantise((1, rows, rows), shape.inner, &input, &vec![1.0; width], &mut quantised);
        let weights = ByteMatrix { words: &words, scales: &scales, sums: &sums };
        let mut found = vec![0.0; rows * columns];
        let words_shape = RowShape { inner, ..shape };
        kernels.rows_of_bytes(words_shape, &quantised, weights, RowStart::Nothing, Activation::None, &mut found);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let level = |inner: usize| input[place(&shape, lanes, shape.inner, 0, row, inner)] as i32;
            let wanted: i32 = (0..width).map(|inner| level(inner) * i32::from(byte(inner, column))).sum();
            let found = found[place(&shape, lanes, 2, 0, row, column)];
            assert_eq!(found, wanted as f32, "{}, row {row}, column {column}", kernels.isa());
        }
    }
}

#[test]
fn softmax_is_that_of_plain_loops() {
    for kernels in all() {
        let (lanes, mut numbers) = (kernels.lanes(), Numbers(7));
        let shape = RowShape::boards(1, 0, SQUARES / lanes);
        let scores: Vec<f32> = numbers.many(SQUARES * RowShape::BOARD).iter().map(|x| 20.0 * x).collect();
        let mut found = scores.clone();
        kernels.softmax(&mut found);
        for row in 0..SQUARES {
            let at = |column| place(&shape, lanes, shape.columns, 0, row, column);
            let sum: f64 = (0..SQUARES).map(|column| f64::from(scores[at(column)]).exp()).sum();
            for column in 0..SQUARES {
                let wanted = f64::from(scores[at(column)]).exp() / sum;
                let found = f64::from(found[at(column)]);
                assert!((found - wanted).abs() < 1e-6, "{}: {found}, not {wanted}", kernels.isa());
            }
        }
    }
}

#[test]
fn rows_are_transposed_added_and_gated() {
    for kernels in all() {
        let (lanes, mut numbers) = (kernels.lanes(), Numbers(8));
        let shape = RowShape::boards(1, 0, 3);
        let rows = numbers.many(3 * RowShape::BOARD * lanes);
        let mut turned = vec![0.0; 3 * SQUARES * lanes];
        kernels.transpose(&rows, 3, &mut turned);
        for (square, feature) in (0..SQUARES).flat_map(|square| (0..3 * lanes).map(move |feature| (square, feature))) {
            let found = turned[(square / lanes * 3 * lanes + feature) * lanes + square % lanes];
            assert_eq!(found, rows[place(&shape, lanes, 3, 0, square, feature)], "{}", kernels.isa());
        }

        let from = numbers.many(3 * lanes);
        let mut to = rows.clone();
        kernels.add_scaled(&mut to[5 * lanes..], RowShape::BOARD * lanes, &from, 0.5);
        for (index, (&to, &before)) in to.iter().zip(&rows).enumerate() {
            let (column, row) =
                (index / (RowShape::BOARD * lanes) * lanes + index % lanes, index / lanes % RowShape::BOARD);
            let added = if row == 5 { 0.5 * from[column] } else { 0.0 };
            assert!((to - before - added).abs() < 1e-6, "{}", kernels.isa());
        }
        let next = RowShape::BOARD * lanes;
        let dot = kernels.dot_rows(3, (&rows[2 * lanes..], next), (&from, lanes));
        let wanted: f64 = (0..3 * lanes)
            .map(|feature| f64::from(rows[place(&shape, lanes, 3, 0, 2, feature)]) * f64::from(from[feature]))
            .sum();
        assert!((f64::from(dot) - wanted).abs() < 1e-5, "{}", kernels.isa());

        let [factors, terms] = [numbers.many(4 * lanes), numbers.many(4 * lanes)];
        let mut gated = rows[..4 * lanes].to_vec();
        kernels.gate(&mut gated, Some(&factors), Some(&terms));
        for index in 0..gated.len() {
            assert!((gated[index] - (rows[index] * factors[index] + terms[index])).abs() < 1e-6, "{}", kernels.isa());
        }
        kernels.gate(&mut gated, None, None);
    }
}
