//! Packs a recorded search into a compressed block: what changed since the snapshot before, as integers of variable
//! length.

use super::recorded_search::{RecordedSearch, RecordedSnapshot};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _, Write as _};

/// Number of steps in a unit of value to which values, -1 to 1, are rounded.
const VALUE_STEPS: f32 = 10_000.0;
/// Code that stands for an unknown value in a packed snapshot.
const NO_VALUE: i32 = 20_000;
/// The largest block that is unpacked, in bytes: a recorded search of 200 snapshots of 218 moves takes 0.3 MB.
const LARGEST_BLOCK: u64 = 16 << 20;

/// A recorded search whose snapshots are packed.
#[derive(Serialize, Deserialize)]
struct PackedTrace {
    trace: RecordedSearch,
    snapshots: Vec<PackedSnapshot>,
}

/// A snapshot whose visits and values are stored as differences from the snapshot before.
#[derive(Serialize, Deserialize)]
struct PackedSnapshot {
    rest: RecordedSnapshot,
    visits: Vec<i64>,
    values: Vec<i32>,
}

/// Most playouts between two snapshots for each new visit of the root; [`PLAYOUTS_AHEAD`] more are allowed. Recorded
/// searches have up to twice as many playouts as visits, as some playouts add no visit to the root.
const PLAYOUTS_A_VISIT: u64 = 16;
const PLAYOUTS_AHEAD: u64 = 4096;

pub(super) fn pack(trace: &RecordedSearch) -> io::Result<Vec<u8>> {
    let (mut visits, mut codes) = (vec![0; trace.moves.len()], vec![0; trace.moves.len()]);
    let mut snapshots = Vec::with_capacity(trace.snapshots.len());
    for snapshot in &trace.snapshots {
        let now: Vec<i32> = snapshot.values.iter().map(|value| value.map_or(NO_VALUE, code)).collect();
        snapshots.push(PackedSnapshot {
            rest: RecordedSnapshot { visits: Vec::new(), values: Vec::new(), ..snapshot.clone() },
            visits: snapshot
                .visits
                .iter()
                .zip(&visits)
                .map(|(now, before)| i64::from(*now) - i64::from(*before))
                .collect(),
            values: now.iter().zip(&codes).map(|(now, before)| now - before).collect(),
        });
        (visits, codes) = (snapshot.visits.clone(), now);
    }
    let trace = RecordedSearch { snapshots: Vec::new(), ..trace.clone() };
    let bytes = postcard::to_allocvec(&PackedTrace { trace, snapshots }).map_err(io::Error::other)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&bytes)?;
    encoder.finish()
}

pub(super) fn unpack(block: &[u8]) -> Result<RecordedSearch, String> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(block).take(LARGEST_BLOCK).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let packed: PackedTrace = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
    let count = packed.trace.moves.len();
    let (mut visits, mut codes) = (vec![0_u32; count], vec![0_i32; count]);
    let mut snapshots: Vec<RecordedSnapshot> = Vec::with_capacity(packed.snapshots.len());
    for PackedSnapshot { rest, visits: more, values } in packed.snapshots {
        check_counts(&rest, snapshots.last(), packed.trace.reused)?;
        if more.len() != count || values.len() != count || rest.best_move.is_some_and(|best| best as usize >= count) {
            return Err("a snapshot has other moves than its search".to_owned());
        }
        for ((visits, code), (more, value)) in visits.iter_mut().zip(&mut codes).zip(more.iter().zip(&values)) {
            *visits =
                u32::try_from(i64::from(*visits).saturating_add(*more)).map_err(|_| "visits below 0".to_owned())?;
            *code = code.saturating_add(*value);
        }
        let value = |code: &i32| (*code != NO_VALUE).then(|| *code as f32 / VALUE_STEPS);
        snapshots.push(RecordedSnapshot { visits: visits.clone(), values: codes.iter().map(value).collect(), ..rest });
    }
    Ok(RecordedSearch { snapshots, ..packed.trace })
}

/// Checks that the counts of a snapshot can follow those of the snapshot before, so that damaged files are refused. A
/// replay goes from one to the other batch by batch, and time passes with the visits of the root: with many more
/// playouts than visits it would hardly ever end.
fn check_counts(now: &RecordedSnapshot, before: Option<&RecordedSnapshot>, reused: u64) -> Result<(), String> {
    let (new, total) = before.map_or((0, reused), |before| (before.new_nodes, before.total_nodes));
    let grows = now.new_nodes >= new && (total..=u64::from(u32::MAX)).contains(&now.total_nodes);
    if !grows || now.new_nodes - new > PLAYOUTS_AHEAD + PLAYOUTS_A_VISIT * (now.total_nodes - total) {
        return Err("the visits of a snapshot do not follow from those before".to_owned());
    }
    Ok(())
}

fn code(value: f32) -> i32 {
    (value * VALUE_STEPS).round() as i32
}

/// A value rounded as a recording keeps it.
pub(super) fn rounded(value: f32) -> f32 {
    code(value) as f32 / VALUE_STEPS
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::recorded_search::RecordedMove;
    use super::*;

    /// A recorded search of three moves: the last one is found late and is the best.
    pub fn example(game: u32, ply: u32) -> RecordedSearch {
        let moves = ["e2e4", "d2d4", "g1f3"];
        let counts = [10_u32, 20, 40, 80, 160, 320];
        let snapshots = counts.iter().enumerate().map(|(step, &count)| {
            let late = if step < 3 { 0 } else { count / 2 };
            let first = (count - late) * 2 / 3;
            let visits = vec![first, count - late - first, late];
            RecordedSnapshot {
                new_nodes: u64::from(count),
                total_nodes: u64::from(count) + 5,
                batches: step as u64 + 1,
                average_depth: step as u32,
                best_move: Some(if step < 4 { 0 } else { 2 }),
                moves_left_plies: Some(60.0),
                values: vec![Some(0.1), Some(-0.0512), (late > 0).then_some(0.25)],
                visits,
                ..RecordedSnapshot::default()
            }
        });
        RecordedSearch {
            game,
            ply,
            game_ply: ply,
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
            reused: 5,
            pieces: 32,
            legal_moves: 3,
            moves: moves.map(|uci| RecordedMove { uci: uci.to_owned(), prior: 0.3 }).to_vec(),
            snapshots: snapshots.collect(),
            ..RecordedSearch::default()
        }
    }

    #[test]
    fn a_trace_comes_back_whole() {
        let trace = example(3, 7);
        assert_eq!(unpack(&pack(&trace).unwrap()).unwrap(), trace);
        assert_eq!(unpack(&pack(&RecordedSearch::default()).unwrap()).unwrap(), RecordedSearch::default());
    }

    #[test]
    fn counts_that_no_search_has_are_errors() {
        let damages: [fn(&mut RecordedSearch); 5] = [
            |trace| trace.snapshots[3].new_nodes = u64::MAX,
            |trace| trace.snapshots[3].new_nodes += 10_000,
            |trace| trace.snapshots[2].total_nodes = 0,
            |trace| trace.snapshots[5].total_nodes = 1 << 40,
            |trace| trace.reused = u64::MAX,
        ];
        for damage in damages {
            let mut trace = example(0, 0);
            damage(&mut trace);
            let problem = unpack(&pack(&trace).unwrap()).unwrap_err();
            assert!(problem.contains("do not follow"), "{problem}");
        }
    }

    #[test]
    fn damaged_blocks_are_errors() {
        let block = pack(&example(0, 0)).unwrap();
        for cut in 0..block.len() {
            assert!(unpack(&block[..cut]).is_err(), "{cut}");
        }
        for place in 0..block.len() {
            let mut damaged = block.clone();
            damaged[place] ^= 0x55;
            // Either it is noticed, or numbers are others.
            unpack(&damaged).ok();
        }
    }
}
