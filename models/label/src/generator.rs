//! Plays and labels many games at once, so that batches are full.

use crate::game_file::{Label, LabelledGame, Ply};
use crate::sampling::Sampling;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use thiserror::Error;
use zeitnot_engine::backend::{Evaluation, Query, sample, softmax};
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::{EngineError, NetworkEvaluator};
use zeitnot_engine::network::{Transform, policy_index};
use zeitnot_games::Openings;

/// An error that ends the generation of games. The text is one line.
#[derive(Debug, Error)]
pub enum LabelError {
    /// The evaluation failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The teacher lacks a head, so that labels would lack its outputs or have wrong ones.
    #[error("the teacher {teacher} has no {head} head")]
    NoHead {
        /// The name of the teacher.
        teacher: String,
        /// The missing head.
        head: &'static str,
    },
}

/// Plays games and labels them, move by move in all of them.
pub struct Generator<'a> {
    openings: &'a Openings,
    sampling: Sampling,
    teacher: NetworkEvaluator,
    /// The network that plays; `None` where the teacher plays.
    player: Option<NetworkEvaluator>,
    games: Vec<Going>,
    random: Xoshiro256PlusPlus,
}

/// A game that goes on.
struct Going {
    game: Game,
    fen: String,
    plies: Vec<Ply>,
    temperature: f32,
    /// Whether the game ends when the teacher is sure.
    may_resign: bool,
    /// Labels in a row at which the teacher was sure.
    sure: usize,
    after_deviation: bool,
    /// The player's value of the position before, for the side that moved there.
    q_before: Option<f32>,
    moves: Vec<Move>,
}

impl<'a> Generator<'a> {
    /// A generator without games. The same seed, recipe, books and networks give the same games, unless evaluations
    /// depend on the rest of their batch.
    ///
    /// # Errors
    ///
    /// When the teacher has no WDL or no moves-left head.
    pub fn new(
        openings: &'a Openings,
        sampling: Sampling,
        teacher: NetworkEvaluator,
        player: Option<NetworkEvaluator>,
        seed: u64,
    ) -> Result<Generator<'a>, LabelError> {
        let attributes = teacher.attributes();
        for (has, head) in [(attributes.has_wdl, "WDL"), (attributes.has_moves_left, "moves-left")] {
            if !has {
                return Err(LabelError::NoHead { teacher: attributes.name.clone(), head });
            }
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Generator { openings, sampling, teacher, player, games: Vec::new(), random })
    }

    /// Number of games that go on.
    pub fn going(&self) -> usize {
        self.games.len()
    }

    /// Begins a game.
    pub fn begin(&mut self) {
        let mut game = self.openings.at(self.random.random(), self.random.random());
        let fen = game.fen();
        if !game.moves().is_empty() {
            // A written game begins with a FEN: nobody could know the moves before it.
            game = Game::from_fen(&fen, false).expect("a position is read as it was written");
        }
        self.games.push(Going {
            fen,
            moves: game.current().legal_moves().into_iter().collect(),
            game,
            plies: Vec::new(),
            temperature: self.sampling.draw_temperature(&mut self.random),
            may_resign: self.random.random::<f32>() < self.sampling.resigned,
            sure: 0,
            after_deviation: false,
            q_before: None,
        });
    }

    /// Plays one move in each game. Returns the games that have ended.
    ///
    /// # Errors
    ///
    /// When an evaluation fails.
    pub fn step(&mut self) -> Result<Vec<LabelledGame>, LabelError> {
        let Generator { sampling, teacher, player, games, random, .. } = self;
        let answers = player.as_mut().map(|player| evaluate(player, games.iter())).transpose()?;
        let wanted: Vec<bool> = match &answers {
            Some(answers) => {
                let wants = |(going, answer): (&Going, &Evaluation)| {
                    random.random::<f32>() < sampling.labelled
                        || going.after_deviation
                        || going.q_before.is_some_and(|q_before| q_before + answer.q >= sampling.blunder)
                };
                games.iter().zip(answers).map(wants).collect()
            }
            // The teacher is asked of every position, so there is nothing to save.
            None => vec![true; games.len()],
        };
        let labels =
            evaluate(teacher, games.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(going, _)| going))?;
        let answers = answers.as_ref().unwrap_or(&labels);
        let mut labels = labels.iter();
        for ((going, wanted), answer) in games.iter_mut().zip(wanted).zip(answers) {
            let label = if wanted { labels.next().map(|evaluation| going.label(evaluation)) } else { None };
            if let Some(label) = &label {
                going.sure = if label.sureness() >= sampling.sure { going.sure + 1 } else { 0 };
            }
            going.after_deviation = random.random::<f32>() < sampling.deviations;
            let drawn = match going.after_deviation {
                true => random.random_range(0..going.moves.len()),
                false => sample(&softmax(&answer.logits, going.temperature), random.random()),
            };
            going.q_before = Some(answer.q);
            going.play(drawn, label);
        }
        let (ended, games) = games.drain(..).partition(|going| going.has_ended(sampling));
        self.games = games;
        Ok(ended.into_iter().map(|going: Going| LabelledGame { fen: going.fen, plies: going.plies }).collect())
    }
}

fn evaluate<'a>(
    evaluator: &mut NetworkEvaluator,
    games: impl Iterator<Item = &'a Going>,
) -> Result<Vec<Evaluation>, EngineError> {
    let queries: Vec<Query> =
        games.map(|going| Query::new(&going.game, &going.moves, evaluator.attributes())).collect();
    evaluator.evaluate_all(&queries)
}

impl Going {
    fn index(&self, mv: Move) -> u16 {
        policy_index(mv, self.game.current().turn(), Transform::NONE)
    }

    fn label(&self, evaluation: &Evaluation) -> Label {
        let policy = self.moves.iter().map(|mv| self.index(*mv)).zip(softmax(&evaluation.logits, 1.0)).collect();
        let win = (1.0 + evaluation.q - evaluation.d) / 2.0;
        Label::new(policy, win, evaluation.d, evaluation.m.unwrap_or(0.0))
    }

    fn play(&mut self, at: usize, label: Option<Label>) {
        let mv = self.moves[at];
        self.plies.push(Ply { label, played: self.index(mv) });
        self.game.push(mv);
        self.moves = self.game.current().legal_moves().into_iter().collect();
    }

    fn has_ended(&self, sampling: &Sampling) -> bool {
        self.game.current().outcome(&self.moves).is_some()
            || self.plies.len() >= sampling.most_plies
            || (self.may_resign && self.sure >= sampling.sure_labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::backend::{self, BackendSettings};

    fn evaluator(name: &str) -> NetworkEvaluator {
        NetworkEvaluator::new(backend::create(name, None, &BackendSettings::default()).unwrap()).unwrap()
    }

    /// Games that were begun with this recipe, all played to their ends.
    fn games(count: usize, sampling: &Sampling, player: Option<NetworkEvaluator>, seed: u64) -> Vec<LabelledGame> {
        let openings = Openings::read(&[], None).unwrap();
        let mut generator = Generator::new(&openings, sampling.clone(), evaluator("random"), player, seed).unwrap();
        (0..count).for_each(|_| generator.begin());
        let mut ended = Vec::new();
        while generator.going() > 0 {
            ended.extend(generator.step().unwrap());
        }
        assert_eq!(ended.len(), count);
        ended
    }

    /// Plays the moves again by their policy indices. Returns the last position's game.
    fn replay(game: &LabelledGame) -> Game {
        let mut replayed = Game::from_fen(&game.fen, true).unwrap();
        for ply in &game.plies {
            let turn = replayed.current().turn();
            let mut moves = replayed.current().legal_moves().into_iter();
            let played = moves.find(|mv| policy_index(*mv, turn, Transform::NONE) == ply.played);
            replayed.push(played.expect("the move is legal"));
        }
        replayed
    }

    #[test]
    fn games_are_legal_and_end_by_the_rules_or_the_limit() {
        let sampling = Sampling { most_plies: 150, ..Sampling::default() };
        for game in games(20, &sampling, Some(evaluator("uniform")), 3) {
            let end = replay(&game);
            assert!(game.plies.len() == 150 || end.outcome().is_some());
        }
    }

    #[test]
    fn the_teacher_alone_labels_every_position_and_beside_a_player_its_share() {
        let sampling = Sampling { labelled: 0.25, deviations: 0.0, blunder: 3.0, ..Sampling::default() };
        assert!(games(3, &sampling, None, 1).iter().all(|game| game.labels() == game.plies.len()));
        let games = games(20, &sampling, Some(evaluator("uniform")), 1);
        let plies: usize = games.iter().map(|game| game.plies.len()).sum();
        let share = games.iter().map(LabelledGame::labels).sum::<usize>() as f32 / plies as f32;
        assert!((0.2..0.3).contains(&share), "{share} of {plies}");
    }

    #[test]
    fn positions_after_a_deviation_are_labelled() {
        let sampling = Sampling { labelled: 0.0, deviations: 1.0, blunder: 3.0, ..Sampling::default() };
        for game in games(3, &sampling, Some(evaluator("uniform")), 1) {
            assert!(game.plies[0].label.is_none());
            assert!(game.plies[1..].iter().all(|ply| ply.label.is_some()));
        }
    }

    #[test]
    fn positions_after_a_blunder_are_labelled() {
        // The values of `random` are anything. No move came before the first position.
        let sampling = Sampling { labelled: 0.0, deviations: 0.0, blunder: 0.2, ..Sampling::default() };
        let games = games(10, &sampling, Some(evaluator("random")), 1);
        assert!(games.iter().all(|game| game.plies[0].label.is_none()));
        let labelled: usize = games.iter().map(LabelledGame::labels).sum();
        let plies: usize = games.iter().map(|game| game.plies.len()).sum();
        assert!((plies / 10..plies * 9 / 10).contains(&labelled), "{labelled} of {plies}");
        // Where everything is equal there are no blunders.
        assert!(self::games(3, &sampling, Some(evaluator("uniform")), 1).iter().all(|game| game.labels() == 0));
    }

    #[test]
    fn decided_games_are_resigned_by_their_share() {
        // Nothing is less sure than 0: every position counts as decided.
        let sampling = Sampling { sure: 0.0, sure_labels: 4, resigned: 0.5, ..Sampling::default() };
        let games = games(40, &sampling, None, 1);
        let resigned = games.iter().filter(|game| game.plies.len() == 4).count();
        assert!((10..30).contains(&resigned), "{resigned}");
        assert!(games.iter().any(|game| game.plies.len() > 50));
    }

    #[test]
    fn a_seed_gives_the_same_games_and_another_seed_others() {
        let sampling = Sampling::default();
        let played = |seed| games(4, &sampling, Some(evaluator("uniform")), seed);
        assert_eq!(played(1), played(1));
        assert_ne!(played(1), played(2));
    }

    #[test]
    fn a_teacher_without_a_head_is_refused() {
        let openings = Openings::read(&[], None).unwrap();
        let error = Generator::new(&openings, Sampling::default(), evaluator("uniform"), None, 1).err().unwrap();
        assert!(error.to_string().contains("no WDL head"), "{error}");
    }
}
