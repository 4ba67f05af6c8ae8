//! Reads at random places that memory answered, counted by operations: a read that misses the page
//! cache also fetches its neighbours, so bytes fetched over bytes requested hide hits.

use candor_plan::units::Direction;
use candor_record::Histogram;
use candor_record::fmt::{self, ratio};
use candor_record::histogram::{bucket_low, bucket_of};
use candor_record::requests::{RequestOp, latency_percentile};

use crate::foreign;
use crate::observed::Observed;
use crate::thresholds::{COVERAGE_FULL, FAR_BELOW, OURS_LEAST, OURS_MOST, REQUESTS_SEEN};

/// Reads that memory answered, at least, and the evidence of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// Their share of the read operations, 0 to 1.
    pub share: f64,
    /// Reason, for the end of a sentence.
    pub why: String,
    /// Quantity that was counted.
    pub what: &'static str,
    /// Count.
    pub count: f64,
    /// Source of the number.
    pub from: String,
}

/// The largest share of the reads that memory is proven to have answered. Absent where reads are
/// not all buffered and at random places, or nothing was counted.
pub fn of_reads(observed: &Observed) -> Option<Hits> {
    let is_random =
        |ran: &&crate::observed::Ran| !ran.blocks.direct && ran.blocks.access.is_random();
    let mut readers = observed.ran.iter().filter(|ran| ran.does(Direction::Read)).peekable();
    let reads = observed.app(Direction::Read);
    // Operations on names also read, and are not among these.
    let alone = observed.moved(Direction::Read) == reads;
    if readers.peek().is_none() || !readers.all(|ran| is_random(&ran)) || !alone || reads.ops <= 0.0
    {
        return None;
    }
    let counted = [by_requests(observed, reads.ops), by_latency(observed, reads.ops)];
    let most = counted.into_iter().flatten().max_by(|a, b| a.share.total_cmp(&b.share));
    most.or_else(|| by_faults(observed, reads.ops))
}

/// Each read that had to wait for storage made a request at least.
fn by_requests(observed: &Observed, ops: f64) -> Option<Hits> {
    let (requests, from) = requests(observed)?;
    let why = format!("{} reads, {} requests", fmt::count(ops), fmt::count(requests));
    Some(Hits { share: missing(requests, ops), why, what: "requests", count: requests, from })
}

fn missing(found: f64, ops: f64) -> f64 {
    (1.0 - ratio(found, ops)).clamp(0.0, 1.0)
}

/// Requests that this process made of the devices on top: its own, where they were traced and carry
/// what the kernel charged to it, else no more than all, where the devices count ours.
fn requests(observed: &Observed) -> Option<(f64, String)> {
    let fetched = observed.process(Direction::Read)?;
    let top = observed.top.filter(|_| !observed.blind())?.read;
    let devices = foreign::seen_at(&observed.tops());
    let own: Option<Vec<_>> = devices
        .iter()
        .map(|device| foreign::own_scaled(observed, device, Direction::Read))
        .collect();
    let own = own
        .unwrap_or_default()
        .into_iter()
        .fold((0.0, 0.0), |(bytes, count), side| (bytes + side.bytes, count + side.requests));
    let ours = OURS_LEAST.value..OURS_MOST.value;
    if ours.contains(&ratio(own.0, fetched)) {
        let made = own.1.min(top.requests) + top.merges;
        return Some((made, "requests of this process, by the block tracer".into()));
    }
    let all_counted = top.bytes >= COVERAGE_FULL.value * fetched;
    all_counted.then(|| (top.requests + top.merges, observed.stat_of_tops()))
}

/// A read that took a small part of the device's fastest request did not wait for it.
fn by_latency(observed: &Observed, ops: f64) -> Option<Hits> {
    let trace = observed.host.requests.as_ref()?;
    let devices = foreign::seen_at(&observed.tops());
    let seen = devices.iter().filter_map(|device| trace.of(device, RequestOp::Read));
    let fastest_ns = seen
        .filter_map(|of| {
            let steps = &of.own().unwrap_or(of).latency_ns;
            let count: u64 = steps.iter().map(|(_, count)| count).sum();
            let step = latency_percentile(steps, 0.01)?;
            (count as f64 >= REQUESTS_SEEN.value).then_some(step.from_ns)
        })
        .min()? as f64;
    let below_ns = FAR_BELOW.value * fastest_ns;
    let reads = observed.ran.iter().map(|ran| ran.measured.of(Direction::Read));
    let latencies = reads.filter_map(|stats| stats.latency.as_ref());
    let count: f64 = latencies.map(|latency| below(&latency.histogram, below_ns)).sum();
    let why = format!(
        "less than {} each; {} takes {}",
        fmt::time(below_ns),
        observed.device_names(),
        fmt::time(fastest_ns)
    );
    let (share, from) = (ratio(count, ops).min(1.0), "candor and the block tracer".into());
    Some(Hits { share, why, what: "reads faster than the device", count, from })
}

/// Latencies in the buckets that end below a time.
fn below(histogram: &Histogram, ns: f64) -> f64 {
    let end = bucket_of(ns as u64);
    let filled = histogram.filled().filter(|(bucket, _)| *bucket < end && bucket_low(end) > 0);
    filled.map(|(_, count)| count as f64).sum()
}

/// An access to a mapping that waited for storage is a major fault.
fn by_faults(observed: &Observed, ops: f64) -> Option<Hits> {
    let mut readers = observed.ran.iter().filter(|ran| ran.does(Direction::Read));
    if !readers.all(|ran| ran.blocks.engine.is_kind_of(candor_plan::Engine::MMAP)) {
        return None;
    }
    let workers = observed.ran.iter().flat_map(|ran| &ran.measured.per_worker);
    let faults = workers.fold((0.0, 0.0), |(major, all), worker| {
        let (more, minor) = (worker.faults_major as f64, worker.faults_minor as f64);
        (major + more, all + more + minor)
    });
    let (major, all) = faults;
    let why = format!("{} reads, {} major faults", fmt::count(ops), fmt::count(major));
    (all > 0.0).then(|| Hits {
        share: missing(major, ops),
        why,
        what: "major faults",
        count: major,
        from: "getrusage".into(),
    })
}

#[cfg(test)]
mod tests {
    use candor_plan::Engine;
    use candor_plan::blocks::Access;
    use candor_record::Histogram;
    use candor_record::requests::{Issuer, RequestStats, Requests};

    use super::*;
    use crate::coverage;
    use crate::testcase::{TestCase, moved};

    /// 45,000 reads of a 256 MiB file, of which 34,905 made a request.
    fn recorded() -> TestCase {
        TestCase::fetched(45_000, 34_905, 170_600_000)
    }

    fn traced(case: &mut TestCase, own: Issuer, counted: u64) -> &mut Requests {
        let requests = Requests {
            device: "vda".into(),
            count: own.count,
            bytes: own.bytes,
            counted: Some(counted),
            issuers: vec![own],
            ..Requests::default()
        };
        let stats =
            RequestStats { own_pid: 7, requests: vec![requests], ..RequestStats::default() };
        &mut case.host.requests.insert(stats).requests[0]
    }

    fn share(case: &TestCase) -> Option<f64> {
        of_reads(&case.observed()).map(|hits| (100.0 * hits.share).round())
    }

    #[test]
    fn reads_without_a_request_are_hits_whatever_their_neighbours_fetched() {
        let case = recorded();
        assert_eq!(share(&case), Some(22.0));
        let cover = coverage::of_reads(&case.observed());
        assert_eq!((100.0 * cover.share().unwrap()).round(), 78.0, "{cover:?}");
        let found = case.judge();
        let sentence = &found.finding("A1").unwrap().sentence;
        assert_eq!(
            sentence,
            "At least 22 % of the reads came from this machine's memory (45k reads, 34.9k \
             requests); 18.4 MB/s (17.6 MiB/s) is a mix of memory and vda."
        );
        assert_eq!(share(&TestCase::fetched(45_000, 44_900, 183_900_000)), Some(0.0));
    }

    #[test]
    fn own_requests_are_told_from_those_of_others_and_scaled() {
        let mut case = recorded();
        // Others made as many requests of the same size on the disk.
        case.after_disk(moved(Direction::Read, 70_000, 341_200_000));
        assert_eq!(share(&case), Some(0.0), "no more than all requests is known to be ours");
        let own = Issuer { pid: 7, count: 5948, bytes: 28_434_432, ..Issuer::default() };
        traced(&mut case, own, 34_904);
        assert_eq!(share(&case), Some(22.0));
        // A thread of the kernel issued them.
        let own = Issuer { pid: 9, count: 5948, bytes: 28_434_432, ..Issuer::default() };
        traced(&mut case, own, 34_904);
        assert_eq!(share(&case), Some(0.0));
    }

    #[test]
    fn reads_far_faster_than_the_device_are_hits() {
        let mut case = TestCase::fetched(45_000, 70_000, 170_600_000);
        let own = Issuer { pid: 7, count: 10, bytes: 40_960, ..Issuer::default() };
        traced(&mut case, own, 10).latency_ns = vec![(57_344, 100), (81_920, 5848)];
        let mut histogram = Histogram::new();
        (0..13_500).for_each(|_| histogram.record(2000));
        (0..31_500).for_each(|_| histogram.record(100_000));
        let latency = case.measured().of_mut(Direction::Read).latency.as_mut().unwrap();
        latency.histogram = histogram;
        let hits = of_reads(&case.observed()).unwrap();
        assert!((hits.share - 0.3).abs() < 0.001, "{hits:?}");
        assert_eq!(hits.why, "less than 11.5 µs each; vda takes 57.3 µs");
        let steps = &mut case.host.requests.as_mut().unwrap().requests[0].latency_ns;
        *steps = vec![(57_344, 20)];
        assert_eq!(share(&case), Some(0.0), "too few to know how fast the device can be");
    }

    /// 12,000 accesses to a mapping: readahead brought the whole file in 399 requests.
    #[test]
    fn accesses_to_a_mapping_are_hits_where_readahead_brought_the_page() {
        let mut case = TestCase::fetched(12_000, 399, 268_400_000);
        case.blocks().engine = Engine::MMAP;
        assert_eq!(share(&case), Some(97.0));
        let measures = case.judge().finding("A1").unwrap().measures;
        assert_eq!(measures, Some(candor_record::MeasuredInstead::PageCache));
        // Where requests are not known, faults are.
        case.host.facts.targets[0].device = None;
        assert_eq!(share(&case), None);
        let worker = &mut case.measured().per_worker[0];
        (worker.faults_major, worker.faults_minor) = (148, 3748);
        assert_eq!(share(&case), Some(99.0));
        case.blocks().access = Access::Sequential;
        assert_eq!(share(&case), None, "readahead is how a sequential pass reads the device");
    }

    #[test]
    fn sequential_and_direct_reads_are_told_by_their_bytes() {
        let mut case = TestCase::fetched(65_536, 213, 65_536 << 12);
        case.blocks().access = Access::Sequential;
        assert_eq!(share(&case), None);
        assert!(coverage::of_reads(&case.observed()).is_full());
        let mut direct = recorded();
        direct.blocks().direct = true;
        assert_eq!(share(&direct), None);
    }

    #[test]
    fn a_device_that_does_not_count_proves_nothing() {
        let mut case = recorded();
        case.after_disk(moved(Direction::Read, 10, 40_960));
        assert_eq!(share(&case), None);
    }
}
