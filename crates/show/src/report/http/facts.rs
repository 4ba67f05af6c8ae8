//! Facts of a job's requests, a name and a line for each.

use candor_plan::work::Figure;
use candor_record::fmt::column::{size, time};
use candor_record::fmt::{counted, exact, number, percent, plural, ratio};
use candor_record::http::{ConnectionStats, HttpStats, ObjectStats, Peer, RequestForm, TcpStats};
use candor_record::{Latency, Measurement};

use super::failures;

/// A name and its text, if there is one.
type Line = (&'static str, Option<String>);

/// All facts with a value.
pub(super) fn of(measured: &Measurement, http: &HttpStats) -> Vec<(&'static str, String)> {
    let failures = failures::all(http);
    let lines: [Line; 16] = [
        ("failures", (!failures.is_empty()).then(|| failures.join("; "))),
        ("statuses", statuses(http)),
        ("connections", connections(http)),
        ("TLS", tls(&http.connections)),
        ("in flight", in_flight(measured, http)),
        ("bytes", bytes(http)),
        ("uploads", uploads(measured, http)),
        ("bucket", bucket(&http.form)),
        ("objects", objects(&http.objects)),
        ("lists", lists(&http.objects)),
        ("deletes", deletes(http)),
        ("verified", verified(&http.objects)),
        ("server", only_server(&http.peers)),
        ("proxies", between(http)),
        ("clock", clock(http)),
        ("TCP", http.tcp.as_ref().map(tcp)),
    ];
    let cpu = ("CPU", cpu(http));
    lines.into_iter().chain([cpu]).filter_map(|(name, text)| Some((name, text?))).collect()
}

/// Texts with commas between; absent if there are none.
fn joined(texts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The median and the 99th percentile of a step.
pub(super) fn step(name: &str, latency: &Option<Latency>) -> Option<String> {
    let latency = latency.as_ref()?;
    let p99 = latency.percentile_ns(99.0).map(|ns| format!(" (p99 {})", time(ns)));
    let p50 = latency.percentile_ns(50.0)?;
    Some(format!("{name} {}{}", time(p50), p99.unwrap_or_default()))
}

/// A count with its noun; absent for none.
fn some(count: u64, noun: &str) -> Option<String> {
    (count > 0).then(|| counted(count, noun))
}

fn statuses(http: &HttpStats) -> Option<String> {
    let mut all: Vec<(u16, u64)> = Vec::new();
    for of in http.operations.iter().flat_map(|op| &op.statuses) {
        match all.iter_mut().find(|(status, _)| *status == of.status) {
            Some((_, answers)) => *answers += of.answers,
            None => all.push((of.status, of.answers)),
        }
    }
    all.sort_unstable();
    joined(all.iter().map(|(status, answers)| Some(format!("{status}: {}", exact(*answers)))))
}

fn connections(http: &HttpStats) -> Option<String> {
    let of = &http.connections;
    let (opened, attempts) = (of.opened_before + of.opened, http.attempts());
    if opened == 0 {
        return None;
    }
    let before = (of.opened_before > 0).then(|| {
        let count = if of.opened == 0 { "all".into() } else { exact(of.opened_before) };
        format!("{count} of them before the first request")
    });
    let reused = attempts.saturating_sub(of.opened);
    let reused = (attempts > 0).then(|| match attempts - reused {
        0 => "all attempts on an open connection".to_owned(),
        _ => {
            let share = percent(ratio(reused as f64, attempts as f64));
            format!("{share} of {} on an open connection", counted(attempts, "attempt"))
        }
    });
    let closed = (of.closed_by_server > 0)
        .then(|| format!("{} closed by the server", exact(of.closed_by_server)));
    let stale = (of.stale > 0).then(|| format!("{} found closed", exact(of.stale)));
    let paid = (of.paid > 0).then(|| {
        let mean = time(of.paid_mean_ns as u64);
        format!("{} opened one first (mean latency {mean})", counted(of.paid, "attempt"))
    });
    joined([
        Some(format!("{} opened", exact(opened))),
        before,
        reused,
        closed,
        stale,
        paid,
        step("lookup", &of.lookup),
        step("connect", &of.connect),
    ])
}

fn tls(of: &ConnectionStats) -> Option<String> {
    let unverified = of.unverified.then(|| "certificates not verified".to_owned());
    let handshake = step("handshake", &of.tls);
    joined([of.tls_version.clone(), handshake, unverified])
}

fn in_flight(measured: &Measurement, http: &HttpStats) -> Option<String> {
    let mean = ratio(http.in_flight_ns as f64, measured.elapsed_ns as f64);
    (http.in_flight_max > 0 && mean > 0.0).then(|| {
        let (max, seen) = (exact(http.in_flight_max), exact(http.in_flight_seen));
        format!("mean {} of {max}, maximum {seen}", number(mean))
    })
}

fn bytes(http: &HttpStats) -> Option<String> {
    let (mut good, mut sent, mut received) = (0, 0, 0);
    for op in &http.operations {
        good += op.good_bytes;
        sent += op.sent_bytes;
        received += op.received_bytes;
    }
    let good = (good > 0).then(|| format!("{} in bodies of successful requests", size(good)));
    let (sent, received) = (size(sent), size(received));
    joined([Some(format!("{sent} sent")), Some(format!("{received} received")), good])
}

fn uploads(measured: &Measurement, http: &HttpStats) -> Option<String> {
    let (form, objects) = (&http.form, &http.objects);
    if measured.figure(Figure::Write).ops == 0 && objects.aborted_uploads == 0 {
        return None;
    }
    let payload = Some(form.payload.as_str()).filter(|form| !form.is_empty());
    let payload = payload.map(|form| match form {
        "-" => "without signature".to_owned(),
        form => format!("payload {form}"),
    });
    let checksum = form.checksum.as_ref().map(|checksum| format!("checksum {checksum}"));
    let expect = form.expect_continue.then(|| "Expect: 100-continue".to_owned());
    let open = objects.open_uploads.filter(|open| *open > 0);
    let open = open.map(|open| format!("{} left open at the server", counted(open, "upload")));
    let aborted = (objects.aborted_uploads > 0)
        .then(|| format!("{} aborted", counted(objects.aborted_uploads, "upload")));
    joined([payload, checksum, expect, open, aborted])
}

/// A setting as the server reports it, with the requested one if they differ.
fn setting(name: &str, is: &Option<String>, requested: &Option<String>) -> Option<String> {
    match (is, requested) {
        (Some(is), Some(requested)) if is != requested => {
            Some(format!("{name} {is} ({requested} requested)"))
        }
        (Some(is), _) => Some(format!("{name} {is}")),
        (None, requested) => requested.as_ref().map(|of| format!("{name} {of} requested")),
    }
}

/// Versioning in words.
fn versioning(state: &str) -> String {
    match state {
        "never" => "versioning never enabled".to_owned(),
        state => format!("versioning {state}"),
    }
}

fn bucket(form: &RequestForm) -> Option<String> {
    let lock = form.object_lock.map(|is_on| if is_on { "on" } else { "off" });
    joined([
        form.versioning.as_deref().map(versioning),
        setting("storage class", &form.storage_class, &form.storage_class_requested),
        setting("encryption", &form.encryption, &form.encryption_requested),
        lock.map(|lock| format!("object lock {lock}")),
        setting("region", &form.region, &None),
    ])
}

fn objects(of: &ObjectStats) -> Option<String> {
    let reads = (of.reads > 0).then(|| {
        let distinct = counted(of.distinct_reads, "distinct object");
        let bytes = match of.distinct_bytes {
            0 => String::new(),
            bytes => format!(" ({})", size(bytes)),
        };
        format!("{} of {distinct}{bytes}", counted(of.reads, "read"))
    });
    let again = of.later_reads.as_ref().map(|later| later.count);
    let again = again.filter(|again| *again > 0);
    let again = again.map(|again| format!("{} repeated", counted(again, "read")));
    let age = of.age_s.map(|age| {
        let [least, greatest] = [age.min_s, age.max_s].map(|s| time((s * 1e9) as u64));
        format!("age at the first read {least} to {greatest}")
    });
    let across = (of.ranges_across_parts > 0).then(|| {
        let all = exact(of.ranges);
        format!("{} of {all} ranges across two parts", exact(of.ranges_across_parts))
    });
    let part = of.part_bytes.filter(|bytes| *bytes > 0);
    let equal = (of.equal_etags > 0)
        .then(|| format!("{} of {} ETags equal", exact(of.equal_etags), exact(of.etags)));
    joined([
        reads,
        again,
        age,
        some(of.empty_reads, "read").map(|reads| format!("{reads} of empty objects")),
        part.map(|bytes| format!("part size {}", size(bytes))),
        across,
        equal,
        (of.prefixes > 1).then(|| format!("{} first key parts", exact(of.prefixes))),
        of.foreign_objects
            .and_then(|count| some(count, "object"))
            .map(|objects| format!("{objects} in the bucket before the run")),
    ])
}

fn lists(of: &ObjectStats) -> Option<String> {
    if of.pages == 0 {
        return None;
    }
    let expected = of.keys_expected.filter(|expected| *expected != of.keys);
    joined([
        Some(format!("{} in {}", counted(of.keys, "key"), counted(of.pages, "page"))),
        expected.map(|expected| format!("{} expected", exact(expected))),
        some(of.keys_twice, "key").map(|keys| format!("{keys} twice")),
        some(of.keys_unordered, "key").map(|keys| format!("{keys} out of order")),
        some(of.short_pages, "page").map(|pages| format!("{pages} too short")),
    ])
}

fn deletes(http: &HttpStats) -> Option<String> {
    let of = &http.objects;
    let batches = http.operations.iter().find(|op| op.name == "delete_many");
    let batches = batches.filter(|_| of.keys_deleted > 0).map(|op| {
        format!("{} in {}", counted(of.keys_deleted, "key"), counted(op.attempts, "request"))
    });
    let missing = of.missing_deletes.filter(|missing| *missing > 0);
    joined([batches, missing.map(|missing| format!("{} of missing objects", exact(missing)))])
}

fn verified(of: &ObjectStats) -> Option<String> {
    (of.checked_reads > 0).then(|| {
        let reads = counted(of.checked_reads, "read");
        match of.mismatches {
            0 => format!("{reads}, no mismatch"),
            1 => format!("{reads}, 1 mismatch"),
            wrong => format!("{reads}, {} mismatches", exact(wrong)),
        }
    })
}

/// The server, if there is one only; several have a table.
fn only_server(peers: &[Peer]) -> Option<String> {
    let [peer] = peers else { return None };
    let is_local = peer.is_local.then(|| "on this host".to_owned());
    let software = Some(peer.servers.join(", ")).filter(|names| !names.is_empty());
    joined([Some(peer.address.clone()), software, is_local])
}

fn between(http: &HttpStats) -> Option<String> {
    let of = &http.between;
    joined([
        some(of.via, "answer").map(|answers| format!("{answers} with Via")),
        some(of.aged, "answer").map(|answers| format!("{answers} with an Age above 0")),
        some(of.cache_hits, "answer").map(|answers| format!("{answers} from a cache")),
        of.example.as_ref().map(|example| format!("such as `{example}`")),
        of.proxy.as_ref().map(|proxy| format!("proxy {proxy}")),
    ])
}

/// The clock of the servers, if it differs by more than the resolution of a second.
fn clock(http: &HttpStats) -> Option<String> {
    const RESOLUTION_S: f64 = 1.5;
    let clock = http.clock?;
    let is_off = clock.min_s.abs().max(clock.max_s.abs()) > RESOLUTION_S;
    is_off.then(|| {
        let (least, greatest) = (number(clock.min_s), number(clock.max_s));
        format!("servers differ from this host by {least} s to {greatest} s")
    })
}

fn tcp(of: &TcpStats) -> String {
    let [mean, least] = [of.rtt_us, of.rtt_min_us].map(|us| time((us * 1e3) as u64));
    let sent = of.bytes_sent.max(1) as f64;
    let again = percent(of.bytes_retransmitted as f64 / sent);
    let busy = of.busy_us.max(1) as f64;
    let receiver = percent(of.receive_window_limited_us as f64 / busy);
    let buffer = percent(of.send_buffer_limited_us as f64 / busy);
    let all = [
        Some(format!("round trip mean {mean}, minimum {least}")),
        Some(format!("{again} of bytes sent again")),
        (of.receive_window_limited_us > 0)
            .then(|| format!("limited by the receiver's window for {receiver} of the busy time")),
        (of.send_buffer_limited_us > 0)
            .then(|| format!("limited by the send buffer for {buffer} of the busy time")),
        (of.reordered > 0).then(|| {
            format!(
                "{} with reordered segments",
                plural(of.reordered as f64, "connection", "connections")
            )
        }),
        of.delayed_acks.and_then(|count| some(count, "delayed acknowledgement")),
        of.time_wait
            .and_then(|count| some(count, "socket"))
            .map(|sockets| format!("{sockets} of this host in TIME_WAIT")),
    ];
    joined(all).unwrap_or_default()
}

fn cpu(http: &HttpStats) -> Option<String> {
    joined([
        (http.hash_ns > 0).then(|| format!("{} for signatures and checksums", time(http.hash_ns))),
        (http.tls_ns > 0).then(|| format!("{} for encryption", time(http.tls_ns))),
    ])
}
