//! Evaluates positions by the network alone, without a search.

use super::EngineError;
use super::ratings::PlayerRatings;
use std::sync::Arc;
use zeitnot_backend::{Attributes, Backend, Evaluation, Evaluator, Query};
use zeitnot_chess::{Game, Move};

/// Evaluates positions by the network alone, with an evaluator of its own.
pub struct NetworkEvaluator {
    backend: Arc<dyn Backend>,
    evaluator: Box<dyn Evaluator>,
    /// The players' ratings, for a network that takes ratings as input.
    ratings: Option<PlayerRatings>,
}

impl NetworkEvaluator {
    /// One evaluator of this backend.
    ///
    /// # Errors
    /// When the device has no room for another evaluator.
    pub fn new(backend: Arc<dyn Backend>) -> Result<NetworkEvaluator, EngineError> {
        let evaluator = backend.evaluator()?;
        Ok(NetworkEvaluator { backend, evaluator, ratings: None })
    }

    /// The evaluator with these ratings, which count if the network takes ratings as input.
    pub(super) fn rated(self, ratings: PlayerRatings) -> NetworkEvaluator {
        NetworkEvaluator { ratings: Some(ratings), ..self }
    }

    /// The query for the position at the end of `game`, whose legal moves are `moves`, and its evaluation.
    ///
    /// # Errors
    /// The backend's.
    pub fn evaluate(&mut self, game: &Game, moves: &[Move]) -> Result<(Query, Evaluation), EngineError> {
        let attributes = self.backend.attributes();
        let ratings = self.ratings.and_then(|ratings| ratings.of(attributes, game.current().turn()));
        let mut query = Query::default();
        query.fill(game, moves, ratings, attributes);
        let mut answers = self.evaluate_all(std::slice::from_ref(&query))?;
        let answer = answers.pop().expect("an evaluator gives one evaluation for each query");
        Ok((query, answer))
    }

    /// One evaluation for each query, in their order.
    ///
    /// # Errors
    /// The backend's.
    pub fn evaluate_all(&mut self, queries: &[Query]) -> Result<Vec<Evaluation>, EngineError> {
        Ok(self.evaluator.evaluate(queries)?)
    }

    /// The attributes of the network's backend.
    pub fn attributes(&self) -> &Attributes {
        self.backend.attributes()
    }
}
