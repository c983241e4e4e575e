//! Holds the parts of a report: sections, and figures with their captions and tables.

use zeitnot_base::words::slug;
use zeitnot_charts::{Frame, Plot, draw};

/// A table. Every row has as many cells as the head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no row.
    pub(crate) fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    /// A table with the columns of `head` and, behind them, the columns `more`.
    pub(crate) fn with_columns(head: &[&str], more: impl IntoIterator<Item = String>) -> Table {
        let mut table = Table::new(head);
        table.head.extend(more);
        table
    }

    /// Adds a row; it is filled up, or cut, to the head.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }
}

/// A chart with its caption, and its numbers as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// A name, unique in the section: letters, digits and `-`.
    pub name: String,
    pub title: String,
    /// A sentence or two with the main number.
    pub caption: String,
    /// The chart.
    pub plot: Plot,
    /// The numbers of the chart.
    pub table: Table,
}

impl Figure {
    /// The chart as an SVG element for a page; `id` is unique in the page.
    pub fn svg(&self, id: &str) -> String {
        draw(&self.plot, &Frame { id, title: &self.title, description: &self.caption, notes: &[], is_file: false })
    }

    /// The chart as an SVG file.
    pub fn svg_file(&self) -> String {
        draw(
            &self.plot,
            &Frame { id: &self.name, title: &self.title, description: &self.caption, notes: &[], is_file: true },
        )
    }
}

/// A table without a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// A name, unique among the figures of the section: letters, digits and `-`.
    pub name: String,
    pub title: String,
    /// A sentence or two about the table.
    pub caption: String,
    pub table: Table,
}

/// The part of a report about one input, or about several of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// A name, unique in the report: letters, digits and `-`.
    pub name: String,
    pub title: String,
    /// The introduction, about what was read.
    pub introduction: String,
    pub figures: Vec<Figure>,
    /// The games that were lost on time.
    pub listing: Option<Listing>,
}

/// Adds the time control `tc` to the names and titles of the figures about it; `None` is left out.
pub(crate) fn at_control(tc: &str, figures: impl IntoIterator<Item = Option<Figure>>) -> impl Iterator<Item = Figure> {
    let named = move |figure: Figure| Figure {
        name: format!("{}-{}", figure.name, slug(tc)),
        title: format!("{}, {tc}", figure.title),
        ..figure
    };
    figures.into_iter().flatten().map(named)
}

/// The names in their order, each once.
pub(crate) fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The colour of a name, as a number: its index among `names`, 0 for other names.
pub(crate) fn color_of(names: &[&str], name: &str) -> usize {
    names.iter().position(|other| *other == name).unwrap_or(0)
}
