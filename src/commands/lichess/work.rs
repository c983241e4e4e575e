//! Reads what a request of the broker asks for.

use serde::Deserialize;
use zeitnot_base::printable::beginning;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::GoParams;

/// Most lines of analysis that the broker takes.
const MOST_LINES: u64 = 5;

/// Most characters of the name of a variant that are shown.
const NAME: usize = 40;

/// Time of a search from which on it counts as endless, in milliseconds: lichess sends a day for that.
const ENDLESS_MS: f64 = 12.0 * 3_600e3;

/// A request for analysis.
#[derive(Deserialize)]
pub struct Job {
    pub id: String,
    pub work: Work,
}

/// The analysis that a request asks for. `hash` and `sessionId` are ignored: all requests share one tree and its
/// memory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    #[serde(default = "one")]
    pub threads: u64,
    #[serde(default = "one")]
    multi_pv: u64,
    variant: String,
    initial_fen: String,
    moves: Vec<String>,
    movetime: Option<f64>,
    depth: Option<u32>,
    nodes: Option<u64>,
}

fn one() -> u64 {
    1
}

impl Work {
    pub fn multi_pv(&self) -> u64 {
        self.multi_pv.clamp(1, MOST_LINES)
    }

    /// The game up to the position.
    ///
    /// # Errors
    /// The reason why it cannot be analysed, in one line.
    pub fn game(&self) -> Result<Game, String> {
        // The engine is registered for chess alone, whose other names are those of lichess' pages.
        if !["chess", "standard", "chess960", "fromPosition"].contains(&self.variant.as_str()) {
            return Err(format!("the variant {} is not played", beginning(&self.variant, NAME)));
        }
        let mut game = Game::from_fen(&self.initial_fen, true).map_err(|error| error.to_string())?;
        for mv in &self.moves {
            game.push_uci(mv).map_err(|error| error.to_string())?;
        }
        Ok(game)
    }

    pub fn go(&self) -> GoParams {
        let movetime = self.movetime.filter(|ms| (0.0..ENDLESS_MS).contains(ms));
        let is_limited = movetime.is_some() || self.depth.is_some() || self.nodes.is_some();
        GoParams { movetime, depth: self.depth, nodes: self.nodes, infinite: !is_limited, ..GoParams::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(limits: &str, variant: &str, moves: &str) -> Work {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1";
        let text = format!(
            "{{\"sessionId\":\"s\",\"threads\":4,\"hash\":16,\"multiPv\":9,\"variant\":\"{variant}\",\
             \"initialFen\":\"{fen}\",\"moves\":[{moves}]{limits}}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn limits_are_those_of_go() {
        let go = |limits| work(limits, "chess", "").go();
        assert!(go("").infinite && go(",\"movetime\":86400000").infinite && go(",\"infinite\":true").infinite);
        assert_eq!(go(",\"movetime\":900").movetime, Some(900.0));
        assert_eq!((go(",\"depth\":9").depth, go(",\"nodes\":800").nodes), (Some(9), Some(800)));
        assert!(!go(",\"nodes\":800").infinite);
    }

    #[test]
    fn positions_are_those_of_chess_and_chess960() {
        assert_eq!(work("", "chess", "\"e2e4\"").multi_pv(), 5);
        let castling = "\"e2e4\",\"e7e5\",\"g1f3\",\"g8f6\",\"f1e2\",\"f8e7\",\"e1h1\"";
        assert_eq!(work("", "chess960", castling).game().unwrap().moves().len(), 7);
        assert_eq!(work("", "atomic", "").game().unwrap_err(), "the variant atomic is not played");
        assert!(work("", "chess", "\"e2e5\"").game().unwrap_err().contains("e2e5"));
    }
}
