//! Holds the input tensors of runs of Maia-3.

use ort::memory::Allocator;
use ort::value::DynTensor;

use super::tensor::HostTensor;
use zeitnot_network::{Maia3Input, Planes, maia3};

/// The tensors of runs of one size.
pub(super) struct Maia3Tensors {
    input: Maia3Input,
    tokens: HostTensor<f32>,
    /// The ratings of the side to move, then those of the other.
    ratings: [Ratings; 2],
}

/// Ratings in the type that the model takes.
enum Ratings {
    Float32(HostTensor<f32>),
    Int64(HostTensor<i64>),
}

impl Maia3Tensors {
    /// The tensors for runs of `rows`, in the memory of this allocator.
    pub(super) fn new(allocator: &Allocator, input: &Maia3Input, rows: usize) -> ort::Result<Maia3Tensors> {
        let ratings = || -> ort::Result<Ratings> {
            Ok(match input.whole_ratings {
                true => Ratings::Int64(HostTensor::new(allocator, &[rows])?),
                false => Ratings::Float32(HostTensor::new(allocator, &[rows])?),
            })
        };
        Ok(Maia3Tensors {
            input: input.clone(),
            tokens: HostTensor::new(allocator, &[rows, maia3::SQUARES, input.boards * maia3::PIECES])?,
            ratings: [ratings()?, ratings()?],
        })
    }

    /// Puts a position into a row.
    pub(super) fn set(&mut self, row: usize, planes: &Planes) {
        let width = maia3::SQUARES * self.input.boards * maia3::PIECES;
        maia3::write_tokens(planes, self.input.boards, &mut self.tokens.numbers_mut()[row * width..][..width]);
        for (ratings, plane) in self.ratings.iter_mut().zip([maia3::OWN_RATING, maia3::OPPONENT_RATING]) {
            let rating = planes.values[plane];
            match ratings {
                Ratings::Float32(tensor) => tensor.numbers_mut()[row] = rating,
                Ratings::Int64(tensor) => tensor.numbers_mut()[row] = rating as i64,
            }
        }
    }

    /// The tensors: tokens, the own rating, the other's.
    pub(super) fn tensors(&self) -> [&DynTensor; 3] {
        let [own, opponent] = self.ratings.each_ref().map(|ratings| match ratings {
            Ratings::Float32(tensor) => tensor.tensor(),
            Ratings::Int64(tensor) => tensor.tensor(),
        });
        [self.tokens.tensor(), own, opponent]
    }
}
