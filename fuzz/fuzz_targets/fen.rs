//! Reads a FEN, and looks at the position as the engine does: moves, outcome, planes, and the FEN again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_engine::chess::{Game, divide, perft, to_uci};
use zeitnot_engine::network::{HistoryFill, InputFormat, encode, policy_index};

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let text = String::from_utf8_lossy(data);
    for chess960 in [false, true] {
        let Ok(mut game) = Game::from_fen(&text, chess960) else { continue };
        let again = Game::from_fen(&game.fen(), chess960).expect("our own FEN is one");
        assert_eq!(again.fen(), game.fen());
        let moves = game.current().legal_moves();
        let (_, transform) = encode(&game, InputFormat::CanonicalHectoplies, HistoryFill::Always);
        for &mv in &moves {
            policy_index(mv, game.current().turn(), transform);
            game.san(mv);
        }
        assert_eq!(perft(game.current().chess(), 1), moves.len() as u64);
        divide(game.current().chess(), 1, chess960);
        let outcome = game.outcome();
        if let Some(&mv) = moves.get(data.len() % moves.len().max(1)) {
            game.push_uci(&to_uci(mv, chess960)).expect("a legal move, as it is written");
            encode(&game, InputFormat::Classical, HistoryFill::FenOnly);
        } else {
            assert!(outcome.is_some(), "{text}");
        }
    }
});
