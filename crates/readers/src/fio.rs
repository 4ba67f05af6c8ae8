//! fio's JSON, json+ among it: the last document where `--status-interval` wrote several.

use std::collections::BTreeMap;

use candor_plan::units::{Direction, Mix};
use candor_plan::work::Figure;
use candor_record::results::{
    Area, Condition, DeviceInterval, DeviceResults, JobResults, LatencyResults, Load, OpResults,
    PhaseResults, Results,
};
use serde::Deserialize;

use super::{Names, begin, condition, json, moment, remark};
use candor_fio::options::{JobOptions, NamedFile};
use candor_fio::options::{TABLE, defaults};
use candor_front::{Assignment, Span, Word};

/// Options by name; a flag has an empty value.
type Options = BTreeMap<String, String>;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: Option<u64>,
    timestamp_ms: Option<u64>,
    #[serde(default, rename = "global options")]
    globals: Globals,
    #[serde(default)]
    jobs: Vec<Job>,
    /// Jobs of all servers, in place of `jobs`.
    #[serde(default)]
    client_stats: Vec<Job>,
    #[serde(default)]
    disk_util: Vec<Disk>,
}

/// Options of all jobs: of one host, or of each server.
#[derive(Deserialize)]
#[serde(untagged)]
enum Globals {
    One(Options),
    Each(Vec<Options>),
}

impl Default for Globals {
    fn default() -> Globals {
        Globals::One(Options::new())
    }
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    groupid: u64,
    job_start: Option<u64>,
    #[serde(default)]
    error: i32,
    #[serde(default)]
    total_err: u64,
    #[serde(default)]
    elapsed: u64,
    hostname: Option<String>,
    #[serde(rename = "job options")]
    options: Option<Options>,
    read: Option<Side>,
    write: Option<Side>,
    trim: Option<Side>,
    mixed: Option<Side>,
    sync: Option<Side>,
}

/// One direction; syncs have counts and latencies only.
#[derive(Deserialize)]
struct Side {
    total_ios: u64,
    io_bytes: Option<u64>,
    bw_bytes: Option<f64>,
    iops: Option<f64>,
    runtime: Option<u64>,
    clat_ns: Option<Latency>,
    lat_ns: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    /// Absent from the syncs of some versions.
    #[serde(rename = "N")]
    count: Option<u64>,
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Disk {
    name: String,
    #[serde(default)]
    read_ios: u64,
    #[serde(default)]
    write_ios: u64,
    #[serde(default)]
    read_ticks: u64,
    #[serde(default)]
    write_ticks: u64,
    util: Option<f64>,
}

/// Reads the results.
pub fn read(name: &str, text: &str) -> Result<Results, String> {
    let starts = json::starts(text);
    let documents = || starts.iter().rev().map(|at| json::document::<Document>(name, text, *at));
    // A run that was killed leaves its last document open; the one before it is whole.
    let found = documents().find_map(Result::ok);
    let document = match (found, documents().next()) {
        (Some(document), _) => document,
        (None, Some(Err(fault))) => return Err(fault),
        (None, _) => return Err(format!("{name}: holds no JSON of fio")),
    };
    if ["fio-1.", "fio-2."].iter().any(|old| document.version.starts_with(old)) {
        return Err(format!(
            "{name}: is of {}, which has other units; run fio 3.0 or newer",
            document.version
        ));
    }
    let mut results = Results { started: started(&document), ..begin(name, &document.version) };
    if starts.len() > 1 {
        results.conditions.push(remark("documents", format!("the last of {}", starts.len())));
    }
    let jobs: Vec<Entry> = entries(document.jobs, document.client_stats, &document.globals);
    results.conditions.extend(jobs.iter().flat_map(Entry::conditions));
    results.conditions.extend(latency_condition(&jobs));
    let elapsed_ns = jobs.iter().map(|entry| entry.job.elapsed_ns()).max().unwrap_or(0);
    results.phases = phases(&jobs);
    if let Some(phase) = results.phases.first_mut().filter(|_| !document.disk_util.is_empty()) {
        phase.devices = document.disk_util.iter().map(|disk| disk.results(elapsed_ns)).collect();
    }
    if results.phases.is_empty() { Err(format!("{name}: has no jobs")) } else { Ok(results) }
}

/// The start: older versions tell when they wrote the document, and how long they ran until then.
fn started(document: &Document) -> Option<String> {
    let end_ms = document.timestamp_ms.or(document.timestamp.map(|s| s.saturating_mul(1000)))?;
    let jobs = || document.jobs.iter().chain(&document.client_stats);
    // A start by another clock is not one since 1970.
    let first = jobs().filter_map(|job| job.job_start).min();
    let first = first.filter(|ms| *ms <= end_ms && end_ms - ms < 1 << 40);
    let elapsed_s = jobs().map(|job| job.elapsed).max().unwrap_or(0);
    moment(first.unwrap_or(end_ms.saturating_sub(elapsed_s.saturating_mul(1000))))
}

/// A job with its name and options.
struct Entry {
    name: String,
    job: Job,
    /// Absent where the document does not have them.
    options: Option<JobOptions>,
    /// Clones of its section have entries of their own.
    is_clone: bool,
}

fn entries(jobs: Vec<Job>, of_servers: Vec<Job>, globals: &Globals) -> Vec<Entry> {
    let globals = match globals {
        Globals::One(options) => options.clone(),
        Globals::Each(all) => all.first().cloned().unwrap_or_default(),
    };
    // The sum that follows the jobs of servers has none of its own.
    let of_servers = of_servers.into_iter().filter(|job| job.jobname != "All clients");
    let jobs: Vec<Job> = jobs.into_iter().chain(of_servers).collect();
    let (mut names, mut entries) = (Names::default(), Vec::new());
    let titles: Vec<(String, u64)> = jobs.iter().map(|job| (job.title(), job.groupid)).collect();
    for (nth, job) in jobs.into_iter().enumerate() {
        let own = &titles[nth];
        let clones = titles.iter().filter(|other| *other == own).count();
        let before = titles[..nth].iter().filter(|other| *other == own).count();
        // Clones are numbered as `candor fio` numbers them, so that both are found by one name.
        let name = if clones > 1 { format!("{}.{before}", own.0) } else { own.0.clone() };
        let options = job.options.as_ref().map(|own| options(&globals, own));
        entries.push(Entry { name: names.take(&name), job, options, is_clone: clones > 1 });
    }
    entries
}

/// The options as this front end reads them; what it does not know is left out.
fn options(globals: &Options, own: &Options) -> JobOptions {
    let mut options = defaults();
    let at = Span { text: 0, start: 0, end: 0 };
    let word = |text: &String| Word { text: text.clone(), at };
    let all = || globals.iter().chain(own);
    // The base of units comes before the sizes that are written in them.
    let is_unit = |name: &str| name == "kb_base";
    let (units, others) = (all().filter(|o| is_unit(o.0)), all().filter(|o| !is_unit(o.0)));
    for (name, value) in units.chain(others) {
        let value = Some(value).filter(|value| !value.is_empty());
        let assignment = Assignment { name: word(name), value: value.map(word) };
        // A value that only another version knows says nothing of the load.
        let _ = TABLE.assign(&assignment, &mut options, "");
    }
    options
}

impl Entry {
    fn conditions(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        if self.job.error != 0 {
            let error = std::io::Error::from_raw_os_error(self.job.error.wrapping_abs());
            let name = format!("error of job {}", self.name);
            conditions.push(condition(Area::Tool, name, error.to_string()));
        }
        if self.job.total_err > 0 {
            let name = format!("failed operations of job {}", self.name);
            conditions.push(condition(Area::Tool, name, self.job.total_err.to_string()));
        }
        conditions
    }

    fn results(&self) -> JobResults {
        JobResults {
            job: self.name.clone(),
            load: self.options.as_ref().map(|own| self.load(own)).unwrap_or_default(),
            targets: self.options.as_ref().map(targets).unwrap_or_default(),
            elapsed_ns: self.job.elapsed_ns(),
            operations: self.job.operations(),
            ..JobResults::default()
        }
    }

    fn load(&self, options: &JobOptions) -> Load {
        // Flags such as group_reporting are not in the document: one entry for all clones is it.
        let workers = if self.is_clone { 1 } else { options.runtime.clones };
        Load {
            access: Some(access(options)),
            block_bytes: block_bytes(options),
            depth: u32::try_from(options.issue.depth).ok(),
            workers: u32::try_from(workers).ok(),
            is_paced: options.rate.is_set() || options.think.rests(),
            ..Load::default()
        }
    }
}

/// The word that candor has for it, so that jobs of both tools are found alike.
fn access(options: &JobOptions) -> String {
    let direction = options.rw.direction;
    let read = options.rw.mix_read.min(100) as u8;
    if direction.is_mixed() && read != 50 {
        format!("{} {}", direction.word(), Mix { read, write: 100 - read, trim: 0 })
    } else {
        direction.word().to_owned()
    }
}

/// The largest block of any direction that occurs.
fn block_bytes(options: &JobOptions) -> Option<u64> {
    let (direction, blocks) = (options.rw.direction, &options.blocks);
    let occurs = |op: Direction| match op {
        Direction::Read => direction.reads(),
        Direction::Write => direction.writes(),
        Direction::Trim => direction.trims(),
    };
    let largest = |op: Direction| {
        let split = blocks.split.as_ref().map(|split| split.of(op));
        let split = split.and_then(|shares| shares.iter().map(|share| share.value).max());
        split
            .or_else(|| blocks.range.as_ref().map(|range| range.of(op).1))
            .unwrap_or(*blocks.fixed.of(op))
    };
    Direction::ALL.into_iter().filter(|op| occurs(*op)).map(largest).max()
}

/// The files that were named, or the directories in which fio made some.
fn targets(options: &JobOptions) -> Vec<String> {
    let files = &options.files;
    let path = |file: &NamedFile| match &file.beneath {
        Some(directory) => format!("{}/{}", directory.trim_end_matches('/'), file.name),
        None => file.name.clone(),
    };
    if files.names.is_empty() {
        files.directories.clone()
    } else {
        files.names.iter().map(path).collect()
    }
}

impl Job {
    fn title(&self) -> String {
        match &self.hostname {
            Some(host) => format!("{} on {host}", self.jobname),
            None => self.jobname.clone(),
        }
    }

    fn sides(&self) -> [(&'static str, Figure, Option<&Side>); 4] {
        // Directions that are reported as one have no figure of their own.
        let reads = self.mixed.as_ref().is_some_and(|_| self.read.is_none());
        let mixed = self.mixed.as_ref().filter(|_| reads);
        [
            ("read", Figure::Read, self.read.as_ref()),
            ("write", Figure::Write, self.write.as_ref()),
            ("trim", Figure::Trim, self.trim.as_ref()),
            ("mixed", Figure::Read, mixed),
        ]
    }

    fn elapsed_ns(&self) -> u64 {
        let sides = self.sides();
        let ms = sides.iter().filter_map(|(_, _, side)| side.as_ref()?.runtime).max();
        ms.unwrap_or(0).saturating_mul(1_000_000)
    }

    fn operations(&self) -> Vec<OpResults> {
        let flushes = [("fsync", Figure::Flush, self.sync.as_ref())];
        let all = self.sides().into_iter().chain(flushes);
        all.filter_map(|(name, figure, side)| {
            Some(side.filter(|side| side.total_ios > 0)?.results(name, figure))
        })
        .collect()
    }
}

impl Side {
    fn results(&self, name: &str, figure: Figure) -> OpResults {
        OpResults {
            operation: name.to_owned(),
            figure,
            ops: Some(self.total_ios),
            bytes: self.io_bytes,
            ops_per_s: self.iops,
            bytes_per_s: self.bw_bytes,
            latency: self.latency().map(|(_, latency)| latency.results()),
            ..OpResults::default()
        }
    }

    /// From submission to completion; the whole where fio took only that, or its percentiles.
    fn latency(&self) -> Option<(&'static str, &Latency)> {
        let both = [("clat", self.clat_ns.as_ref()), ("lat", self.lat_ns.as_ref())];
        let taken = || {
            let both = both.into_iter().filter_map(|(name, latency)| Some((name, latency?)));
            both.filter(|(_, latency)| latency.count.unwrap_or(self.total_ios) > 0)
        };
        taken().find(|(_, latency)| !latency.percentile.is_empty()).or_else(|| taken().next())
    }
}

impl Latency {
    fn results(&self) -> LatencyResults {
        let mut percentiles: Vec<(f64, u64)> =
            self.percentile.iter().filter_map(|(p, ns)| Some((p.parse().ok()?, *ns))).collect();
        percentiles.retain(|(p, _)| (0.0..=100.0).contains(p));
        percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut buckets: Vec<(u64, u64)> =
            self.bins.iter().filter_map(|(ns, count)| Some((ns.parse().ok()?, *count))).collect();
        buckets.sort_unstable();
        LatencyResults {
            mean_ns: Some(self.mean),
            min_ns: Some(self.min),
            max_ns: Some(self.max),
            stddev_ns: Some(self.stddev),
            percentiles,
            buckets,
        }
    }
}

/// The latency that the jobs' figures are of, where they have any.
fn latency_condition(jobs: &[Entry]) -> Option<Condition> {
    let sides = jobs.iter().flat_map(|entry| entry.job.sides());
    let mut names: Vec<&str> = sides.filter_map(|(_, _, side)| Some(side?.latency()?.0)).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.join(", ");
    (!names.is_empty()).then(|| condition(Area::Tool, "latency", format!("fio's {names}")))
}

/// Jobs that ran at the same time are a phase; groups follow each other, unless a job begins one
/// without waiting.
fn phases(entries: &[Entry]) -> Vec<PhaseResults> {
    let together = |before: &Entry, entry: &Entry| {
        let process = entry.options.as_ref().map(|options| &options.process);
        before.job.groupid == entry.job.groupid
            || process.is_some_and(|process| process.new_group && !process.stonewall)
    };
    let mut names = Names::default();
    entries
        .chunk_by(together)
        .map(|jobs| PhaseResults {
            name: names.take(&jobs[0].job.jobname),
            start_unix_ms: jobs.iter().filter_map(|entry| entry.job.job_start).min(),
            jobs: jobs.iter().map(Entry::results).collect(),
            ..PhaseResults::default()
        })
        .collect()
}

impl Disk {
    /// Activity over the whole run: fio tells waits and utilisation, and no length.
    fn results(&self, length_ns: u64) -> DeviceResults {
        let wait = |ios: u64, ticks_ms: u64| {
            (ios > 0 && ticks_ms > 0).then(|| ticks_ms as f64 * 1e6 / ios as f64)
        };
        let interval = DeviceInterval {
            length_ns,
            read_wait_ns_mean: wait(self.read_ios, self.read_ticks),
            write_wait_ns_mean: wait(self.write_ios, self.write_ticks),
            utilisation: self.util.map(|percent| percent / 100.0),
            ..DeviceInterval::default()
        };
        DeviceResults { device: self.name.clone(), intervals: vec![interval], ..Default::default() }
    }
}
