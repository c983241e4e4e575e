//! Tests that the formula of every term is true: computes it again from the terms before it. A source in words
//! (`from ...`) is not checked here.

use super::plan::IN_WORDS;
use super::*;
use std::collections::{HashMap, HashSet};

/// The values that a formula may refer to: the terms before it, then the parameters.
struct Known<'a> {
    terms: &'a [Term],
    params: &'a HashMap<String, f64>,
    /// Names that were not found and count as 0.
    absent: HashSet<String>,
}

/// A formula being read.
struct Reader<'a, 'k> {
    rest: &'a str,
    known: &'k mut Known<'a>,
}

impl Reader<'_, '_> {
    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest.trim_start().strip_prefix(token);
        found.inspect(|rest| self.rest = &self.rest[self.rest.len() - rest.len()..]).is_some()
    }

    fn comparison(&mut self) -> f64 {
        let left = self.sum();
        if self.eat("< ") { f64::from(u8::from(left < self.sum())) } else { left }
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.eat("+ ") {
                value += self.product();
            } else if self.eat("- ") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.factor();
        loop {
            if self.eat("* ") {
                value *= self.factor();
            } else if self.eat("/ ") {
                value /= self.factor();
            } else {
                return value;
            }
        }
    }

    fn list(&mut self) -> Vec<f64> {
        let mut values = vec![self.sum()];
        while self.eat(",") {
            values.push(self.sum());
        }
        assert!(self.eat(")"), "no end: {}", self.rest);
        values
    }

    fn factor(&mut self) -> f64 {
        if self.eat("(") {
            return self.list()[0];
        }
        for (name, fold) in [("min(", f64::min as fn(f64, f64) -> f64), ("max(", f64::max)] {
            if self.eat(name) {
                return self.list().into_iter().reduce(fold).unwrap();
            }
        }
        if self.eat("whole(") {
            return self.list()[0].trunc();
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        if let Ok(number) = word.parse::<f64>() {
            return number;
        }
        let term = self.known.terms.iter().rev().find(|term| term.name == word).map(|term| term.value);
        term.or_else(|| self.known.params.get(word).copied()).unwrap_or_else(|| {
            self.known.absent.insert(word.to_owned());
            0.0
        })
    }
}

/// The values of a manager's parameters: those given in `set`, a list `name=value,...`, and the defaults of the others.
fn params(spec: &ManagerSpec, set: &str) -> HashMap<String, f64> {
    let grouped = spec.groups.iter().flat_map(|group| group.params);
    // A manager's own parameter goes before one of the same name in a group.
    let mut params: HashMap<_, _> = grouped.chain(spec.params).map(|p| (p.name.to_owned(), p.default)).collect();
    let written = set.split([',', '(', ')']).filter_map(|entry| entry.split_once('='));
    params.extend(written.map(|(name, value)| (name.to_owned(), value.parse().unwrap())));
    params
}

/// The plans for three moves of a game, of which `request` is the first.
fn plans(specification: &str, request: &MoveRequest) -> Vec<Plan> {
    let mut manager = build(specification).unwrap();
    let mut request = request.clone();
    let mut play = |share_of_limit: f64| {
        let plan = manager.plan(&request);
        let at = |elapsed_ms, new_nodes, batches| SearchSnapshot {
            elapsed_ms,
            since_first_batch_ms: Some(elapsed_ms - 20.0),
            new_nodes,
            total_nodes: new_nodes,
            batches,
            need_more_time: true,
            best_move: Some(0),
            root_visits: (&[70, 30]).into(),
            ..SearchSnapshot::default()
        };
        manager.observe(&at(20.0, 16, 1));
        manager.observe(&at(1_020.0, 4_016, 251));
        let elapsed_ms = plan.hard_limit_ms * share_of_limit + 15.0;
        manager.finish(&MoveOutcome { elapsed_ms, total_nodes: 4_016, stop: None, ..MoveOutcome::default() });
        request.clock_ms += request.increment_ms - elapsed_ms;
        request.ply += 2;
        request.reused_nodes = 1_500;
        plan
    };
    // The second move leaves time over, the third comes after an overrun.
    [0.9, 1.0, 0.9].map(&mut play).into()
}

#[test]
fn every_formula_gives_the_value_of_its_term() {
    let usual = MoveRequest {
        clock_ms: 90_000.0,
        increment_ms: 1_000.0,
        overhead_ms: 200.0,
        pieces: Some(28),
        legal_moves: Some(33),
        captures: Some(2),
        ..MoveRequest::default()
    };
    let requests = [
        usual.clone(),
        MoveRequest { moves_to_go: Some(2), ply: 76, ..usual.clone() },
        MoveRequest { clock_ms: 25_000.0, increment_ms: 0.0, ply: 50, ..usual.clone() },
        MoveRequest { clock_ms: 6_000.0, increment_ms: 50.0, ply: 90, pieces: Some(9), ..usual.clone() },
        MoveRequest { clock_ms: 400_000.0, reused_nodes: 5_000_000, moves_left_plies: Some(80.0), ..usual },
    ];
    let more = [
        "",
        "extension=0.8",
        "slowmover=1.5,immediate-use=0.5",
        "slowmover=0.5",
        "opening-bonus-pct=30",
        "increment-use=0.5,base-time-factor=0.2",
        "init-nps=100",
    ];
    let mut computed = HashSet::new();
    for spec in managers() {
        // A term may be there in some moves only; one that no move of this manager has is a mistake.
        let (mut names, mut absent) = (HashSet::new(), HashSet::new());
        // The guard's formula of the hard limit has it for managers without a reserve, too.
        names.insert("extra".to_owned());
        for set in more {
            let specification = spec.specification(set);
            // Not every manager has all of them.
            if build(&specification).is_err() {
                continue;
            }
            let params = params(spec, set);
            for plan in requests.iter().flat_map(|request| plans(&specification, request)) {
                let distinct: HashSet<_> = plan.terms.iter().map(|term| term.name.as_ref()).collect();
                assert_eq!(distinct.len(), plan.terms.len(), "{specification}: a name means two terms\n{plan}");
                for (index, term) in plan.terms.iter().enumerate() {
                    names.insert(term.name.to_string());
                    let told = ["clock", "increment", "overhead", "ply", "moves_to_go", "reused_nodes"];
                    assert_eq!(
                        term.formula.is_empty(),
                        told.contains(&term.name.as_ref()),
                        "{specification}: {}",
                        term.name
                    );
                    // The guard cuts what the manager wants.
                    let is_cut = ["budget", "extra"].contains(&term.name.as_ref()) && term.clamped;
                    if told.contains(&term.name.as_ref()) || term.formula.starts_with(IN_WORDS) || is_cut {
                        continue;
                    }
                    let mut known = Known { terms: &plan.terms[..index], params: &params, absent: HashSet::new() };
                    let mut reader = Reader { rest: &term.formula, known: &mut known };
                    let value = reader.comparison();
                    assert_eq!(reader.rest, "", "{specification}: {} = {}", term.name, term.formula);
                    let near = (value - term.value).abs() <= 1e-9 * term.value.abs().max(1.0);
                    assert!(near, "{specification}: {} = {} = {value}\n{plan}", term.name, term.formula);
                    absent.extend(known.absent);
                    computed.insert((spec.title(), term.name.clone()));
                }
            }
        }
        let unknown: Vec<_> = absent.difference(&names).collect();
        assert!(unknown.is_empty(), "{}: no term or parameter is called {unknown:?}", spec.title());
    }
    assert!(computed.len() > 100, "{}", computed.len());
}
