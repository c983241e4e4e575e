//! Tunes parameters by SPSA, simultaneous perturbation stochastic approximation: each iteration moves all parameters at
//! once, to both sides of where they are, lets the two points play each other, and steps towards the better one.
//!
//! | file | what |
//! |---|---|
//! | `parameter`, `parameter_file` | a parameter with its range and steps, and the file of OpenBench's lines that declares several |
//! | `target`, `manager_parameter` | what a parameter is set on: an option of the engine, or a number in the specification of its time manager |
//! | `spsa` | the schedule of steps, the two points of an iteration, and the step that follows from their points |
//! | `course` | the iterations in order, in a journal that goes on after an interruption |
//! | `regret_judge` | two points judged by the regret of their stops in recorded searches |
//! | `simulation_judge` | two points judged by the regret of whole simulated games |
//!
//! # Sources
//!
//! J. C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation", IEEE
//! Transactions on Automatic Control 37 (1992), for the method; the same, "Implementation of the simultaneous
//! perturbation algorithm for stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34
//! (1998), for the exponents of the schedule. That steps are given by their last sizes (`c_end`, `r_end`) and that
//! points of games take the place of a loss is fishtest's way (Stockfish's testing framework), which OpenBench shares,
//! and so are the lines that declare parameters.

mod course;
mod manager_parameter;
mod parameter;
mod parameter_file;
mod regret_judge;
mod simulation_judge;
mod spsa;
mod target;

pub use course::{Iteration, Judgement, Measured, tune};
pub use manager_parameter::ManagerParameter;
pub use parameter::{Parameter, ParameterError};
pub use parameter_file::{ParameterFileError, read_parameters};
pub use regret_judge::{JudgeError, RegretCell, RegretJudge};
pub use simulation_judge::{SimulationCell, SimulationJudge};
pub use spsa::{Probe, Spsa};
pub use target::{TargetError, Targets};
