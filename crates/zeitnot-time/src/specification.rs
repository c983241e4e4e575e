//! The reading of a specification by the tables of [`params`](super::params): the manager that it names, and the values of
//! its parameters.

use super::grammar::{self, Content, Entry};
use super::params::{GroupSpec, ManagerSpec, ParamSpec, ParamValues};
use thiserror::Error;

/// An error in a time manager specification; its text is one line.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// The text leaves the grammar, does not name one manager, or gives a parameter a wrong value: the reason, in words.
    #[error("{0}")]
    Invalid(String),
    /// No manager has this name.
    #[error("unknown time manager {name:?}; the managers are: {known}")]
    UnknownManager {
        /// The name as written.
        name: String,
        /// The managers that exist.
        known: String,
    },
    /// A name that was written is no parameter of the manager or of the group in it; the text lists the known names.
    #[error("{0}")]
    UnknownParameter(String),
    /// A manager from elsewhere cannot be made.
    #[error("time manager {name}: {problem}")]
    Elsewhere {
        /// Name of the manager.
        name: String,
        /// Reason, in words.
        problem: String,
    },
}

/// Finds the manager a specification names, and its parameter values.
pub(super) fn resolve<'m>(
    spec: &str,
    managers: &'m [ManagerSpec],
) -> Result<(&'m ManagerSpec, ParamValues), SpecError> {
    let entries =
        grammar::parse(spec).map_err(|error| SpecError::Invalid(format!("time manager {spec:?}: {error}")))?;
    let known = || names(managers).collect::<Vec<_>>().join(", ");
    let [entry] = entries.as_slice() else {
        let given = entries.len();
        let (text, known) = ("exactly one time manager is expected", known());
        return Err(SpecError::Invalid(format!("{text}, {given} given; the managers are: {known}")));
    };
    let name = &entry.name;
    let Content::Group(params) = &entry.content else {
        let written = "a time manager is written as a name, alone or with parameters: name(param=value)";
        return Err(SpecError::Invalid(format!("{name:?} has a value, but {written}")));
    };
    let forms: Vec<&ManagerSpec> = managers.iter().filter(|m| m.name == entry.name).collect();
    let Some(first) = forms.first() else {
        return Err(SpecError::UnknownManager { name: entry.name.clone(), known: known() });
    };
    let preset = params.iter().rev().find(|param| param.name == PRESET && first.preset.is_some());
    if let Some(preset) = preset {
        let presets: Vec<_> = forms.iter().filter_map(|form| form.preset).collect();
        let word = word(&entry.name, PRESET, &presets, &preset.content)?;
        let form = forms.iter().find(|form| form.preset == Some(word)).unwrap_or(first);
        let mut values = values_for(form, params)?;
        values.names_preset = true;
        return Ok((form, values));
    }
    // The parameters may say which form is meant: Lc0's own specifications name parameters that only the form `lc0`
    // has. The first form that knows all the names is meant, and checks their values.
    let mut unknown = None;
    for &form in &forms {
        match values_for(form, params) {
            Err(error @ SpecError::UnknownParameter(_)) => unknown = unknown.or(Some(error)),
            other => return Ok((form, other?)),
        }
    }
    Err(unknown.expect("there is a first form"))
}

/// The names of managers, each once: the forms of a manager, which stand together, have one name.
pub(super) fn names(managers: &[ManagerSpec]) -> impl Iterator<Item = &'static str> {
    managers.chunk_by(|one, next| one.name == next.name).map(|forms| forms[0].name)
}

fn values_for(manager: &ManagerSpec, params: &[Entry]) -> Result<ParamValues, SpecError> {
    let mut reader = Reader { values: ParamValues::default(), wrong: None };
    reader.manager(manager, params)?;
    reader.wrong.map_or(Ok(reader.values), Err)
}

/// Name of the parameter that chooses between the forms of a manager.
pub(super) const PRESET: &str = "preset";

struct Reader {
    values: ParamValues,
    /// The error of the first wrong value, reported only once all names are found: they choose the manager's form.
    wrong: Option<SpecError>,
}

impl Reader {
    /// Looks up every name and keeps its value. Fails only on an unknown name.
    fn manager(&mut self, manager: &ManagerSpec, entries: &[Entry]) -> Result<(), SpecError> {
        let owner = manager.title();
        for entry in entries.iter().filter(|entry| !(entry.name == PRESET && manager.preset.is_some())) {
            if let Some(group) = manager.groups.iter().find(|group| group.name == entry.name) {
                self.group(&owner, group, entry)?;
                continue;
            }
            let params = manager.params.iter().chain(manager.groups.iter().flat_map(|group| group.params));
            self.parameter(&owner, None, params, entry, || manager.known())?;
        }
        Ok(())
    }

    fn group(&mut self, owner: &str, group: &'static GroupSpec, entry: &Entry) -> Result<(), SpecError> {
        let Content::Group(inner) = &entry.content else {
            let (name, known) = (group.name, group.known());
            self.wrong
                .get_or_insert(SpecError::Invalid(format!("{name} is a group of parameters: write {name}({known})")));
            return Ok(());
        };
        self.values.name_group(group.name);
        let owner = format!("{owner}.{}", group.name);
        inner.iter().try_for_each(|entry| {
            self.parameter(&owner, Some(group.name), group.params.iter(), entry, || group.known())
        })
    }

    /// Keeps the entry's value for each of `params` of that name: several groups may have a parameter of one name.
    fn parameter(
        &mut self,
        owner: &str,
        group: Option<&'static str>,
        params: impl Iterator<Item = &'static ParamSpec>,
        entry: &Entry,
        known: impl FnOnce() -> String,
    ) -> Result<(), SpecError> {
        let mut found = false;
        for param in params.filter(|param| param.name == entry.name) {
            match value(owner, param, &entry.content) {
                Ok(value) => self.values.give(group, param.name, value),
                Err(error) => _ = self.wrong.get_or_insert(error),
            }
            found = true;
        }
        if found {
            return Ok(());
        }
        let (name, known) = (&entry.name, known());
        Err(SpecError::UnknownParameter(format!("{owner} has no parameter {name:?}; its parameters are: {known}")))
    }
}

fn value(owner: &str, param: &ParamSpec, content: &Content) -> Result<f64, SpecError> {
    if !param.words.is_empty() {
        let word = word(owner, param.name, param.words, content)?;
        return Ok(param.words.iter().take_while(|other| **other != word).count() as f64);
    }
    let expected = format!("expected a number from {} to {} ({})", param.min, param.max, param.unit.in_words());
    let wrong = |problem| Err(wrong_value(owner, param.name, content, problem));
    match content {
        Content::Number(value) if (param.min..=param.max).contains(value) => Ok(*value),
        Content::Number(_) => wrong(format!("out of range, {expected}")),
        _ => wrong(expected),
    }
}

fn word<'w>(owner: &str, name: &str, words: &[&'w str], content: &Content) -> Result<&'w str, SpecError> {
    let given = match content {
        Content::Text(text) => text.as_str(),
        _ => "",
    };
    let problem = || format!("expected one of {}", words.join(", "));
    words.iter().find(|word| **word == given).copied().ok_or_else(|| wrong_value(owner, name, content, problem()))
}

fn wrong_value(owner: &str, name: &str, content: &Content, problem: String) -> SpecError {
    SpecError::Invalid(format!("{owner}.{name} = {}: {problem}", written(content)))
}

/// The given value as text, for messages.
fn written(content: &Content) -> String {
    match content {
        Content::Number(value) => value.to_string(),
        Content::Flag(flag) => flag.to_string(),
        Content::Text(text) => format!("{text:?}"),
        Content::Group(_) => "nothing".to_owned(),
    }
}
