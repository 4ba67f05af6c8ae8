//! `.csv.zst`: a line for each request, with tabs between the columns of a header.
//!
//! Columns are found by name, because older files have fewer. A line is read and written by hand:
//! its length is bounded, also in a file that has no line ends.

use std::io::{self, BufRead, Read, Write};

use jiff::Timestamp;

use super::broken;
use crate::aggregate::Request;

/// Longest line in bytes.
const LINE_MAX: u64 = 1 << 20;

/// The header of written files.
const HEADER: &str = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\t\
                      first_byte\tlast_byte\tend\tduration_ns\tcat";

/// Reader of requests.
pub struct Reader<'a> {
    name: String,
    input: Box<dyn BufRead + 'a>,
    columns: Columns,
    number: u64,
    line: Vec<u8>,
    command_line: String,
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
        let mut reader = Reader {
            name: name.to_owned(),
            input,
            columns: Columns::default(),
            number: 0,
            line: Vec::new(),
            command_line: String::new(),
        };
        reader.line()?;
        while reader.line.starts_with(b"#") {
            reader.comment();
            reader.line()?;
        }
        let header = std::str::from_utf8(&reader.line).unwrap_or_default();
        reader.columns = Columns::of(header).map_err(|missing| {
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
        loop {
            if !self.line()? {
                return Ok(None);
            }
            match self.line.first() {
                None => {}
                Some(b'#') => self.comment(),
                Some(_) => break,
            }
        }
        let place = Place { name: &self.name, number: self.number };
        let line = std::str::from_utf8(&self.line)
            .map_err(|_| place.wrong("holds bytes that are no text (UTF-8)"))?;
        self.columns.request(line, &place).map(Some)
    }

    /// A sentence about the request that was read last.
    pub fn at(&self, why: &str) -> String {
        format!("{}:{}: {why}", self.name, self.number)
    }

    /// The command line at the end of the file; empty if the file has none.
    pub fn into_command_line(self) -> String {
        self.command_line
    }

    /// Reads a line without its end; false at the end of the file.
    fn line(&mut self) -> Result<bool, String> {
        self.line.clear();
        self.number += 1;
        let read = self.input.by_ref().take(LINE_MAX).read_until(b'\n', &mut self.line);
        read.map_err(|error| broken(&format!("{}:{}", self.name, self.number), &error))?;
        if self.line.len() as u64 == LINE_MAX {
            return Err(self.at(&format!("the line has {LINE_MAX} bytes or more; shorten it")));
        }
        let is_read = !self.line.is_empty();
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(is_read)
    }

    /// Keeps the first comment after the requests: the command line.
    fn comment(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        let text = text.trim_start_matches('#').trim();
        if self.command_line.is_empty() {
            text.clone_into(&mut self.command_line);
        }
    }
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
    fn of(header: &str) -> Result<Columns, &'static str> {
        let names: Vec<&str> = header.split('\t').map(unquoted).collect();
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

    fn request<'b>(&self, line: &'b str, place: &Place<'_>) -> Result<Request<'b>, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let fields = Fields { fields: &fields, place };
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
    fields: &'a [&'b str],
    place: &'a Place<'a>,
}

impl<'b> Fields<'_, 'b> {
    fn text(&self, column: Option<usize>) -> &'b str {
        let field = column.and_then(|column| self.fields.get(column));
        field.map_or("", |field| unquoted(field))
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

/// A field without the quotes around it.
fn unquoted(field: &str) -> &str {
    let inner = field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    inner.unwrap_or(field)
}

/// Writer of requests.
pub struct Writer<W: Write> {
    output: zstd::Encoder<'static, W>,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(output: W) -> io::Result<Writer<W>> {
        let mut output = zstd::Encoder::new(output, 0)?;
        writeln!(output, "{HEADER}")?;
        Ok(Writer { output, written: 0 })
    }

    /// Writes a request.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn request(&mut self, request: &Request<'_>) -> io::Result<()> {
        let number = self.written;
        self.written += 1;
        writeln!(
            self.output,
            "{number}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            request.thread,
            field(request.op),
            field(request.client),
            request.objects,
            request.bytes,
            field(request.endpoint),
            field(request.file),
            field(request.error),
            time(Some(request.start_ns)),
            time(request.first_byte_ns),
            time(request.last_byte_ns),
            time(Some(request.end_ns)),
            request.start_ns.abs_diff(request.end_ns),
            field(request.category),
        )
    }

    /// Writes the command line, which holds no secrets, and ends the file.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self, command_line: &str) -> io::Result<W> {
        writeln!(self.output, "# {}", field(command_line))?;
        self.output.finish()
    }
}

/// A text in a column: tabs and line ends would start other columns and lines.
fn field(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

fn time(ns: Option<i64>) -> String {
    let time = ns.and_then(|ns| Timestamp::from_nanosecond(i128::from(ns)).ok());
    time.map(|time| time.to_string()).unwrap_or_default()
}
