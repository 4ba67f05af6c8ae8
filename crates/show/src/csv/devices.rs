//! Devices, interval by interval.

use candor_record::results::{DeviceInterval, DeviceResults, PhaseResults, Results};

use super::table::{Column, columns};

/// An interval of a device.
pub struct Row<'a> {
    phase: &'a PhaseResults,
    device: &'a DeviceResults,
    interval: &'a DeviceInterval,
}

/// The columns.
pub fn columns<'a>() -> Vec<Column<Row<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase.name.as_str();
        "repeat" "Number of its repeat, from 1" = row.phase.repeat + 1;
        "host" "Name of the host" = row.device.host.as_str();
        "device" "Name of the device" = row.device.device.as_str();
        "start_s" "Start of the interval since the start of the phase, its ramp left out"
            = row.interval.start_ns as f64 / 1e9;
        "length_s" "Length of the interval" = row.interval.length_ns as f64 / 1e9;
        "reads_per_s" "Reads completed per second" = row.interval.reads_per_s;
        "writes_per_s" "Writes completed per second" = row.interval.writes_per_s;
        "bytes_read_per_s" "Bytes read per second" = row.interval.bytes_read_per_s;
        "bytes_written_per_s" "Bytes written per second" = row.interval.bytes_written_per_s;
        "read_wait_ns_mean" "Mean time of a read from creation to end; counted in ms"
            = row.interval.read_wait_ns_mean;
        "write_wait_ns_mean" "Mean time of a write from creation to end; counted in ms"
            = row.interval.write_wait_ns_mean;
        "queue_mean" "Requests in flight or waiting, on average" = row.interval.queue_mean;
        "utilisation" "Share of the interval with a request in flight, from 0 to 1"
            = row.interval.utilisation;
    }
}

/// All intervals of all devices.
pub fn rows(results: &Results) -> impl Iterator<Item = Row<'_>> {
    results.phases.iter().flat_map(|phase| {
        phase.devices.iter().flat_map(move |device| {
            device.intervals.iter().map(move |interval| Row { phase, device, interval })
        })
    })
}
