//! Plays games of a network against itself, for positions on which it is asked.

use zeitnot_engine::backend::{Backend, BackendError, Query, sample, softmax};
use zeitnot_engine::chess::Game;
use zeitnot_engine::splitmix::SplitMix64;

/// Games that are played at once: one batch of evaluations moves each game by a ply.
const GAMES: usize = 32;
/// The share of moves that are drawn from all legal ones instead of the policy.
const RANDOM_MOVES: f64 = 0.1;
/// The share of positions that are kept: neighbouring positions of a game are much alike.
const KEPT: f64 = 0.25;
/// Plies after which a game is given up.
const LONGEST_GAME: u32 = 200;
/// Random plies that open a game, at most.
const OPENING: usize = 8;

/// `count` positions of self-play with a tenth of random moves, the same for the same seed and network.
///
/// # Errors
/// When the backend fails.
pub fn self_play(backend: &dyn Backend, count: usize, seed: u64) -> Result<Vec<Query>, BackendError> {
    let mut evaluator = backend.evaluator()?;
    let mut random = SplitMix64(seed);
    let mut games: Vec<Game> = (0..GAMES).map(|_| open(&mut random)).collect();
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        for game in &mut games {
            if is_over(game) {
                *game = open(&mut random);
            }
        }
        let batch: Vec<Query> =
            (games.iter()).map(|game| Query::new(game, &game.current().legal_moves(), backend.attributes())).collect();
        let evaluations = evaluator.evaluate(&batch)?;
        for ((game, query), evaluation) in games.iter_mut().zip(batch).zip(evaluations) {
            let moves = game.current().legal_moves();
            let choice = if random.unit() < RANDOM_MOVES {
                random.below(moves.len())
            } else {
                sample(&softmax(&evaluation.logits, 1.0), random.unit() as f32)
            };
            game.push(moves[choice]);
            if random.unit() < KEPT && positions.len() < count {
                positions.push(query);
            }
        }
    }
    Ok(positions)
}

fn open(random: &mut SplitMix64) -> Game {
    let mut game = Game::new();
    for _ in 0..random.below(OPENING + 1) {
        let moves = game.current().legal_moves();
        game.push(moves[random.below(moves.len())]);
        if is_over(&game) {
            return Game::new();
        }
    }
    game
}

fn is_over(game: &Game) -> bool {
    game.outcome().is_some() || game.current().ply() >= LONGEST_GAME
}
