//! Runs networks through ONNX Runtime's WebGPU on a software device of Vulkan, which Chromium brings: a card's interface
//! with its pipelines, queues and errors, on a plain processor. Without that device the tests say so and pass.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "these tests use a part")]
#[path = "../common/uci.rs"]
mod uci;

mod device;
mod evaluations;
mod searches;
