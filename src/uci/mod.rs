//! Speaks the Universal Chess Interface: text in, text out, around an [`Engine`](zeitnot_engine::engine::Engine).

mod by_hand;
mod lines;
mod log;
mod nearest;
mod parse;
mod print;
mod session;

pub use session::{Output, SessionError, Switches, run};
