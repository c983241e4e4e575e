//! Describes what a chart shows, apart from how it is drawn.

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Curves over an axis of numbers.
    Lines(LinePlot),
    /// Values with intervals, one a row.
    Dots(DotPlot),
    /// Shares of a whole, one bar a row.
    Stacks(StackPlot),
}

/// A kind of number; it decides the unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Any number, shown as it is.
    Number,
    /// Whole numbers, such as numbers of moves.
    Count,
    /// Milliseconds, shown in the unit that suits them.
    Time,
    /// Shares of 1, shown in per cent.
    Share,
}

/// Spacing of values over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal factors; ticks are 1, 2 and 5 times powers of ten.
    Decades,
    /// Equal distances are equal factors; ticks are powers of two.
    Doublings,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity in words; a unit is added to it.
    pub name: String,
    /// Kind of the values.
    pub quantity: Quantity,
    /// Spacing of the values.
    pub spacing: Spacing,
}

impl Axis {
    /// A linear axis.
    pub fn new(name: &str, quantity: Quantity) -> Axis {
        Axis { name: name.to_owned(), quantity, spacing: Spacing::Linear }
    }

    /// A logarithmic axis.
    pub fn log(name: &str, quantity: Quantity) -> Axis {
        Axis { spacing: Spacing::Decades, ..Axis::new(name, quantity) }
    }

    /// A logarithmic axis of sizes that double.
    pub fn doublings(name: &str) -> Axis {
        Axis { spacing: Spacing::Doublings, ..Axis::new(name, Quantity::Count) }
    }
}

/// The mark that a curve is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line with the dashes of its colour.
    Line,
    /// A thin line, one of many.
    Thin,
    /// Points without a line.
    Points,
    /// Large points, to be seen upon the line of another curve.
    Dots,
}

/// The spread around a curve: for each place its value on the axis across, and the low and the high end.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// A curve without a known spread.
    None,
    /// A band.
    Band(Vec<(f64, f64, f64)>),
    /// Error bars.
    Bars(Vec<(f64, f64, f64)>),
}

/// A curve. Curves of one name share an entry of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The series in words.
    pub name: String,
    /// The number of the curve's colour and dashes; colours repeat.
    pub color: usize,
    /// The mark that the curve is drawn with.
    pub mark: Mark,
    /// Points, in the units of the axes.
    pub points: Vec<(f64, f64)>,
    /// Spread around the curve.
    pub spread: Spread,
}

impl Curve {
    /// A line without a spread.
    pub fn line(name: &str, color: usize, points: Vec<(f64, f64)>) -> Curve {
        Curve { name: name.to_owned(), color, mark: Mark::Line, points, spread: Spread::None }
    }
}

/// A line that curves and values are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// Line on which both axes have the same value, with its name.
    Diagonal(String),
    /// Line at this value on the axis of values, with its name.
    Value(String, f64),
}

/// Curves over an axis of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// The axis across.
    pub x: Axis,
    /// The axis up.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Lines that values are compared with.
    pub references: Vec<Reference>,
}

impl LinePlot {
    /// A plot of curves without references.
    pub fn new(x: Axis, y: Axis, curves: Vec<Curve>) -> LinePlot {
        LinePlot { x, y, curves, references: Vec::new() }
    }
}

/// A value with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct DotRow {
    /// Name of the row.
    pub name: String,
    /// The value; `None` where it is beyond measure.
    pub value: Option<f64>,
    /// The interval, where it is known.
    pub interval: Option<[f64; 2]>,
    /// The number of the row's colour.
    pub color: usize,
}

/// Values with intervals, one a row.
#[derive(Clone, Debug, PartialEq)]
pub struct DotPlot {
    /// The axis across.
    pub axis: Axis,
    /// The rows, the first at the top.
    pub rows: Vec<DotRow>,
    /// Lines that values are compared with.
    pub references: Vec<Reference>,
}

/// The parts of a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct StackRow {
    /// The name of the whole.
    pub name: String,
    /// The size of each part, in any unit; 0 or more.
    pub parts: Vec<f64>,
}

/// Shares of a whole, one bar a row.
#[derive(Clone, Debug, PartialEq)]
pub struct StackPlot {
    /// The names of the parts.
    pub parts: Vec<String>,
    /// The rows, the first at the top.
    pub rows: Vec<StackRow>,
    /// Whether parts are labelled by their size instead of their share.
    pub tells_counts: bool,
}
