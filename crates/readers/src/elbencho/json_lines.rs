//! The JSON of results: an object per phase, one per line, whose values are all texts.

use std::collections::BTreeMap;
use std::fmt;

use candor_record::results::{JobResults, LatencyResults, Load, OpResults, Results};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::{Phases, Side, access, operations};
use crate::{begin, json, moment, unix_ms};

#[derive(Deserialize)]
struct Line {
    phase_type: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    iso_start_date: String,
    #[serde(default)]
    config: Config,
    last_done: Done,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    hosts: Number,
    threads: Number,
    block_size: Number,
    #[serde(deserialize_with = "switch")]
    random_offsets: bool,
    io_depth: Number,
    version: String,
    command: String,
}

#[derive(Deserialize)]
struct Done {
    #[serde(default)]
    elapsed_time_ms: Number,
    #[serde(flatten)]
    main: Counts,
    rwmix_read: Option<Counts>,
    #[serde(default)]
    latency: Latencies,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(rename = "entries/s")]
    entries_per_s: Number,
    iops: Number,
    #[serde(rename = "bytes/s")]
    bytes_per_s: Number,
    entries: Number,
    bytes: Number,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Latencies {
    entries: Option<Latency>,
    #[serde(rename = "IO")]
    io: Option<Latency>,
    rwmix_read: Option<Box<Latencies>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Latency {
    min_us: Number,
    avg_us: Number,
    max_us: Number,
    /// Only candor writes them; the values are upper bounds.
    percentiles_us: BTreeMap<String, Number>,
    histogram: Histogram,
    rwmix_read: Option<Box<Latency>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Histogram {
    /// An empty list is an empty text.
    #[serde(deserialize_with = "list")]
    buckets: Vec<Bucket>,
    rwmix_read: Option<Box<Histogram>>,
}

#[derive(Clone, Deserialize)]
struct Bucket {
    /// `from-to` in µs, with or without the unit.
    range: String,
    count: Number,
}

/// A number that stands as a text, which may be empty, or as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Number(Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct OfNumber;
        impl Visitor<'_> for OfNumber {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, as it is or as a text")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                match text.trim() {
                    "" => Ok(Number(None)),
                    text => match text.parse::<f64>() {
                        Ok(number) => self.visit_f64(number),
                        Err(_) => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                    },
                }
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Number, E> {
                if number.is_finite() && number >= 0.0 {
                    Ok(Number(Some(number)))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(number), &self))
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(Some(number as f64)))
            }
        }
        deserializer.deserialize_any(OfNumber)
    }
}

/// A switch: elbencho writes `true` and `false`, earlier versions of candor `1` and `0`.
fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" | "" => Ok(false),
        _ => Err(de::Error::invalid_value(de::Unexpected::Str(&text), &"true or false")),
    }
}

/// Words of a command line: each in quotes, or separated by blanks.
pub(super) fn words(command: &str) -> Vec<String> {
    let command = command.trim();
    match command.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.split("\" \"").map(str::to_owned).collect(),
        None => command.split_whitespace().map(str::to_owned).collect(),
    }
}

/// A list, or the empty text that some writers of JSON have for one without elements.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Bucket>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum List {
        Filled(Vec<Bucket>),
        Empty(String),
    }
    match List::deserialize(deserializer)? {
        List::Filled(buckets) => Ok(buckets),
        List::Empty(text) if text.is_empty() => Ok(Vec::new()),
        List::Empty(_) => Err(de::Error::custom("buckets are a list")),
    }
}

/// Reads the results.
pub fn read_json(name: &str, text: &str) -> Result<Results, String> {
    let (mut phases, mut at) = (Phases::default(), 0);
    let mut results = begin(name, "elbencho");
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            // A line ends its document: nothing of the next one is read.
            let line: Line = json::document(name, &text[..at + line.len()], at)?;
            line.add(&mut results, &mut phases);
        }
        at += line.len();
    }
    results.phases = phases.all;
    Ok(results)
}

impl Line {
    fn add(self, results: &mut Results, phases: &mut Phases) {
        let start = unix_ms(&self.iso_start_date);
        if results.phases.is_empty() && phases.all.is_empty() {
            results.started = start.and_then(moment);
            results.tool = format!("elbencho {}", self.config.version).trim().to_owned();
            results.conditions[0].value.clone_from(&results.tool);
            results.command = words(&self.config.command);
        }
        let phase = self.phase_type.as_str();
        let done = &self.last_done;
        let read = done.rwmix_read.as_ref().map(|read| read.side(&done.latency.of_reads()));
        let job = JobResults {
            job: if self.label.is_empty() { "elbencho".to_owned() } else { self.label.clone() },
            load: self.config.load(phase),
            elapsed_ns: done.elapsed_time_ms.0.map_or(0, |ms| (ms * 1e6) as u64),
            operations: operations(phase, done.main.side(&done.latency), read),
            ..JobResults::default()
        };
        phases.push(start, job, phase);
    }
}

impl Config {
    fn load(&self, phase: &str) -> Load {
        let small = |number: Option<f64>| number.map(|number| number as u32);
        let io = access(phase, self.random_offsets);
        let threads = self.threads.0.map(|threads| threads * self.hosts.0.unwrap_or(1.0).max(1.0));
        Load {
            block_bytes: self.block_size.0.filter(|_| io.is_some()).map(|bytes| bytes as u64),
            depth: small(self.io_depth.0.filter(|_| io.is_some())),
            access: io,
            workers: small(threads),
            ..Load::default()
        }
    }
}

impl Counts {
    fn side(&self, latencies: &Latencies) -> Side {
        let results = |latency: &Option<Latency>| latency.as_ref().and_then(Latency::results);
        Side {
            entries: OpResults {
                ops: self.entries.0.map(|count| count as u64),
                ops_per_s: self.entries_per_s.0,
                latency: results(&latencies.entries),
                ..OpResults::default()
            },
            io: OpResults {
                bytes: self.bytes.0.map(|bytes| bytes as u64),
                ops_per_s: self.iops.0,
                bytes_per_s: self.bytes_per_s.0,
                latency: results(&latencies.io),
                ..OpResults::default()
            },
        }
    }
}

impl Latencies {
    /// Latencies of the reads of a mix: each is in the object of the writes.
    fn of_reads(&self) -> Latencies {
        if let Some(earlier) = &self.rwmix_read {
            return (**earlier).clone();
        }
        let of = |writes: &Option<Latency>| writes.as_ref().and_then(Latency::of_reads);
        Latencies { entries: of(&self.entries), io: of(&self.io), rwmix_read: None }
    }
}

impl Latency {
    fn of_reads(&self) -> Option<Latency> {
        let histogram = self.histogram.rwmix_read.as_deref().cloned();
        let reads = self.rwmix_read.as_deref().cloned();
        if reads.is_none() && histogram.is_none() {
            return None;
        }
        let reads = reads.unwrap_or_default();
        Some(Latency { histogram: histogram.unwrap_or_default(), ..reads })
    }

    fn results(&self) -> Option<LatencyResults> {
        let ns = |us: f64| (us * 1000.0).round() as u64;
        let percentile = |(p, us): (&String, &Number)| Some((p.parse().ok()?, ns(us.0?)));
        let mut percentiles: Vec<(f64, u64)> =
            self.percentiles_us.iter().filter_map(percentile).collect();
        percentiles.retain(|(p, _)| (0.0..=100.0).contains(p));
        percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let buckets = self.histogram.buckets.iter().filter_map(|bucket| {
            let (from, to) = bucket.range.trim_end_matches("us").split_once('-')?;
            let (from, to): (f64, f64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
            Some((ns((from + to) / 2.0), bucket.count.0? as u64))
        });
        let mut buckets: Vec<(u64, u64)> = buckets.filter(|(_, count)| *count > 0).collect();
        buckets.sort_unstable();
        if self.avg_us.0.is_none() && buckets.is_empty() {
            return None;
        }
        Some(LatencyResults {
            mean_ns: self.avg_us.0.map(|us| us * 1000.0),
            min_ns: self.min_us.0.map(ns),
            max_ns: self.max_us.0.map(ns),
            percentiles,
            buckets,
            ..LatencyResults::default()
        })
    }
}
