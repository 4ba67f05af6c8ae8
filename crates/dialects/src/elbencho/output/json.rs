//! Results as JSON: one object per phase, one per line, every value a text.

use candor_record::Latency;

use super::figures::{Column, Figures, Latencies, Side};
use super::numbers::{Bucket, bound_us, buckets, microseconds, percentiles, upper_bound_ns};
use super::{Moment, VERSION};
use crate::elbencho::setup::{PathKind, Setup};
use crate::kit::Object;

/// The line of a phase.
pub fn line(setup: &Setup, name: &str, figures: &Figures, now: &Moment) -> String {
    let started = figures.start_unix_ms.map_or_else(|| now.iso(), |ms| now.iso_of(ms));
    let document = Object::default()
        .with("phase_type", name)
        .with("phase_id", now.id.as_str())
        .with("label", setup.asked.run.label.as_str())
        .with("iso_start_date", started)
        .with("config", config(setup))
        .with("first_done", column(setup, figures, &figures.first))
        .with("last_done", column(setup, figures, &figures.last));
    line_of(&document)
}

/// A document on a line of its own.
pub fn line_of(document: &Object) -> String {
    serde_json::to_string(document).expect("texts and lists of texts are JSON") + "\n"
}

fn bit(is: bool) -> &'static str {
    if is { "1" } else { "0" }
}

fn config(setup: &Setup) -> Object {
    let asked = &setup.asked;
    let mut config = Object::default()
        .with("path_type", setup.path_kind.word())
        .with("paths", asked.paths.len().to_string())
        .with("hosts", asked.hosts.hosts().to_string())
        .with("threads", asked.run.threads.to_string());
    if let (Some(file), Some(listed)) = (&asked.list.tree_file, &setup.listed) {
        config.put("custom_tree_file", file.as_str());
        config.put("custom_tree_dirs", listed.dirs.to_string());
        config.put("custom_tree_files", listed.files.to_string());
        config.put("custom_tree_bytes", listed.bytes.to_string());
    } else if setup.path_kind == PathKind::Directory {
        config.put("dirs", asked.tree.dirs.to_string());
        config.put("files", asked.tree.files.to_string());
    }
    config
        .with("file_size", setup.file_bytes.to_string())
        .with("block_size", setup.block_bytes.to_string())
        .with("direct_io", bit(asked.io.direct))
        .with("random_offsets", bit(asked.access.random))
        .with("random_aligned", bit(asked.access.random && !asked.access.random_unaligned))
        .with("io_depth", asked.io.depth.to_string())
        .with("shared_service_paths", bit(!asked.hosts.own_data))
        .with("truncate_files", bit(asked.io.truncate))
        .with("version", VERSION)
        .with("command", asked.command.join(" "))
}

fn column(setup: &Setup, figures: &Figures, column: &Column) -> Object {
    let mut object =
        Object::default().with("elapsed_time_ms", (column.elapsed_ns / 1_000_000).to_string());
    counts(&mut object, &column.main);
    if let (Some(dirs), Some(rate)) = (column.dirs, column.dirs_per_s()) {
        object.put("dirs/s", (rate as u64).to_string());
        object.put("dirs", dirs.to_string());
    }
    if let Some(percent) = column.cpu_percent {
        object.put("cpu%", percent.to_string());
    }
    if figures.is_mix {
        let mut read = Object::default();
        counts(&mut read, &column.read);
        object.put("rwmix_read", read);
    }
    let nines = setup.asked.output.percentile_nines;
    let mut latency = latencies(&figures.main, nines);
    if figures.is_mix {
        latency.put("rwmix_read", latencies(&figures.read, nines));
    }
    object.with("latency", latency)
}

fn counts(object: &mut Object, side: &Side) {
    let whole = |value: f64| (value as u64).to_string();
    object.put("entries/s", whole(side.entries_per_s()));
    object.put("iops", whole(side.ios_per_s()));
    object.put("bytes/s", whole(side.bytes_per_s()));
    object.put("entries", side.entries.to_string());
    object.put("bytes", side.bytes.to_string());
}

fn latencies(of: &Latencies, nines: u8) -> Object {
    let mut object = Object::default();
    for (name, latency) in [("entries", &of.entries), ("IO", &of.ios)] {
        if let Some(latency) = latency {
            object.put(name, one_latency(latency, nines));
        }
    }
    object
}

fn one_latency(latency: &Latency, nines: u8) -> Object {
    let us = |ns: f64| microseconds(ns);
    let mut object = Object::default()
        .with("min_us", us(latency.min_ns as f64))
        .with("avg_us", us(latency.mean_ns))
        .with("max_us", us(latency.max_ns as f64));
    let mut bounds = Object::default();
    for percentile in percentiles(nines) {
        let bound = bound_us(upper_bound_ns(latency, &percentile));
        bounds.put(percentile, bound);
    }
    object.put("percentiles_us", bounds);
    let bucket = |bucket: Bucket| {
        let range = format!("{}-{}", us(bucket.from_ns as f64), us(bucket.below_ns as f64));
        Object::default().with("range", range).with("count", bucket.count.to_string())
    };
    let all: Vec<Object> = buckets(latency).into_iter().map(bucket).collect();
    object.with("histogram", Object::default().with("buckets", all))
}
