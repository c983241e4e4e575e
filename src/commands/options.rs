//! `zeitnot options`: every option of the engine and every parameter of the time managers, from their declarations.

use super::json_flag;
use super::output::{self, say};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use zeitnot::engine::Options;
use zeitnot::engine::inert::INERT;
use zeitnot::engine::options::SPECS;
use zeitnot::time_manager::{self, ParamSpec};

pub fn command() -> Command {
    Command::new("options")
        .about("List the engine's options and the time managers' parameters")
        .arg(Arg::new("markdown").long("markdown").action(ArgAction::SetTrue).help("Print the tables of the README"))
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
            inert_table(),
            managers_table()
        ));
    } else {
        output::text(as_text());
    }
    Ok(())
}

/// The managers' parameters: manager, name as it is written in a specification, declaration.
fn parameters() -> Vec<(String, String, &'static ParamSpec)> {
    let grouped = |group: &'static time_manager::GroupSpec, manager: &str| {
        let named = |(path, param): (Vec<&str>, &'static ParamSpec)| {
            (manager.to_owned(), format!("{}({}{}", path.join("("), param.name, ")".repeat(path.len())), param)
        };
        group.all_params().into_iter().map(named).collect::<Vec<_>>()
    };
    let of = |manager: &'static time_manager::ManagerSpec| {
        let own = manager.params.iter().map(|param| (manager.title(), param.name.to_owned(), param));
        own.chain(manager.groups.iter().flat_map(|group| grouped(group, &manager.title()))).collect::<Vec<_>>()
    };
    let common = time_manager::COMMON_GROUPS.iter().flat_map(|group| grouped(group, "any"));
    time_manager::managers().iter().flat_map(of).chain(common).collect()
}

fn shown(value: String) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value }
}

fn options_table() -> String {
    let defaults = Options::default();
    let mut table = "| UCI option | flag | default | takes | what it does |\n|---|---|---|---|---|\n".to_owned();
    for spec in SPECS {
        let short = spec.short.map(|short| format!(", `-{short}`")).unwrap_or_default();
        let (name, flag, default) = (spec.name, spec.flag, shown(spec.value(&defaults)));
        // A bar would end the cell.
        let help = spec.help.replace('|', "\\|");
        writeln!(table, "| {name} | `--{flag}`{short} | {default} | {} | {help} |", spec.kind).ok();
    }
    table
}

fn inert_table() -> String {
    let mut table = "| option of Lc0 | why it has no effect |\n|---|---|\n".to_owned();
    for inert in INERT {
        let flag = inert.flag.map(|flag| format!(", `--{flag}`")).unwrap_or_default();
        writeln!(table, "| {}{flag} | {} |", inert.name, inert.why).ok();
    }
    table
}

fn managers_table() -> String {
    let mut table =
        "| manager | parameter | default | range | unit | meaning |\n|---|---|---|---|---|---|\n".to_owned();
    for (manager, name, param) in parameters() {
        let ParamSpec { default, min, max, help, .. } = param;
        let unit = param.unit.in_words();
        writeln!(table, "| {manager} | `{name}` | {default} | {min} to {max} | {unit} | {help} |").ok();
    }
    table
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
    for (manager, name, param) in parameters() {
        let ParamSpec { default, min, max, help, .. } = param;
        writeln!(text, "  {manager}: {name} = {default}  ({min} to {max}, {})\n      {help}", param.unit.in_words())
            .ok();
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
    let parameters: Vec<Value> = parameters()
        .into_iter()
        .map(|(manager, name, param)| {
            json!({
                "manager": manager, "name": name, "default": param.default, "min": param.min, "max": param.max,
                "unit": param.unit, "help": param.help,
            })
        })
        .collect();
    json!({ "options": options, "time_managers": parameters })
}
