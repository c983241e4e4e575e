//! `zeitnot net convert`: a network as an ONNX model.

use super::super::output::say;
use super::size;
use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zeitnot::network::{Conversion, Network, Precision};

/// The types that a model can be asked for, by name.
const PRECISIONS: [Precision; 3] = [Precision::Float32, Precision::Float16, Precision::Bfloat16];
/// The first operator set with convolutions of bfloat16.
const BFLOAT16_OPSET: i64 = 22;
/// Endings that give way to `.onnx`.
const ENDINGS: [&str; 2] = [".pb.gz", ".pb"];

pub fn command() -> Command {
    let head = |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("HEAD").help(help);
    let (first, last) = Conversion::OPSETS.into_inner();
    Command::new("convert")
        .about("Convert an Lc0 network to an ONNX model")
        .arg(
            Arg::new("in")
                .value_name("IN")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The network file"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("OUT")
                .value_parser(value_parser!(PathBuf))
                .help("The model file [default: IN's name with the ending .onnx, in the working folder]"),
        )
        .arg(
            Arg::new("opset")
                .long("opset")
                .value_name("N")
                .value_parser(value_parser!(i64).range(first..=last))
                .help(format!("The operator set, {first} to {last} [default: the lowest that the type allows]")),
        )
        .arg(
            Arg::new("precision")
                .long("precision")
                .value_name("TYPE")
                .default_value("float32")
                .value_parser(PossibleValuesParser::new(PRECISIONS.map(|precision| precision.to_string())))
                .help("The type of weights and arithmetic; inputs and outputs are float32 always"),
        )
        .arg(head("policy-head", "The policy head of a network with several [default: its first]"))
        .arg(head("value-head", "The value head of a network with several [default: its first]"))
        .arg(
            Arg::new("batch")
                .long("batch")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("A fixed batch size [default: any]"),
        )
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Replace a file that exists"))
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let input = matches.get_one::<PathBuf>("in").context("IN is required")?;
    let output = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| default_output(input));
    let may_write = matches.get_flag("force") || !output.exists();
    anyhow::ensure!(may_write, "{} exists: --force replaces it", output.display());
    let conversion = conversion(matches)?;
    let network = Network::load(input)?;
    let model = network.onnx(&conversion)?;
    write(&output, &model.bytes)?;
    let Conversion { opset, precision, .. } = conversion;
    let batch = conversion.batch.map_or("any batch".to_owned(), |batch| format!("batch {batch}"));
    say!(
        "{}: {}, {precision}, opset {opset}, {batch}; {}",
        output.display(),
        size(model.bytes.len() as u64),
        network.description()
    );
    Ok(())
}

/// What the flags ask for.
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
    })
}

fn default_output(input: &Path) -> PathBuf {
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    PathBuf::from(format!("{stem}.onnx"))
}

/// Writes the file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let name = path.file_name().with_context(cannot)?.to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        fs::remove_file(&unfinished).ok();
    }
    written.with_context(cannot)
}
