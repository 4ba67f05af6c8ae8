//! Whether requests suit disks with sectors of 4 KiB.

use candor_record::requests::{RequestOp, RequestStats, Requests};

use candor_record::fmt;

/// A sentence about the reads and writes of each device: a disk with sectors of 4 KiB has to read
/// and rewrite a sector for each write that covers only a part of one.
pub fn friendliness(trace: &RequestStats) -> String {
    let moving = |of: &&Requests| matches!(of.direction, RequestOp::Read | RequestOp::Write);
    let seen: Vec<&Requests> = trace.requests.iter().filter(moving).collect();
    let mut devices: Vec<&str> = seen.iter().map(|of| of.device.as_str()).collect();
    devices.dedup();
    let of =
        |device| seen.iter().filter(move |of| of.device == device).copied().collect::<Vec<_>>();
    let sentences: Vec<_> =
        devices.into_iter().map(|device| of_device(device, &of(device))).collect();
    if sentences.is_empty() {
        "No read or write reached these devices in this time.".to_owned()
    } else {
        sentences.join("\n")
    }
}

fn of_device(device: &str, seen: &[&Requests]) -> String {
    let all: u64 = seen.iter().map(|of| of.count).sum();
    let what = fmt::plural(all as f64, "read or write", "reads and writes");
    if seen.iter().all(|of| of.starts_in_4k.is_empty()) {
        return format!("{device}: {what}; the alignment of each request is unknown.");
    }
    fn unaligned(of: &&Requests) -> u64 {
        of.starts_in_4k.iter().filter(|(at, _)| *at > 0).map(|(_, n)| n).sum::<u64>()
    }
    let off: u64 = seen.iter().map(unaligned).sum();
    let odd: u64 = seen.iter().map(|of| of.length_off_4k).sum();
    if off == 0 && odd == 0 {
        return format!("{device}: all of {what} start and end on a 4 KiB boundary.");
    }
    let writes = seen.iter().filter(|of| of.direction == RequestOp::Write);
    let partial: u64 = writes.map(|of| unaligned(of).max(of.length_off_4k)).sum();
    let cost = match partial {
        0 => String::new(),
        n => format!(
            " At least {} only part of a 4 KiB sector: a disk with 4 KiB sectors must read, change \
             and write back the sector.",
            fmt::plural(n as f64, "write covers", "writes cover")
        ),
    };
    format!(
        "{device}: of {what}, {} start off a 4 KiB boundary, and {} have a length that is not a \
         multiple of 4 KiB.{cost}",
        fmt::count(off as f64),
        fmt::count(odd as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(direction: RequestOp, starts_in_4k: &[(u64, u64)], length_off_4k: u64) -> Requests {
        Requests {
            device: "sda".to_owned(),
            direction,
            count: starts_in_4k.iter().map(|(_, n)| n).sum(),
            starts_in_4k: starts_in_4k.to_vec(),
            length_off_4k,
            ..Requests::default()
        }
    }

    fn sentences(requests: Vec<Requests>) -> String {
        friendliness(&RequestStats { requests, ..RequestStats::default() })
    }

    #[test]
    fn aligned_requests_are_friendly() {
        let sentences = sentences(vec![seen(RequestOp::Read, &[(0, 2740)], 0)]);
        assert_eq!(
            sentences,
            "sda: all of 2740 reads and writes start and end on a 4 KiB boundary."
        );
    }

    #[test]
    fn misaligned_ones_are_counted_and_writes_cost_more() {
        let sentences = sentences(vec![
            seen(RequestOp::Read, &[(0, 2000)], 3),
            seen(RequestOp::Write, &[(0, 735), (512, 5)], 0),
        ]);
        assert!(
            sentences.starts_with(
                "sda: of 2740 reads and writes, 5 start off a 4 KiB boundary, and 3 have"
            ),
            "{sentences}"
        );
        assert!(sentences.contains("At least 5 writes cover only part"), "{sentences}");
    }

    #[test]
    fn counts_alone_tell_nothing_of_places() {
        let requests = vec![Requests { count: 9, ..Requests::default() }];
        assert!(sentences(requests).contains("is unknown"));
        assert!(sentences(Vec::new()).starts_with("No read or write"));
    }
}
