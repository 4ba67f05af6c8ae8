//! The contents of a picture.

use candor_record::Unit;

/// A picture: panels one below the other over one x axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The subject, in a few words.
    pub title: String,
    /// More of it in a line: target, work, load.
    pub subtitle: String,
    /// The tool, its version and the time of the run, for the lower left corner.
    pub source: String,
    /// The verdict in a few words, for the lower right corner; empty where nobody judged.
    pub verdict: String,
    /// Reason for which the numbers cannot be believed, in a sentence; absent where they can.
    pub caution: Option<String>,
    /// The picture in words, for those who do not see it.
    pub description: String,
    /// The axis that all panels share. With [`Shape::Bars`] its categories are the rows.
    pub x: Axis,
    /// The panels, from the top.
    pub panels: Vec<Panel>,
    /// Moments and values of the x axis that mean something.
    pub marks: Vec<Mark>,
}

/// An axis: what it shows, in which unit, and how values lie on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity, without its unit.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// How values lie on it.
    pub scale: Scale,
    /// Values that get the ticks, with their texts, in place of round ones.
    pub ticks: Vec<(f64, String)>,
}

/// How values lie on an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    #[default]
    Linear,
    /// Evenly, from the least value to the greatest, without zero.
    Spread,
    /// By their logarithms; values of zero or less have no place.
    Log,
    /// Changes, as shares of what was before, by the logarithm of how many times it became: half
    /// as much is as far from none as twice as much.
    Times,
    /// Percentiles from 0 to 100, each nine as long as the one before it.
    Nines,
    /// Time since the start, in ns.
    Elapsed,
    /// Seconds since 1970, in UTC.
    Date,
    /// Names side by side; values are their indexes.
    Category(Vec<String>),
}

/// One panel: a y axis, and series over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The y axis; with [`Shape::Bars`] the axis along which bars grow.
    pub y: Axis,
    /// The series, those behind first.
    pub series: Vec<Series>,
    /// Values of the y axis that mean something.
    pub levels: Vec<Level>,
    /// Height beside that of the other panels.
    pub weight: Weight,
}

/// Height of a panel beside that of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// As high as others.
    #[default]
    Full,
    /// Three fifths of that, for what only explains.
    Low,
}

/// Values of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name, as the legend has it; empty for a part of the series before it.
    pub name: String,
    /// Place in the palette: colour and marker. Series of one thing share it in all panels.
    pub slot: usize,
    /// Values, and how they are drawn.
    pub shape: Shape,
}

/// Values, and how they are drawn. A y that is no number is a gap.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// (x, y) joined by lines.
    Line(Vec<(f64, f64)>),
    /// (x, y) joined by dotted lines: values that few samples carry.
    Dotted(Vec<(f64, f64)>),
    /// (x, y): each value holds to the next x.
    Step(Vec<(f64, f64)>),
    /// (x, y): steps filled down to the axis.
    Area(Vec<(f64, f64)>),
    /// (x, y) on their own.
    Dots(Vec<(f64, f64)>),
    /// (x, from, to) filled between.
    Band(Vec<(f64, f64, f64)>),
    /// (x, from, to) as intervals.
    Whiskers(Vec<(f64, f64, f64)>),
    /// One for each row of the x axis, at most.
    Bars(Vec<Bar>),
    /// Rectangles in the colour of their value.
    Cells(Vec<Cell>, ValueKey),
}

/// A bar of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Index of the row.
    pub row: usize,
    /// Length.
    pub value: f64,
    /// Interval around it.
    pub interval: Option<(f64, f64)>,
    /// More words behind the value.
    pub note: String,
    /// The value cannot be believed: the bar is hollow.
    pub is_doubtful: bool,
}

/// A rectangle with a value, in values of both axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// From and to along x.
    pub x: (f64, f64),
    /// From and to along y.
    pub y: (f64, f64),
    /// Value.
    pub value: f64,
}

/// Meaning of the colours of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueKey {
    /// The quantity.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Colours go by the logarithm of the value.
    pub is_log: bool,
}

/// A value of the x axis, or a range of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Value of the x axis.
    pub at: f64,
    /// End of the range; absent for a single value.
    pub until: Option<f64>,
    /// Name.
    pub label: String,
    /// Kind.
    pub kind: MarkKind,
}

/// Kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A phase or a run.
    Phase,
    /// A finding.
    Finding,
    /// The value beyond which more no longer pays.
    Knee,
}

/// A value of the y axis, such as a ceiling.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Value.
    pub value: f64,
    /// Name.
    pub label: String,
}

impl Default for Axis {
    fn default() -> Axis {
        Axis::new("", Unit::Count, Scale::Linear)
    }
}

impl Axis {
    /// An axis with round ticks.
    pub fn new(label: &str, unit: Unit, scale: Scale) -> Axis {
        Axis { label: label.into(), unit, scale, ticks: Vec::new() }
    }

    /// Evenly from zero.
    pub fn linear(label: &str, unit: Unit) -> Axis {
        Axis::new(label, unit, Scale::Linear)
    }

    /// By logarithms.
    pub fn log(label: &str, unit: Unit) -> Axis {
        Axis::new(label, unit, Scale::Log)
    }

    /// Percentiles.
    pub fn nines() -> Axis {
        Axis::new("Percentile", Unit::Ratio, Scale::Nines)
    }

    /// Time since the start, in ns.
    pub fn elapsed() -> Axis {
        Axis::new("Time since start", Unit::Ns, Scale::Elapsed)
    }

    /// Days, in seconds since 1970.
    pub fn date() -> Axis {
        Axis::new("Date (UTC)", Unit::Text, Scale::Date)
    }

    /// Names side by side.
    pub fn categories(label: &str, names: impl IntoIterator<Item = String>) -> Axis {
        Axis::new(label, Unit::Text, Scale::Category(names.into_iter().collect()))
    }

    /// Ticks at these values only.
    #[must_use]
    pub fn with_ticks(mut self, ticks: Vec<(f64, String)>) -> Axis {
        self.ticks = ticks;
        self
    }
}

impl Panel {
    /// A panel as high as the others.
    pub fn new(y: Axis, series: Vec<Series>) -> Panel {
        Panel { y, series, levels: Vec::new(), weight: Weight::Full }
    }
}

impl Series {
    /// Values of that name at a place in the palette.
    pub fn new(name: impl Into<String>, slot: usize, shape: Shape) -> Series {
        Series { name: name.into(), slot, shape }
    }
}

impl Shape {
    /// The word for it in the data.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Shape::Line(_) => "line",
            Shape::Dotted(_) => "dotted",
            Shape::Step(_) => "step",
            Shape::Area(_) => "area",
            Shape::Dots(_) => "dots",
            Shape::Band(_) => "band",
            Shape::Whiskers(_) => "whiskers",
            Shape::Bars(_) => "bars",
            Shape::Cells(..) => "cells",
        }
    }

    /// (x, y) of all places that it takes, both ends of what has two.
    pub(crate) fn places(&self) -> Vec<(f64, f64)> {
        match self {
            Shape::Line(points)
            | Shape::Dotted(points)
            | Shape::Step(points)
            | Shape::Area(points)
            | Shape::Dots(points) => points.clone(),
            Shape::Band(spans) | Shape::Whiskers(spans) => {
                spans.iter().flat_map(|(x, from, to)| [(*x, *from), (*x, *to)]).collect()
            }
            Shape::Bars(bars) => bars
                .iter()
                .flat_map(|bar| {
                    let (from, to) = bar.interval.unwrap_or((bar.value, bar.value));
                    [bar.value, from, to].map(|value| (bar.row as f64, value))
                })
                .collect(),
            Shape::Cells(cells, _) => {
                cells.iter().flat_map(|cell| [(cell.x.0, cell.y.0), (cell.x.1, cell.y.1)]).collect()
            }
        }
    }
}

impl Chart {
    /// Rows of bars, not panels over an x axis.
    pub(crate) fn is_bars(&self) -> bool {
        let mut shapes = self.panels.iter().flat_map(|panel| &panel.series);
        matches!(shapes.next().map(|series| &series.shape), Some(Shape::Bars(_)))
    }

    /// Names of the x axis, where it has names.
    pub(crate) fn categories(&self) -> &[String] {
        match &self.x.scale {
            Scale::Category(names) => names,
            _ => &[],
        }
    }

    /// No series has a place in the picture.
    pub fn is_empty(&self) -> bool {
        let mut series = self.panels.iter().flat_map(|panel| &panel.series);
        series.all(|series| {
            series.shape.places().iter().all(|(x, y)| !x.is_finite() || !y.is_finite())
        })
    }
}
