//! `zeitnot setup`: obtains what suits this machine, measures it, and writes a configuration file for GUIs.
//!
//! | file | what |
//! |---|---|
//! | `machine` | the parts of a machine that decide |
//! | `plan` | what it should have |
//!
//! Each step is a command of this program in a process of its own, which the plan names: a process has one ONNX Runtime.

mod machine;
mod plan;

use crate::commands::flags::{flag, switch};
use crate::commands::output::say;
use anyhow::{Context as _, ensure};
use clap::{ArgMatches, Command};
use etcetera::BaseStrategy as _;
use machine::Machine;
use plan::Plan;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use zeitnot_base::files::from_os;
use zeitnot_engine::network::catalogue;

/// The beginning of a configuration that this command has written.
const MARK: &str = "# Written by zeitnot setup";

pub fn command() -> Command {
    Command::new("setup")
        .about("Obtain what suits this machine, measure it, and write the configuration for a GUI")
        .after_long_help(
            "It looks at processor and graphics card, says what it would install and fetch, with sizes, and asks. Then it does that, \
             measures the engine for a minute or two, and writes Backend, Threads, MinibatchSize and WeightsFile to a file in the user's \
             configuration folder. A file that somebody else wrote is kept as FILE.old. The last line is the command for a GUI.",
        )
        .arg(switch("dry-run", "No installation and no file: the plan alone").conflicts_with("yes"))
        .arg(switch("yes", "No question before the plan is carried out"))
        .arg(flag("network", "NAME").help("Network to fetch, by its name in `zeitnot net list` [default: what suits]"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let named = matches.get_one::<String>("network");
    let network = named.map(|name| catalogue::find(name).ok().context("no network of `zeitnot net list`"));
    let network = network.transpose().with_context(|| format!("--network {}", named.map_or("", String::as_str)))?;
    let machine = Machine::this();
    let plan = Plan::of(&machine, network);
    let file = etcetera::choose_base_strategy().context("no home folder")?.config_dir().join("zeitnot/zeitnot.config");
    say!("machine: {machine}");
    say!("{plan}measure: `zeitnot benchmark`, a minute or two");
    say!("write: {}", file.display());
    if matches.get_flag("dry-run") || !(matches.get_flag("yes") || agreed()?) {
        say!("nothing was changed");
        return Ok(());
    }
    carry_out(&plan, &file)
}

/// Asks whether to go on.
fn agreed() -> anyhow::Result<bool> {
    ensure!(std::io::stdin().is_terminal(), "nobody to ask: --yes carries the plan out, --dry-run only tells it");
    say!("Go on? [y/N]");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn carry_out(plan: &Plan, file: &Path) -> anyhow::Result<()> {
    if let Some(pin) = plan.runtime {
        output(pin.variant.command().split(' ').skip(1), false)?;
    }
    let mut weights = None;
    if let Some(entry) = plan.network {
        let told = output(["net", "fetch", entry.name, "--json"], true)?;
        let fetched: serde_json::Value = serde_json::from_str(&told).context("zeitnot net fetch")?;
        weights = fetched["path"].as_str().map(PathBuf::from);
    }
    let mut measure = vec!["benchmark".to_owned(), "--json".to_owned(), "--seconds=2".to_owned()];
    measure.extend(weights.iter().map(|path| format!("--weights={}", from_os(path.as_os_str()))));
    let told: serde_json::Value = serde_json::from_str(&output(&measure, true)?).context("zeitnot benchmark")?;
    let text = config(&told, weights.as_deref())?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    // Only what somebody else wrote is worth keeping.
    if std::fs::read_to_string(file).is_ok_and(|old| !old.starts_with(MARK)) {
        let kept = file.with_extension("config.old");
        std::fs::rename(file, &kept).with_context(|| kept.display().to_string())?;
        say!("the file that was there: {}", kept.display());
    }
    std::fs::write(file, text).with_context(|| file.display().to_string())?;
    let backend = told["recommended"]["Backend"].as_str().unwrap_or("?");
    say!("measured: {:.0} visits a second with backend {backend}", speed(&told));
    say!("the command for a GUI: \"{}\" --config \"{}\"", std::env::current_exe()?.display(), file.display());
    Ok(())
}

/// The most visits a second that a benchmark measured with what it recommends.
fn speed(benchmark: &serde_json::Value) -> f64 {
    let set = &benchmark["recommended"];
    let names = [("backend", "Backend"), ("threads", "Threads"), ("minibatch_size", "MinibatchSize")];
    let tried = benchmark["grid"].as_array().into_iter().flatten().chain([&benchmark["measured"]]);
    let recommended = tried.filter(|setting| names.iter().all(|(name, option)| setting[*name] == set[*option]));
    recommended.filter_map(|setting| setting["visits_per_s"].as_f64()).fold(0.0, f64::max)
}

/// The configuration by a benchmark's recommendation.
fn config(benchmark: &serde_json::Value, weights: Option<&Path>) -> anyhow::Result<String> {
    let set = &benchmark["recommended"];
    let (Some(backend), Some(threads), Some(minibatch)) =
        (set["Backend"].as_str(), set["Threads"].as_u64(), set["MinibatchSize"].as_u64())
    else {
        anyhow::bail!("zeitnot benchmark recommends nothing");
    };
    let weights = weights.map(|path| format!("weights=\"{}\"\n", from_os(path.as_os_str()))).unwrap_or_default();
    Ok(format!(
        "{MARK}; `zeitnot options` lists what may stand here.\n\
         {weights}backend={backend}\nthreads={threads}\nminibatch-size={minibatch}\n"
    ))
}

/// Runs this program with these arguments; its output with `is_json`, else it is shown.
fn output<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>, is_json: bool) -> anyhow::Result<String> {
    let mut command = process::Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.stdout(if is_json { Stdio::piped() } else { Stdio::inherit() });
    let ended = command.output()?;
    let line = || command.get_args().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ");
    ensure!(ended.status.success(), "zeitnot {} failed: nothing after it was done", line());
    Ok(String::from_utf8(ended.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_configuration_is_what_the_benchmark_recommends() {
        let told = json!({
            "recommended": { "Backend": "cuda", "Threads": 3, "MinibatchSize": 512 },
            "measured": { "backend": "native", "threads": 3, "minibatch_size": 512, "visits_per_s": 9.0 },
            "grid": [{ "backend": "cuda", "threads": 3, "minibatch_size": 512, "visits_per_s": 7.0 }],
        });
        let text = config(&told, Some(Path::new("/my nets/T1.pb.gz"))).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["weights=\"/my nets/T1.pb.gz\"", "backend=cuda", "threads=3", "minibatch-size=512"]);
        assert_eq!(speed(&told), 7.0);
        assert!(config(&json!({}), None).is_err());
    }
}
