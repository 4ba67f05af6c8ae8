//! The table as Parquet, by the column writers of the library.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::{COLUMNS, Cell, Row};
use crate::{Error, Filter, Index};

/// Rows that are in memory at a time.
const GROUP_ROWS: usize = 100_000;

impl Index {
    /// Writes all figures of the runs that match as Parquet, oldest run first.
    ///
    /// # Errors
    /// The index cannot be read, or the table cannot be written.
    pub fn export_parquet(&self, filter: &Filter, into: impl Write + Send) -> Result<u64, Error> {
        let failed = |why: ParquetError| Error::Export(why.to_string());
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let properties = Arc::new(properties.build());
        let schema = schema().map_err(failed)?;
        let mut file = SerializedFileWriter::new(into, schema, properties).map_err(failed)?;
        let mut group: Vec<Vec<Cell>> = Vec::new();
        let mut write = |group: &mut Vec<Vec<Cell>>| {
            let written = write_group(&mut file, group);
            group.clear();
            written.map_err(failed)
        };
        let count = self.rows(filter, |row: Row| {
            group.push(COLUMNS.iter().map(|(_, cell)| cell(&row)).collect());
            if group.len() == GROUP_ROWS { write(&mut group) } else { Ok(()) }
        })?;
        write(&mut group)?;
        file.close().map_err(failed)?;
        Ok(count)
    }
}

/// Columns by their values in a row of nothing.
fn schema() -> Result<TypePtr, ParquetError> {
    let row = Row::default();
    let field = |(name, cell): &super::Column| {
        let (physical, logical, repetition) = match cell(&row) {
            Cell::Text(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
            }
            Cell::Integer(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Cell::Real(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        };
        let field = Type::primitive_type_builder(name, physical);
        field.with_logical_type(logical).with_repetition(repetition).build().map(Arc::new)
    };
    let fields = COLUMNS.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("candor_history").with_fields(fields).build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[Vec<Cell>],
) -> Result<(), ParquetError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = file.next_row_group()?;
    for at in 0..COLUMNS.len() {
        write_column(&mut group, rows.iter().map(|row| &row[at]))?;
    }
    group.close()?;
    Ok(())
}

fn write_column<'a, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let (mut texts, mut integers, mut levels, mut reals) = (vec![], vec![], vec![], vec![]);
    for cell in cells {
        match cell {
            Cell::Text(text) => texts.push(ByteArray::from(text.as_str())),
            Cell::Real(number) => reals.push(*number),
            Cell::Integer(number) => {
                levels.push(i16::from(number.is_some()));
                integers.extend(number);
            }
        }
    }
    if !texts.is_empty() {
        column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
    } else if !reals.is_empty() {
        column.typed::<DoubleType>().write_batch(&reals, None, None)?;
    } else {
        column.typed::<Int64Type>().write_batch(&integers, Some(&levels), None)?;
    }
    column.close()
}
