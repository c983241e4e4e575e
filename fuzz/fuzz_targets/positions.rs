//! Reads files of openings and of positions to record. The first byte says which: EPD and FEN, or PGN.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use zeitnot_lab::recordings::{read_positions, read_sides};
use zeitnot_games::{OpeningOrder, Openings};

/// Openings that are played out: a file has as many as it has lines.
const MOST: usize = 20;

fn openings(path: PathBuf, plies: Option<usize>) {
    let Ok(openings) = Openings::read(&[path], plies) else { return };
    let openings = openings.in_order(OpeningOrder::Shuffled { seed: 1 });
    for index in 0..openings.len().min(MOST) {
        let game = openings.get(index);
        assert!(!game.current().legal_moves().is_empty(), "no game begins at its end: {}", game.fen());
    }
    openings.at(0.999, 0.999);
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let Some((kind, content)) = data.split_first() else { return };
    let suffix = if kind % 2 == 0 { ".pgn" } else { ".epd" };
    zeitnot_fuzz::with_file(suffix, content, |path| {
        openings(path.to_owned(), (kind % 4 > 1).then_some(3));
        match kind % 2 {
            0 => _ = read_sides(path, &mut |_| {}).map(Iterator::count),
            _ => _ = read_positions(path).map(Iterator::count),
        }
    });
});
