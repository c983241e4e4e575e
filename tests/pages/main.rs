//! Reads the repository: pages, citations in comments, tables of modules.

mod citations;
mod docs;
mod rooms;
