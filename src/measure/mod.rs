//! Measures the engine on this machine: a fixed search, the evaluator alone, and the whole engine.
//!
//! | file | what |
//! |---|---|
//! | `bench` | a search of fixed positions, whose node count is the engine's signature |
//! | `backendbench`, `bare_loop` | the speed of the evaluator alone, and of a bare loop around ONNX Runtime |
//! | `benchmark`, `meter` | the speed of the whole engine; the batches and cache hits of its searches |
//! | `costs` | the costs of batches and playouts that a benchmark found, for games on a virtual clock |
//! | `machine` | the machine that was measured |
//! | `positions` | positions to measure on |
//! | `statistics` | means and quantiles |

mod backendbench;
mod bare_loop;
mod bench;
mod benchmark;
mod costs;
mod machine;
mod meter;
mod positions;
mod statistics;

pub use backendbench::{BackendSide, BenchPlan, BenchRow, Runner, Side, Throughput, backendbench, best_batch};
pub use bare_loop::Bare;
pub use bench::{BENCH_POSITIONS, BenchResult, bench};
pub use benchmark::{BENCHMARK_POSITIONS, Benchmark, BenchmarkError, Measured, grid, larger_batch, recommend};
pub use costs::{CostsError, MeasuredCosts};
pub use machine::Machine;
pub use meter::{BatchRecord, Meter, Reading};
pub use positions::walk;
pub use statistics::Latency;
