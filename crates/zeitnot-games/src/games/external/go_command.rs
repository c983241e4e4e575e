//! Writes the commands `position` and `go`.

use zeitnot_engine::chess::{Color, Game, to_uci};
use zeitnot_engine::engine::GoParams;

/// Milliseconds that a side has for its move; 0 where no time limits it.
pub(super) fn time_ms(go: &GoParams, turn: Color) -> f64 {
    let clock_ms = if turn.is_white() { go.wtime } else { go.btime };
    clock_ms.or(go.movetime).unwrap_or(0.0).max(0.0)
}

/// The command `go`. Times are rounded down to whole milliseconds, so that no engine relies on time that it lacks; but a
/// clock is at least 1, since many engines take 0 for no clock. An engine without a limit would never stop.
pub(super) fn go_command(go: &GoParams) -> String {
    let mut text = "go".to_owned();
    for (side, time_ms, increment_ms) in [("w", go.wtime, go.winc), ("b", go.btime, go.binc)] {
        if let Some(time_ms) = time_ms {
            let increment_ms = increment_ms.unwrap_or(0.0).max(0.0) as u64;
            text += &format!(" {side}time {} {side}inc {increment_ms}", time_ms.max(1.0) as u64);
        }
    }
    let limits = [
        ("movestogo", go.movestogo.map(u64::from)),
        ("movetime", go.movetime.map(|ms| ms.max(1.0) as u64)),
        ("nodes", go.nodes),
        ("depth", go.depth.map(u64::from)),
    ];
    for (name, limit) in limits {
        text += &limit.map_or_else(String::new, |limit| format!(" {name} {limit}"));
    }
    text
}

/// The command `position` for a game.
pub(super) fn position(game: &Game) -> String {
    let start = game.start_fen();
    let mut text = match start == Game::new().start_fen() {
        true => "position startpos".to_owned(),
        false => format!("position fen {start}"),
    };
    for (index, mv) in game.moves().iter().enumerate() {
        text += if index == 0 { " moves " } else { " " };
        text += &to_uci(*mv, game.is_chess960());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_told_from_the_start_with_castling_as_the_game_has_it() {
        let mut game = Game::new();
        assert_eq!(position(&game), "position startpos");
        ["e2e4", "e7e5"].iter().for_each(|mv| game.push_uci(mv).unwrap());
        assert_eq!(position(&game), "position startpos moves e2e4 e7e5");
        for (fen, castling) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 17", "e1g1 e8c8"),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w KQkq - 3 17", "e1h1 e8b8"),
        ] {
            for chess960 in [false, true] {
                let mut game = Game::from_fen(fen, chess960).unwrap();
                castling.split(' ').for_each(|mv| game.push_uci(mv).unwrap());
                assert_eq!(position(&game), format!("position fen {fen} moves {castling}"));
            }
        }
        // The standard squares with other counters are not the start position.
        let late = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 9";
        assert_eq!(position(&Game::from_fen(late, false).unwrap()), format!("position fen {late}"));
    }

    #[test]
    fn go_tells_the_limits_that_there_are() {
        let clock = GoParams { wtime: Some(1_999.9), btime: Some(-3.0), winc: Some(100.5), ..GoParams::default() };
        assert_eq!(go_command(&clock), "go wtime 1999 winc 100 btime 1 binc 0");
        let clock = GoParams { movestogo: Some(40), nodes: Some(800), depth: Some(5), ..GoParams::default() };
        assert_eq!(go_command(&clock), "go movestogo 40 nodes 800 depth 5");
        let odds = GoParams { btime: Some(60_000.0), nodes: Some(1), ..GoParams::default() };
        assert_eq!(go_command(&odds), "go btime 60000 binc 0 nodes 1");
        let fixed = GoParams { movetime: Some(250.0), ..GoParams::default() };
        assert_eq!(go_command(&fixed), "go movetime 250");
    }
}
