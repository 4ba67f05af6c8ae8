//! `warp merge`: files of clients that ran together, as one. Nothing is dropped: operations and
//! segments that only some files have are kept, and a remark names the files that miss them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{Read, Write};

use super::aggregate::{Aggregate, Request, Settings};
use super::file::{self, Opened, csv, json};
use super::report::{HostReport, Report, Results, Segment, TOTAL};

/// Most messages of failures to keep.
const ERRORS_MAX: usize = 10;

/// A file to merge.
pub struct Source<'a> {
    /// Name for messages.
    pub name: String,
    /// Content.
    pub input: Box<dyn Read + 'a>,
}

/// Files to merge, whose forms are known.
pub struct Merge<'a> {
    files: Vec<File<'a>>,
}

struct File<'a> {
    name: String,
    opened: Opened<'a>,
}

/// The results of a file.
struct Part {
    name: String,
    results: Results,
}

impl<'a> Merge<'a> {
    /// Recognises the files.
    ///
    /// # Errors
    /// A sentence about the first file of another form.
    pub fn open(sources: Vec<Source<'a>>) -> Result<Merge<'a>, String> {
        let mut files = Vec::new();
        for Source { name, input } in sources {
            let opened = file::open(&name, input)?;
            files.push(File { name, opened });
        }
        Ok(Merge { files })
    }

    /// Ending of the merged file: requests stay requests if all files have them.
    pub fn ending(&self) -> &'static str {
        if self.has_requests() { ".csv.zst" } else { ".json.zst" }
    }

    fn has_requests(&self) -> bool {
        self.files.iter().all(|file| matches!(file.opened, Opened::Requests(_)))
    }

    /// Writes the merged file and returns its results.
    ///
    /// # Errors
    /// A sentence about a file that cannot be read or does not fit, or about the output.
    pub fn write(self, output: impl Write) -> Result<Results, String> {
        if self.has_requests() {
            return requests(self.files, output);
        }
        let mut parts = Vec::new();
        for File { name, opened } in self.files {
            let results = match opened {
                Opened::Requests(reader) => file::aggregated(*reader, &Settings::default())?,
                Opened::Summaries(document) => {
                    json::results(&name, *document, &Settings::default())?
                }
            };
            parts.push(Part { name, results });
        }
        let results = join(&parts)?;
        json::write(&results, output).map_err(|error| unwritable(&error))?;
        Ok(results)
    }
}

fn unwritable(error: &std::io::Error) -> String {
    format!("the merged file cannot be written: {error}; free space or name another --benchdata")
}

/// Copies all requests and joins the results of the files.
fn requests(files: Vec<File<'_>>, output: impl Write) -> Result<Results, String> {
    let mut writer = csv::Writer::new(output).map_err(|error| unwritable(&error))?;
    let mut parts = Vec::new();
    let mut clients = Clients::default();
    for File { name, opened } in files {
        let Opened::Requests(mut reader) = opened else { continue };
        let mut aggregate = Aggregate::new(Settings::default());
        while let Some(request) = reader.request()? {
            let client = clients.name(request.client, parts.len());
            let request = Request { client: &client, ..request };
            let added = aggregate.add(&request);
            writer.request(&request).map_err(|error| unwritable(&error))?;
            added.map_err(|why| reader.at(&why))?;
        }
        clients.end_file();
        parts.push(Part { name, results: aggregate.finish(reader.into_command_line()) });
    }
    let results = join(&parts)?;
    writer.finish(&results.command_line).map_err(|error| unwritable(&error))?;
    Ok(results)
}

/// Names of clients; a name of an earlier file gets the number of its file.
#[derive(Default)]
struct Clients {
    earlier: HashSet<String>,
    own: HashMap<String, String>,
}

impl Clients {
    fn name(&mut self, client: &str, file: usize) -> String {
        if let Some(name) = self.own.get(client) {
            return name.clone();
        }
        let name = if self.earlier.contains(client) {
            format!("{client}-{}", file + 1)
        } else {
            client.to_owned()
        };
        self.own.insert(client.to_owned(), name.clone());
        name
    }

    fn end_file(&mut self) {
        self.earlier.extend(self.own.drain().map(|(_, name)| name));
    }
}

/// The results of all files together.
fn join(parts: &[Part]) -> Result<Results, String> {
    let mut joined = Results::default();
    let mut ops = BTreeSet::new();
    for part in parts {
        ops.extend(part.results.ops.iter().map(|report| report.op.clone()));
        joined.remarks.extend(part.results.remarks.clone());
    }
    let lines: BTreeSet<&str> =
        parts.iter().map(|part| part.results.command_line.as_str()).collect();
    joined.command_line = lines.into_iter().collect::<Vec<_>>().join("; ");
    for op in ops {
        let mut with = Vec::new();
        for Part { name, results } in parts {
            match results.ops.iter().find(|report| report.op == op) {
                Some(report) => with.push(Named { name, report }),
                None => joined.remarks.push(format!("{name} has no {op}")),
            }
        }
        let report = join_reports(&op, &with, &mut joined.remarks)?;
        joined.ops.push(report);
    }
    let totals = parts.iter().map(|part| Named { name: &part.name, report: &part.results.total });
    // The remarks on the operations name what is missing.
    joined.total = join_reports(TOTAL, &totals.collect::<Vec<_>>(), &mut Vec::new())?;
    Ok(joined)
}

/// The results of a file for one operation.
struct Named<'a> {
    name: &'a str,
    report: &'a Report,
}

fn join_reports(
    op: &str,
    files: &[Named<'_>],
    remarks: &mut Vec<String>,
) -> Result<Report, String> {
    let mut joined = Report { op: op.to_owned(), start_ns: i64::MAX, ..Report::default() };
    for Named { name, report } in files {
        let known_ns = joined.segment_ns;
        if known_ns > 0 && known_ns != report.segment_ns {
            let [known, own] = [known_ns, report.segment_ns].map(|ns| ns as f64 / 1e9);
            return Err(format!(
                "{name}: {op} has segments of {own} s, and the files before it of {known} s; \
                 merge files with equal segments"
            ));
        }
        add(&mut joined, report);
    }
    joined.segments = join_segments(files, remarks);
    let seconds = joined.duration_ns() as f64 / 1e9;
    for host in joined.hosts.values_mut().filter(|_| seconds > 0.0) {
        host.rate.bytes /= seconds;
        host.rate.objects /= seconds;
    }
    Ok(joined)
}

/// Adds counts, times, clients and hosts.
fn add(joined: &mut Report, report: &Report) {
    joined.segment_ns = report.segment_ns;
    joined.concurrency = joined.concurrency.saturating_add(report.concurrency);
    joined.start_ns = joined.start_ns.min(report.start_ns);
    joined.end_ns = joined.end_ns.max(report.end_ns);
    joined.requests = joined.requests.saturating_add(report.requests);
    joined.objects = joined.objects.saturating_add(report.objects);
    joined.bytes = joined.bytes.saturating_add(report.bytes);
    joined.errors = joined.errors.saturating_add(report.errors);
    joined.first_errors.extend(report.first_errors.clone());
    joined.first_errors.truncate(ERRORS_MAX);
    joined.clients.extend(report.clients.clone());
    joined.latency.add(&report.latency);
    joined.first_byte.add(&report.first_byte);
    for class in &report.sizes {
        match joined.sizes.iter_mut().find(|known| known.is_like(class)) {
            Some(known) => known.add(class),
            None => joined.sizes.push(*class),
        }
    }
    for (name, host) in &report.hosts {
        let known = joined.hosts.entry(name.clone()).or_default();
        add_host(known, host, report);
    }
}

/// Adds a host of a report. The rates become amounts until all files are added.
fn add_host(known: &mut HostReport, host: &HostReport, report: &Report) {
    let seconds = report.duration_ns() as f64 / 1e9;
    known.rate.bytes += host.rate.bytes * seconds;
    known.rate.objects += host.rate.objects * seconds;
    known.latency.add(&host.latency);
    let mut grid = Grid::new(report.segment_ns);
    grid.add(&known.segments);
    grid.add(&host.segments);
    known.segments = grid.segments.into_values().collect();
}

/// All segments of all files. A remark counts the segments that a file does not have.
fn join_segments(files: &[Named<'_>], remarks: &mut Vec<String>) -> Vec<Segment> {
    let segment_ns = files.first().map_or(0, |file| file.report.segment_ns);
    let mut grid = Grid::new(segment_ns);
    files.iter().for_each(|file| grid.add(&file.report.segments));
    let count = grid.segments.len();
    for Named { name, report } in files {
        let missing = count - report.segments.len().min(count);
        if missing > 0 {
            let op = &report.op;
            remarks.push(format!("{name} has no {op} in {missing} of {count} segments"));
        }
    }
    grid.segments.into_values().collect()
}

/// Segments of several files by their number since 1970. Files whose segments begin within the
/// same segment of the grid ran together.
struct Grid {
    length: i64,
    segments: BTreeMap<i64, Segment>,
}

impl Grid {
    fn new(segment_ns: u64) -> Grid {
        let length = i64::try_from(segment_ns).unwrap_or(i64::MAX).max(1);
        Grid { length, segments: BTreeMap::new() }
    }

    fn add(&mut self, segments: &[Segment]) {
        for segment in segments {
            let number = segment.start_ns.div_euclid(self.length);
            let known = self.segments.entry(number);
            known.and_modify(|known| add_segment(known, segment)).or_insert(*segment);
        }
    }
}

fn add_segment(known: &mut Segment, other: &Segment) {
    known.bytes += other.bytes;
    known.objects += other.objects;
    known.errors = known.errors.saturating_add(other.errors);
    known.counts = known.counts.zip(other.counts).map(|(mut known, other)| {
        known.full += other.full;
        known.partial += other.partial;
        known.started += other.started;
        known.ended += other.ended;
        known
    });
}
