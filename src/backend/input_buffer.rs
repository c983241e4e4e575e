//! Writes the input tensor of a worker in place, from sparse planes.

use crate::network::{PLANES, Planes};

/// Squares of a plane.
const SQUARES: usize = 64;
/// Numbers of one position.
pub(super) const POSITION: usize = PLANES * SQUARES;

/// A dense input of `[rows, 112, 8, 8]`, kept from batch to batch.
///
/// Each row remembers the planes it holds, and only planes that differ are written: most of the 112 are empty or the
/// same from one position to the next.
pub(super) struct InputBuffer {
    dense: Vec<f32>,
    held: Vec<Planes>,
}

impl InputBuffer {
    pub(super) fn new() -> InputBuffer {
        InputBuffer { dense: Vec::new(), held: Vec::new() }
    }

    /// Makes room for `rows` positions; new ones are empty.
    pub(super) fn grow(&mut self, rows: usize) {
        if self.held.len() < rows {
            self.dense.resize(rows * POSITION, 0.0);
            self.held.resize(rows, Planes { masks: [0; PLANES], values: [0.0; PLANES] });
        }
    }

    /// Puts a position into a row that [`grow`](Self::grow) has made.
    pub(super) fn set(&mut self, row: usize, planes: &Planes) {
        let held = &mut self.held[row];
        let dense = self.dense[row * POSITION..][..POSITION].as_chunks_mut::<SQUARES>().0;
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

    /// The first `rows` positions.
    pub(super) fn rows(&self, rows: usize) -> &[f32] {
        &self.dense[..rows * POSITION]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Game;
    use crate::network::{HistoryFill, InputFormat, encode};

    #[test]
    fn a_reused_row_equals_a_fresh_dense_write() {
        let mut game = Game::new();
        let mut buffer = InputBuffer::new();
        buffer.grow(2);
        for text in ["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "g8f6", "d6c7", "f6g8", "c7b8q", "g8f6"] {
            game.push_uci(text).unwrap();
            let (planes, _) = encode(&game, InputFormat::Classical, HistoryFill::FenOnly);
            buffer.set(1, &planes);
            let mut dense = vec![0.0; POSITION];
            planes.write_dense(&mut dense);
            assert_eq!(buffer.rows(2)[POSITION..], dense, "after {text}");
        }
        assert!(buffer.rows(1).iter().all(|&number| number == 0.0));
    }

    #[test]
    fn growing_keeps_what_is_there() {
        let (planes, _) = encode(&Game::new(), InputFormat::Classical, HistoryFill::FenOnly);
        let mut buffer = InputBuffer::new();
        buffer.grow(1);
        buffer.set(0, &planes);
        let before = buffer.rows(1).to_vec();
        buffer.grow(3);
        assert_eq!(buffer.rows(1), before);
        assert!(buffer.rows(3)[POSITION..].iter().all(|&number| number == 0.0));
    }
}
