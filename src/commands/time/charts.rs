//! Writes the charts of a report as files: for `time report`.

use anyhow::Context as _;
use std::fs;
use std::path::{Path, PathBuf};
use zeitnot_base::files::write_whole;
use zeitnot_lab::report::Section;

/// Writes each chart as a file whose name gives its section and its content; returns the files.
pub fn write_charts(folder: &Path, sections: &[Section]) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for section in sections {
        for figure in &section.figures {
            let path = folder.join(format!("{}--{}.svg", section.name, figure.name));
            write_whole(&path, figure.svg_file().as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}
