//! Draws openings by random moves from those of a book.

use super::Openings;
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::splitmix::SplitMix64;

impl Openings {
    /// A random opening of this book followed by `plies` random legal moves; `None` where these end the game.
    pub fn with_random_moves(&self, plies: usize, random: &mut SplitMix64) -> Option<Game> {
        let mut game = self.get(random.below(self.len()));
        for _ in 0..plies {
            let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
            game.push(*moves.get(random.below(moves.len()))?);
        }
        game.outcome().is_none().then_some(game)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_the_moves() {
        let openings = Openings::read(&[], None).unwrap();
        let fens = |seed| {
            let mut random = SplitMix64(seed);
            let games = (0..50).filter_map(|_| openings.with_random_moves(8, &mut random));
            games.map(|game| game.fen()).collect::<Vec<String>>()
        };
        let (some, others) = (fens(1), fens(2));
        assert_eq!(some, fens(1));
        assert!(some.len() > 45 && some.iter().all(|fen| fen.contains(" w ") && fen.ends_with(" 5")), "{some:?}");
        assert!(some.iter().all(|fen| !others.contains(fen)));
    }

    #[test]
    fn games_that_are_over_are_none() {
        // White's only move takes the last piece.
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), "7k/8/8/8/8/8/1q6/K7 w - - 0 1\n").unwrap();
        let openings = Openings::read(&[path.path().to_owned()], None).unwrap();
        assert!(openings.with_random_moves(1, &mut SplitMix64(1)).is_none(), "only the kings are left");
        assert_eq!(openings.with_random_moves(0, &mut SplitMix64(1)).unwrap().moves().len(), 0);
    }
}
