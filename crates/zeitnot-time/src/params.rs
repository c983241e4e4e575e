//! Declares the parameters of managers: parsing, range checks, error messages and listings all read these tables.

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
    /// Its effect, in one sentence.
    pub help: &'static str,
}

impl ParamSpec {
    /// The same parameter with another default.
    pub(super) const fn defaulting_to(self, default: f64) -> Self {
        Self { default, ..self }
    }

    /// The same parameter with another help text.
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
        };)*
    };
}
pub(super) use param_specs;

/// One parameter that takes a word of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoiceSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// The words; the first is the default.
    pub values: &'static [&'static str],
    /// Its effect, in one sentence.
    pub help: &'static str,
}

/// A nested group of parameters: an estimator or a part of a manager, e.g. `mle-legacy(midpoint=50)`.
#[derive(Clone, Copy, Debug)]
pub struct GroupSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// Its parameters. They may also be written in a list around the group; the nearest value wins.
    pub params: &'static [ParamSpec],
    /// Groups inside it.
    pub groups: &'static [GroupSpec],
}

impl GroupSpec {
    /// The names that may be written inside this group.
    pub(super) fn known(&self) -> String {
        known(self.params, &[], self.groups)
    }

    /// The names of the groups inside this one, or its parameters where there are none.
    fn outline(&self) -> String {
        let inner: Vec<_> = self.groups.iter().map(|group| group.name).collect();
        if inner.is_empty() { self.known() } else { inner.join(", ") }
    }

    /// Its parameters and those of the groups inside it, each with the names of the groups around it, outermost first.
    pub fn all_params(&self) -> Vec<(Vec<&'static str>, &'static ParamSpec)> {
        let own = self.params.iter().map(|param| (vec![self.name], param));
        let inner = self.groups.iter().flat_map(Self::all_params).map(|(mut path, param)| {
            path.insert(0, self.name);
            (path, param)
        });
        own.chain(inner).collect()
    }
}

/// A time manager that can be chosen by name; where several share a name, `preset` tells them apart. When it is not
/// given the first is meant that knows all the parameters.
#[derive(Clone, Copy, Debug)]
pub struct ManagerSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// Value of the parameter `preset`, for a manager that comes in several forms.
    pub preset: Option<&'static str>,
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// Its own parameters.
    pub params: &'static [ParamSpec],
    /// Its parameters that take a word.
    pub choices: &'static [ChoiceSpec],
    /// Its nested groups; those of [`COMMON_GROUPS`] come on top.
    pub groups: &'static [GroupSpec],
    pub(super) build: fn(&ParamValues) -> Box<dyn TimeManager>,
}

/// Groups that every manager takes.
pub const COMMON_GROUPS: &[GroupSpec] = &[super::managers::guests::parts::adjusted::ADJUST];

impl ManagerSpec {
    /// Name and preset as they are written: `legacy`, `smooth(preset=lc0)`.
    pub fn title(&self) -> String {
        let is_first = super::managers().iter().find(|other| other.name == self.name).map(|other| other.preset);
        match self.preset {
            Some(preset) if is_first != Some(self.preset) => format!("{}(preset={preset})", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// A specification of this manager with these parameters: `smooth(preset=lc0,init-timeuse=0.5)`.
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
        let rest = known(self.params, self.choices, self.groups);
        let common = known(&[], &[], COMMON_GROUPS);
        preset
            .into_iter()
            .chain([rest, common].into_iter().filter(|names| !names.is_empty()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Its own groups and those that every manager takes.
    pub(super) fn all_groups(&self) -> impl Iterator<Item = &'static GroupSpec> {
        self.groups.iter().chain(COMMON_GROUPS)
    }
}

fn known(params: &[ParamSpec], choices: &[ChoiceSpec], groups: &[GroupSpec]) -> String {
    let names = params.iter().map(|param| param.name).chain(choices.iter().map(|choice| choice.name));
    let groups = groups.iter().map(|group| format!("{}({})", group.name, group.outline()));
    names.map(str::to_owned).chain(groups).collect::<Vec<_>>().join(", ")
}

/// Values of every parameter of one manager: those given, and the defaults of the others.
#[derive(Clone, Debug, Default)]
pub struct ParamValues {
    /// Groups around the parameter, its name, its value; the last of equal names counts.
    given: Vec<(Vec<&'static str>, &'static str, f64)>,
    /// Groups that were written, with the groups around them.
    groups: Vec<Vec<&'static str>>,
    /// Choices that were made.
    choices: Vec<(&'static str, &'static str)>,
}

impl ParamValues {
    /// A value that is given in the group at the end of `path`.
    pub(super) fn give(&mut self, path: &[&'static str], name: &'static str, value: f64) {
        self.given.push((path.to_vec(), name, value));
    }

    /// The group at the end of `path` was written.
    pub(super) fn name_group(&mut self, path: &[&'static str]) {
        self.groups.push(path.to_vec());
    }

    /// A choice was made.
    pub(super) fn choose(&mut self, name: &'static str, word: &'static str) {
        self.choices.push((name, word));
    }

    /// The value of one of the manager's own parameters.
    pub(super) fn get(&self, param: &ParamSpec) -> f64 {
        self.get_at(&[], param)
    }

    /// The value of a parameter of the group `group`.
    pub(super) fn get_in(&self, group: &'static str, param: &ParamSpec) -> f64 {
        self.get_at(&[group], param)
    }

    /// The value of a parameter of the group at the end of `path`: the nearest one that is given there or around it.
    pub(super) fn get_at(&self, path: &[&'static str], param: &ParamSpec) -> f64 {
        let at = |depth| {
            let same = move |given: &&(Vec<&str>, &str, f64)| given.0 == path[..depth] && given.1 == param.name;
            self.given.iter().rev().find(same).map(|given| given.2)
        };
        (0..=path.len()).rev().find_map(at).unwrap_or(param.default)
    }

    /// Whether the group at the end of `path` was written.
    pub(super) fn has(&self, path: &[&'static str]) -> bool {
        self.groups.iter().any(|group| group == path)
    }

    /// Whether the manager's own parameter of this name was given.
    pub(super) fn gives(&self, param: &ParamSpec) -> bool {
        self.given.iter().any(|(path, name, _)| path.is_empty() && *name == param.name)
    }

    /// Whether a word was chosen for the parameter of this name.
    pub(super) fn chooses(&self, name: &str) -> bool {
        self.choices.iter().any(|made| made.0 == name)
    }

    /// The word chosen.
    pub(super) fn choice(&self, choice: &ChoiceSpec) -> &'static str {
        let made = self.choices.iter().rev().find(|made| made.0 == choice.name);
        made.map_or_else(|| choice.values.first().copied().unwrap_or_default(), |made| made.1)
    }
}
