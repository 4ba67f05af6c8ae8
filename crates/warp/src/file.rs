//! Result files of warp: `.csv.zst` with each request, `.json.zst` with summaries.

pub mod csv;
pub mod json;

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::aggregate::{Aggregate, Settings};
use super::report::Results;

/// First bytes of compressed data.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A file whose form is known.
pub enum Opened<'a> {
    /// A file with each request.
    Requests(Box<csv::Reader<'a>>),
    /// A file with summaries.
    Summaries(Box<json::Document>),
}

/// Recognises a file by its content, compressed or not.
///
/// # Errors
/// A sentence with the name of the file and the position.
pub fn open<'a>(name: &str, input: impl Read + 'a) -> Result<Opened<'a>, String> {
    let mut text = decompressed(name, input)?;
    let begin = text.fill_buf().map_err(|error| broken(name, &error))?;
    match begin.first() {
        None => Err(format!("{name}: is empty; name a .csv.zst or .json.zst file of warp")),
        Some(b'{') => json::read(name, text).map(|read| Opened::Summaries(Box::new(read))),
        Some(_) => csv::Reader::new(name, text).map(|reader| Opened::Requests(Box::new(reader))),
    }
}

/// Reads a file into reports.
///
/// # Errors
/// A sentence with the name of the file and the position.
pub fn read(name: &str, input: impl Read, settings: &Settings) -> Result<Results, String> {
    match open(name, input)? {
        Opened::Requests(reader) => aggregated(*reader, settings),
        Opened::Summaries(document) => json::results(name, *document, settings),
    }
}

/// Reads all requests into reports.
///
/// # Errors
/// A sentence with the name of the file and the line.
pub fn aggregated(mut reader: csv::Reader<'_>, settings: &Settings) -> Result<Results, String> {
    let mut aggregate = Aggregate::new(settings.clone());
    while let Some(request) = reader.request()? {
        let added = aggregate.add(&request);
        added.map_err(|why| reader.at(&why))?;
    }
    if aggregate.is_empty() {
        return Err(reader.at("no request follows the header; name a file of a longer run"));
    }
    Ok(aggregate.finish(reader.into_command_line()))
}

/// Name of a result file without its ending: command, UTC time and four characters.
pub fn name(command: &str, now: jiff::Timestamp, random: u32) -> String {
    let time = now.strftime("%Y-%m-%d[%H%M%S]");
    let letters = [0, 1, 2, 3].map(|nth| char::from(b'a' + (random >> (8 * nth)) as u8 % 26));
    format!("warp-{command}-{time}-{}", String::from_iter(letters))
}

fn decompressed<'a>(
    name: &str,
    mut input: impl Read + 'a,
) -> Result<Box<dyn BufRead + 'a>, String> {
    let mut begin = Vec::new();
    let read = input.by_ref().take(ZSTD.len() as u64).read_to_end(&mut begin);
    read.map_err(|error| format!("{name}: {error}; name a file that can be read"))?;
    let is_compressed = begin == ZSTD;
    let all = BufReader::new(Cursor::new(begin).chain(input));
    if !is_compressed {
        return Ok(Box::new(all));
    }
    let decoder = zstd::Decoder::with_buffer(all).map_err(|error| broken(name, &error))?;
    Ok(Box::new(BufReader::new(decoder)))
}

/// The sentence on data that cannot be decompressed.
fn broken(place: &str, error: &io::Error) -> String {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data end too early".to_owned(),
        _ => format!("the data cannot be decompressed: {error}"),
    };
    format!("{place}: {what}; copy the file again from the host that wrote it")
}

#[cfg(test)]
mod tests;
