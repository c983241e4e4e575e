//! Text that people read and write: numbers in words, characters that are safe to print, and the files that a user
//! names.

pub mod files;
pub mod printable;
pub mod words;
