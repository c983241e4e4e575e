//! Reads the record of a game of this program back from its PGN.

use super::{PgnGame, command, move_times};
use crate::games::record::{Evaluation, GameRecord, MoveRecord, Termination};
use zeitnot_engine::chess::{Color, to_uci};

impl PgnGame {
    /// The record of the game as far as it was read, with `start_ms` on the clocks at its start. The first player is
    /// the side whose network the tags do not name.
    pub fn record(&self, start_ms: [f64; 2]) -> GameRecord {
        let network = |tag: &str| Some(self.tag(tag).to_owned()).filter(|name| !name.is_empty());
        let networks = ["WhiteNetwork", "BlackNetwork"].map(network);
        let chess960 = self.tag("Variant").eq_ignore_ascii_case("chess960");
        let (mut moves, mut clocks_ms) = (Vec::new(), start_ms);
        for (ply, (position, mv)) in self.game.positions().iter().zip(self.game.moves()).enumerate() {
            let (side, comments) = (position.turn(), self.comments_of(ply));
            let times = move_times(comments);
            if let Some(clock_ms) = times.clock_ms {
                clocks_ms[usize::from(side.is_black())] = clock_ms;
            }
            let told = comments.iter().find_map(|comment| command(comment, "eval"));
            let evaluation = told.and_then(|text| evaluation(text, side.is_white()));
            moves.push(MoveRecord {
                uci: to_uci(*mv, chess960),
                san: position.san(*mv),
                white: side.is_white(),
                used_ms: times.used_ms.unwrap_or(0.0),
                clocks_ms,
                budget_ms: times.budget_ms,
                hard_limit_ms: times.limit_ms,
                nodes: times.nodes.unwrap_or(0),
                playouts: 0,
                depth: evaluation.map_or(0, |(_, depth)| depth),
                evaluation: evaluation.map(|(evaluation, _)| evaluation),
            });
        }
        GameRecord {
            game: 1,
            players: ["White", "Black"].map(|tag| self.tag(tag).to_owned()),
            first_is_white: networks[0].is_none(),
            networks,
            controls: [Color::White, Color::Black].map(|color| self.time_control(color).to_owned()),
            start_fen: (!self.game.starts_from_standard()).then(|| self.game.start_fen()),
            chess960,
            opening: Vec::new(),
            moves,
            white_won: None,
            termination: Termination::Unfinished,
            forfeit: None,
            error: None,
            player_errors: Vec::new(),
            clocks_ms,
        }
    }
}

/// The evaluation of a comment, from the view of the side that moved, and its depth.
fn evaluation(text: &str, is_white: bool) -> Option<(Evaluation, u32)> {
    let (score, depth) = text.split_once(',')?;
    let sign = if is_white { 1 } else { -1 };
    let (cp, mate) = match score.strip_prefix('#') {
        Some(moves) => (0, Some(sign * moves.parse::<i32>().ok()?)),
        None => (sign * (score.parse::<f64>().ok()? * 100.0).round() as i32, None),
    };
    Some((Evaluation { cp, mate, q: None }, depth.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::record::drawn_game;
    use crate::games::{read_games, write_pgn};

    #[test]
    fn a_record_comes_back_from_its_pgn() {
        let evaluation = Some(Evaluation { cp: -31, mate: None, q: None });
        let mv = MoveRecord {
            uci: "e2e4".into(),
            san: "e4".into(),
            white: true,
            used_ms: 1_500.0,
            clocks_ms: [58_500.0, 60_000.0],
            budget_ms: Some(2_000.0),
            hard_limit_ms: Some(3_000.0),
            nodes: 40,
            playouts: 0,
            depth: 5,
            evaluation,
        };
        let reply =
            MoveRecord { white: false, uci: "e7e5".into(), san: "e5".into(), evaluation: None, depth: 0, ..mv.clone() };
        let reply = MoveRecord { clocks_ms: [58_500.0; 2], ..reply };
        let networks = [None, Some("net".to_owned())];
        let record = GameRecord { moves: vec![mv, reply], networks, clocks_ms: [58_500.0; 2], ..drawn_game(1) };
        let record = GameRecord { termination: Termination::Unfinished, ..record };
        let mut pgn = Vec::new();
        write_pgn(&mut pgn, &record, "a game", "2026.11.28").unwrap();
        assert_eq!(read_games(&pgn[..]).unwrap()[0].record([60_000.0; 2]), record);
    }
}
