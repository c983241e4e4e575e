//! Makes flags of the command line from the engine's options.

use super::{config_file, switches};
use crate::commands::flags::text_with_paths;
use crate::commands::output::{note, notes};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use zeitnot::uci::Switches;
use zeitnot_engine::clock::{Clock, MonotonicClock};
use zeitnot_engine::engine::ignored_options::{IGNORED, find_flag};
use zeitnot_engine::engine::options::SPECS;
use zeitnot_engine::engine::{Engine, Kind, Options, RuntimePolicy};
use zeitnot_engine::memory;
use zeitnot_engine::network::BUILT_IN;

/// The name of the argument `--config`, a file of options.
const CONFIG: &str = "ConfigFile";

/// The heading of the engine's flags in the long help; the short one leaves them out.
pub const HEADING: &str = "Engine options";

/// Adds a flag for every option of the engine, to the long help alone.
pub fn add_to(command: Command) -> Command {
    let defaults = Options::default();
    let arg = |spec: &'static zeitnot_engine::engine::OptionSpec| {
        let default = spec.value(&defaults);
        let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
        let help = match spec.kind {
            Kind::Combo(words) => format!("{} ({}){default}", spec.help, words.join(", ")),
            _ => format!("{}{default}", spec.help),
        };
        let arg = Arg::new(spec.name).long(spec.flag).help(help).action(ArgAction::Set);
        let arg = match spec.short {
            Some(short) => arg.short(short),
            None => arg,
        };
        match spec.kind {
            Kind::Check => arg.value_name("BOOL").num_args(0..=1).require_equals(true).default_missing_value("true"),
            Kind::Spin { .. } => arg.value_name("N"),
            Kind::Float { .. } | Kind::Steps { .. } => arg.value_name("X").allow_negative_numbers(true),
            Kind::Combo(_) => arg.value_name("WORD"),
            Kind::Text => arg.value_name("TEXT").value_parser(text_with_paths()),
            Kind::File => arg.value_name("FILE").value_parser(text_with_paths()),
        }
    };
    let config = Arg::new(CONFIG)
        .long("config")
        .short('c')
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("File of engine options, one flag a line, which is read first");
    // Flags of Lc0 that settings of GUIs and match runners may hold: accepted, and not advertised.
    let ignored = IGNORED.iter().filter_map(|option| {
        let arg = Arg::new(option.name).long(option.flag?).hide(true).action(ArgAction::Set).value_name("VALUE");
        Some(match option.is_switch {
            true => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
            false => arg.allow_negative_numbers(true),
        })
    });
    let shown = SPECS.iter().map(arg).chain([config]).chain(switches::flags());
    command.args(shown.map(|arg| arg.help_heading(HEADING).hide_short_help(true))).args(ignored)
}

/// `--no-FLAG`, Lc0's way to switch something off, as `--FLAG=false`; any other argument as it is.
pub fn switched_off(argument: OsString) -> OsString {
    let is_switch = |flag: &&str| {
        SPECS.iter().any(|spec| spec.flag == *flag && spec.kind == Kind::Check)
            || switches::NAMES.contains(flag)
            || find_flag(flag).is_some_and(|option| option.is_switch)
    };
    match argument.to_str().and_then(|text| text.strip_prefix("--no-")).filter(is_switch) {
        Some(flag) => format!("--{flag}=false").into(),
        None => argument,
    }
}

/// An engine with the options of the command line.
///
/// # Errors
/// When an option does not take its value.
pub fn engine(matches: &ArgMatches, policy: RuntimePolicy) -> anyhow::Result<Engine> {
    engine_on(matches, Arc::new(MonotonicClock::new()), policy)
}

/// Takes the built-in network if none is named, so that the answer does not depend on which networks lie about.
pub fn prefer_built_in(engine: &mut Engine) -> anyhow::Result<()> {
    if engine.options().weights.is_empty() {
        engine.set_option("WeightsFile", BUILT_IN)?;
    }
    Ok(())
}

/// The settings `NAME=VALUE` of a player that is named by its time manager (`smooth(preset=lc0)`), or by options
/// (`CPuct=2;FpuValue=0.3`).
pub fn settings_of(spec: &str) -> Vec<String> {
    let head = spec.split('(').next().unwrap_or_default();
    match head.contains('=') {
        true => spec.split(';').map(str::to_owned).collect(),
        false => vec![format!("TimeManager={spec}")],
    }
}

/// The option and the value of a setting `NAME=VALUE`.
///
/// # Errors
/// When the setting has no `=`.
pub fn name_value(setting: &str) -> anyhow::Result<(&str, &str)> {
    let (name, value) = setting.split_once('=').with_context(|| format!("{setting}: no NAME=VALUE"))?;
    Ok((name.trim(), value.trim()))
}

/// An engine with the options of the command line, on a clock that the caller shares.
pub fn engine_on(matches: &ArgMatches, clock: Arc<dyn Clock>, policy: RuntimePolicy) -> anyhow::Result<Engine> {
    Ok(engine_and_switches(matches, clock, policy)?.0)
}

/// An engine on the given clock, and the switches, both set by the command line and the file of `--config`.
pub fn engine_and_switches(
    matches: &ArgMatches,
    clock: Arc<dyn Clock>,
    policy: RuntimePolicy,
) -> anyhow::Result<(Engine, Switches)> {
    let mut switches = switches::of_this_build();
    let mut engine = Engine::new(Options::default(), clock, policy);
    engine.announce_to(notes());
    let note = |line: String| note!("{line}");
    if let Some(path) = matches.get_one::<PathBuf>(CONFIG) {
        config_file::apply(&mut engine, path, note, &mut switches)?;
    }
    for option in IGNORED.iter().filter(|option| option.flag.is_some() && matches.contains_id(option.name)) {
        note(format!("option {} has no effect: {}", option.name, option.why));
    }
    for spec in SPECS {
        if let Some(value) = matches.get_one::<String>(spec.name) {
            engine.set_flag(spec.name, value).with_context(|| format!("--{}", spec.flag))?;
        }
    }
    switches::of_command_line(matches, &mut switches)?;
    Ok((engine, switches))
}

/// Limits the memory of an engine, where no option does, to its share of the free memory among `engines` of them.
///
/// # Errors
/// When an option has a value that it does not take.
pub fn limit_memory(engine: &mut Engine, engines: usize) -> anyhow::Result<()> {
    let automatic_memory = memory::automatic_limit().map(|bytes| bytes / engines);
    Ok(engine.set_options(Options { automatic_memory, ..engine.options().clone() })?)
}

/// The options that the command line names, by their UCI names.
pub fn given(matches: &ArgMatches) -> impl Iterator<Item = &'static str> {
    SPECS.iter().map(|spec| spec.name).filter(|name| matches.contains_id(name))
}

/// Policy of commands that a person runs: a missing ONNX Runtime is obtained, and the person gets a line about it.
pub const MAY_INSTALL: RuntimePolicy = RuntimePolicy::Install(|line| note!("{line}"));

/// Policy of commands that change nothing: a missing ONNX Runtime is not downloaded.
pub const ONLY_FIND: RuntimePolicy = RuntimePolicy::FindOnly;
