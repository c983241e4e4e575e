//! The parameters of managers, each declared once: parsing, range checks, error messages and listings all read these
//! tables.

use super::TimeManager;
use super::grammar::{self, Content, Entry, SyntaxError};
use super::plan::Unit;
use thiserror::Error;

/// One numeric parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamSpec {
    /// Name as written in a specification, e.g. `init-nps`.
    pub name: &'static str,
    /// Value when it is not given.
    pub default: f64,
    /// Smallest value accepted.
    pub min: f64,
    /// Largest value accepted.
    pub max: f64,
    /// Unit of the value.
    pub unit: Unit,
    /// What it does, in one sentence.
    pub help: &'static str,
}

/// A nested group of parameters: an estimator inside a manager, e.g. `mle-legacy(midpoint=50)`.
#[derive(Clone, Copy, Debug)]
pub struct GroupSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Its parameters. They may also be written directly in the manager's own list; the value inside the group wins.
    pub params: &'static [ParamSpec],
}

/// A time manager that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct ManagerSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Its own parameters.
    pub params: &'static [ParamSpec],
    /// Its nested groups.
    pub groups: &'static [GroupSpec],
    pub(super) build: fn(&ParamValues) -> Box<dyn TimeManager>,
}

impl ManagerSpec {
    /// The names a user may write inside this manager, for error messages: `a, b, group(c, d)`.
    fn known(&self) -> String {
        let groups = self.groups.iter().map(|g| format!("{}({})", g.name, names(g.params)));
        self.params.iter().map(|p| p.name.to_owned()).chain(groups).collect::<Vec<_>>().join(", ")
    }
}

/// What is wrong with a time manager specification. The text of each is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// The text leaves the grammar.
    #[error("time manager {spec:?}: {source}")]
    Syntax {
        /// The whole text.
        spec: String,
        /// Where and why.
        source: SyntaxError,
    },
    /// Not exactly one manager is named.
    #[error("exactly one time manager is expected, {given} given; the managers are: {known}")]
    Count {
        /// How many were named.
        given: usize,
        /// The managers that exist.
        known: String,
    },
    /// `name=value` where a manager was expected.
    #[error(
        "{name:?} has a value, but a time manager is written as a name, alone or with parameters: name(param=value)"
    )]
    NotAManager {
        /// The name as written.
        name: String,
    },
    /// No manager has this name.
    #[error("unknown time manager {name:?}; the managers are: {known}")]
    UnknownManager {
        /// The name as written.
        name: String,
        /// The managers that exist.
        known: String,
    },
    /// The manager, or the group in it, has no parameter of this name.
    #[error("{owner} has no parameter {name:?}; its parameters are: {known}")]
    UnknownParameter {
        /// The manager, or manager and group joined by a dot.
        owner: String,
        /// The name as written.
        name: String,
        /// The parameters that exist.
        known: String,
    },
    /// A parameter was given something that is not a number.
    #[error("{parameter} = {given}: expected {expected}")]
    WrongType {
        /// Dotted path of the parameter.
        parameter: String,
        /// What was written.
        given: String,
        /// What is accepted instead.
        expected: String,
    },
    /// A number outside the parameter's range.
    #[error("{parameter} = {value}: out of range, expected {expected}")]
    OutOfRange {
        /// Dotted path of the parameter.
        parameter: String,
        /// The value given.
        value: f64,
        /// The range, in words.
        expected: String,
    },
    /// A value was given to a group.
    #[error("{group} is a group of parameters: write {group}({known})")]
    GroupWithValue {
        /// Name of the group.
        group: String,
        /// Its parameters.
        known: String,
    },
}

/// Values of every parameter of one manager: those given, and the defaults of the others.
#[derive(Clone, Debug, Default)]
pub struct ParamValues {
    /// Group ("" for the manager's own), parameter, value; the last of equal names counts.
    given: Vec<(&'static str, &'static str, f64)>,
}

impl ParamValues {
    /// The value of one of the manager's own parameters.
    pub(super) fn get(&self, param: &ParamSpec) -> f64 {
        self.get_in("", param)
    }

    /// The value of a parameter of the group `group`.
    pub(super) fn get_in(&self, group: &str, param: &ParamSpec) -> f64 {
        let same = |given: &&(&str, &str, f64)| given.0 == group && given.1 == param.name;
        self.given.iter().rev().find(same).map_or(param.default, |given| given.2)
    }
}

/// Finds the manager a specification names, and its parameter values.
pub(super) fn resolve<'m>(
    spec: &str,
    managers: &'m [ManagerSpec],
) -> Result<(&'m ManagerSpec, ParamValues), SpecError> {
    let entries = grammar::parse(spec).map_err(|source| SpecError::Syntax { spec: spec.to_owned(), source })?;
    let known = || managers.iter().map(|m| m.name).collect::<Vec<_>>().join(", ");
    let [entry] = entries.as_slice() else {
        return Err(SpecError::Count { given: entries.len(), known: known() });
    };
    let Content::Group(params) = &entry.content else {
        return Err(SpecError::NotAManager { name: entry.name.clone() });
    };
    let manager = managers
        .iter()
        .find(|m| m.name == entry.name)
        .ok_or_else(|| SpecError::UnknownManager { name: entry.name.clone(), known: known() })?;
    Ok((manager, read(manager, params)?))
}

fn read(manager: &ManagerSpec, entries: &[Entry]) -> Result<ParamValues, SpecError> {
    // The values of groups come second: the nearest value wins, as in Lc0, wherever it is written.
    let (mut given, mut nested) = (Vec::new(), Vec::new());
    for entry in entries {
        if let Some(group) = manager.groups.iter().find(|g| g.name == entry.name) {
            let Content::Group(inner) = &entry.content else {
                return Err(SpecError::GroupWithValue { group: entry.name.clone(), known: names(group.params) });
            };
            let owner = format!("{}.{}", manager.name, group.name);
            for entry in inner {
                let param =
                    group.params.iter().find(|p| p.name == entry.name).ok_or_else(|| SpecError::UnknownParameter {
                        owner: owner.clone(),
                        name: entry.name.clone(),
                        known: names(group.params),
                    })?;
                nested.push((group.name, param.name, number(&owner, param, &entry.content)?));
            }
            continue;
        }
        let own = manager.params.iter().map(|p| ("", p));
        let of_groups = manager.groups.iter().flat_map(|g| g.params.iter().map(|p| (g.name, p)));
        let mut found = false;
        for (group, param) in own.chain(of_groups).filter(|(_, p)| p.name == entry.name) {
            given.push((group, param.name, number(manager.name, param, &entry.content)?));
            found = true;
        }
        if !found {
            return Err(SpecError::UnknownParameter {
                owner: manager.name.to_owned(),
                name: entry.name.clone(),
                known: manager.known(),
            });
        }
    }
    given.append(&mut nested);
    Ok(ParamValues { given })
}

fn number(owner: &str, param: &ParamSpec, content: &Content) -> Result<f64, SpecError> {
    let parameter = format!("{owner}.{}", param.name);
    let expected = format!("a number from {} to {} ({})", param.min, param.max, param.unit.in_words());
    let given = match content {
        Content::Number(value) if (param.min..=param.max).contains(value) => return Ok(*value),
        Content::Number(value) => {
            return Err(SpecError::OutOfRange { parameter, value: *value, expected });
        }
        Content::Flag(flag) => flag.to_string(),
        Content::Text(text) => format!("{text:?}"),
        Content::Group(_) => "nothing".to_owned(),
    };
    Err(SpecError::WrongType { parameter, given, expected })
}

fn names(params: &[ParamSpec]) -> String {
    params.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}
