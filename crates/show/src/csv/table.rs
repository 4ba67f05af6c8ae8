//! Columns, and how a table is written and described by them.

/// A column of a table whose rows are `R`.
pub struct Column<R> {
    /// Name, with its unit at the end.
    pub name: String,
    /// Meaning, in a line.
    pub help: &'static str,
    /// Text of the cell in a row.
    pub cell: Box<dyn Fn(&R) -> String>,
}

/// Columns in their order: a name, a meaning, and the value in a row.
macro_rules! columns {
    ($row:ident: $($name:literal $help:literal = $value:expr;)*) => {
        vec![$(
            $crate::csv::table::Column {
                name: $name.to_owned(),
                help: $help,
                cell: Box::new(move |$row| $crate::csv::table::Cell::cell(&$value)),
            }
        ),*]
    };
}
pub(super) use columns;

/// A value in a cell.
pub trait Cell {
    /// The whole of it, in no unit that has to be parsed.
    fn cell(&self) -> String;
}

impl Cell for &str {
    fn cell(&self) -> String {
        (*self).to_owned()
    }
}

impl Cell for u32 {
    fn cell(&self) -> String {
        self.to_string()
    }
}

impl Cell for u64 {
    fn cell(&self) -> String {
        self.to_string()
    }
}

/// With a point, so that readers see a column of numbers with fractions.
impl Cell for f64 {
    fn cell(&self) -> String {
        format!("{self:?}")
    }
}

/// Absent is what was not measured.
impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> String {
        self.as_ref().map(Cell::cell).unwrap_or_default()
    }
}

/// A table as comma-separated values, with a line of names first.
pub fn written<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
) -> Result<String, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(columns.iter().map(|column| &column.name))?;
    for row in rows {
        table.write_record(columns.iter().map(|column| (column.cell)(&row)))?;
    }
    let bytes = table.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A section of the page about all tables.
pub fn described<R>(name: &str, about: &str, columns: &[Column<R>]) -> String {
    let mut text = format!("\n## {name}\n\n{about}\n\n| column | meaning |\n| --- | --- |\n");
    for column in columns {
        text.push_str(&format!("| `{}` | {} |\n", column.name, column.help));
    }
    text
}
