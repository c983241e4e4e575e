//! Generates labelled games, from which networks of our own learn (`models/README.md`).
//!
//! A *player*, any policy network, plays games against itself by drawing its moves from its policy; the *teacher*, a
//! strong network, evaluates the positions. A player that imitates people (Maia) makes people's mistakes, whose
//! refutations a small network has to learn; a strong one shows how a game goes on without mistakes.
//!
//! | file | what |
//! |---|---|
//! | `game_file` | games and labels as bytes: about 20 bytes for a ply of which half have a label |
//! | `sampling` | the recipe of a game: how moves are drawn, which positions get labels, and when it ends |
//! | `generator` | many games at once, so that batches are full |

mod game_file;
mod generator;
mod sampling;

pub use game_file::{Label, LabelledGame, Ply};
pub use generator::{Generator, LabelError};
pub use sampling::Sampling;
