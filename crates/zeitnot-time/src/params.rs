//! The tables of the managers' parameters, which parsing, range checks, error messages and listings read.

use super::TimeManager;
use super::unit::Unit;

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
    /// Effect of the parameter, in one sentence.
    pub help: &'static str,
    /// Words for the values 0, 1, 2 and so on. Empty: the value is written as a number.
    pub words: &'static [&'static str],
}

impl ParamSpec {
    /// A value as it is written in a specification.
    #[cfg(test)]
    pub(super) fn written(&self, value: f64) -> String {
        self.words.get(value as usize).map_or_else(|| value.to_string(), |word| (*word).to_owned())
    }

    /// The parameter with another default.
    pub(super) const fn defaulting_to(self, default: f64) -> Self {
        Self { default, ..self }
    }

    /// The parameter with another help text.
    pub(super) const fn helping(self, help: &'static str) -> Self {
        Self { help, ..self }
    }
}

/// Declares parameters as constants: name of the constant, name, default, least, largest, unit and help of each.
macro_rules! param_specs {
    ($($id:ident $name:literal $default:literal $min:literal $max:literal $unit:ident $help:literal;)*) => {
        $(pub(super) const $id: $crate::params::ParamSpec = $crate::params::ParamSpec {
            name: $name,
            default: $default,
            min: $min,
            max: $max,
            unit: $crate::unit::Unit::$unit,
            help: $help,
            words: &[],
        };)*
    };
}
pub(super) use param_specs;

/// A group of parameters: an estimator or a part of a manager, e.g. `mle-legacy(midpoint=50)`.
#[derive(Clone, Copy, Debug)]
pub struct GroupSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// Effect of the group, in one sentence.
    pub help: &'static str,
    /// Parameters of the group. They may also be written in the list around the group; the value in the group wins.
    pub params: &'static [ParamSpec],
}

impl GroupSpec {
    /// The names that may be written inside this group.
    pub(super) fn known(&self) -> String {
        known(self.params, &[])
    }
}

/// A time manager, or one form of a manager with several forms. Such a form is chosen by `preset`; without it the first
/// form that knows all the given parameters is meant.
#[derive(Clone, Copy, Debug)]
pub struct ManagerSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// Value of the parameter `preset`, for a manager that comes in several forms.
    pub preset: Option<&'static str>,
    /// Whether this is the first form of its name, which the name alone means.
    pub(super) is_first: bool,
    /// Effect of the manager, in one sentence.
    pub help: &'static str,
    /// Parameters of the manager itself.
    pub params: &'static [ParamSpec],
    /// Nested groups of parameters.
    pub groups: &'static [GroupSpec],
    pub(super) build: fn(&ParamValues) -> Box<dyn TimeManager>,
}

impl ManagerSpec {
    /// Name and preset as they are written, a first form without its preset: `legacy`, `smooth(preset=lc0)`.
    pub fn title(&self) -> String {
        match self.preset {
            Some(preset) if !self.is_first => format!("{}(preset={preset})", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// The specification of the manager with `params`: `smooth(preset=lc0,init-timeuse=0.5)`.
    pub fn specification(&self, params: &str) -> String {
        let title = self.title();
        match title.strip_suffix(')') {
            Some(open) => format!("{open},{params})"),
            None => format!("{title}({params})"),
        }
    }

    /// The names a user may write inside this manager, for error messages: `a, b, group(c, d)`.
    pub(super) fn known(&self) -> String {
        let preset = self.preset.map(|_| "preset".to_owned());
        let rest = Some(known(self.params, self.groups)).filter(|names| !names.is_empty());
        preset.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
    }
}

fn known(params: &[ParamSpec], groups: &[GroupSpec]) -> String {
    let names = params.iter().map(|param| param.name.to_owned());
    let groups = groups.iter().map(|group| format!("{}({})", group.name, group.known()));
    names.chain(groups).collect::<Vec<_>>().join(", ")
}

/// Values of every parameter of one manager: those given, and the defaults of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamValues {
    /// Group around the parameter, its name, its value; the last of equal names counts.
    given: Vec<(Option<&'static str>, &'static str, f64)>,
    /// Groups that were written.
    groups: Vec<&'static str>,
    /// Whether the form of the manager was named, by `preset`.
    pub(super) names_preset: bool,
}

impl ParamValues {
    /// Keeps a value that is given in `group`, or in the manager's own list.
    pub(super) fn give(&mut self, group: Option<&'static str>, name: &'static str, value: f64) {
        self.given.push((group, name, value));
    }

    pub(super) fn name_group(&mut self, group: &'static str) {
        self.groups.push(group);
    }

    /// These values, with the default of `param` where none is given: for a form that shares its code with another.
    pub(super) fn with_default_of(&self, param: &ParamSpec) -> ParamValues {
        let mut values = self.clone();
        values.give(None, param.name, self.get(param));
        values
    }

    /// The value of one of the manager's own parameters.
    pub(super) fn get(&self, param: &ParamSpec) -> f64 {
        self.given_in(None, param).unwrap_or(param.default)
    }

    /// The value of a parameter of `group`: given there, or else in the list around it.
    pub(super) fn get_in(&self, group: &'static str, param: &ParamSpec) -> f64 {
        self.given_in(Some(group), param).unwrap_or_else(|| self.get(param))
    }

    fn given_in(&self, group: Option<&'static str>, param: &ParamSpec) -> Option<f64> {
        let given = self.given.iter().rev().find(|given| (given.0, given.1) == (group, param.name));
        given.map(|given| given.2)
    }

    pub(super) fn has(&self, group: &str) -> bool {
        self.groups.contains(&group)
    }
}
