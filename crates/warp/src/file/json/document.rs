//! The stored form of summaries. Fields that a file does not have are 0, empty or absent.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Version of the format.
    pub v: u64,
    /// The command line without secrets.
    pub commandline: String,
    /// True after the end of the run.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Version of the program that wrote the file.
    pub warp_version: String,
    /// All operations together.
    pub total: Operation,
    /// Results by operation.
    pub by_op_type: BTreeMap<String, Operation>,
}

/// Results of an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operation {
    pub total_requests: u64,
    pub total_objects: u64,
    pub total_errors: u64,
    pub total_bytes: u64,
    pub concurrency: u64,
    pub start_time: String,
    pub end_time: String,
    pub first_errors: Option<Vec<String>>,
    #[serde(deserialize_with = "names")]
    pub hosts: Vec<String>,
    #[serde(deserialize_with = "names")]
    pub clients: Vec<String>,
    pub throughput: Throughput,
    pub throughput_by_host: Option<BTreeMap<String, Throughput>>,
    pub requests_by_client: Option<BTreeMap<String, Vec<Piece>>>,
}

/// Names as a list or as keys; a number of names has none.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = match Value::deserialize(deserializer)? {
        Value::Array(all) => {
            let texts = all.into_iter().filter_map(|name| Some(name.as_str()?.to_owned()));
            texts.collect()
        }
        Value::Object(all) => all.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    Ok(names)
}

/// Bytes and objects over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Throughput {
    pub start_time: String,
    pub end_time: String,
    pub measure_duration_millis: u64,
    pub bytes: f64,
    pub objects: f64,
    pub ops: u64,
    pub errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segmented: Option<Segmented>,
}

/// Rates of segments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Segmented {
    pub segment_duration_millis: u64,
    pub sorted_by: String,
    pub segments: Option<Vec<StoredSegment>>,
    pub fastest_start: String,
    pub fastest_bps: f64,
    pub fastest_ops: f64,
    pub median_start: String,
    pub median_bps: f64,
    pub median_ops: f64,
    pub slowest_start: String,
    pub slowest_bps: f64,
    pub slowest_ops: f64,
}

/// Rate of a segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSegment {
    pub start: String,
    pub bytes_per_sec: f64,
    pub obj_per_sec: f64,
    pub errors: u64,
}

/// Requests of a client in some 10 seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Piece {
    pub start_time: String,
    pub end_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_sized_requests: Option<Single>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multi_sized_requests: Option<Multi>,
}

/// Times of requests of one size. Averages and percentiles are sums over the merged entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Single {
    pub requests: u64,
    pub obj_size: u64,
    pub dur_avg_millis: f64,
    pub dur_median_millis: f64,
    pub dur_90_millis: f64,
    pub dur_99_millis: f64,
    pub fastest_millis: f64,
    pub slowest_millis: f64,
    pub std_dev_millis: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dur_percentiles_millis: Option<Vec<f64>>,
    pub merged_entries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<FirstByte>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_host: Option<BTreeMap<String, Single>>,
}

/// Times to the first byte, also as sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstByte {
    pub average_millis: f64,
    pub fastest_millis: f64,
    pub p25_millis: f64,
    pub median_millis: f64,
    pub p75_millis: f64,
    pub p90_millis: f64,
    pub p99_millis: f64,
    pub slowest_millis: f64,
    pub std_dev_millis: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentiles_millis: Option<Vec<f64>>,
}

/// Rates of requests of several sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Multi {
    pub requests: u64,
    pub by_size: Option<Vec<BySize>>,
}

/// Rates of requests of similar sizes. Rates are sums over the merged entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BySize {
    pub requests: u64,
    pub min_size: u64,
    pub max_size: u64,
    pub avg_obj_size: u64,
    pub bps_average: f64,
    pub bps_median: f64,
    pub bps_90: f64,
    pub bps_99: f64,
    pub bps_fastest: f64,
    pub bps_slowest: f64,
    pub merged_entries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<FirstByte>,
}
