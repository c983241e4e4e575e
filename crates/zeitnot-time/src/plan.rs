//! The decision about one move, and the terms that led to it, as texts and as JSON. Every plan is made by a
//! [`PlanBuilder`](super::plan_builder::PlanBuilder).

use super::unit::Unit;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name of the term that is an estimate of the moves left in the game.
pub(super) const ESTIMATED_MOVES_LEFT: &str = "estimated_moves_left";

/// One quantity on the way to a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The name of the quantity, in snake case.
    pub name: Cow<'static, str>,
    /// Formula of the value, from earlier terms and parameters (names with dashes); an absent term counts as 0. A
    /// source in words begins with `from`. Empty: the value was given. Times are in milliseconds, `whole` cuts off
    /// decimals, `<` is 1 where it holds and 0 otherwise.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub formula: Cow<'static, str>,
    /// Value of the quantity, after any limit; always finite.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
    /// Whether a limit changed the value.
    pub clamped: bool,
}

impl fmt::Display for Term {
    /// Writes `name=12ms`, with a `!` behind it where a limit changed the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.unit == Unit::Ratio { "" } else { self.unit.symbol() };
        let mark = if self.clamped { "!" } else { "" };
        write!(f, "{}={:.*}{unit}{mark}", self.name, self.unit.decimals(), self.value)
    }
}

/// The decision about one move.
///
/// `{}` prints one line, `{:#}` a table for people; both print the terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// Name and preset of the manager, `smooth(preset=lc0)`.
    pub manager: Cow<'static, str>,
    /// Time the move should take if nothing stops it earlier.
    pub budget_ms: f64,
    /// Reserve that may be added if the move turns out to be hard.
    pub extra_ms: f64,
    /// The latest moment, on the move's clock, at which the manager stops the search: `budget_ms` + `extra_ms`, never
    /// past the clock less the overhead.
    pub hard_limit_ms: f64,
    /// The moment, on the move's clock, at which an answer is due even if nothing was evaluated; 0: at once.
    pub due_ms: f64,
    /// Nodes the tree should have at the end, the reused ones among them.
    pub target_nodes: Option<f64>,
    /// Moves of ours for which the clock is expected to serve.
    pub moves_left: f64,
    /// Every quantity that led to the decision, in order.
    pub terms: Vec<Term>,
}

impl Plan {
    /// The term of this name; `None` if the plan does not have it.
    pub fn term(&self, name: &str) -> Option<&Term> {
        self.terms.iter().find(|term| term.name == name)
    }

    /// The manager's estimate of the moves left in the game, regardless of the next time control; `None` if the manager
    /// makes no estimate.
    pub fn estimated_moves_left(&self) -> Option<f64> {
        self.term(ESTIMATED_MOVES_LEFT).map(|term| term.value)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            let width = self.terms.iter().map(|term| term.name.len()).max().unwrap_or(0);
            let unit_width = self.terms.iter().map(|term| term.unit.symbol().len()).max().unwrap_or(0);
            writeln!(f, "time manager {}", self.manager)?;
            for term in &self.terms {
                let mark = if term.clamped { "  (limited)" } else { "" };
                let (decimals, unit) = (term.unit.decimals(), term.unit.symbol());
                let formula = match term.formula.as_ref() {
                    "" => "given".to_owned(),
                    words if words.starts_with(IN_WORDS) => words.to_owned(),
                    formula => format!("= {formula}"),
                };
                let (name, value) = (&term.name, term.value);
                writeln!(f, "  {name:width$} {value:>16.decimals$} {unit:unit_width$}  {formula}{mark}")?;
            }
            return Ok(());
        }
        write!(f, "{}:", self.manager)?;
        self.terms.iter().try_for_each(|term| write!(f, " {term}"))
    }
}

/// The beginning of a formula that says in words where a value comes from.
pub(super) const IN_WORDS: &str = "from ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MoveRequest;
    use crate::plan_builder::{NO_RESERVE, PlanBuilder};

    #[test]
    fn plan_texts_and_json_come_from_the_terms() {
        let mut builder =
            PlanBuilder::new("test", &MoveRequest { clock_ms: 1_000.0, overhead_ms: 200.0, ..MoveRequest::default() });
        builder.moves_left(20.0, "from experience");
        builder.at_most("share = min(0.8, 5 / moves_left)", 0.8, 0.25, Unit::Ratio);
        let plan = builder.finish(("share * clock", 250.0), NO_RESERVE, Some(5_000.0));
        assert_eq!(
            plan.to_string(),
            "test: clock=1000ms increment=0ms overhead=200ms ply=0plies estimated_moves_left=20.0moves \
             moves_left=20.0moves share=0.250! safe_clock=800ms budget=250ms hard_limit=250ms due=625ms"
        );
        insta::assert_snapshot!(format!("{plan:#}"), @r"
        time manager test
          clock                            1000 ms     given
          increment                           0 ms     given
          overhead                          200 ms     given
          ply                                 0 plies  given
          estimated_moves_left             20.0 moves  from experience
          moves_left                       20.0 moves  = max(1, estimated_moves_left)
          share                           0.250 ratio  = min(0.8, 5 / moves_left)  (limited)
          safe_clock                        800 ms     = max(0, clock - overhead)
          budget                            250 ms     = share * clock
          hard_limit                        250 ms     = min(budget + extra, safe_clock)
          due                               625 ms     = hard_limit + min((clock - hard_limit) / 2, max(hard_limit, 1000))
        ");
        let json = serde_json::to_value(&plan).unwrap();
        assert_eq!(json["budget_ms"], 250.0);
        assert_eq!(json["extra_ms"], 0.0);
        assert_eq!(json["hard_limit_ms"], 250.0);
        assert_eq!(json["target_nodes"], 5_000.0);
        assert_eq!(json["moves_left"], 20.0);
        assert_eq!(json["manager"], "test");
        assert_eq!(json["terms"].as_array().unwrap().len(), plan.terms.len());
        let share = serde_json::json!({
            "name": "share", "formula": "min(0.8, 5 / moves_left)", "value": 0.25, "unit": "ratio", "clamped": true
        });
        assert_eq!(json["terms"][6], share);
        assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), plan);
    }
}
