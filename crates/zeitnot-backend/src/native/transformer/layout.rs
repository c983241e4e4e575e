//! Places features among the lanes of vectors.

use zeitnot_network::SQUARES;

use zeitnot_kernels::RowShape;

/// The feature at each place of a row of whole vectors; `None` for padding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    places: Vec<Option<usize>>,
    lanes: usize,
}

impl Layout {
    /// Features one behind the other.
    pub(super) fn plain(features: usize, lanes: usize) -> Layout {
        Layout::heads(1, features, lanes)
    }

    /// Heads of `depth` features one behind the other, each head beginning at a whole vector.
    pub(super) fn heads(heads: usize, depth: usize, lanes: usize) -> Layout {
        let padded = depth.next_multiple_of(lanes);
        let place = |place: usize| (place % padded < depth).then(|| place / padded * depth + place % padded);
        Layout { places: (0..heads * padded).map(place).collect(), lanes }
    }

    /// The features of all squares of a board, `[vector][square][lane]` as in the output of a product; `number` gives
    /// the index, in a file, of a square's feature.
    pub(super) fn board(features: usize, lanes: usize, number: impl Fn(usize, usize) -> usize) -> Layout {
        let vectors = features.div_ceil(lanes);
        let place = |place: usize| {
            let (vector, row, lane) =
                (place / (RowShape::BOARD * lanes), place / lanes % RowShape::BOARD, place % lanes);
            let feature = vector * lanes + lane;
            (row < SQUARES && feature < features).then(|| number(row, feature))
        };
        Layout { places: (0..vectors * RowShape::BOARD * lanes).map(place).collect(), lanes }
    }

    /// A layout with `first` added to the index of each feature.
    pub(super) fn shifted(self, first: usize) -> Layout {
        Layout { places: self.places.into_iter().map(|place| Some(place? + first)).collect(), lanes: self.lanes }
    }

    /// Length of the row, in vectors.
    pub(super) fn vectors(&self) -> usize {
        self.places.len() / self.lanes
    }

    /// The feature at each place.
    pub(super) fn places(&self) -> &[Option<usize>] {
        &self.places
    }

    /// Writes the numbers of the features to their places, zeros elsewhere.
    pub(super) fn spread(&self, numbers: &[f32], to: &mut [f32]) {
        for (place, to) in self.places.iter().zip(to) {
            *to = place.map_or(0.0, |feature| numbers[feature]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_begin_at_whole_vectors() {
        let layout = Layout::heads(2, 3, 4);
        assert_eq!(layout.places(), [Some(0), Some(1), Some(2), None, Some(3), Some(4), Some(5), None]);
        assert_eq!(layout.vectors(), 2);
        let mut spread = [9.0; 8];
        layout.spread(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut spread);
        assert_eq!(spread, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
    }

    #[test]
    fn boards_have_a_place_for_every_number_of_a_square() {
        let layout = Layout::board(5, 4, |square, feature| square * 5 + feature);
        assert_eq!(layout.vectors(), 2 * RowShape::BOARD);
        let mut numbers: Vec<usize> = layout.places().iter().copied().flatten().collect();
        assert_eq!(layout.places()[RowShape::BOARD * 4 + 4], Some(5 + 4), "the last feature of b1");
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..5 * SQUARES));
    }
}
