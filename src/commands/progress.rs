//! Shows the progress of long work as a bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

/// A bar over games, with the running score as its message and the time to the end.
pub fn games(total: u64) -> ProgressBar {
    let template = "{bar:30} game {pos}/{len} {msg} [{elapsed_precise}, {eta} to go]";
    let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style)
}

/// A bar over positions, with the time to the end.
pub fn positions(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} position {pos}/{len} [{elapsed_precise}, {eta} to go]");
    ProgressBar::new(total).with_style(style.unwrap_or(ProgressStyle::default_bar()))
}

/// A bar over bytes on a terminal; nothing where standard error is read by a program.
pub fn bar(total: u64) -> anyhow::Result<ProgressBar> {
    let bar = ProgressBar::with_draw_target(Some(total), terminal());
    bar.set_style(ProgressStyle::with_template("{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}")?);
    Ok(bar)
}

/// A line of status on a terminal, without an end; nothing where standard error is read by a program.
pub fn line() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {wide_msg}").unwrap_or(ProgressStyle::default_spinner());
    ProgressBar::with_draw_target(None, terminal()).with_style(style)
}

/// A target for bars: standard error if it is a terminal, else nothing.
fn terminal() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
