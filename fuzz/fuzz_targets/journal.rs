//! Reads the journal of a match, and goes on with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_games::{GameRecord, Journal, read_journal, write_pgn};

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    zeitnot_fuzz::with_file(".jsonl", data, |path| {
        let games = read_journal(path);
        if let Ok(games) = &games {
            for game in games {
                write_pgn(&mut Vec::new(), game, "event", "2026.01.01").expect("memory takes all bytes");
            }
        }
        let Ok(journal) = Journal::<GameRecord>::create(path, serde_json::json!({})) else { return };
        drop(journal);
    });
});
