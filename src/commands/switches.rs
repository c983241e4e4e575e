//! Switches of the command line and of `--config` that are no UCI options, both of Lc0's: `--preload` loads the network
//! when the engine starts, not at the first `isready` or `go` (docs/lc0.md, 1.1); `--show-hidden` lists the options that
//! few people set, too.

use super::flags;
use clap::{Arg, ArgMatches};
use zeitnot::uci::Switches;

/// The flags, without dashes.
const PRELOAD: &str = "preload";
const SHOW_HIDDEN: &str = "show-hidden";
pub const NAMES: [&str; 2] = [PRELOAD, SHOW_HIDDEN];

/// The flags for the command line; each may have the value true or false.
pub fn flags() -> [Arg; 2] {
    let switch = |name: &'static str| {
        flags::flag(name, "BOOL").num_args(0..=1).require_equals(true).default_missing_value("true")
    };
    [
        switch(PRELOAD).help(
            "As a UCI engine, load the network and make its backend ready at the start, not at the first isready or go; \
             other commands load it at once in any case [default: false]",
        ),
        switch(SHOW_HIDDEN).help(
            "As a UCI engine, list all options, not only those that people set; all are accepted in any case [default: \
             false]",
        ),
    ]
}

/// Sets the switches that the command line has.
///
/// # Errors
/// When a value is neither true nor false.
pub fn of_command_line(matches: &ArgMatches, switches: &mut Switches) -> anyhow::Result<()> {
    for name in NAMES {
        if let Some(text) = matches.get_one::<String>(name) {
            set(name, text, switches)?;
        }
    }
    Ok(())
}

/// Sets the switch with this flag. Returns whether there is one.
///
/// # Errors
/// When the text is neither true nor false.
pub fn set(name: &str, text: &str, switches: &mut Switches) -> anyhow::Result<bool> {
    let switch = match name {
        PRELOAD => &mut switches.preload,
        SHOW_HIDDEN => &mut switches.show_hidden,
        _ => return Ok(false),
    };
    *switch = match text.to_ascii_lowercase().as_str() {
        "true" => true,
        "false" => false,
        _ => anyhow::bail!("--{name}: \"{text}\" is not true or false"),
    };
    Ok(true)
}

/// The switches where no flag sets them. A program built by `make` lists all options: test frameworks give an engine no
/// flags, and send only the options that it lists.
pub fn of_this_build() -> Switches {
    Switches { show_hidden: option_env!("ZEITNOT_SHOW_HIDDEN").is_some(), ..Switches::default() }
}
