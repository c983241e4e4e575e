//! Searches fixed positions to a fixed depth. The number of nodes is the engine's signature: it changes when the search
//! or the network does, and at no other time.

use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::{Engine, EngineError, GoParams};

/// Positions of every phase, taking turns: the start and eleven openings, middlegames from games of this engine against
/// itself, endgames (among them a fortress, and what tables would know), short mates, and four of Chess960.
pub const BENCH_POSITIONS: [&str; 40] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "8/R3bkp1/p4p2/1p2pP2/r5P1/P1r1B3/P7/5K2 w - - 3 34",
    "8/5pk1/6p1/3R3p/7P/r5P1/5PK1/8 b - - 2 44",
    "6k1/5ppp/8/8/8/8/5PPP/1R1R2K1 w - - 0 33",
    "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1",
    "r1bqk2r/1pppbppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQ1RK1 w kq - 4 6",
    "6kr/1p1bpp1p/3p2p1/p3P3/4nP1Q/PBq2N1P/2P1K1P1/8 b - - 4 26",
    "8/8/2k5/1p1p4/1P1P1K2/8/8/8 w - - 0 50",
    "r1bqkb1r/pppp1Npp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNBQK2R b KQkq - 0 5",
    "nrbkqbrn/pppppppp/8/8/4P3/8/PPPP1PPP/NRBKQBRN b GBgb - 0 1",
    "rnbqkb1r/pp2pp1p/3p1np1/8/3NP3/2N1B3/PPP2PPP/R2QKB1R b KQkq - 1 6",
    "r3k2r/ppq2pp1/4p3/2Ppn1Pp/3Q4/2P5/PP1N1PP1/R3R1K1 b kq - 3 16",
    "8/2k5/3b4/p2P1p2/P1K2P2/4B3/8/8 w - - 5 52",
    "8/8/8/8/1K6/8/k7/2R5 w - - 0 71",
    "1rkr2bb/ppp1qppp/3pn3/4p3/4P3/3PN3/PPP1QPPP/1RKR2BB w DBdb - 4 9",
    "rnb1kbnr/pp3ppp/4p3/2pq4/3P4/8/PPPN1PPP/R1BQKBNR w KQkq - 0 5",
    "r1b1kb1r/pp4pp/3npn2/2p1N3/2p5/4P1P1/PP1N1PBP/R1B2RK1 b - - 4 12",
    "3r4/1k6/8/PK6/8/8/8/3R4 b - - 0 60",
    "r1k1r3/pp3ppp/2p1bn2/8/8/2P1BN2/PP3PPP/R1K1R3 w EAea - 0 14",
    "rn1qkbnr/pp2ppp1/2p5/3pPb1p/3P3P/3B4/PPP2PP1/RNBQK1NR b KQkq - 1 5",
    "4r1qk/3n1p2/p2p1B2/1ppP1P2/P1r5/2PQ1B2/7P/R5RK b - - 0 26",
    "8/8/4n1k1/5p2/5P1p/4N2P/6K1/8 w - - 3 58",
    "rnbqkb1r/ppp2ppp/4pn2/8/2pP4/5NP1/PP2PPBP/RNBQK2R b KQkq - 1 5",
    "6k1/p1p1n3/3p1rr1/1p5Q/2P1B3/2P3P1/PP2PP1P/3R1RK1 w - - 4 25",
    "6k1/8/5K2/8/4Q3/8/3r4/8 b - - 12 70",
    "rnbq1rk1/ppp1ppbp/3p1np1/8/2PPP3/2N2P2/PP2B1PP/R1BQK1NR b KQ - 0 6",
    "k6r/p7/3Q4/1p5p/8/7P/PPPK1p1R/R7 b - - 0 32",
    "8/6k1/3q2p1/7p/1Q5P/6P1/6K1/8 w - - 4 55",
    "rnbq1rk1/pppp1ppp/5n2/4p3/1bP5/2N3P1/PP1PPPBP/R1BQK1NR w KQ - 3 5",
    "r2kr3/pp1n1bpp/2pb4/8/3Pp3/8/PPP2PPP/2KQ1B1R w - - 2 16",
    "1r4k1/P4pp1/7p/8/8/6P1/R4P1P/6K1 w - - 0 38",
    "r2qkbnr/pppnpppp/8/3p3b/6P1/1P3N1P/PBPPPP2/RN1QKB1R b KQkq - 0 5",
    "2rq1rk1/pb2bppp/1p2pn2/3pN3/3P1B2/2PB4/PPQ2PPP/3RR1K1 w - - 2 15",
    "8/8/1p6/1Pk1p3/2P1Kp2/5P2/8/8 b - - 0 47",
    "rnb1kbnr/pppp1ppp/8/8/2B1Pp1q/8/PPPP2PP/RNBQ1KNR b kq - 3 4",
    "r2q1rk1/1b2bppp/p1np1n2/1p2p3/4P3/1BN1BP2/PPPQN1PP/2KR3R w - - 0 12",
    "4k3/8/8/3BN3/8/4K3/8/8 w - - 9 80",
    "rnb1kbnr/pp2pppp/2pq4/8/3P4/2N5/PPP2PPP/R1BQKBNR w KQkq - 0 5",
    "8/3k4/8/2pP1p2/2P2P2/3K4/8/8 w - - 10 66",
    "rnbqk2r/ppppb1pp/4pn2/5p2/2PP4/6PN/PP2PPBP/RNBQK2R b KQkq - 2 5",
];

/// Number of nodes at which a search ends whatever its depth: in simple endgames the depth hardly grows.
const NODE_LIMIT: u64 = 10_000;

/// The game of one of [`BENCH_POSITIONS`], by its index.
pub(super) fn bench_game(position: usize) -> Game {
    Game::from_fen(BENCH_POSITIONS[position], false).expect("the positions of the bench are legal")
}

/// Whether a FEN names the files of its castling rooks.
fn fen_is_chess960(fen: &str) -> bool {
    let rights = fen.split(' ').nth(2).unwrap_or_default();
    rights.chars().any(|c| !"KQkq-".contains(c))
}

/// The search of one position.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchResult {
    /// The position as FEN.
    pub fen: &'static str,
    /// The move chosen, in UCI notation.
    pub best: String,
    /// Visits of the root.
    pub nodes: u64,
    /// Time of the search, in milliseconds.
    pub elapsed_ms: f64,
}

/// Searches each of [`BENCH_POSITIONS`] until the mean depth of its visits is `depth` plies, each as a new game. The
/// engine has to be prepared; the node count repeats with one thread and smart pruning off.
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
        let end = engine.search_and_wait(&go, start_ms)?.0;
        let chess960 = fen_is_chess960(fen);
        let best = end.best.map(|mv| to_uci(mv, chess960)).unwrap_or_default();
        let result = BenchResult { fen, best, nodes: end.report.nodes, elapsed_ms: engine.now_ms() - start_ms };
        on_position(&result);
        results.push(result);
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_legal_and_all_different() {
        let keys: std::collections::HashSet<u64> = (0..BENCH_POSITIONS.len())
            .map(|position| {
                let game = bench_game(position);
                assert!(!game.current().is_illegal() && !game.current().legal_moves().is_empty(), "{position}");
                game.current().key()
            })
            .collect();
        assert_eq!(keys.len(), BENCH_POSITIONS.len());
        assert_eq!(BENCH_POSITIONS.iter().filter(|fen| fen_is_chess960(fen)).count(), 4);
    }
}
