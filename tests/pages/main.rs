//! Reads the repository: pages, citations in comments, tables of modules, what workflows and scripts install.

mod citations;
mod docs;
mod rooms;
mod supply;
