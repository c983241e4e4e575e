//! `zeitnot options`: lists all options of the engine and parameters of the time managers, from their declarations.

use super::output::{self, say};
use crate::commands::flags::{json_flag, switch};
use clap::{ArgMatches, Command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use zeitnot_engine::engine::Options;
use zeitnot_engine::engine::ignored_options::IGNORED;
use zeitnot_engine::engine::options::SPECS;
use zeitnot_time::{ManagerSpec, ParamSpec};

pub fn command() -> Command {
    Command::new("options")
        .about("List the engine's options and the time managers' parameters")
        .arg(switch("markdown", "Tables of docs/options.md and docs/parameters.md"))
        .arg(json_flag().conflicts_with("markdown"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    if matches.get_flag("json") {
        say!("{}", as_json());
    } else if matches.get_flag("markdown") {
        output::text(format_args!(
            "{}
{}
{}",
            options_table(),
            ignored_table(),
            managers_tables().trim_end()
        ));
    } else {
        output::text(as_text());
    }
    Ok(())
}

/// The values of a parameter.
enum Takes {
    Number(&'static ParamSpec),
    /// One of these words; the first is the default.
    Word(Vec<&'static str>),
}

/// A parameter of a time manager.
struct Parameter {
    manager: String,
    /// The name, as it is written in a specification.
    name: String,
    takes: Takes,
    help: &'static str,
}

impl Parameter {
    fn default(&self) -> String {
        match &self.takes {
            Takes::Number(param) => param.default.to_string(),
            Takes::Word(words) => words.first().copied().unwrap_or_default().to_owned(),
        }
    }

    fn range(&self) -> String {
        match &self.takes {
            Takes::Number(ParamSpec { min, max, .. }) => format!("{min} to {max}"),
            Takes::Word(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn unit(&self) -> Option<&'static str> {
        match &self.takes {
            Takes::Number(param) => Some(param.unit.in_words()),
            Takes::Word(_) => None,
        }
    }

    fn as_json(&self) -> Value {
        let Self { manager, name, help, .. } = self;
        match &self.takes {
            Takes::Number(ParamSpec { default, min, max, unit, .. }) => json!({
                "manager": manager, "name": name, "default": default, "min": min, "max": max, "unit": unit, "help": help,
            }),
            Takes::Word(words) => json!({
                "manager": manager, "name": name, "default": self.default(), "values": words, "help": help,
            }),
        }
    }
}

/// The parameter `preset` of a manager with several forms, given for the `first` of them; `None` for others.
fn presets(first: &ManagerSpec) -> Option<Parameter> {
    let forms = zeitnot_time::managers().iter().filter(|form| form.name == first.name);
    let words: Vec<_> = forms.filter_map(|form| form.preset).collect();
    (first.preset.is_some() && first.preset == words.first().copied()).then(|| Parameter {
        manager: first.name.to_owned(),
        name: "preset".to_owned(),
        takes: Takes::Word(words),
        help: "Which form of the manager plays; without it the first that knows all the parameters given.",
    })
}

/// The managers' parameters, in the order of the managers.
fn parameters() -> Vec<Parameter> {
    let of = |manager: &'static ManagerSpec| {
        let parameter = |name: String, param: &'static ParamSpec| Parameter {
            manager: manager.title(),
            name,
            takes: match param.words {
                [] => Takes::Number(param),
                words => Takes::Word(words.to_vec()),
            },
            help: param.help,
        };
        let own = manager.params.iter().map(|param| parameter(param.name.to_owned(), param));
        let grouped = manager.groups.iter().flat_map(|group| group.params.iter().map(move |param| (group, param)));
        let inner = grouped.map(|(group, param)| parameter(format!("{}({})", group.name, param.name), param));
        presets(manager).into_iter().chain(own).chain(inner).collect::<Vec<_>>()
    };
    zeitnot_time::managers().iter().flat_map(of).collect()
}

fn shown(value: String) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value }
}

fn options_table() -> String {
    let defaults = Options::default();
    let mut table = "| UCI option | flag | default | takes | effect |\n|---|---|---|---|---|\n".to_owned();
    for spec in SPECS {
        let short = spec.short.map(|short| format!(", `-{short}`")).unwrap_or_default();
        let (name, flag, default) = (spec.name, spec.flag, shown(spec.value(&defaults)));
        // A bar would end the cell.
        let help = spec.help.replace('|', "\\|");
        writeln!(table, "| {name} | `--{flag}`{short} | {default} | {} | {help} |", spec.kind).ok();
    }
    table
}

fn ignored_table() -> String {
    let mut table = "| option of Lc0 | why it has no effect |\n|---|---|\n".to_owned();
    for option in IGNORED {
        let flag = option.flag.map(|flag| format!(", `--{flag}`")).unwrap_or_default();
        writeln!(table, "| {}{flag} | {} |", option.name, option.why).ok();
    }
    table
}

/// The managers' parameters as text: a table for each manager.
fn managers_tables() -> String {
    let mut text = String::new();
    for parameters in parameters().chunk_by(|one, next| one.manager == next.manager) {
        let title = parameters.first().map_or("", |parameter| parameter.manager.as_str());
        let manager = zeitnot_time::managers().iter().find(|manager| manager.title() == title);
        let help = manager.map_or("", |manager| manager.help);
        writeln!(text, "## {title}\n\n{help}\n").ok();
        text.push_str("| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n");
        for parameter in parameters {
            let (default, range, unit) = (parameter.default(), parameter.range(), parameter.unit().unwrap_or("word"));
            let Parameter { name, help, .. } = parameter;
            writeln!(text, "| `{name}` | {default} | {range} | {unit} | {help} |").ok();
        }
        text.push('\n');
    }
    text
}

fn as_text() -> String {
    let defaults = Options::default();
    let mut text = "Options of the engine (UCI name, flag, default)\n".to_owned();
    for spec in SPECS {
        let (name, default) = (spec.name, shown(spec.value(&defaults)));
        let flag = format!("--{}", spec.flag);
        writeln!(text, "  {name:<32} {flag:<38} {default}\n      {}; {}", spec.help, spec.kind).ok();
    }
    text.push_str("\nParameters of the time managers\n");
    for parameter in parameters() {
        let (default, range, unit) = (parameter.default(), parameter.range(), parameter.unit());
        let unit = unit.map(|unit| format!(", {unit}")).unwrap_or_default();
        let Parameter { manager, name, help, .. } = parameter;
        writeln!(text, "  {manager}: {name} = {default}  ({range}{unit})\n      {help}").ok();
    }
    text
}

fn as_json() -> Value {
    let defaults = Options::default();
    let options: Vec<Value> = SPECS
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name, "flag": spec.flag, "default": spec.value(&defaults),
                "takes": spec.kind.to_string(), "help": spec.help,
            })
        })
        .collect();
    let parameters: Vec<Value> = parameters().iter().map(Parameter::as_json).collect();
    json!({ "options": options, "time_managers": parameters })
}
