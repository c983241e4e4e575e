//! Prepares a position for a network and computes its key in the position cache.

use super::Attributes;
use zeitnot_base::splitmix::mix;
use zeitnot_chess::{Game, Move};
use zeitnot_network::{InputFormat, Planes, Ratings, Transform, encode, maia3, policy_index};

/// One position for a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The position's key in the cache.
    pub key: u64,
    /// The input planes; `None` for a backend that does not look at the board.
    pub planes: Option<Box<Planes>>,
    /// The policy index of each legal move, 0..1858 or with Maia-3 0..4352, in the order of the moves given.
    pub indices: Vec<u16>,
}

impl Query {
    /// The query for the current position of `game`, with the legal moves in the caller's order.
    ///
    /// Planes are made only if the backend of these `attributes` wants them.
    pub fn new(game: &Game, moves: &[Move], attributes: &Attributes) -> Query {
        let mut query = Query::default();
        query.fill(game, moves, None, attributes);
        query
    }

    /// Replaces this query by that for the current position of `game`, in the same memory. `ratings`: those of the
    /// players, for a network that plays by them.
    pub fn fill(&mut self, game: &Game, moves: &[Move], ratings: Option<Ratings>, attributes: &Attributes) {
        let turn = game.current().turn();
        let transform = match attributes.input {
            Some((format, fill)) => {
                let (mut planes, transform) = encode(game, format, fill);
                if let (InputFormat::Maia3, Some(ratings)) = (format, ratings) {
                    maia3::write_ratings(&mut planes, turn, ratings);
                }
                match &mut self.planes {
                    Some(old) => **old = planes,
                    None => self.planes = Some(Box::new(planes)),
                }
                transform
            }
            None => {
                self.planes = None;
                Transform::NONE
            }
        };
        self.indices.clear();
        match attributes.input {
            Some((InputFormat::Maia3, _)) => self.indices.extend(moves.iter().map(|&mv| maia3::policy_index(mv, turn))),
            _ => self.indices.extend(moves.iter().map(|&mv| policy_index(mv, turn, transform))),
        }
        self.key = cache_key(game, ratings);
    }
}

/// Ply of the fifty-move counter below which the counter does not change the key.
const RULE50_FREE: u32 = 16;
/// Number of consecutive plies of the counter that share a key, from [`RULE50_FREE`] on.
const RULE50_STEP: u32 = 8;
/// Ply of the counter from which each ply has its own key: maia-1900's value of a board changes by 0.03 from 95 to 99.
const RULE50_EXACT: u32 = 80;

/// Low 16 bits of the number that ratings are hashed as. No fifty-move counter is hashed as such a number, so that the
/// two hashes differ.
const RATED: u64 = 0xffff;

/// The key of the current position of `game` in a position cache.
///
/// The key is made of the board's Zobrist key, of whether the position has occurred before, and of the fifty-move
/// counter, coarsely while it is low. Lc0's key ignores the counter, and so its evaluation of a position leaks to the
/// same board one move before the draw (docs/lc0.md, 7.9). As with Lc0, the positions before the current one do not
/// count, though a network sees seven of them.
///
/// The key knows neither network nor input format: a cache belongs to one loaded network. `ratings`, for a network that
/// plays by them, are part of it.
pub fn cache_key(game: &Game, ratings: Option<Ratings>) -> u64 {
    let position = game.current();
    let key = key_of(position.key(), position.repetitions() > 0, position.rule50());
    match ratings {
        None => key,
        Some(Ratings { white, black }) => key ^ mix(u64::from(white) << 32 | u64::from(black) << 16 | RATED),
    }
}

fn key_of(board: u64, repeated: bool, rule50: u32) -> u64 {
    let part = match rule50 {
        0..RULE50_FREE => 0,
        RULE50_FREE..RULE50_EXACT => rule50 / RULE50_STEP,
        _ => rule50,
    };
    board ^ mix(u64::from(part) << 1 | u64::from(repeated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(game: &Game) -> u64 {
        cache_key(game, None)
    }

    fn after(moves: &[&str]) -> Game {
        let mut game = Game::new();
        for text in moves {
            game.push_uci(text).unwrap();
        }
        game
    }

    #[test]
    fn transpositions_share_a_key() {
        let a = after(&["g1f3", "g8f6", "b1c3", "b8c6"]);
        let b = after(&["b1c3", "b8c6", "g1f3", "g8f6"]);
        assert_eq!(key(&a), key(&b));
        assert_ne!(key(&a), key(&after(&["g1f3", "g8f6", "b1c3"])));
    }

    #[test]
    fn a_repeated_position_has_its_own_key() {
        let cycle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let once = key(&after(&cycle));
        assert_ne!(once, key(&Game::new()));
        assert_eq!(once, key(&after(&[cycle, cycle].concat())));
    }

    #[test]
    fn the_fifty_move_counter_parts_keys_where_it_matters() {
        let key = |rule50| key_of(1, false, rule50);
        assert_eq!(key(0), key(15));
        assert_ne!(key(15), key(16));
        assert_eq!(key(16), key(23));
        assert_ne!(key(23), key(24));
        let late: std::collections::HashSet<u64> = (80..100).map(key).collect();
        assert_eq!(late.len(), 20);
        assert!((0..80).all(|rule50| !late.contains(&key(rule50))));
    }

    #[test]
    fn planes_only_where_they_are_wanted() {
        let game = Game::new();
        let moves = game.current().legal_moves();
        let blind = super::super::UniformBackend::new();
        let query = Query::new(&game, &moves, super::super::Backend::attributes(&blind));
        assert!(query.planes.is_none());
        assert_eq!(query.indices.len(), 20);
        let mut attributes = super::super::Backend::attributes(&blind).clone();
        attributes.input = Some((zeitnot_network::InputFormat::Classical, zeitnot_network::HistoryFill::FenOnly));
        let query = Query::new(&game, &moves, &attributes);
        assert_eq!(query.planes.unwrap().masks[0], 0xff00, "our pawns");
    }
}
