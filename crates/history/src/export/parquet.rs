//! The table as Parquet: pages of values, one after the other, compressed; behind them all
//! metadata in the compact protocol of Thrift.
//!
//! A column of a group of rows is one page in the encoding PLAIN, which every reader knows; gzip
//! makes little of names that repeat.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{COLUMNS, Cell, Row};
use crate::{Error, Filter, Index};

/// First and last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// Rows that are in memory at a time.
const GROUP_ROWS: usize = 100_000;
/// Codec of pages: gzip.
const GZIP: i32 = 2;
/// Encodings of values, and of the bits that tell which rows have one.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
/// Sign of readers for text, older and newer.
const UTF8: i32 = 0;
const STRING: u8 = 1;

impl Index {
    /// Writes all figures of the runs that match as Parquet, oldest run first.
    ///
    /// # Errors
    /// The index cannot be read, or the table cannot be written.
    pub fn export_parquet(&self, filter: &Filter, into: impl Write) -> Result<u64, Error> {
        self.export_groups(filter, into, GROUP_ROWS)
    }

    /// The same, with so many rows in a group.
    pub(crate) fn export_groups(
        &self,
        filter: &Filter,
        into: impl Write,
        group_rows: usize,
    ) -> Result<u64, Error> {
        let mut file = File { into, bytes: 0, groups: Vec::new() };
        file.put(MAGIC)?;
        let mut group = Group::new();
        let count = self.rows(filter, |row: Row| {
            group.push(&row);
            if group.rows < group_rows {
                return Ok(());
            }
            file.group(&std::mem::replace(&mut group, Group::new()))
        })?;
        if group.rows > 0 {
            file.group(&group)?;
        }
        file.end(count)?;
        Ok(count)
    }
}

/// A value of the metadata.
enum Value {
    I32(i32),
    I64(i64),
    Text(String),
    List(Vec<Value>),
    /// Fields by their numbers, which ascend.
    Struct(Vec<(u8, Value)>),
}

use Value::{I32, I64, List, Struct, Text};

impl Value {
    /// Code of a struct; also that of items where a list has none.
    const STRUCT: u8 = 12;

    fn code(&self) -> u8 {
        match self {
            I32(_) => 5,
            I64(_) => 6,
            Text(_) => 8,
            List(_) => 9,
            Struct(_) => Value::STRUCT,
        }
    }

    /// A number of bytes, rows or items; files are far below what 63 bits hold.
    fn count(count: usize) -> Value {
        I64(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn write(&self, into: &mut Vec<u8>) {
        match self {
            I32(number) => signed(i64::from(*number), into),
            I64(number) => signed(*number, into),
            Text(text) => {
                unsigned(text.len() as u64, into);
                into.extend(text.as_bytes());
            }
            List(items) => {
                let code = items.first().map_or(Value::STRUCT, Value::code);
                match items.len() {
                    short @ 0..15 => into.push((short as u8) << 4 | code),
                    long => {
                        into.push(0xf0 | code);
                        unsigned(long as u64, into);
                    }
                }
                items.iter().for_each(|item| item.write(into));
            }
            Struct(fields) => {
                let mut last = 0;
                for (number, value) in fields {
                    into.push((number - last) << 4 | value.code());
                    value.write(into);
                    last = *number;
                }
                into.push(0);
            }
        }
    }
}

/// Seven bits per byte, the lowest first.
fn unsigned(mut number: u64, into: &mut Vec<u8>) {
    while number > 0x7f {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Small numbers of either sign take few bytes.
fn signed(number: i64, into: &mut Vec<u8>) {
    unsigned((number << 1 ^ number >> 63) as u64, into);
}

/// Values of some rows.
struct Group {
    rows: usize,
    columns: Vec<Column>,
}

/// Values of one column.
#[derive(Default)]
struct Column {
    values: Vec<u8>,
    /// Whether each row has a value; empty where all have.
    present: Vec<bool>,
}

impl Group {
    fn new() -> Group {
        Group { rows: 0, columns: COLUMNS.iter().map(|_| Column::default()).collect() }
    }

    fn push(&mut self, row: &Row) {
        self.rows += 1;
        for (column, (_, cell)) in self.columns.iter_mut().zip(COLUMNS) {
            match cell(row) {
                Cell::Text(text) => {
                    // SQLite keeps no text above 1 GB.
                    column.values.extend((text.len() as u32).to_le_bytes());
                    column.values.extend(text.as_bytes());
                }
                Cell::Real(number) => column.values.extend(number.to_le_bytes()),
                Cell::Integer(number) => {
                    column.present.push(number.is_some());
                    column.values.extend(number.into_iter().flat_map(i64::to_le_bytes));
                }
            }
        }
    }
}

impl Column {
    /// The bits that tell which rows have a value, as runs, and the values.
    fn page(&self) -> Vec<u8> {
        let mut runs = Vec::new();
        for run in self.present.chunk_by(|one, other| one == other) {
            unsigned((run.len() as u64) << 1, &mut runs);
            runs.push(u8::from(run[0]));
        }
        if self.present.is_empty() {
            self.values.clone()
        } else {
            [&(runs.len() as u32).to_le_bytes(), &runs[..], &self.values].concat()
        }
    }
}

/// A file that is being written.
struct File<W> {
    into: W,
    bytes: usize,
    /// Metadata of the groups so far.
    groups: Vec<Value>,
}

impl<W: Write> File<W> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len();
        self.into.write_all(bytes).map_err(failed)
    }

    fn group(&mut self, group: &Group) -> Result<(), Error> {
        let mut columns = Vec::new();
        let mut whole = 0;
        for (column, (name, cell)) in group.columns.iter().zip(COLUMNS) {
            let (begin, page) = (self.bytes, column.page());
            let mut packer = GzEncoder::new(Vec::new(), Compression::default());
            packer.write_all(&page).map_err(failed)?;
            let compressed = packer.finish().map_err(failed)?;
            let mut header = Vec::new();
            page_header(&page, &compressed, group.rows)?.write(&mut header);
            self.put(&header)?;
            self.put(&compressed)?;
            let uncompressed = header.len() + page.len();
            whole += uncompressed;
            let metadata = Struct(vec![
                (1, I32(physical(&cell(&Row::default())))),
                (2, List(vec![I32(PLAIN), I32(RLE)])),
                (3, List(vec![Text(name.into())])),
                (4, I32(GZIP)),
                (5, Value::count(group.rows)),
                (6, Value::count(uncompressed)),
                (7, Value::count(self.bytes - begin)),
                (9, Value::count(begin)),
            ]);
            columns.push(Struct(vec![(2, Value::count(begin)), (3, metadata)]));
        }
        self.groups.push(Struct(vec![
            (1, List(columns)),
            (2, Value::count(whole)),
            (3, Value::count(group.rows)),
        ]));
        Ok(())
    }

    fn end(mut self, rows: u64) -> Result<(), Error> {
        let groups = std::mem::take(&mut self.groups);
        let metadata = Struct(vec![
            (1, I32(1)),
            (2, List(schema())),
            (3, I64(rows.cast_signed())),
            (4, List(groups)),
            (6, Text(concat!("candor version ", env!("CARGO_PKG_VERSION")).into())),
        ]);
        let mut footer = Vec::new();
        metadata.write(&mut footer);
        footer.extend(u32::try_from(footer.len()).map_err(failed)?.to_le_bytes());
        self.put(&footer)?;
        self.put(MAGIC)?;
        self.into.flush().map_err(failed)
    }
}

fn failed(why: impl std::fmt::Display) -> Error {
    Error::Export(why.to_string())
}

fn page_header(page: &[u8], compressed: &[u8], rows: usize) -> Result<Value, Error> {
    let number = |count: usize| i32::try_from(count).map(I32).map_err(failed);
    let of_data = vec![(1, number(rows)?), (2, I32(PLAIN)), (3, I32(RLE)), (4, I32(RLE))];
    let (page, compressed) = (number(page.len())?, number(compressed.len())?);
    Ok(Struct(vec![(1, I32(0)), (2, page), (3, compressed), (5, Struct(of_data))]))
}

/// Code of the form in which the values of a column are kept.
fn physical(cell: &Cell) -> i32 {
    match cell {
        Cell::Integer(_) => 2,
        Cell::Real(_) => 5,
        Cell::Text(_) => 6,
    }
}

/// A row, and its columns by their values in a row of nothing.
fn schema() -> Vec<Value> {
    let columns = i32::try_from(COLUMNS.len()).map_or(I32(i32::MAX), I32);
    let row = Struct(vec![(4, Text("candor_history".into())), (5, columns)]);
    let column = |(name, cell): &super::Column| {
        let cell = cell(&Row::default());
        let is_optional = matches!(cell, Cell::Integer(_));
        let mut fields = vec![
            (1, I32(physical(&cell))),
            (3, I32(i32::from(is_optional))),
            (4, Text((*name).into())),
        ];
        if matches!(cell, Cell::Text(_)) {
            let string = Struct(vec![(STRING, Struct(vec![]))]);
            fields.extend([(6, I32(UTF8)), (10, string)]);
        }
        Struct(fields)
    };
    std::iter::once(row).chain(COLUMNS.iter().map(column)).collect()
}
