//! `zeitnot net convert`: writes a network as an ONNX model.

use super::super::output::say;
use super::size;
use crate::commands::flags::{flag, switch};
use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_base::files::{is_same_file, write_whole};
use zeitnot_engine::backend::LARGEST_BATCH;
use zeitnot_engine::network::{self, Architecture, Conversion, Precision};

/// The types of arithmetic that `--precision` offers.
const PRECISIONS: [Precision; 3] = [Precision::Float32, Precision::Float16, Precision::Bfloat16];
/// The first operator set with convolutions of bfloat16.
const BFLOAT16_OPSET: i64 = 22;
/// Endings of a network's file name that `.onnx` replaces.
const ENDINGS: [&str; 2] = [".pb.gz", ".pb"];

pub fn command() -> Command {
    let head = |name: &'static str, help: &'static str| flag(name, "HEAD").help(help);
    let (first, last) = Conversion::OPSETS.into_inner();
    Command::new("convert")
        .about("Convert an Lc0 network to an ONNX model")
        .arg(Arg::new("in").value_name("IN").required(true).value_parser(value_parser!(PathBuf)).help("Network file"))
        .arg(
            flag("output", "OUT")
                .short('o')
                .value_parser(value_parser!(PathBuf))
                .help("Model file [default: IN's name with the ending .onnx, in the working folder]"),
        )
        .arg(
            flag("opset", "N")
                .value_parser(value_parser!(i64).range(first..=last))
                .help(format!("Operator set, {first} to {last} [default: the lowest that the type allows]")),
        )
        .arg(
            flag("precision", "TYPE")
                .default_value("float32")
                .value_parser(PossibleValuesParser::new(PRECISIONS.map(|precision| precision.to_string())))
                .help("Type of the arithmetic")
                .long_help("Type of weights and arithmetic; inputs and outputs are float32 always"),
        )
        .arg(super::interface_flag())
        .arg(head("policy-head", "Policy head of a network with several [default: its first]"))
        .arg(head("value-head", "Value head of a network with several [default: its first]"))
        .arg(
            flag("batch", "N")
                .value_parser(value_parser!(u32).range(1..=LARGEST_BATCH as i64))
                .help(format!("Fixed batch size, 1 to {LARGEST_BATCH} [default: any]")),
        )
        .arg(switch("force", "Replacement of a file that exists"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let input = matches.get_one::<PathBuf>("in").context("IN is required")?;
    let location = network::find(Some(input))?;
    let network = location.load(&super::interface(matches)?)?;
    let output = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| default_output(network.name()));
    anyhow::ensure!(
        location.path().is_none_or(|input| !is_same_file(input, &output)),
        "{} is the network itself: --output=OUT names another file",
        output.display()
    );
    anyhow::ensure!(!output.is_dir(), "{} is a folder: --output=OUT names a file", output.display());
    let may_write = matches.get_flag("force") || !output.exists();
    anyhow::ensure!(may_write, "{} exists: --force replaces it", output.display());
    let conversion = conversion(matches)?;
    let model = network.onnx(&conversion)?;
    write_whole(&output, &model.bytes).with_context(|| format!("cannot write {}", output.display()))?;
    let (name, bytes) = (output.display(), size(model.bytes.len() as u64));
    if matches!(network.description().architecture, Architecture::Onnx { .. }) {
        say!("{name}: {bytes}, as it came; {}", network.description());
        return Ok(());
    }
    let Conversion { opset, precision, .. } = conversion;
    let batch = conversion.batch.map_or("any batch".to_owned(), |batch| format!("batch {batch}"));
    say!("{name}: {bytes}, {precision}, opset {opset}, {batch}; {}", network.description());
    Ok(())
}

/// The conversion that the flags ask for.
fn conversion(matches: &ArgMatches) -> anyhow::Result<Conversion> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let wanted = text("precision").unwrap_or_default();
    let precision = PRECISIONS.into_iter().find(|precision| precision.to_string() == wanted);
    let precision = precision.context("clap knows the types")?;
    let lowest = match precision {
        Precision::Bfloat16 => BFLOAT16_OPSET,
        Precision::Float32 | Precision::Float16 => *Conversion::OPSETS.start(),
    };
    Ok(Conversion {
        opset: matches.get_one::<i64>("opset").copied().unwrap_or(lowest),
        precision,
        policy_head: text("policy-head"),
        value_head: text("value-head"),
        batch: matches.get_one::<u32>("batch").map(|&batch| batch as usize),
        ..Conversion::default()
    })
}

fn default_output(name: &str) -> PathBuf {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    PathBuf::from(format!("{stem}.onnx"))
}
