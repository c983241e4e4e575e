//! Reads the small texts of the command line: clocks, rules, tests, options of devices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fmt::Display;
use std::str::FromStr;
use zeitnot_engine::backend::{DeviceOptions, Isa};
use zeitnot_games::strength::sprt::{Sprt, SprtModel};
use zeitnot_analysis::audit;
use zeitnot_games::{DrawRule, LagModel, ResignRule, TimeControl, TimeControls};

/// Reads `text`. A complaint about a line has one line.
fn read<T: FromStr<Err: Display>>(text: &str) -> Option<T> {
    text.parse::<T>()
        .inspect_err(|error| assert!(text.contains(['\n', '\r']) || !error.to_string().contains('\n'), "{error}"))
        .ok()
}

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    let text = String::from_utf8_lossy(data);
    let _ = audit::read_tag(&text);
    if let Some(control) = read::<TimeControl>(&text) {
        assert!(control.to_string().parse::<TimeControl>().is_ok(), "{text:?} is printed as {control}");
    }
    let _ = (read::<TimeControls>(&text), read::<DrawRule>(&text), read::<ResignRule>(&text), read::<LagModel>(&text));
    let _ = (read::<Sprt>(&text), read::<SprtModel>(&text), read::<DeviceOptions>(&text), read::<Isa>(&text));
});
