//! Speaks the Universal Chess Interface: text in, text out, around an [`Engine`](zeitnot_engine::engine::Engine).

mod by_hand;
mod lines;
mod log;
mod nearest;
mod output;
mod parse;
mod print;
mod reporter;
mod session;

pub use output::Output;
pub use session::{SessionError, Switches, run};
