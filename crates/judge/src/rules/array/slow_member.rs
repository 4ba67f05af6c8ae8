//! Finding E7 about a member of an array that is slower than the others.

use candor_plan::units::Direction;
use candor_record::facts::DeviceFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, DiskCounters, Finding, Limit, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rules::array::degraded;
use crate::thresholds::{
    CHANCE_OUT, HOT_MEMBER, MEMBER_IDLE, MEMBER_REQUESTS, SLOW_MEMBER, SLOW_MEMBER_MS,
};

/// Work of a member in the direction that moved more.
#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    name: &'a str,
    requests: f64,
    bytes: f64,
    /// Mean time of a request, queue included.
    wait_ms: f64,
    /// Share of the time in which it had something to do.
    busy: f64,
}

/// The slowest member of an array that spreads or repeats what it gets, where it is slower than
/// like disks are by chance, and not because more fell on it.
pub fn of(observed: &Observed, array: &DeviceFacts) -> Option<Finding> {
    let spreads = observed.is_striped(array);
    if !(spreads || is_mirror(array)) || degraded::rebuilds(observed, &array.name) {
        return None;
    }
    let all: Vec<Member> = array.below.iter().filter_map(|name| member(observed, name)).collect();
    let mut members: Vec<Member> =
        all.into_iter().filter(|member| member.requests >= MEMBER_REQUESTS.value).collect();
    members.sort_by(|a, b| a.wait_ms.total_cmp(&b.wait_ms));
    let (slow, others) = members.split_last().filter(|(_, others)| !others.is_empty())?;
    let like = others[others.len() / 2];
    let slower = slow.wait_ms >= SLOW_MEMBER.value * like.wait_ms
        && slow.wait_ms - like.wait_ms >= SLOW_MEMBER_MS.value;
    (slower && is_alike(slow, &members) && is_no_chance(observed, array, slow, &members, like.busy))
        .then(|| finding(array, slow, others, like.wait_ms))
}

fn is_mirror(array: &DeviceFacts) -> bool {
    let mapped = |kind| array.mapping.as_ref().and_then(|mapping| mapping.is(kind)) == Some(true);
    array.array_level() == Some("raid1") || mapped("raid") || mapped("mirror")
}

fn member<'a>(observed: &Observed, name: &'a str) -> Option<Member<'a>> {
    let (before, after) = (&observed.host.before, &observed.host.after);
    // Counters that ran backwards mean nothing.
    observed.flow_of(name)?;
    let did: DiskCounters = before.device_delta(after, name)?;
    let (requests, sectors, ms) = match observed.main_op() {
        Direction::Write => (did.writes, did.write_sectors, did.write_ms),
        _ => (did.reads, did.read_sectors, did.read_ms),
    };
    Some(Member {
        name,
        requests: requests as f64,
        bytes: sectors as f64 * 512.0,
        wait_ms: ratio(ms as f64, requests as f64),
        busy: ratio(did.busy_ms as f64 / 1e3, observed.window_s()),
    })
}

/// The member got no more than the others, in all and at a time.
fn is_alike(slow: &Member, members: &[Member]) -> bool {
    let mean =
        |of: fn(&Member) -> f64| ratio(members.iter().map(of).sum::<f64>(), members.len() as f64);
    let size = |member: &Member| ratio(member.bytes, member.requests);
    slow.bytes <= HOT_MEMBER.value * mean(|member| member.bytes)
        && size(slow) <= HOT_MEMBER.value * mean(|m| ratio(m.bytes, m.requests))
}

/// Operations that meet one member each may wait at one of two like disks for long, by chance. Not
/// where each operation meets all of them, where the others are idle meanwhile, or where there
/// were so many that chance evened out.
fn is_no_chance(
    observed: &Observed,
    array: &DeviceFacts,
    slow: &Member,
    members: &[Member],
    others_busy: f64,
) -> bool {
    let app = observed.app_all();
    let stripe = observed.chunk(array).map(|chunk| chunk.value as f64 * members.len() as f64);
    let meets_all = stripe.is_some_and(|stripe| ratio(app.bytes, app.ops) >= stripe)
        || (is_mirror(array) && observed.main_op() == Direction::Write);
    let requests: f64 = members.iter().map(|member| member.requests).sum();
    let in_flight = observed.occupancy().max(1.0);
    meets_all
        || others_busy <= MEMBER_IDLE.value * slow.busy
        || requests >= CHANCE_OUT.value * in_flight * in_flight
}

fn finding(array: &DeviceFacts, slow: &Member, others: &[Member], like_ms: f64) -> Finding {
    let time = |ms: f64| fmt::time(ms * 1e6);
    let rest = match others.len() {
        1 => format!("requests to {}", others[0].name),
        more => format!("requests to the other {more} members"),
    };
    let sentence = format!(
        "Requests to {} took {}, {} times as long as {rest} ({}): {} waits for this slow member.",
        slow.name,
        time(slow.wait_ms),
        fmt::number(ratio(slow.wait_ms, like_ms)),
        time(like_ms),
        array.name
    );
    let waits = |member: &Member| member.wait_ms * member.requests;
    let of_others: f64 = others.iter().map(waits).sum();
    let mut draft =
        FindingBuilder::new("E7", Severity::Explains, sentence).confidence(Confidence::Likely);
    // Where most of the waiting is elsewhere, it is slow without being the limit.
    if waits(slow) >= of_others {
        draft = draft
            .limits(Limit::SlowMember { array: array.name.clone(), member: slow.name.to_owned() });
    }
    for member in others.iter().chain([slow]) {
        let text = format!("{}, busy {}", time(member.wait_ms), fmt::percent(member.busy.min(1.0)));
        let from = format!("/sys/class/block/{}/stat", member.name);
        draft = draft.evidence(format!("mean time of a request to {}", member.name), text, from);
    }
    let advice = format!(
        "Measure {} alone; check its link, errors, temperature and other users.",
        slow.name
    );
    draft.advice(advice, None).done()
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::testcase::{TestCase, Workload};
    use candor_plan::units::Direction;
    use candor_record::{ArrayState, Finding};

    fn found(case: &TestCase) -> Vec<Finding> {
        let observed = case.observed();
        observed.devices().into_iter().filter_map(|device| of(&observed, device)).collect()
    }

    /// Members that took so many milliseconds for a request, and were busy this share of the time.
    fn members(mut case: TestCase, took: &[(f64, f64)]) -> TestCase {
        let names: Vec<String> = case.host.facts.devices[0].below.clone();
        for (name, (wait_ms, busy)) in names.iter().zip(took) {
            let of = case.host.after.devices.iter_mut().find(|(of, _)| of == name);
            let counters = &mut of.unwrap().1;
            let ms = |count: u64| (count as f64 * wait_ms) as u64;
            (counters.read_ms, counters.write_ms) = (ms(counters.reads), ms(counters.writes));
            counters.weighted_ms = counters.read_ms + counters.write_ms;
            counters.busy_ms = (busy * 1e4) as u64;
        }
        case
    }

    /// Small random reads of eight at a time.
    fn striped(took: &[(f64, f64)]) -> TestCase {
        let shares = vec![1.0 / took.len() as f64; took.len()];
        members(TestCase::direct(4096, 16, 1, 3200.0).on_array("raid0", &shares), took)
    }

    #[test]
    fn a_disk_of_8_ms_beside_one_of_1_ms() {
        let case = striped(&[(1.1, 0.8), (8.7, 1.0)]);
        let found = found(&case);
        assert_eq!(
            found[0].sentence,
            "Requests to sd1 took 8.7 ms, 7.91 times as long as requests to sd0 (1.1 ms): md0 \
             waits for this slow member."
        );
        assert!(found[0].evidence.iter().any(|e| e.text() == "1.1 ms, busy 80 %"), "{found:?}");
        assert_eq!(case.judge().limit().as_deref(), Some("one slow member of md0 (sd1)"));
        let took = [(1.0, 0.5), (1.1, 0.5), (9.0, 1.0), (0.9, 0.5)];
        let four = self::found(&striped(&took));
        assert!(four[0].sentence.contains("as requests to the other 3 members"), "{four:?}");
    }

    #[test]
    fn a_mirror_is_written_as_fast_as_the_slower_one() {
        let workload =
            Workload { op: Direction::Write, depth: 4, ops_per_s: 434.0, ..Workload::default() };
        let case =
            members(workload.case().on_array("raid1", &[1.0, 1.0]), &[(1.3, 0.5), (8.5, 1.0)]);
        assert!(found(&case)[0].sentence.contains("sd1 took 8.5 ms"));
    }

    #[test]
    fn slow_but_not_the_limit() {
        let mut took = vec![(1.0, 0.3); 8];
        took[3] = (3.5, 0.9);
        assert_eq!(found(&striped(&took))[0].limits, None);
    }

    #[test]
    fn like_members_and_what_chance_does_to_queues_are_silent() {
        assert_eq!(found(&striped(&[(1.0, 0.9), (1.4, 0.95)])), []);
        // 0.05 ms and 0.02 ms: three times as long, and nothing.
        assert_eq!(found(&striped(&[(0.05, 0.5), (0.02, 0.2)])), []);
        // With 200 in flight, one of two like disks has most of them for a while.
        let deep = TestCase::direct(4096, 200, 1, 3200.0).on_array("raid0", &[0.5, 0.5]);
        assert_eq!(found(&members(deep, &[(25.0, 0.99), (100.0, 1.0)])), []);
    }

    #[test]
    fn hot_members_rebuilds_tiers_and_single_disks_are_silent() {
        let hot = TestCase::direct(4096, 16, 1, 3200.0).on_array("raid0", &[0.9, 0.1]);
        assert_eq!(found(&members(hot, &[(8.0, 1.0), (1.0, 0.1)])), []);
        let mut rebuilding = striped(&[(1.1, 0.6), (8.7, 1.0)]);
        rebuilding.host.after.state.arrays = vec![ArrayState {
            device: "md0".into(),
            action: Some("resync".into()),
            ..ArrayState::default()
        }];
        assert_eq!(found(&rebuilding), []);
        let linear = TestCase::direct(4096, 16, 1, 3200.0).on_array("linear", &[0.5, 0.5]);
        assert_eq!(found(&members(linear, &[(1.1, 0.6), (8.7, 1.0)])), []);
        assert_eq!(found(&TestCase::direct(4096, 16, 1, 3200.0)), []);
    }
}
