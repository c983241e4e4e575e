//! Compares `smooth(preset=lc0)` over 200 random games with a second computation of its rules, written from
//! docs/lc0.md, 1.1 to 1.10 alone: names and order are those of that text.

use crate::{MoveOutcome, MoveRequest, SearchSnapshot, build};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

/// Lc0 counts in 32 bits and cuts to whole milliseconds at several places.
const TOLERANCE_MS: f64 = 3.0;

/// The state of a game (1.7).
struct Reference {
    reuse: f64,
    nps: f64,
    is_nps_reliable: bool,
    timeuse: f64,
    avg_ms: f64,
    last_nodes: f64,
    last_t: f64,
    bank: f64,
    is_first: bool,
    alloc: f64,
    extra: f64,
    snapshots: Option<[(f64, Vec<f64>); 3]>,
    bank_used: bool,
}

fn exponential_decay(from: f64, to: f64, step: f64, value: f64) -> f64 {
    to - (to - from) * 2f64.powf(-value / step)
}

/// 1.3, with the parameters of 1.7.
fn moves_left(ply: f64) -> f64 {
    let m = ply / 2.0;
    45.2 * (1.0 + 2.0 * (m / 45.2).powf(5.93)).powf(1.0 / 5.93) - m
}

impl Reference {
    fn new() -> Reference {
        Reference {
            reuse: 0.52,
            nps: 20_000.0,
            is_nps_reliable: false,
            timeuse: 0.7,
            avg_ms: 0.0,
            last_nodes: 0.0,
            last_t: 0.0,
            bank: 0.0,
            is_first: true,
            alloc: 0.0,
            extra: 0.0,
            snapshots: None,
            bank_used: false,
        }
    }

    /// The steps of 1.7. Returns the limit without and with the bank.
    fn budget(&mut self, t: f64, inc: f64, ov: f64, ply: f64, movestogo: Option<f64>, n0: f64) -> (f64, f64) {
        if std::mem::take(&mut self.is_first) {
            self.bank = (t * 0.09).trunc();
        }
        if self.last_nodes != 0.0 && self.last_t != 0.0 {
            let moves = if self.avg_ms > 0.0 { self.last_t / self.avg_ms } else { 0.0 };
            self.reuse = exponential_decay(self.reuse, n0 / self.last_nodes, 3.39, moves).min(0.73);
        }
        self.last_t = 0.0;
        let m = movestogo.map_or(moves_left(ply), |moves| moves.min(moves_left(ply)));
        let rest = t + inc * (m - 1.0) - ov;
        let max_bank = 36.5 * rest.max(0.0) / m;
        self.bank = self.bank.min(max_bank).trunc();
        let total = (rest - self.bank).max(0.0);
        self.avg_ms = total / m;
        let target = total * self.nps / 1000.0 / m / (1.0 - self.reuse);
        let gross = (target - n0).max(0.0) / self.nps * 1000.0;
        let tax = (max_bank - self.bank).min(gross * 0.12);
        let extra = (self.bank * 0.94).trunc();
        let alloc = ((gross - tax) / self.timeuse).min(t * 0.42);
        self.alloc = if alloc > t - ov { (t - ov).max(0.0) } else { alloc };
        // Its answers may be negative; a limit of ours is 0 then, and the search stops at its first look all the same.
        self.extra = extra.min(t - ov - self.alloc).trunc().max(0.0);
        self.bank = (self.bank + tax).trunc();
        (self.snapshots, self.bank_used) = (None, false);
        (self.alloc.trunc(), self.alloc.trunc() + self.extra)
    }

    /// 1.8.
    fn speed(&mut self, t: f64, n: f64) {
        if t <= 0.0 {
            return;
        }
        let (raw, window) = (1000.0 * n / t, 20_000.0);
        self.nps = if !self.is_nps_reliable || t <= self.last_t || raw >= self.nps || t >= window {
            raw
        } else {
            let f = self.last_t / window;
            let r = (f * raw - self.nps) / (f - 1.0);
            r + (raw - r) * t / window
        };
        self.last_t = t;
    }

    /// 1.9. Returns the time that remains.
    fn look(&mut self, t_move: f64, since_first_batch: f64, n: f64, visits: &[f64], needs_more: bool) -> f64 {
        let (t_move, since_first_batch) = (t_move.trunc(), since_first_batch.trunc());
        self.speed(since_first_batch, n);
        let now = (t_move, visits.to_vec());
        match &mut self.snapshots {
            None => self.snapshots = Some([now.clone(), now.clone(), now]),
            Some([_, _, last]) if last.0 == t_move => {}
            Some([prev, cur, last]) => {
                *last = now;
                if cur.0 + 3000.0 >= t_move {
                    *prev = std::mem::replace(cur, last.clone());
                }
            }
        }
        let (deadline, with_bank) = (self.alloc.trunc(), self.alloc.trunc() + self.extra);
        let opens = needs_more || since_first_batch <= 1000.0 || self.is_overtaken(with_bank);
        self.bank_used |= opens && t_move >= deadline;
        if opens { with_bank - t_move } else { deadline - t_move }
    }

    fn is_overtaken(&self, x: f64) -> bool {
        let Some([prev, _, last]) = &self.snapshots else { return false };
        if last.0 <= prev.0 || x <= last.0 {
            return false;
        }
        let mut best = 0;
        for edge in 1..last.1.len() {
            if last.1[edge] > last.1[best] {
                best = edge;
            }
        }
        let then = |edge: usize, optimism: f64| {
            last.1[edge] + optimism * (last.1[edge] - prev.1[edge]) / (last.0 - prev.0) * (x - last.0)
        };
        (0..last.1.len()).any(|edge| edge != best && then(edge, 4.0) > then(best, 0.2))
    }

    /// 1.10.
    fn end(&mut self, used: f64, nodes: f64) {
        let used = used.trunc();
        if self.bank_used {
            self.bank = (self.bank - (used - self.alloc.trunc()).max(0.0)).max(0.0);
        }
        let sample = if self.bank_used || self.alloc <= 0.0 { 1.0 } else { used / self.alloc };
        let moves = if self.avg_ms > 0.0 { used / self.avg_ms } else { 0.0 };
        self.timeuse = exponential_decay(self.timeuse, sample, 5.51, moves).max(0.34);
        self.last_nodes = nodes;
        self.is_nps_reliable = true;
    }
}

/// Gaps between two looks, in milliseconds: several in one millisecond, one after another, and longer than the trend's
/// window.
const GAPS_MS: [f64; 8] = [0.0, 0.2, 0.7, 1.0, 9.0, 140.0, 900.0, 3_600.0];

#[test]
fn plans_and_looks_of_random_games_agree_with_a_second_computation() {
    let (mut plans, mut looks, mut looks_apart) = (0, 0, [0; 2]);
    for game in 0..200 {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(game);
        let (mut manager, mut reference) = (build("smooth(preset=lc0)").unwrap(), Reference::new());
        let mut clock = *[1_500.0, 10_000.0, 60_000.0, 300_000.0, 7_200_000.0].choose(random).unwrap();
        let inc = *[0.0, 20.0, 100.0, 1_000.0, 15_000.0].choose(random).unwrap();
        let ov = *[0.0, 30.0, 200.0].choose(random).unwrap();
        let mut period = (random.random_range(0..3) == 0).then_some(20);
        let true_nps = *[150.0, 2_000.0, 90_000.0].choose(random).unwrap();
        let mut nodes = 0.0_f64;
        for turn in 0..30 {
            let ply = 2 * turn;
            let reused = (nodes * *[0.0, 0.1, 0.4, 0.8, 1.2].choose(random).unwrap()).trunc();
            let request = MoveRequest {
                clock_ms: clock,
                increment_ms: inc,
                overhead_ms: ov,
                moves_to_go: period,
                ply,
                reused_nodes: reused as u64,
                ..MoveRequest::default()
            };
            let plan = manager.plan(&request);
            let (limit, with_bank) = reference.budget(clock, inc, ov, f64::from(ply), period.map(f64::from), reused);
            let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE_MS;
            assert!(near(plan.budget_ms, limit), "game {game}, move {turn}: {limit}, {plan}");
            assert!(near(plan.hard_limit_ms, with_bank.min((clock - ov).max(0.0))), "game {game}: {with_bank}, {plan}");
            plans += 1;
            let first_batch = 3.0 + 40.0 * random.random::<f64>();
            let mut elapsed = first_batch;
            let mut visits = [0_u32; 4];
            let (mut new, mut last_at) = (0.0_f64, f64::NEG_INFINITY);
            for _ in 0..1 + random.random_range(0..12) {
                let gap = *GAPS_MS.choose(random).unwrap() * (0.5 + random.random::<f64>());
                elapsed += gap;
                let more = ((elapsed - first_batch + 20.0) * true_nps / 1000.0 - new).max(0.0).trunc();
                new += more;
                let favourite = random.random_range(0..4);
                visits[favourite] += more as u32;
                visits[random.random_range(0..4)] += random.random_range(0..9) as u32;
                let needs_more = random.random_range(0..5) == 0;
                let snapshot = SearchSnapshot {
                    elapsed_ms: elapsed,
                    since_first_batch_ms: Some(elapsed - first_batch),
                    new_nodes: new as u64,
                    total_nodes: (reused + new) as u64,
                    root_visits: visits.as_slice().into(),
                    need_more_time: needs_more,
                    ..SearchSnapshot::default()
                };
                let verdict = manager.observe(&snapshot);
                let remaining = reference.look(elapsed, elapsed - first_batch, new, &visits.map(f64::from), needs_more);
                let ours = verdict.remaining_ms.unwrap();
                assert!(near(ours, remaining), "game {game}, move {turn}: {ours} is not {remaining}: {snapshot:?}");
                assert!(verdict.stop.is_some() == (remaining <= 0.0) || ours.abs() <= TOLERANCE_MS, "{snapshot:?}");
                looks += 1;
                looks_apart[0] += u32::from(elapsed.trunc() == last_at);
                looks_apart[1] += u32::from(elapsed - last_at > 3_000.0);
                last_at = elapsed.trunc();
                if verdict.stop.is_some() {
                    break;
                }
            }
            nodes = reused + new;
            manager.finish(&MoveOutcome { elapsed_ms: elapsed, total_nodes: nodes as u64, ..MoveOutcome::default() });
            reference.end(elapsed, nodes);
            clock = (clock - elapsed + inc).max(120.0);
            period = period.map(|moves| if moves > 1 { moves - 1 } else { 20 });
        }
    }
    assert!(plans == 6_000 && looks > 20_000, "{plans} {looks}");
    assert!(looks_apart.iter().all(|count| *count > 500), "{looks_apart:?}");
}
