//! `.csv.zst`: a line for each request, with tabs between the columns of a header. Columns are
//! found by name, because older files have fewer.

use std::cell::Cell;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use jiff::Timestamp;

use super::broken;
use crate::aggregate::Request;

/// Most bytes of a request in a file: a quote that has no end makes one request of the rest.
const REQUEST_MAX: u64 = 1 << 20;

/// The header of written files.
const HEADER: [&str; 15] = [
    "idx",
    "thread",
    "op",
    "client_id",
    "n_objects",
    "bytes",
    "endpoint",
    "file",
    "error",
    "start",
    "first_byte",
    "last_byte",
    "end",
    "duration_ns",
    "cat",
];

/// Reader of requests.
pub struct Reader<'a> {
    name: String,
    reader: csv::Reader<Bounded<'a>>,
    left: Rc<Cell<u64>>,
    columns: Columns,
    record: StringRecord,
    command_line: String,
}

/// Input that ends with an error if a request is too long.
struct Bounded<'a> {
    input: Box<dyn BufRead + 'a>,
    left: Rc<Cell<u64>>,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.input.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(read as u64));
        Ok(read)
    }
}

/// Positions of columns; absent in files that do not have them.
#[derive(Default)]
struct Columns {
    thread: Option<usize>,
    op: usize,
    client: Option<usize>,
    objects: Option<usize>,
    bytes: usize,
    endpoint: Option<usize>,
    file: Option<usize>,
    error: Option<usize>,
    start: usize,
    first_byte: Option<usize>,
    last_byte: Option<usize>,
    end: usize,
    category: Option<usize>,
}

impl<'a> Reader<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// A sentence if the file has another form.
    pub(super) fn new(name: &str, input: Box<dyn BufRead + 'a>) -> Result<Reader<'a>, String> {
        let left = Rc::new(Cell::new(REQUEST_MAX));
        let bounded = Bounded { input, left: Rc::clone(&left) };
        let mut builder = ReaderBuilder::new();
        builder.delimiter(b'\t').flexible(true).has_headers(false);
        let mut reader = Reader {
            name: name.to_owned(),
            reader: builder.from_reader(bounded),
            left,
            columns: Columns::default(),
            record: StringRecord::new(),
            command_line: String::new(),
        };
        reader.next_record()?;
        reader.columns = Columns::of(&reader.record).map_err(|missing| {
            format!(
                "{name}:1: is no result file of warp: the header has no column {missing}; name a \
                 .csv.zst or .json.zst file"
            )
        })?;
        Ok(reader)
    }

    /// The next request; none at the end.
    ///
    /// # Errors
    /// A sentence with the file and the line.
    pub fn request(&mut self) -> Result<Option<Request<'_>>, String> {
        if !self.next_record()? {
            return Ok(None);
        }
        let place = Place { name: &self.name, number: line_of(&self.record) };
        self.columns.request(&self.record, &place).map(Some)
    }

    /// A sentence about the request that was read last.
    pub fn at(&self, why: &str) -> String {
        format!("{}:{}: {why}", self.name, line_of(&self.record))
    }

    /// The command line at the end of the file; empty if the file has none.
    pub fn into_command_line(self) -> String {
        self.command_line
    }

    /// Reads a record that is no comment; false at the end of the file. The first comment is the
    /// command line.
    fn next_record(&mut self) -> Result<bool, String> {
        loop {
            self.left.set(REQUEST_MAX);
            let read = self.reader.read_record(&mut self.record);
            if !read.map_err(|error| self.wrong(&error))? {
                return Ok(false);
            }
            let Some(comment) = self.record.get(0).and_then(|first| first.strip_prefix('#')) else {
                return Ok(true);
            };
            if self.command_line.is_empty() {
                comment.trim().clone_into(&mut self.command_line);
            }
        }
    }

    fn wrong(&self, error: &csv::Error) -> String {
        let number = error.position().map_or(self.reader.position().line(), csv::Position::line);
        let place = Place { name: &self.name, number };
        match error.kind() {
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                place.wrong(&format!("the request has more than {REQUEST_MAX} bytes"))
            }
            ErrorKind::Io(error) => broken(&format!("{}:{number}", self.name), error),
            ErrorKind::Utf8 { .. } => place.wrong("holds bytes that are no text (UTF-8)"),
            _ => place.wrong(&error.to_string()),
        }
    }
}

fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(1, csv::Position::line)
}

struct Place<'a> {
    name: &'a str,
    number: u64,
}

impl Place<'_> {
    fn wrong(&self, why: &str) -> String {
        format!("{}:{}: {why}; remove the line or copy the file again", self.name, self.number)
    }
}

impl Columns {
    /// Finds the columns of a header; the error is the name of a column that is missing.
    fn of(header: &StringRecord) -> Result<Columns, &'static str> {
        let names: Vec<&str> = header.iter().collect();
        let mut columns = Columns::default();
        let optional: &mut [(&str, &mut Option<usize>)] = &mut [
            ("thread", &mut columns.thread),
            ("client_id", &mut columns.client),
            ("n_objects", &mut columns.objects),
            ("endpoint", &mut columns.endpoint),
            ("file", &mut columns.file),
            ("error", &mut columns.error),
            ("first_byte", &mut columns.first_byte),
            ("last_byte", &mut columns.last_byte),
            ("cat", &mut columns.category),
        ];
        for (name, column) in optional {
            **column = names.iter().position(|known| known == name);
        }
        columns.op = position(&names, "op")?;
        columns.bytes = position(&names, "bytes")?;
        columns.start = position(&names, "start")?;
        columns.end = position(&names, "end")?;
        Ok(columns)
    }

    fn request<'b>(
        &self,
        record: &'b StringRecord,
        place: &Place<'_>,
    ) -> Result<Request<'b>, String> {
        let fields = Fields { record, place };
        let request = Request {
            thread: fields.number("thread", self.thread, 0)?,
            op: fields.text(Some(self.op)),
            client: fields.text(self.client),
            objects: fields.number("n_objects", self.objects, 1)?,
            bytes: fields.number("bytes", Some(self.bytes), 0)?,
            endpoint: fields.text(self.endpoint),
            file: fields.text(self.file),
            error: fields.text(self.error),
            start_ns: fields.required_time("start", self.start)?,
            first_byte_ns: fields.time("first_byte", self.first_byte)?,
            last_byte_ns: fields.time("last_byte", self.last_byte)?,
            end_ns: fields.required_time("end", self.end)?,
            category: fields.text(self.category),
        };
        if request.op.is_empty() {
            return Err(place.wrong("the column op is empty"));
        }
        if request.end_ns < request.start_ns {
            return Err(place.wrong("the request ends before its start"));
        }
        Ok(request)
    }
}

fn position(names: &[&str], name: &'static str) -> Result<usize, &'static str> {
    names.iter().position(|known| *known == name).ok_or(name)
}

struct Fields<'a, 'b> {
    record: &'b StringRecord,
    place: &'a Place<'a>,
}

impl<'b> Fields<'_, 'b> {
    fn text(&self, column: Option<usize>) -> &'b str {
        column.and_then(|column| self.record.get(column)).unwrap_or_default()
    }

    fn number<N: std::str::FromStr>(
        &self,
        name: &str,
        column: Option<usize>,
        absent: N,
    ) -> Result<N, String> {
        match self.text(column) {
            "" => Ok(absent),
            text => text.parse().map_err(|_| self.wrong(name, text, "a whole number")),
        }
    }

    fn time(&self, name: &str, column: Option<usize>) -> Result<Option<i64>, String> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let time = text.parse::<Timestamp>().ok();
        let ns = time.and_then(|time| i64::try_from(time.as_nanosecond()).ok());
        // Go writes a time that was never set as the year 1, which no measurement has.
        match ns {
            Some(ns) => Ok(Some(ns)),
            None if text.starts_with("0001-01-01") => Ok(None),
            None => Err(self.wrong(name, text, "a time in RFC 3339")),
        }
    }

    fn required_time(&self, name: &str, column: usize) -> Result<i64, String> {
        let time = self.time(name, Some(column))?;
        time.ok_or_else(|| self.wrong(name, self.text(Some(column)), "a time in RFC 3339"))
    }

    fn wrong(&self, name: &str, text: &str, rule: &str) -> String {
        let shown: String = text.chars().take(40).collect();
        self.place.wrong(&format!("{name} is `{shown}`, and not {rule}"))
    }
}

/// Writer of requests.
pub struct Writer<W: Write> {
    output: csv::Writer<zstd::Encoder<'static, W>>,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(output: W) -> io::Result<Writer<W>> {
        let encoder = zstd::Encoder::new(output, 0)?;
        let mut builder = WriterBuilder::new();
        let builder = builder.delimiter(b'\t').terminator(Terminator::Any(b'\n'));
        let mut output = builder.from_writer(encoder);
        output.write_record(HEADER)?;
        Ok(Writer { output, written: 0 })
    }

    /// Writes a request.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn request(&mut self, request: &Request<'_>) -> io::Result<()> {
        let number = self.written;
        self.written += 1;
        self.output.write_record([
            &number.to_string(),
            &request.thread.to_string(),
            request.op,
            request.client,
            &request.objects.to_string(),
            &request.bytes.to_string(),
            request.endpoint,
            request.file,
            request.error,
            &time(Some(request.start_ns)),
            &time(request.first_byte_ns),
            &time(request.last_byte_ns),
            &time(Some(request.end_ns)),
            &request.start_ns.abs_diff(request.end_ns).to_string(),
            request.category,
        ])?;
        Ok(())
    }

    /// Writes the command line, which holds no secrets, and ends the file.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self, command_line: &str) -> io::Result<W> {
        let mut encoder = self.output.into_inner().map_err(csv::IntoInnerError::into_error)?;
        writeln!(encoder, "# {}", command_line.replace(['\t', '\n', '\r'], " "))?;
        encoder.finish()
    }
}

fn time(ns: Option<i64>) -> String {
    let time = ns.and_then(|ns| Timestamp::from_nanosecond(i128::from(ns)).ok());
    time.map(|time| time.to_string()).unwrap_or_default()
}
