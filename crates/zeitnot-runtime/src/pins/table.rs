//! Reads the list of pinned wheels, which is a text inside the program.

use std::sync::LazyLock;

use super::{Pin, Variant, Wheel};
use crate::tensorrt_rtx;

/// Every pinned package, in the order of `wheels.txt`.
pub(crate) static PINS: LazyLock<Vec<Pin>> =
    LazyLock::new(|| read(include_str!("wheels.txt")).expect("a test reads the list"));

/// The packages of a list; `None` if it is not in the form that the head of `wheels.txt` describes.
fn read(list: &'static str) -> Option<Vec<Pin>> {
    let mut packages: Vec<(Pin, Vec<Wheel>)> = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match *line.split_whitespace().collect::<Vec<_>>() {
            [variant, platform, library, sha256] => {
                let variant = Variant::ALL.into_iter().find(|known| known.to_string() == variant)?;
                let library = if library == "plugin" { tensorrt_rtx::PLUGIN } else { library };
                let library_sha256 = Some(sha256).filter(|sha256| *sha256 != "-");
                packages.push((Pin { variant, platform, library, library_sha256, wheels: &[] }, Vec::new()));
            }
            [package, version, tag, bytes, sha256] => {
                let wheel = Wheel { package, version, tag, sha256, bytes: bytes.parse().ok()? };
                packages.last_mut()?.1.push(wheel);
            }
            _ => return None,
        }
    }
    // The list is as lasting as the program.
    Some(packages.into_iter().map(|(pin, wheels)| Pin { wheels: wheels.leak(), ..pin }).collect())
}
