//! Speaks the Universal Chess Interface: text in, text out, around an [`Engine`](zeitnot_engine::engine::Engine).

mod board;
mod by_hand;
mod driver;
mod lines;
mod log;
mod nearest;
mod output;
mod parse;
mod print;
mod reporter;
mod session;

pub use board::{Signs, board};
pub use by_hand::play as play_line;
pub use driver::{Driver, Effect};
pub use lines::{Lines, PassedOver};
pub use nearest::did_you_mean;
pub use output::Output;
pub use print::Display;
pub use session::{SessionError, Switches, run};
