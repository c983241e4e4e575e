//! Simulates the clocks of timed games, thousands of games a second: each search is drawn from recorded ones and
//! stopped by the same timekeeper as in play; how long a game lasts and how fast it is searched is drawn from games
//! that were played.
//!
//! | file | what |
//! |---|---|
//! | `built_in` | the recorded games inside the program |
//! | `search_growth` | a recorded search as it grows from any tree that it may find, to any size |
//! | `model` | the positions that a game comes through, drawn from recorded games |
//! | `game` | one simulated game: one side's clock from the first move to the last |
//! | `summary` | many simulated games: clocks by move number, time by phase, games lost on time |
//! | `gain` | the regret that one manager saves against another in the same games |

mod built_in;
mod gain;
mod game;
mod model;
mod search_growth;
mod summary;

pub use built_in::built_in_recording;
pub use gain::gain;
pub use game::{SimulatedGame, SimulationRules};
pub use model::{GameModel, ModelError, Untold};
pub use summary::{ClockAt, MOST_BEYOND_RECORD, Simulation, simulate, simulate_games};
