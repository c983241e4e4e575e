//! Runs transformers, and attention policies on towers.
//!
//! | file | what |
//! |---|---|
//! | `layout` | where the features of a row lie among vectors |
//! | `dense` | dense layers and normalisations, packed |
//! | `plan` | a network prepared for the kernels |
//! | `quantise` | its large layers in 8 bits |
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
mod plan;
mod quantise;
mod smolgen;

pub(super) use evaluator::TransformerEvaluator;
pub(super) use plan::{TransformerNetwork, TransformerPlan};
pub(super) use quantise::quantise;
