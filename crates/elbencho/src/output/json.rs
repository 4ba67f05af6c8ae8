//! Results as JSON: one object per phase and line, all values as text.

use candor_record::Latency;

use super::csv::command;
use super::figures::{Column, Figures, MixKind, Side};
use super::numbers::{Bucket, buckets, whole, whole_us};
use super::{Moment, VERSION};
use crate::options::OutputOptions;
use crate::setup::{Listed, PathKind, Setup};
use candor_front::Object;

/// The line of a phase.
pub fn line(setup: &Setup, name: &str, figures: &Figures, now: &Moment) -> String {
    let mut document = Object::default().with("phase_type", name).with("phase_id", now.id.as_str());
    if !setup.asked.run.label.is_empty() {
        document.put("label", setup.asked.run.label.as_str());
    }
    let document = document
        .with("iso_start_date", now.start(figures))
        .with("config", config(setup))
        .with("first_done", column(figures, [&figures.first, &figures.last]))
        .with("last_done", last(setup, figures));
    serde_json::to_string(&document).expect("texts and lists of texts are JSON") + "\n"
}

fn word(is: bool) -> &'static str {
    if is { "true" } else { "false" }
}

fn config(setup: &Setup) -> Object {
    let asked = &setup.asked;
    let mut config = Object::default()
        .with("path_type", setup.path_kind.word())
        .with("paths", asked.paths.len().to_string())
        .with("hosts", asked.hosts.hosts().to_string())
        .with("threads", asked.run.threads.to_string());
    if let Some(listed) = &setup.listed {
        put_list(&mut config, setup, listed);
    } else if setup.path_kind == PathKind::Directory {
        config.put("dirs", asked.tree.dirs.to_string());
        config.put("files", asked.tree.files.to_string());
    }
    config.put("file_size", setup.file_bytes.to_string());
    config.put("block_size", setup.block_bytes.to_string());
    config.put("direct_io", word(asked.io.direct));
    config.put("random_offsets", word(asked.access.random));
    if asked.access.random {
        config.put("random_aligned", word(!asked.access.random_unaligned));
    }
    config.put("io_depth", asked.io.depth.to_string());
    if !asked.hosts.list.is_empty() {
        config.put("shared_service_paths", word(!asked.hosts.own_data));
    }
    if setup.path_kind != PathKind::BlockDevice {
        config.put("truncate_files", word(asked.io.truncate));
    }
    config.with("version", VERSION).with("command", command(setup))
}

/// Directories and files of a list, if phases use them.
fn put_list(config: &mut Object, setup: &Setup, listed: &Listed) {
    let phases = setup.asked.phases;
    let of_dirs = phases.make_dirs || phases.remove_dirs;
    let of_files = phases.write || phases.stat || phases.read || phases.remove_files;
    let count = |used: bool, count: u64| if used { count } else { 0 }.to_string();
    config.put("custom_tree_dirs", count(of_dirs, listed.dirs));
    config.put("custom_tree_files_shared", count(of_files, listed.shared_files));
    config.put("files_not_shared", count(of_files, listed.files - listed.shared_files));
}

/// A column; the last column decides on the values.
fn column(figures: &Figures, [column, last]: [&Column; 2]) -> Object {
    let mut object =
        Object::default().with("elapsed_time_ms", (column.elapsed_ns / 1_000_000).to_string());
    counts(&mut object, [&column.main, &last.main]);
    if figures.mix != MixKind::None {
        let mut read = Object::default();
        counts(&mut read, [&column.read, &last.read]);
        object.put("rwmix_read", read);
    }
    object.with("cpu%", column.cpu_percent.unwrap_or(0).to_string())
}

fn counts(object: &mut Object, [side, last]: [&Side; 2]) {
    let values = [
        ("entries/s", last.entries, whole(side.entries_per_s())),
        ("iops", last.ios, whole(side.ios_per_s())),
        ("bytes/s", last.bytes, whole(side.bytes_per_s())),
        ("entries", last.entries, side.entries.to_string()),
        ("bytes", last.bytes, side.bytes.to_string()),
    ];
    for (name, _, value) in values.into_iter().filter(|(_, count, _)| *count > 0) {
        object.put(name, value);
    }
}

/// The last column, with latencies if requested.
fn last(setup: &Setup, figures: &Figures) -> Object {
    let asked = &setup.asked.output;
    let object = column(figures, [&figures.last; 2]);
    let both = [
        ("entries", &figures.main.entries, &figures.read.entries),
        ("IO", &figures.main.ios, &figures.read.ios),
    ];
    let mut all = Object::default();
    for (name, main, read) in both {
        let mut object = Object::default();
        let mut histogram = Object::default();
        if let Some(main) = main {
            put_latency(&mut object, main, asked);
            histogram.put("buckets", bucket_list(main));
        }
        if let Some(read) = read {
            let mut of_reads = Object::default();
            put_latency(&mut of_reads, read, asked);
            if !of_reads.is_empty() {
                object.put("rwmix_read", of_reads);
            }
            let buckets = Object::default().with("buckets", bucket_list(read));
            histogram.put("rwmix_read", buckets);
        }
        if asked.histogram && !histogram.is_empty() {
            object.put("histogram", histogram);
        }
        if !object.is_empty() {
            all.put(name, object);
        }
    }
    if all.is_empty() { object } else { object.with("latency", all) }
}

fn put_latency(object: &mut Object, latency: &Latency, asked: &OutputOptions) {
    if asked.latency {
        object.put("min_us", whole_us(latency.min_ns as f64).to_string());
        object.put("avg_us", whole_us(latency.mean_ns).to_string());
        object.put("max_us", whole_us(latency.max_ns as f64).to_string());
    }
}

fn bucket_list(latency: &Latency) -> Vec<Object> {
    buckets(latency).into_iter().map(bucket).collect()
}

fn bucket(bucket: Bucket) -> Object {
    let range = format!("{}us", bucket.range_us().join("-"));
    Object::default().with("range", range).with("count", bucket.count.to_string())
}
