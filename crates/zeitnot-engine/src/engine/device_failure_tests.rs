//! Checks that play goes on after a device has failed in the middle of a search.

use crate::engine::{Engine, EngineError, GoParams, Options, Prepared, RuntimePolicy};
use std::sync::Arc;
use zeitnot_backend::{Attributes, Backend, BackendError, Evaluation, EvaluationCache, Evaluator, Query};
use zeitnot_base::clock::MonotonicClock;

/// A device that is lost after some batches.
struct Lost(Arc<dyn Backend>);

struct LostEvaluator {
    inner: Box<dyn Evaluator>,
    batches_left: usize,
}

impl Backend for Lost {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        Ok(Box::new(LostEvaluator { inner: self.0.evaluator()?, batches_left: 3 }))
    }

    fn cache(&self) -> Option<&dyn EvaluationCache> {
        self.0.cache()
    }
}

impl Evaluator for LostEvaluator {
    fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
        let lost = || BackendError::Run { network: "net".to_owned(), reason: "device lost".to_owned() };
        self.batches_left = self.batches_left.checked_sub(1).ok_or_else(lost)?;
        self.inner.evaluate(batch)
    }

    fn modelled_cost_ms(&self) -> Option<f64> {
        None
    }
}

#[test]
fn a_device_that_is_lost_is_replaced_by_the_cpu_until_an_option_changes() {
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), RuntimePolicy::FindOnly);
    // A network of its own, so that its name tells it from the one built in.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.pb.gz");
    std::fs::write(&file, zeitnot_network::testing::random_network(1, 1, 8)).unwrap();
    engine.set_option("WeightsFile", &file.to_string_lossy()).unwrap();
    engine.set_option("Backend", "uniform").unwrap();
    assert!(matches!(engine.prepare_for_play(), Prepared::Ready(Some(_))));
    engine.decorate(|inner| Arc::new(Lost(inner))).unwrap();
    let go = GoParams { nodes: Some(1000), ..GoParams::default() };
    let failed = engine.search_and_wait(&go, engine.now_ms()).unwrap_err();
    assert!(matches!(&failed, EngineError::Search(error) if error.contains("device lost")), "{failed}");
    let Prepared::Substituted { error, news } = engine.prepare_for_play() else { panic!("the device is gone") };
    let line = error.to_string();
    assert!(line.contains("device lost") && line.contains("given up") && !line.contains('\n'), "{line}");
    assert!(news.starts_with("native, own"), "the same network: {news}");
    assert!(engine.search_and_wait(&go, engine.now_ms()).is_ok());
    assert!(matches!(engine.prepare_for_play(), Prepared::Ready(None)), "it is said once");
    // The user mends it.
    engine.set_option("Backend", "random").unwrap();
    assert!(matches!(engine.prepare_for_play(), Prepared::Ready(Some(_))));
}
