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

impl ParamSpec {
    /// The same parameter where it has another default.
    pub(super) const fn defaulting_to(self, default: f64) -> Self {
        Self { default, ..self }
    }

    /// The same parameter where it does something else, or more.
    pub(super) const fn helping(self, help: &'static str) -> Self {
        Self { help, ..self }
    }
}

/// Declares parameters as constants: name of the constant, name, default, least, largest, unit and help of each.
macro_rules! param_specs {
    ($($id:ident $name:literal $default:literal $min:literal $max:literal $unit:ident $help:literal;)*) => {
        $(pub(super) const $id: $crate::time_manager::params::ParamSpec = $crate::time_manager::params::ParamSpec {
            name: $name,
            default: $default,
            min: $min,
            max: $max,
            unit: $crate::time_manager::plan::Unit::$unit,
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
    /// What it does, in one sentence.
    pub help: &'static str,
}

/// A nested group of parameters: an estimator or a part of a manager, e.g. `mle-legacy(midpoint=50)`.
#[derive(Clone, Copy, Debug)]
pub struct GroupSpec {
    /// Name as written in a specification.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Its parameters. They may also be written in a list around the group; the nearest value wins.
    pub params: &'static [ParamSpec],
    /// Groups inside it.
    pub groups: &'static [GroupSpec],
}

impl GroupSpec {
    /// The names that may be written inside this group.
    fn known(&self) -> String {
        known(self.params, &[], self.groups)
    }

    /// The same without what is inside its groups, where there would be too much of it.
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
    /// What it does, in one sentence.
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
pub const COMMON_GROUPS: &[GroupSpec] = &[super::parts::adjusted::ADJUST];

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
    fn known(&self) -> String {
        let preset = self.preset.map(|_| "preset".to_owned());
        let rest = known(self.params, self.choices, self.groups);
        let common = known(&[], &[], COMMON_GROUPS);
        preset
            .into_iter()
            .chain([rest, common].into_iter().filter(|names| !names.is_empty()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn all_groups(&self) -> impl Iterator<Item = &'static GroupSpec> {
        self.groups.iter().chain(COMMON_GROUPS)
    }
}

fn known(params: &[ParamSpec], choices: &[ChoiceSpec], groups: &[GroupSpec]) -> String {
    let names = params.iter().map(|param| param.name).chain(choices.iter().map(|choice| choice.name));
    let groups = groups.iter().map(|group| format!("{}({})", group.name, group.outline()));
    names.map(str::to_owned).chain(groups).collect::<Vec<_>>().join(", ")
}

/// What is wrong with a time manager specification. The text of each is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// The text leaves the grammar.
    #[error("time manager {spec:?}: {error}")]
    Syntax {
        /// The whole text.
        spec: String,
        /// Where and why; part of the text, and so no `source` that would say it again.
        error: SyntaxError,
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
    /// A parameter that takes a word was given something else.
    #[error("{parameter} = {given}: expected one of {expected}")]
    NotAChoice {
        /// Dotted path of the parameter.
        parameter: String,
        /// What was written.
        given: String,
        /// The words that are possible.
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
    /// Groups around the parameter, its name, its value; the last of equal names counts.
    given: Vec<(Vec<&'static str>, &'static str, f64)>,
    /// Groups that were written, with the groups around them.
    groups: Vec<Vec<&'static str>>,
    /// Choices that were made.
    choices: Vec<(&'static str, &'static str)>,
}

impl ParamValues {
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

    /// The word chosen.
    pub(super) fn choice(&self, choice: &ChoiceSpec) -> &'static str {
        let made = self.choices.iter().rev().find(|made| made.0 == choice.name);
        made.map_or_else(|| choice.values.first().copied().unwrap_or_default(), |made| made.1)
    }
}

/// Finds the manager a specification names, and its parameter values.
pub(super) fn resolve<'m>(
    spec: &str,
    managers: &'m [ManagerSpec],
) -> Result<(&'m ManagerSpec, ParamValues), SpecError> {
    let entries = grammar::parse(spec).map_err(|error| SpecError::Syntax { spec: spec.to_owned(), error })?;
    let known = || {
        let mut names: Vec<_> = managers.iter().map(|m| m.name).collect();
        names.dedup();
        names.join(", ")
    };
    let [entry] = entries.as_slice() else {
        return Err(SpecError::Count { given: entries.len(), known: known() });
    };
    let Content::Group(params) = &entry.content else {
        return Err(SpecError::NotAManager { name: entry.name.clone() });
    };
    let forms: Vec<&ManagerSpec> = managers.iter().filter(|m| m.name == entry.name).collect();
    let Some(first) = forms.first() else {
        return Err(SpecError::UnknownManager { name: entry.name.clone(), known: known() });
    };
    let preset = params.iter().rev().find(|param| param.name == PRESET && first.preset.is_some());
    if let Some(preset) = preset {
        let presets: Vec<_> = forms.iter().filter_map(|form| form.preset).collect();
        let word = word(entry.name.clone(), PRESET, &presets, &preset.content)?;
        let form = forms.iter().find(|form| form.preset == Some(word)).unwrap_or(first);
        return Ok((form, values_for(form, params)?));
    }
    // The parameters may say which form is meant: Lc0's own specifications name what only its own form has. The first form
    // that knows them all is asked, and says what is wrong with their values.
    let mut unknown = None;
    for &form in &forms {
        match values_for(form, params) {
            Err(error @ SpecError::UnknownParameter { .. }) => unknown = unknown.or(Some(error)),
            other => return Ok((form, other?)),
        }
    }
    Err(unknown.expect("there is a first form"))
}

fn values_for(manager: &ManagerSpec, params: &[Entry]) -> Result<ParamValues, SpecError> {
    let mut reader = Reader { path: Vec::new(), owner: manager.title(), values: ParamValues::default() };
    reader.manager(manager, params)?;
    Ok(reader.values)
}

/// The parameter that chooses between the forms of a manager.
const PRESET: &str = "preset";

struct Reader {
    /// The groups around the list being read.
    path: Vec<&'static str>,
    /// The same with the manager, joined by dots.
    owner: String,
    values: ParamValues,
}

impl Reader {
    fn manager(&mut self, manager: &ManagerSpec, entries: &[Entry]) -> Result<(), SpecError> {
        for entry in entries {
            if let Some(choice) = manager.choices.iter().find(|choice| choice.name == entry.name) {
                let word = word(self.owner.clone(), choice.name, choice.values, &entry.content)?;
                self.values.choices.push((choice.name, word));
            } else if !(entry.name == PRESET && manager.preset.is_some()) {
                let groups: Vec<&'static GroupSpec> = manager.all_groups().collect();
                self.entry(manager.params, &groups, entry, &|| manager.known())?;
            }
        }
        Ok(())
    }

    /// A parameter of this list or of a group inside it, or a group.
    fn entry(
        &mut self,
        params: &'static [ParamSpec],
        groups: &[&'static GroupSpec],
        entry: &Entry,
        known: &dyn Fn() -> String,
    ) -> Result<(), SpecError> {
        if let Some(group) = groups.iter().find(|group| group.name == entry.name) {
            return self.group(group, entry);
        }
        let inner = groups.iter().flat_map(|group| group.all_params()).map(|(_, param)| param);
        let mut found = false;
        for param in params.iter().chain(inner).filter(|param| param.name == entry.name) {
            let value = number(&self.owner, param, &entry.content)?;
            self.values.given.push((self.path.clone(), param.name, value));
            found = true;
        }
        if found {
            return Ok(());
        }
        Err(SpecError::UnknownParameter { owner: self.owner.clone(), name: entry.name.clone(), known: known() })
    }

    fn group(&mut self, group: &'static GroupSpec, entry: &Entry) -> Result<(), SpecError> {
        let Content::Group(inner) = &entry.content else {
            return Err(SpecError::GroupWithValue { group: entry.name.clone(), known: group.known() });
        };
        let owner = format!("{}.{}", self.owner, group.name);
        let outer = std::mem::replace(&mut self.owner, owner);
        self.path.push(group.name);
        self.values.groups.push(self.path.clone());
        let groups: Vec<&'static GroupSpec> = group.groups.iter().collect();
        for entry in inner {
            self.entry(group.params, &groups, entry, &|| group.known())?;
        }
        self.path.pop();
        self.owner = outer;
        Ok(())
    }
}

fn number(owner: &str, param: &ParamSpec, content: &Content) -> Result<f64, SpecError> {
    let parameter = format!("{owner}.{}", param.name);
    let expected = format!("a number from {} to {} ({})", param.min, param.max, param.unit.in_words());
    match content {
        Content::Number(value) if (param.min..=param.max).contains(value) => Ok(*value),
        Content::Number(value) => Err(SpecError::OutOfRange { parameter, value: *value, expected }),
        other => Err(SpecError::WrongType { parameter, given: written(other), expected }),
    }
}

fn word<'w>(owner: String, name: &str, words: &[&'w str], content: &Content) -> Result<&'w str, SpecError> {
    let given = match content {
        Content::Text(text) => text.as_str(),
        _ => "",
    };
    words.iter().find(|word| **word == given).copied().ok_or_else(|| SpecError::NotAChoice {
        parameter: format!("{owner}.{name}"),
        given: written(content),
        expected: words.join(", "),
    })
}

/// What was given instead of what was expected, for messages.
fn written(content: &Content) -> String {
    match content {
        Content::Number(value) => value.to_string(),
        Content::Flag(flag) => flag.to_string(),
        Content::Text(text) => format!("{text:?}"),
        Content::Group(_) => "nothing".to_owned(),
    }
}
