//! Measures the engine on this machine: a fixed search, the evaluator alone, and the whole engine.
//!
//! | file | what |
//! |---|---|
//! | `bench` | a search of fixed positions, whose node count is the engine's signature |
//! | `backendbench`, `bare_loop` | the speed of the evaluator alone, and of a bare loop around ONNX Runtime |
//! | `benchmark`, `meter` | the speed of the whole engine; the batches and cache hits of its searches |
//! | `grid`, `saturation` | the settings to try, upwards until a larger one no longer pays; where a device saturates |
//! | `card_use` | power, clocks and memory of graphics cards during a measurement |
//! | `host_cost` | what each evaluation of a card costs the host |
//! | `benchmark_result` | the result of a benchmark, as a file |
//! | `costs` | the costs of batches and playouts that a benchmark found, for games on a virtual clock |
//! | `machine` | the machine that was measured |
//! | `positions` | positions to measure on |
//! | `statistics` | means and quantiles |

mod backendbench;
mod bare_loop;
mod bench;
mod benchmark;
mod benchmark_result;
mod card_use;
mod costs;
mod grid;
mod host_cost;
mod machine;
mod meter;
mod positions;
mod saturation;
mod statistics;

pub use backendbench::{BackendSide, BenchPlan, BenchRow, Runner, Side, Throughput, backendbench};
pub use bare_loop::Bare;
pub use bench::{BENCH_POSITIONS, BenchResult, bench};
pub use benchmark::{BENCHMARK_POSITIONS, Benchmark, BenchmarkError, Measured, recommend};
pub use benchmark_result::{BackendDevice, BenchmarkResult, NetworkFacts, Recommended, ResultError, Unavailable};
pub use card_use::CardUse;
pub use costs::{CostsError, MeasuredCosts};
pub use grid::{Grid, SearchSaturation, Tried, larger_batch, search_saturation};
pub use host_cost::HostCost;
pub use machine::Machine;
pub use meter::{BatchRecord, Meter, Reading};
pub use positions::walk;
pub use saturation::{GAIN, Saturation, Sizes};
pub use statistics::Latency;
