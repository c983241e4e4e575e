//! `zeitnot tree`: tells what saved trees hold, and merges them.

use super::output::say;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_engine::engine::{TreeFacts, merge_trees, tree_facts};
use zeitnot_engine::memory;

pub fn command() -> Command {
    let file = |id: &'static str| Arg::new(id).required(true).value_parser(value_parser!(PathBuf));
    let files = file("files").num_args(1..).value_name("FILE").help("Saved trees (savetree, --tree-file)");
    let info = Command::new("info").about("Check saved trees, and tell what they hold").arg(files.clone());
    let out = file("out").long("out").value_name("FILE").help("File for the merged tree; it may be one of the others");
    let merge = Command::new("merge")
        .about("Merge saved trees of one network: of a position that several have, the one with the most visits stays")
        .arg(files.help("Saved trees; the first one's position becomes that of the merged tree"))
        .arg(out);
    Command::new("tree")
        .about("Tell what saved trees of analyses hold, and merge them")
        .subcommand_required(true)
        .subcommand(info)
        .subcommand(merge)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let files = |matches: &ArgMatches| -> Vec<PathBuf> {
        matches.get_many::<PathBuf>("files").into_iter().flatten().cloned().collect()
    };
    match matches.subcommand() {
        Some(("merge", matches)) => {
            let files = files(matches);
            let Some((first, others)) = files.split_first() else { return Ok(()) };
            let Some(out) = matches.get_one::<PathBuf>("out") else { return Ok(()) };
            tell(out, &merge_trees(first, others, out, memory::automatic_limit())?);
        }
        Some((_, matches)) => {
            for file in files(matches) {
                tell(&file, &tree_facts(&file, memory::automatic_limit())?);
            }
        }
        None => {}
    }
    Ok(())
}

fn tell(file: &std::path::Path, facts: &TreeFacts) {
    let TreeFacts { version, network, network_sha256, options, start, moves, positions, visits, .. } = facts;
    let digest = network_sha256.iter().flat_map(|sha256| sha256.chars()).take(16).collect::<String>();
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    say!("{}: {positions} positions", file.display());
    say!("  position: {start} moves {}", moves.join(" "));
    say!("  visits: {visits}");
    say!("  network: {network} {digest}");
    say!("  options: {}; version {version}", options.join(", "));
}
