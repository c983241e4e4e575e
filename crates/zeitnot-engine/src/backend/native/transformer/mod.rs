//! Runs transformers, and attention policies on towers.
//!
//! | file | what |
//! |---|---|
//! | `layout` | where the features of a row lie among vectors |
//! | `dense` | dense layers and normalisations, packed |
//! | `magnitudes` | how large inputs become, for those that are quantised |
//! | `plan` | a network prepared for the kernels |
//! | `embedding` | from planes, or from a tower, to the rows of the first encoder |
//! | `encoder`, `smolgen` | attention and feed-forward networks |
//! | `heads` | policy, value and moves left |
//! | `evaluator` | the forward pass of one worker |

mod dense;
mod embedding;
mod encoder;
mod evaluator;
mod heads;
mod layout;
mod magnitudes;
mod plan;
mod smolgen;

pub(super) use evaluator::TransformerEvaluator;
pub(super) use plan::{TransformerNetwork, TransformerPlan};
