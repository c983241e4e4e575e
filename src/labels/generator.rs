//! Many games at once, so that batches are full.

use super::sampling::{draw, softmax};
use super::{Label, LabelledGame, Openings, OpeningsError, Ply, Sampling};
use crate::backend::{Evaluation, Query};
use crate::chess::{Game, Move};
use crate::engine::{EngineError, Prober};
use crate::network::{Transform, policy_index};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use thiserror::Error;

/// A repetition that ends the game: the third occurrence.
const REPETITIONS: u32 = 2;
/// The fifty-move rule in plies.
const RULE50: u32 = 100;

/// Why there are no more games. Its text is one line.
#[derive(Debug, Error)]
pub enum LabelError {
    /// The evaluation failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A book's line is no position.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    /// The teacher has no WDL head: half a label.
    #[error("the teacher {0} has no WDL head")]
    NoWdl(String),
}

/// Plays games and labels them, move by move in all of them.
pub struct Generator<'a> {
    openings: &'a Openings,
    sampling: Sampling,
    teacher: Prober,
    /// `None`: the teacher plays.
    player: Option<Prober>,
    games: Vec<Going>,
    random: Xoshiro256PlusPlus,
}

/// A game that goes on.
struct Going {
    game: Game,
    fen: String,
    plies: Vec<Ply>,
    temperature: f32,
    /// Whether it ends when the teacher is sure.
    may_resign: bool,
    /// Labels in a row at which it was.
    sure: usize,
    after_deviation: bool,
    moves: Vec<Move>,
}

impl<'a> Generator<'a> {
    /// The same seed, recipe, books and networks give the same games, as far as the networks' answers do not depend on
    /// what is in a batch.
    ///
    /// # Errors
    ///
    /// When the teacher has no WDL head.
    pub fn new(
        openings: &'a Openings,
        sampling: Sampling,
        teacher: Prober,
        player: Option<Prober>,
        seed: u64,
    ) -> Result<Generator<'a>, LabelError> {
        if !teacher.attributes().has_wdl {
            return Err(LabelError::NoWdl(teacher.attributes().name.clone()));
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Generator { openings, sampling, teacher, player, games: Vec::new(), random })
    }

    /// Games that go on.
    pub fn going(&self) -> usize {
        self.games.len()
    }

    /// Begins a game.
    ///
    /// # Errors
    ///
    /// When the book's line is no position.
    pub fn begin(&mut self) -> Result<(), LabelError> {
        let game = self.openings.at(self.random.random(), self.random.random())?;
        self.games.push(Going {
            fen: game.fen(),
            moves: game.current().legal_moves().into_iter().collect(),
            game,
            plies: Vec::new(),
            temperature: self.sampling.draw_temperature(&mut self.random),
            may_resign: self.random.random::<f32>() < self.sampling.resigned,
            sure: 0,
            after_deviation: false,
        });
        Ok(())
    }

    /// Plays one move in each game. Returns those that have ended.
    ///
    /// # Errors
    ///
    /// When an evaluation fails.
    pub fn step(&mut self) -> Result<Vec<LabelledGame>, LabelError> {
        let Generator { sampling, teacher, player, games, random, .. } = self;
        // Without a player every position is asked of the teacher, so there is nothing to save.
        let asked: Vec<bool> = games
            .iter()
            .map(|going| player.is_none() || going.after_deviation || random.random::<f32>() < sampling.labelled)
            .collect();
        let labels = evaluate(teacher, games.iter().zip(&asked).filter(|(_, asked)| **asked).map(|(going, _)| going))?;
        let answers = match player {
            Some(player) => &evaluate(player, games.iter())?,
            None => &labels,
        };
        let mut labels = labels.iter();
        for ((going, asked), answer) in games.iter_mut().zip(asked).zip(answers) {
            let label = if asked { labels.next().map(|evaluation| going.label(evaluation)) } else { None };
            if let Some(label) = &label {
                going.sure = if label.sureness() >= sampling.sure { going.sure + 1 } else { 0 };
            }
            going.after_deviation = random.random::<f32>() < sampling.deviations;
            let drawn = match going.after_deviation {
                true => random.random_range(0..going.moves.len()),
                false => draw(&softmax(&answer.logits, going.temperature), random),
            };
            going.play(drawn, label);
        }
        let (ended, games) = games.drain(..).partition(|going| going.has_ended(sampling));
        self.games = games;
        Ok(ended.into_iter().map(|going: Going| LabelledGame { fen: going.fen, plies: going.plies }).collect())
    }
}

fn evaluate<'a>(prober: &mut Prober, games: impl Iterator<Item = &'a Going>) -> Result<Vec<Evaluation>, EngineError> {
    let queries: Vec<Query> = games.map(|going| Query::new(&going.game, &going.moves, prober.attributes())).collect();
    prober.evaluate_all(&queries)
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
        let position = self.game.current();
        self.moves.is_empty()
            || position.is_insufficient_material()
            || position.rule50() >= RULE50
            || position.repetitions() >= REPETITIONS
            || self.plies.len() >= sampling.most_plies
            || (self.may_resign && self.sure >= sampling.sure_labels)
    }
}
