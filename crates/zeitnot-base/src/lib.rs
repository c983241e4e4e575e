//! Foundations that every crate of the project may use: text that people read and write, the files that a user names,
//! clocks, memory, other programs, and random numbers.

pub mod announcer;
pub mod child;
pub mod clock;
pub mod digest;
pub mod files;
pub mod memory;
pub mod printable;
pub mod splitmix;
pub mod words;
