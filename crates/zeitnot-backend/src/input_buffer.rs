//! Writes a dense input tensor in place, from sparse planes.

use zeitnot_network::{PLANES, Planes};

/// Squares of a plane.
const SQUARES: usize = 64;
/// Numbers in the dense planes of one position.
pub(super) const POSITION: usize = PLANES * SQUARES;

/// The planes that each row of a dense tensor holds at present.
///
/// Only planes that differ are written into a row: most of the 112 are empty or the same from one position to the next.
pub(super) struct HeldPlanes(Vec<Planes>);

impl HeldPlanes {
    /// The state of a tensor of zeros: empty planes in each of its `rows` rows.
    pub(super) fn empty(rows: usize) -> HeldPlanes {
        HeldPlanes(vec![Planes { masks: [0; PLANES], values: [0.0; PLANES] }; rows])
    }

    /// Puts a position into a row of the tensor.
    pub(super) fn set(&mut self, dense: &mut [f32], row: usize, planes: &Planes) {
        let held = &mut self.0[row];
        let dense = dense[row * POSITION..][..POSITION].as_chunks_mut::<SQUARES>().0;
        for (index, squares) in dense.iter_mut().enumerate() {
            let (mask, value) = (planes.masks[index], planes.values[index]);
            let old = held.masks[index];
            // The value of an empty plane is nowhere in the tensor.
            if mask == old && (mask == 0 || value == held.values[index]) {
                continue;
            }
            for (square, number) in squares.iter_mut().enumerate() {
                *number = if mask >> square & 1 == 1 { value } else { 0.0 };
            }
            held.masks[index] = mask;
            held.values[index] = value;
        }
    }
}

/// A dense input of `[rows, 112, 8, 8]`, kept from batch to batch.
pub(super) struct InputBuffer {
    dense: Vec<f32>,
    held: HeldPlanes,
}

impl InputBuffer {
    /// A buffer of `rows` empty positions.
    pub(super) fn new(rows: usize) -> InputBuffer {
        InputBuffer { dense: vec![0.0; rows * POSITION], held: HeldPlanes::empty(rows) }
    }

    /// Puts a position into a row.
    pub(super) fn set(&mut self, row: usize, planes: &Planes) {
        self.held.set(&mut self.dense, row, planes);
    }

    /// The numbers of all rows.
    pub(super) fn rows(&self) -> &[f32] {
        &self.dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_chess::Game;
    use zeitnot_network::{HistoryFill, InputFormat, encode};

    #[test]
    fn a_reused_row_equals_a_fresh_dense_write() {
        let mut game = Game::new();
        let mut buffer = InputBuffer::new(2);
        for text in ["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "g8f6", "d6c7", "f6g8", "c7b8q", "g8f6"] {
            game.push_uci(text).unwrap();
            let (planes, _) = encode(&game, InputFormat::Classical, HistoryFill::FenOnly);
            buffer.set(1, &planes);
            let mut dense = vec![0.0; POSITION];
            planes.write_dense(&mut dense);
            assert_eq!(buffer.rows()[POSITION..], dense, "after {text}");
        }
        assert!(buffer.rows()[..POSITION].iter().all(|&number| number == 0.0));
    }
}
