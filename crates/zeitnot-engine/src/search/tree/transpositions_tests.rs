use super::*;
use crate::backend::{self, Backend, BackendOptions, Evaluator, Query};
use crate::chess::{Game, Move};
use crate::search::context::{RemainingLimits, SearchContext};
use crate::search::gather::batch::Batch;
use crate::search::params::SearchParams;
use crate::search::tree::chunks::{CHUNK_BYTES, Spare};
use crate::search::tree::node::Terminal;
use crate::search::tree::packed_move::PackedMove;
use crate::search::tree::root_noise::Noise;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A blocked pawn ending, where nearly every position can be reached in many ways (Fine, "Basic chess endings", no.
/// 70).
const FINE_70: &str = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";
const POSITIONS: [&str; 5] = [
    FINE_70,
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "8/8/8/4k3/8/8/4P3/4K3 w - - 96 90",
    "7k/8/5K2/8/8/8/8/6R1 w - - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
];

/// A search without threads.
pub(in crate::search::tree) struct Searcher {
    pub(in crate::search::tree) tree: Tree,
    backend: Arc<dyn Backend>,
    evaluator: Box<dyn Evaluator>,
    params: SearchParams,
    pub(in crate::search::tree) memory_limit: Option<usize>,
    /// Positions that the network was asked for.
    evaluations: usize,
    /// Positions that a cache would not have known.
    unknown: HashSet<u64>,
}

impl Searcher {
    pub(in crate::search::tree) fn new(fen: &str, share: bool) -> Searcher {
        let options = BackendOptions { cache_size: 0, ..BackendOptions::default() };
        let backend = backend::create("random", None, &options).unwrap();
        let mut tree = Tree::new(Game::from_fen(fen, false).unwrap());
        tree.take_kind(share, false);
        let evaluator = backend.evaluator().unwrap();
        let params = SearchParams { transpositions: share, ..SearchParams::LC0 };
        Searcher { tree, backend, evaluator, params, memory_limit: None, evaluations: 0, unknown: HashSet::new() }
    }

    /// Searches until the root has this many visits, in batches of `size`; with `give_up`, every third batch is
    /// cancelled.
    pub(in crate::search::tree) fn search(&mut self, visits: u64, size: usize, give_up: bool) {
        let mut game = self.tree.game().clone();
        let plies = game.moves().len();
        let params = SearchParams { memory_limit: self.memory_limit, ..self.params };
        let context = SearchContext::of_test(params, Arc::clone(&self.backend), game.clone());
        let limits = RemainingLimits { node_limit: visits, playouts_expected: f64::INFINITY, best_edge: None };
        let mut batch = Batch::default();
        for round in 0.. {
            if u64::from(self.tree.visits()) >= visits {
                break;
            }
            batch.begin(self.tree.visits(), &context.params, &limits);
            while batch.pick(&mut self.tree, &context, &limits, size) {
                batch.extend_leaves(&mut game, plies, &context);
                batch.back_up_out_of_order(&mut self.tree, &context);
            }
            if give_up && round % 3 == 2 {
                batch.cancel(&mut self.tree);
                continue;
            }
            if !batch.queries().is_empty() {
                self.evaluations += batch.queries().len();
                self.unknown.extend(batch.queries().iter().map(|query| query.key));
                let answers = self.evaluator.evaluate(batch.queries()).unwrap();
                batch.take_answers(&answers, &context);
            }
            batch.back_up(&mut self.tree, &context);
        }
    }

    /// The root's most visited move.
    fn best(&self) -> Move {
        let root = self.tree[self.tree.root()];
        let view = self.tree.view(&root).unwrap();
        let children = self.tree.children(&view, &root).flatten().enumerate();
        let best = children.max_by_key(|(_, child)| child.n).unwrap().0;
        PackedMove(view.moves[best]).unpack(self.tree.game().current().board())
    }

    fn play(&mut self, mv: Move) {
        let mut game = self.tree.game().clone();
        game.push(mv);
        assert!(self.tree.follow(game));
    }

    /// Follows the game by a move, and then by another in its stead.
    fn play_after_predicting(&mut self, predicted: Move, mv: Move) {
        let mut game = self.tree.game().clone();
        game.push(mv);
        self.play(predicted);
        // Where the game is over nothing is searched.
        if !self.tree.game().current().legal_moves().is_empty() {
            self.search(u64::from(self.tree.visits()) + 50, 4, false);
        }
        assert!(self.tree.follow(game));
    }

    /// Looks at every position there is, after the alternatives to the last move were given up: what is counted adds
    /// up, nothing is on its way, nothing is lost. With `remembers`, the tree has forgotten nothing and its root is as
    /// it was searched: then each value is the mean of the network's opinion, asked anew, and of its moves. Returns how
    /// many positions have several owners.
    pub(in crate::search::tree) fn audit(&mut self, remembers: bool) -> usize {
        self.tree.forget_alternatives();
        while self.tree.free_discarded() {}
        let tree = &self.tree;
        let mut games = HashMap::from([(tree.root().0, tree.game().clone())]);
        let mut references = HashMap::from([(tree.root().0, 1)]);
        let mut open = vec![tree.root()];
        let mut nodes = 1;
        while let Some(id) = open.pop() {
            let (position, game) = (tree[id], games[&id.0].clone());
            assert_eq!(position.in_flight, 0);
            if id != tree.home {
                nodes += position_table::RUN;
                assert_eq!(tree.record(id).identity(), Identity::of(game.current()));
            }
            let Some(view) = tree.view(&position) else { continue };
            let children: Vec<Node> = tree.children(&view, &position).flatten().copied().collect();
            nodes += allocated(children.len());
            let legal = game.current().legal_moves();
            for (child, mv) in children.iter().zip(view.moves) {
                assert_eq!((child.in_flight, child.edge_state()), (0, crate::search::tree::node::EdgeState::None));
                assert!(child.repeats() <= child.n);
                let Some(link) = child.link() else {
                    assert!(child.n == 0 || child.is_terminal());
                    continue;
                };
                if let Some(known) = references.get_mut(&link.0) {
                    *known += 1;
                    continue;
                }
                let mut game = game.clone();
                let packed = PackedMove(*mv);
                game.push(
                    packed.number().map_or_else(|| packed.unpack(game.current().board()), |number| legal[number]),
                );
                games.insert(link.0, game);
                references.insert(link.0, 1);
                open.push(link);
            }
            if remembers {
                self.check_value(id, &position, &children, &game);
            }
        }
        let (tree, shared) = (&self.tree, self.tree.shared.as_ref().unwrap());
        for (id, count) in &references {
            assert!(*id == tree.home.0 || tree.record(NodeId(*id)).references == *count);
        }
        let root_at_home = usize::from(tree.root() == tree.home);
        assert_eq!(shared.table.len(), references.len() - root_at_home, "the table knows all positions and no other");
        assert_eq!(tree.nodes.in_use(), nodes, "no node is lost");
        references.values().filter(|count| **count > 1).count()
    }

    fn check_value(&self, id: NodeId, position: &Node, children: &[Node], game: &Game) {
        let visits: u32 = children.iter().map(|child| child.n).sum();
        assert_eq!(position.n, visits + 1, "a position is visited once for itself, and by its moves");
        let query = Query::new(game, &game.current().legal_moves(), self.backend.attributes());
        let opinion = self.backend.evaluator().unwrap().evaluate(&[query]).unwrap().remove(0);
        // The network sees whether a position repeats another, which may be so by this way and not by the first.
        if id != self.tree.home && game.current().repetitions() > 0 {
            return;
        }
        if id != self.tree.home {
            assert_eq!(self.tree.record(id).own(), Value { wl: -opinion.q, d: opinion.d, m: opinion.m.unwrap() });
        }
        if position.is_terminal() {
            return;
        }
        let sum: f64 = children.iter().map(|child| child.wl * f64::from(child.n)).sum();
        let wl = (-f64::from(opinion.q) - sum) / f64::from(position.n);
        assert!((position.wl - wl).abs() < 1e-6, "{} is not {wl} after {}", position.wl, position.n);
        let sum: f64 = children.iter().map(|child| f64::from(child.d) * f64::from(child.n)).sum();
        let d = (f64::from(opinion.d) + sum) / f64::from(position.n);
        assert!((f64::from(position.d) - d).abs() < 1e-4, "{} is not {d} after {}", position.d, position.n);
        let sum: f64 = children.iter().map(|child| (f64::from(child.m) + 1.0) * f64::from(child.n)).sum();
        let m = (f64::from(opinion.m.unwrap()) + sum) / f64::from(position.n);
        assert!((f64::from(position.m) - m).abs() < 1e-2, "{} is not {m} after {}", position.m, position.n);
        for child in children.iter().filter(|child| !child.is_terminal() && child.n > 0) {
            let place = self.tree.place(child);
            let references = self.tree.record(child.link().unwrap()).references;
            if references == 1 && child.repeats() == 0 && child.n == place.n {
                assert_eq!((child.wl, child.d, child.m), (place.wl, place.d, place.m), "one way: the same statistics");
            }
        }
    }
}

/// Nodes of the segments of this many children.
fn allocated(children: usize) -> usize {
    match children {
        0..=2 => children,
        3 | 4 => 4,
        _ => 4 + (children - 4).div_ceil(4) * 4,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Searches of several sizes, moves between them, batches given up: all counts add up, and in the end nothing is
    /// left.
    #[test]
    fn all_adds_up(
        fen in prop::sample::select(&POSITIONS[..]),
        steps in prop::collection::vec((50u64..1500, 1usize..40, any::<bool>()), 1..5),
    ) {
        let mut searcher = Searcher::new(fen, true);
        for (index, (visits, size, give_up)) in steps.into_iter().enumerate() {
            let visits = u64::from(searcher.tree.visits()) + visits;
            searcher.search(visits, size, give_up);
            prop_assert_eq!(u64::from(searcher.tree.visits()), visits);
            searcher.audit(index == 0);
            let (best, legal) = (searcher.best(), searcher.tree.game().current().legal_moves());
            searcher.play_after_predicting(legal[size % legal.len()], best);
            searcher.audit(false);
        }
        searcher.tree.reset(Game::new());
        searcher.audit(false);
        prop_assert_eq!(searcher.tree.nodes.in_use(), 1);
    }
}

#[test]
fn a_blocked_ending_is_full_of_transpositions() {
    for (fen, most, fewest_shared) in [(POSITIONS[0], 0.5, 200), (POSITIONS[1], 0.999, 10), (POSITIONS[4], 0.999, 10)] {
        let (mut tree, mut graph) = (Searcher::new(fen, false), Searcher::new(fen, true));
        for searcher in [&mut tree, &mut graph] {
            searcher.search(20_000, 8, false);
        }
        let shared = graph.audit(true);
        let evaluations = [&tree, &graph].map(|searcher| (searcher.evaluations, searcher.unknown.len()));
        eprintln!("{fen}: {shared} positions shared; evaluations, and without those of a cache: {evaluations:?}");
        assert!(shared >= fewest_shared && graph.evaluations as f64 <= most * tree.evaluations as f64);
    }
}

#[test]
fn it_lives_within_its_memory() {
    let mut searcher = Searcher::new(POSITIONS[4], true);
    searcher.memory_limit = Some(1 << 20);
    searcher.search(30_000, 16, false);
    assert!(searcher.tree.bytes() < 1 << 20, "{}", searcher.tree.bytes());
    searcher.audit(false);
}

#[test]
fn it_lives_within_what_the_pools_can_address() {
    for share in [false, true] {
        let mut searcher = Searcher::new(POSITIONS[4], share);
        searcher.tree.words.most = 150_000;
        searcher.search(30_000, 16, false);
        let words = &searcher.tree.words;
        assert!(words.bytes_reached() < words.bytes_most(), "{} bytes", words.bytes_reached());
    }
}

#[test]
fn without_memory_for_more_it_forgets() {
    for share in [false, true] {
        let mut searcher = Searcher::new(POSITIONS[4], share);
        searcher.tree = Tree::with_spare(searcher.tree.game().clone(), Spare::with_pieces_left(40));
        searcher.tree.take_kind(share, false);
        searcher.search(30_000, 16, false);
        let (nodes, words) = (&searcher.tree.nodes, &searcher.tree.words);
        assert!(nodes.bytes_reached() <= nodes.bytes_most() && words.bytes_reached() <= words.bytes_most());
        assert!(searcher.tree.is_short_of_memory());
        let in_use =
            nodes.bytes_reached() - nodes.bytes_given_back() + words.bytes_reached() - words.bytes_given_back();
        assert!(in_use * 10 > (nodes.bytes_reached() + words.bytes_reached()) * 8, "{in_use} bytes in use");
        assert_eq!(searcher.tree.visits(), 30_000);
        if share {
            searcher.audit(false);
        }
        // The next game begins with what there is.
        searcher.tree.reset(Game::new());
        searcher.search(1000, 16, false);
        assert_eq!(searcher.tree.visits(), 1000);
    }
}

/// The part that the system has back depends on the machine.
#[test]
fn memory_of_an_earlier_tree_has_no_part_in_what_is_forgotten() {
    let play = |freed: bool| {
        let mut searcher = Searcher::new(POSITIONS[4], false);
        searcher.search(30_000, 16, false);
        searcher.tree.start_anew(searcher.tree.game().clone());
        if freed {
            searcher.tree.spare.free();
        }
        searcher.memory_limit = Some(2 << 20);
        searcher.search(60_000, 16, false);
        let tree = &searcher.tree;
        assert!(tree.words.bytes_reached() > CHUNK_BYTES, "it takes more chunks than it kept");
        let root = tree[tree.root()];
        let view = tree.view(&root).unwrap();
        let visits: Vec<u32> = tree.children(&view, &root).flatten().map(|child| child.n).collect();
        (visits, tree.nodes.in_use(), tree.words.in_use())
    };
    assert_eq!(play(true), play(false));
}

#[test]
fn without_transpositions_it_is_the_tree() {
    // Every move here is by a pawn or captures, so that no position returns in the first plies.
    let fen = "8/8/8/8/8/8/k1P5/7K w - - 0 1";
    for visits in [2, 3, 10] {
        let (mut tree, mut graph) = (Searcher::new(fen, false), Searcher::new(fen, true));
        tree.search(visits, 1, false);
        graph.search(visits, 1, false);
        let roots = [&tree, &graph].map(|searcher| {
            let root = searcher.tree[searcher.tree.root()];
            let view = searcher.tree.view(&root).unwrap();
            let children: Vec<u32> = searcher.tree.children(&view, &root).flatten().map(|child| child.n).collect();
            (root.n, root.wl as f32, children)
        });
        assert_eq!(roots[0], roots[1]);
    }
}

/// A graph that is grown visit by visit along lines of moves.
struct Lines(Tree);

impl Lines {
    fn new(game: Game) -> Lines {
        let mut tree = Tree::new(game);
        tree.take_kind(true, false);
        Lines(tree)
    }

    /// Sends a visit down a line as far as it is open. The network is of the opinion `wl` about a position it is asked
    /// for, for the player who moved there. Returns the last node.
    fn visit(&mut self, line: &[&str], wl: f32) -> NodeId {
        let Lines(tree) = self;
        let mut game = tree.game().clone();
        let root = tree.root();
        let mut path = vec![PathEntry { node: root, edge: 0, position: root }];
        tree[root].in_flight += 1;
        let mut found = Found::Known;
        for uci in line {
            let id = path[0].position;
            let legal: Vec<u16> = game.current().legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
            if tree.view(&tree[id]).is_none() {
                tree.set_priors(id, &vec![255; legal.len()]);
                tree.expand(id);
                tree.resolve(id, &legal);
                if tree[id].n == 0 {
                    tree[id].add_visits(Value::default(), 1);
                }
            }
            game.push_uci(uci).unwrap();
            let mv = PackedMove::new(*game.moves().last().unwrap()).0;
            let edge = tree.view(&tree[id]).unwrap().moves.iter().position(|known| *known == mv).unwrap();
            let node = tree.child(id, edge);
            tree[node].in_flight += 1;
            let position = tree.link(node, Identity::of(game.current()));
            let above: Vec<NodeId> = path.iter().map(|entry| entry.position).collect();
            if tree.repeats(position, above.into_iter(), true) {
                found = Found::Repetition;
                path.insert(0, PathEntry { node, edge: edge as u8, position: node });
                break;
            }
            tree.forget_stale_repeats(node, position);
            tree[position].in_flight += 1;
            path.insert(0, PathEntry { node, edge: edge as u8, position });
        }
        let leaf = path[0];
        if found == Found::Known && tree[leaf.position].n == 0 {
            found = Found::Opinion(Value { wl, d: 0.0, m: 0.0 });
        }
        backup(tree, &path, found, 1, true);
        leaf.node
    }
}

/// Two lines: by the first the knights come back to f3 and f6, by the second they have not been there together.
const THERE_AND_BACK: [&str; 6] = ["g1f3", "g8f6", "f3g5", "f6g4", "g5f3", "g4f6"];
const ONCE: [&str; 6] = ["g1h3", "g8h6", "h3g5", "h6g4", "g5f3", "g4f6"];

#[test]
fn a_repetition_on_one_way_is_none_on_another() {
    let mut lines = Lines::new(Game::new());
    let last = lines.visit(&THERE_AND_BACK, 0.9);
    let node = lines.0[last];
    assert_eq!((node.n, node.repeats(), node.wl, node.d, node.bounds()), (1, 1, 0.0, 1.0, Bounds::UNKNOWN));
    // The fifth position is the same by both ways, and so is its move.
    assert_eq!(lines.visit(&ONCE, 0.9), last);
    let node = lines.0[last];
    assert_eq!((node.n, node.repeats(), node.is_terminal()), (2, 1, false));
    assert!((node.wl - 0.45).abs() < 1e-6 && (node.d - 0.5).abs() < 1e-6, "half of its visits drew: {node:?}");
    lines.visit(&ONCE, 0.9);
    lines.visit(&THERE_AND_BACK, 0.9);
    let node = lines.0[last];
    assert_eq!((node.n, node.repeats()), (4, 2));
    assert!((node.wl - 0.45).abs() < 1e-6, "{node:?}");
}

#[test]
fn a_repetition_is_forgotten_when_the_game_has_passed_the_first() {
    let mut lines = Lines::new(Game::new());
    let last = lines.visit(&THERE_AND_BACK, 0.9);
    assert_eq!(lines.0[last].repeats(), 1);
    let mut game = Game::new();
    for uci in &THERE_AND_BACK[..3] {
        game.push_uci(uci).unwrap();
    }
    assert!(lines.0.follow(game));
    assert_eq!(lines.visit(&THERE_AND_BACK[3..], 0.9), last);
    let node = lines.0[last];
    // It is the first since the root: both visits have the worth of the position.
    assert_eq!((node.n, node.repeats()), (2, 0));
    assert!((node.wl - 0.9).abs() < 1e-6, "{node:?}");
}

#[test]
fn the_third_time_is_a_draw_whatever_the_way() {
    let mut game = Game::new();
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.push_uci(uci).unwrap();
    }
    let mut lines = Lines::new(game);
    let last = lines.visit(&["f6g8"], 0.9);
    assert_eq!((lines.0[last].repeats(), lines.0[last].d), (1, 1.0));
    // Twice is not enough: the board after g8h6 and f3 was there never, and that after g1f3 only above the root.
    let once = lines.visit(&["f6g4"], 0.9);
    assert_eq!(lines.0[once].repeats(), 0);
}

#[test]
fn boards_with_other_counters_are_other_positions() {
    // The rook needs one move by the first line and two by the second.
    let game = Game::from_fen("7k/8/8/8/8/8/8/K6R b - - 97 80", false).unwrap();
    let other = Game::from_fen("7k/8/8/8/8/8/8/K6R b - - 95 80", false).unwrap();
    assert_eq!(game.current().key(), other.current().key());
    assert_ne!(Identity::of(game.current()), Identity::of(other.current()));
    let mut tree = Tree::new(Game::new());
    tree.take_kind(true, false);
    let root = tree.root();
    tree.set_priors(root, &[255; 4]);
    tree.expand(root);
    let [first, second, third] = [0, 1, 2].map(|index| tree.child(root, index));
    let position = tree.link(first, Identity::of(game.current()));
    assert_ne!(tree.link(second, Identity::of(other.current())), position);
    assert_eq!(tree.link(third, Identity::of(game.current())), position);
}

#[test]
fn a_move_catches_up_with_what_other_ways_found() {
    let mut lines = Lines::new(Game::new());
    let (one, other) = (["g1f3", "g8f6", "b1c3"], ["b1c3", "g8f6", "g1f3"]);
    let first = lines.visit(&one, 0.2);
    let second = lines.visit(&other, 0.7);
    assert_ne!(first, second);
    assert_eq!(lines.0[second].value().wl, 0.2, "known: the network is not asked");
    // Two visits below it, by the first way.
    lines.visit(&[&one[..], &["d7d5"]].concat(), 1.0);
    lines.visit(&[&one[..], &["d7d6"]].concat(), 1.0);
    let position = lines.0[first].link().unwrap();
    assert_eq!(lines.0[position].n, 3);
    let wl = (0.2 - 1.0 - 1.0) / 3.0;
    assert!((lines.0[first].wl - wl).abs() < 1e-6 && lines.0[second].wl == f64::from(0.2f32));
    assert!(!lines.0.lags(first, position) && lines.0.lags(second, position));
    let root = lines.0.root();
    let before = lines.0[root].wl;
    lines.visit(&other, 0.0);
    assert!((lines.0[second].wl - wl).abs() < 1e-6 && lines.0[second].n == 2, "both of its visits");
    assert!(!lines.0.lags(second, position) && lines.0[root].wl != before);
}

/// Pondering relies on it: the predicted move is searched, and another one is played.
#[test]
fn the_last_move_may_have_been_another() {
    for (from, stripped) in [(0, false), (0, true), (1, false), (1, true)] {
        let mut searcher = Searcher::new(FINE_70, true);
        searcher.search(3000, 8, false);
        // PreviousRoot the second move is a shared position, behind the first there is no such position.
        for _ in 0..from {
            searcher.play(searcher.best());
        }
        let in_use = |tree: &Tree| (tree.nodes.in_use(), tree.shared.as_ref().unwrap().table.len());
        let (before, visits) = (in_use(&searcher.tree), searcher.tree.visits());
        let root = searcher.tree.root();
        let moves = searcher.tree.game().current().legal_moves();
        let after = |tree: &Tree, mv: Move| {
            let mut game = tree.game().clone();
            game.push(mv);
            game
        };
        let (predicted, played) = (after(&searcher.tree, moves[0]), after(&searcher.tree, moves[1]));
        assert!(searcher.tree.follow(predicted));
        if stripped {
            searcher.tree.discard_alternatives();
        } else {
            assert_eq!(in_use(&searcher.tree), before, "the other moves might still be played");
        }
        assert!(searcher.tree.follow(played), "the game goes on all the same");
        assert_eq!(searcher.tree.is_empty(), stripped);
        if !stripped {
            assert_eq!(searcher.tree.previous_root.unwrap().position, (from > 0).then_some(root));
            assert!(searcher.tree.visits() < visits);
            searcher.search(u64::from(searcher.tree.visits()) + 500, 8, false);
        }
        searcher.audit(false);
        searcher.tree.reset(Game::new());
        assert_eq!(searcher.tree.nodes.in_use(), 1);
    }
}

#[test]
fn what_tables_say_is_no_mate_by_any_way() {
    let mut lines = Lines::new(Game::new());
    let (one, other) = (["g1f3", "g8f6", "b1c3"], ["b1c3", "g8f6", "g1f3"]);
    let first = lines.visit(&one, 0.0);
    lines.visit(&other, 0.0);
    let won = lines.visit(&[&one[..], &["d7d5"]].concat(), 0.0);
    let position = lines.0[first].link().unwrap();
    // The last move is one that the tables call won: the side that lets it happen has lost.
    let found = lines.0.existing_child(&lines.0[position], 0).unwrap();
    assert_ne!(found, won);
    make_terminal(&mut lines.0, found, None, GameEnd { result: 1, m: 7.0, kind: Terminal::Tablebase });
    bound(&mut lines.0, position, 7.0);
    assert_eq!(
        (lines.0[position].terminal(), lines.0[position].wl, lines.0[position].m),
        (Terminal::Tablebase, -1.0, 8.0)
    );
    let second = lines.visit(&other, 0.0);
    assert_eq!((lines.0[second].terminal(), lines.0[second].wl), (Terminal::Tablebase, -1.0));
}

#[test]
fn noise_and_rounds_of_many_visits_work_in_a_graph() {
    let mut searcher = Searcher::new(FINE_70, true);
    searcher.search(400, 64, false);
    searcher.play(searcher.best());
    let root = searcher.tree.root();
    assert_ne!(root, searcher.tree.home);
    let moves = usize::from(searcher.tree[root].moves);
    let noise = Noise { epsilon: 1.0, alpha: 0.3 }.draw(moves, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    searcher.tree.set_root_noise(noise);
    let visits = u64::from(searcher.tree.visits()) + 777;
    searcher.search(visits, 64, false);
    assert_eq!(u64::from(searcher.tree.visits()), visits, "no round has more visits that count than are wanted");
    searcher.audit(false);
    searcher.play(searcher.best());
    assert!(searcher.tree.root_noise().is_none());
}

#[test]
fn what_is_proven_of_a_position_is_proven_by_all_ways() {
    let mut lines = Lines::new(Game::new());
    let (one, other) = (["g1f3", "g8f6", "b1c3"], ["b1c3", "g8f6", "g1f3"]);
    let first = lines.visit(&one, 0.0);
    let second = lines.visit(&other, 0.0);
    let position = lines.0[first].link().unwrap();
    lines.0[position].make_terminal(1, 4.0, Terminal::End);
    assert!(lines.0.lags(first, position) && lines.0.lags(second, position));
    lines.visit(&other, 0.0);
    let node = lines.0[second];
    assert_eq!((node.terminal(), node.wl, node.m, node.n), (Terminal::End, 1.0, 4.0, 2));
    assert_eq!(lines.0[first].terminal(), Terminal::No, "before a visit comes by");
}
