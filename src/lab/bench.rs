//! Fixed positions searched to a fixed depth. How many nodes that takes is the engine's signature: it changes when the
//! search or the network does, and at no other time.

use super::play::search_to_end;
use crate::chess::{Game, to_uci};
use crate::engine::{Engine, EngineError, GoParams};

/// Positions of every phase; the first six are those every move generator is checked with.
pub const BENCH_POSITIONS: [&str; 10] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5",
    "8/8/4kpp1/3p1b2/p6P/2B5/6P1/6K1 b - - 2 47",
    "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1",
    "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 3 30",
];

/// Nodes after which a position is done whatever its depth: in simple endgames the depth hardly grows.
const NODE_LIMIT: u64 = 20_000;

/// One of [`BENCH_POSITIONS`].
pub(super) fn bench_game(position: usize) -> Game {
    Game::from_fen(BENCH_POSITIONS[position], false).expect("the positions of the bench are legal")
}

/// What one position took.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchResult {
    /// The position as FEN.
    pub fen: &'static str,
    /// The move chosen, in UCI notation.
    pub best: String,
    /// Visits of the root.
    pub nodes: u64,
    /// What it took, in milliseconds.
    pub elapsed_ms: f64,
}

/// Searches each of [`BENCH_POSITIONS`] until the mean depth of its visits is `depth` plies, each as a new game. The engine
/// has to be prepared; its count repeats with one thread and smart pruning off.
///
/// # Errors
/// [`EngineError`] when a search cannot start or fails.
pub fn bench(
    engine: &mut Engine,
    depth: u32,
    mut on_position: impl FnMut(&BenchResult),
) -> Result<Vec<BenchResult>, EngineError> {
    let mut results = Vec::with_capacity(BENCH_POSITIONS.len());
    for (position, fen) in BENCH_POSITIONS.into_iter().enumerate() {
        engine.new_game();
        engine.set_game(bench_game(position));
        let start_ms = engine.now_ms();
        let go = GoParams { depth: Some(depth), nodes: Some(NODE_LIMIT), ..GoParams::default() };
        let end = search_to_end(engine, &go, start_ms)?.0;
        let best = end.best.map(|mv| to_uci(mv, false)).unwrap_or_default();
        let result = BenchResult { fen, best, nodes: end.report.nodes, elapsed_ms: engine.now_ms() - start_ms };
        on_position(&result);
        results.push(result);
    }
    Ok(results)
}
