//! The time laboratory. For now: games between two configurations of this engine on the real clock, the bench, and what
//! measures the machine: the evaluator alone and the whole engine.

mod backendbench;
mod bare;
mod bench;
mod benchmark;
mod machine;
mod pgn;
mod play;
mod positions;
mod recorder;
mod statistics;
mod time_control;

pub use backendbench::{BackendSide, BenchPlan, BenchRow, Runner, Side, Throughput, backendbench, best_batch};
pub use bare::Bare;
pub use bench::{BENCH_POSITIONS, BenchResult, bench};
pub use benchmark::{BENCHMARK_POSITIONS, Benchmark, BenchmarkError, Measured, grid, larger_batch, recommend};
pub use machine::Machine;
pub use pgn::write_pgn;
pub use play::{GameRecord, MoveRecord, Player, Termination, play};
pub use positions::walk;
pub use recorder::{BatchRecord, Record, Recorder};
pub use statistics::Latency;
pub use time_control::{PRESETS, TimeControl, TimeControlError};
