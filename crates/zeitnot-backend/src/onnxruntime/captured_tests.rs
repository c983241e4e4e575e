//! Tests captured runs on a card that is played by the processor.

use std::ffi::c_void;
use std::thread::ThreadId;

use ort::memory::Allocator;
use ort::session::Session;

use super::captured_runs::Card;
use super::shared::RunTimes;
use super::*;
use crate::Rows;
use crate::device_options::Graphs;
use zeitnot_chess::Game;
use zeitnot_network::testing::random_network;

/// The failure of a card.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// It has no memory for the sizes with these numbers, in the order in which they are captured.
    Memory(&'static [usize]),
    /// It begins no copy after so many.
    Copy(usize),
    /// It is lost after so many waits.
    Lost(usize),
    /// Its thread panics after so many waits.
    Panic(usize),
}

/// The calls that a card has had.
#[derive(Default)]
struct Calls {
    sizes: usize,
    waits: usize,
    copies: Vec<(ThreadId, usize, usize)>,
    /// Copies since the last wait.
    under_way: usize,
}

/// The processor as a card: its memory is the host's, elsewhere.
struct Processor {
    fault: Fault,
    calls: Arc<Mutex<Calls>>,
}

impl Card for Processor {
    fn allocator(&self, _: &Session) -> ort::Result<Allocator> {
        let mut calls = self.calls.lock();
        let number = calls.sizes;
        calls.sizes += 1;
        match self.fault {
            Fault::Memory(none) if none.contains(&number) => Err(ort::Error::new("out of memory")),
            _ => Ok(Allocator::default()),
        }
    }

    unsafe fn copy(&mut self, from: *const c_void, to: *mut c_void, bytes: usize) -> Result<(), String> {
        let mut calls = self.calls.lock();
        if matches!(self.fault, Fault::Copy(most) if calls.copies.len() >= most) {
            return Err("no copy".to_owned());
        }
        calls.copies.push((std::thread::current().id(), to as usize, bytes));
        calls.under_way += 1;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
        Ok(())
    }

    fn wait(&mut self) -> Result<(), String> {
        let waits = {
            let mut calls = self.calls.lock();
            calls.waits += 1;
            calls.under_way = 0;
            calls.waits
        };
        match self.fault {
            Fault::Lost(most) if waits > most => Err("the card is lost".to_owned()),
            Fault::Panic(most) => {
                assert!(waits <= most, "the thread of a card");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A network on such a card, and its sessions after they have captured every size.
fn prepared(
    options: &DeviceOptions,
    fault: Fault,
    calls: &Arc<Mutex<Calls>>,
) -> Result<(SharedModel, Vec<DeviceSession>, RunTimes), BackendError> {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
    let model_io = ModelIo::new(&network, Provider::Cpu, &options.conversion_of(&network, Provider::Cpu))?;
    let mut plan = SessionPlan::new(Provider::Cpu, 0, Precision::Float32, options, &model_io.model)?;
    plan.units = None;
    plan.rows = Rows::sizes_between(&[2, 4], 1, 8);
    plan.wants_captures = true;
    if options.graphs != Graphs::Off {
        let calls = Arc::clone(calls);
        plan.card = Some(Box::new(move |_| Ok(Box::new(Processor { fault, calls: Arc::clone(&calls) }))));
    }
    let rows = plan.rows.clone();
    let mut shared = SharedModel { runtime, model_io, plan, rows, weights: None };
    let builder = shared.plan.builder(&shared.runtime, &shared.model_io)?;
    let (sessions, times) = shared.prepare(builder, &Announcer::default())?;
    Ok((shared, sessions, times))
}

fn options(graphs: Graphs) -> DeviceOptions {
    let mut options = DeviceOptions::default();
    options.graphs = graphs;
    options
}

/// Positions of a game, with the planes that a network of Lc0's reads.
fn queries() -> Vec<Query> {
    let attributes = crate::NativeBackend::new(
        &Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap(),
        &crate::NativeOptions { isa: None, arithmetic: None, policy_head: None, value_head: None },
        HistoryFill::FenOnly,
    );
    let attributes = attributes.unwrap().attributes().clone();
    let mut game = Game::new();
    let moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "f8c5"];
    let query = |text: &str| {
        game.push_uci(text).unwrap();
        Query::new(&game, &game.current().legal_moves(), &attributes)
    };
    moves.map(query).into()
}

fn evaluator(shared: &Arc<SharedModel>, session: &Arc<Mutex<DeviceSession>>) -> OnnxRuntimeEvaluator {
    let buffers = BufferPool::new(&shared.rows);
    OnnxRuntimeEvaluator { buffers, session: Arc::clone(session), shared: Arc::clone(shared) }
}

#[test]
fn captured_runs_give_the_answers_of_plain_ones_at_fixed_addresses() {
    let calls = Arc::default();
    let (shared, mut sessions, times) = prepared(&options(Graphs::On), Fault::None, &calls).unwrap();
    assert_eq!(times.iter().map(|&(rows, _)| rows).collect::<Vec<_>>(), [1, 2, 4, 8]);
    let (mut plain, mut plain_sessions, _) = prepared(&options(Graphs::Off), Fault::None, &Arc::default()).unwrap();
    assert!(!plain_sessions[0].is_captured());
    // By their times either may have left out another size, whose sums have another order.
    plain.rows = shared.rows.clone();
    let (shared, plain) = (Arc::new(shared), Arc::new(plain));
    let [session, plain_session] = [&mut sessions, &mut plain_sessions].map(|one| Arc::new(Mutex::new(one.remove(0))));
    let queries = queries();
    let mut expected = evaluator(&plain, &plain_session);
    let mut workers = [evaluator(&shared, &session), evaluator(&shared, &session)];
    *calls.lock() = Calls::default();
    for round in 0..3 {
        for (index, count) in [8, 1, 3, 2].into_iter().enumerate() {
            let part = &queries[round..(round + count).min(queries.len())];
            let worker = &mut workers[(round + index) % 2];
            assert_eq!(worker.evaluate(part).unwrap(), expected.evaluate(part).unwrap(), "{count}");
        }
    }
    let calls = calls.lock();
    assert_eq!(calls.sizes, 0, "every size was captured while the network was loaded");
    let own = std::thread::current().id();
    assert!(calls.copies.iter().all(|&(thread, ..)| thread != own && thread == calls.copies[0].0));
    // Planes of 112 x 64 numbers, which go to the card; policies are shorter.
    let mut inputs: Vec<(usize, usize)> =
        calls.copies.iter().filter(|copy| copy.2 % 28_672 == 0).map(|&(_, to, bytes)| (bytes, to)).collect();
    inputs.sort_unstable();
    inputs.dedup();
    let sizes: Vec<usize> = inputs.iter().map(|&(bytes, _)| bytes / 28_672).collect();
    // A size as slow as a larger one is left out.
    assert_eq!(sizes, shared.rows.sizes(), "one address for each size, whoever asks");
}

#[test]
fn a_run_without_its_graph_is_for_sizes_that_were_captured() {
    let (shared, mut sessions, _) = prepared(&options(Graphs::On), Fault::None, &Arc::default()).unwrap();
    let mut buffers = shared.buffers(&sessions[0], 4).unwrap();
    buffers.run_plainly(&mut sessions[0], &shared.model_io).unwrap();
    let mut unknown = shared.buffers(&sessions[0], 3).unwrap();
    let error = unknown.run_plainly(&mut sessions[0], &shared.model_io).unwrap_err().to_string();
    assert!(error.contains("no captured run of 3 positions"), "{error}");
}

#[test]
fn a_card_without_memory_for_all_sizes_works_with_the_others() {
    // The largest size is captured first.
    for (none, sizes) in [(&[2][..], [1, 4, 8].as_slice()), (&[2, 3], &[4, 8]), (&[0, 1], &[1, 2])] {
        let (shared, sessions, times) = prepared(&options(Graphs::On), Fault::Memory(none), &Arc::default()).unwrap();
        assert_eq!((times.iter().map(|&(rows, _)| rows).collect::<Vec<_>>(), sessions.len()), (sizes.to_vec(), 1));
        assert!(shared.rows.sizes().iter().all(|rows| sizes.contains(rows)), "{:?}", shared.rows);
    }
}

#[test]
fn a_capture_that_fails_ends_in_plain_runs_and_one_line() {
    for fault in [Fault::Memory(&[0, 1, 2, 3]), Fault::Lost(0), Fault::Panic(0)] {
        let load = |options: &DeviceOptions| prepared(options, fault, &Arc::default()).map(drop);
        let line = |graphs| load(&options(graphs)).map_err(|error| error.to_string());
        assert_eq!(line(Graphs::Off), Ok(()));
        let error = line(Graphs::On).unwrap_err();
        assert!(error.contains("tiny") && !error.contains('\n'), "{error}");
    }
    let tried = |graphs, error: fn() -> BackendError| {
        let (said, runs) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let say = |line: &str| said.lock().push(line.to_owned());
        let loaded = with_fitting_runs(Provider::Cuda, &options(graphs), say, |options| {
            runs.lock().push(options.graphs);
            if options.graphs == Graphs::Off { Ok(()) } else { Err(error()) }
        });
        (loaded.is_ok(), runs.into_inner(), said.into_inner())
    };
    let wrong = || BackendError::Wrong { backend: "card".to_owned(), problem: "q is 1".to_owned() };
    let line = "CUDA: without CUDA graphs, for with them card computes this network wrongly: q is 1";
    let (is_loaded, runs, said) = tried(Graphs::Auto, wrong);
    assert_eq!((is_loaded, runs), (true, vec![Graphs::Auto, Graphs::Off]));
    assert!(said.len() == 1 && said[0].starts_with(line), "{said:?}");
    assert_eq!(tried(Graphs::On, wrong), (false, vec![Graphs::On], vec![]), "they were chosen");
    let no_card = || BackendError::NoDevice;
    assert_eq!(tried(Graphs::Auto, no_card), (false, vec![Graphs::Auto], vec![]), "plain runs would fail, too");
}

/// The tensors of a run that fails are dropped, or filled for the next.
#[test]
fn copies_that_have_begun_are_waited_for_where_another_fails() {
    // Of the first run's copies those of the input and of the first output begin.
    for most in [0, 1, 2] {
        let calls = Arc::default();
        let error = prepared(&options(Graphs::On), Fault::Copy(most), &calls).map(drop).unwrap_err().to_string();
        let calls = calls.lock();
        assert_eq!((calls.copies.len(), calls.under_way), (most, 0), "{error}");
        assert!(error.contains("no copy"), "{error}");
    }
}

#[test]
fn a_card_that_is_lost_in_play_is_one_line_and_no_hang() {
    let loaded = 64;
    for (fault, words) in [(Fault::Lost(loaded), "the card is lost"), (Fault::Panic(loaded), "its thread has panicked")]
    {
        let (shared, mut sessions, _) = prepared(&options(Graphs::On), fault, &Arc::default()).unwrap();
        let session = Arc::new(Mutex::new(sessions.remove(0)));
        let mut worker = evaluator(&Arc::new(shared), &session);
        let queries = queries();
        let errors: Vec<BackendError> = (0..loaded).filter_map(|_| worker.evaluate(&queries).err()).collect();
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            !lines.is_empty() && lines.iter().all(|line| line.contains(words) && !line.contains('\n')),
            "{lines:?}"
        );
    }
}
