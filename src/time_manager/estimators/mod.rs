//! Running estimates that managers share: each is a small state machine over numbers, and knows nothing of the manager
//! using it.

pub mod batch;
pub mod decay;
pub mod moves_left;
pub mod nps;
pub mod overhead;
pub mod speed;
pub mod time_use;
pub mod tree_reuse;
