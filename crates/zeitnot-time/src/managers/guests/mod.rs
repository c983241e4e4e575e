//! The managers made from the documents of other engines and a textbook, with the parts they are made of and the
//! statistics of one of them.

pub mod adaptive;
pub mod complexity;
#[cfg(test)]
mod emergency_tests;
mod parts;
pub mod soft_hard;
mod statistics;
