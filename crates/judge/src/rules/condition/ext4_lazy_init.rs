//! F9: ext4 is still initialising itself.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::requests::{Issuer, RequestOp};
use candor_record::{Confidence, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FOREIGN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F9",
        title: "ext4 still initialises inodes",
        explanation: "mkfs creates ext4 in a second because a kernel thread (ext4lazyinit) writes \
            the inode tables later, while the filesystem is in use. A test that starts at once \
            shares the device with these writes. candor reports the thread if it exists before or \
            after a phase on ext4 and wrote more than 5 % of the traffic. Without a trace of the \
            thread, candor compares its own direct writes with the device's writes, if no other \
            process writes to the device. Wait for the end of the thread, or create the filesystem \
            with lazy_itable_init=0 and lazy_journal_init=0.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let snapshots = [&observed.host.before, &observed.host.after];
    if !snapshots.iter().any(|snapshot| snapshot.state.ext4_lazy_init == Some(true)) {
        return Outcome::Nothing;
    }
    if !observed
        .targets()
        .iter()
        .any(|target| target.filesystem.as_ref().is_some_and(|on| on.kind == "ext4"))
    {
        return Outcome::Nothing;
    }
    let Some((bytes, all)) = written(observed) else { return Outcome::Nothing };
    if bytes < BYTES_MIN.value || ratio(bytes, all) <= FOREIGN.value {
        return Outcome::Nothing;
    }
    let sentence = format!(
        "ext4 was initialising inode tables in the background (ext4lazyinit): {} of the writes \
         came from ext4, not from this run.",
        fmt::size(bytes)
    );
    let draft = FindingBuilder::new("F9", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("kernel thread", "ext4lazyinit", "/proc/*/comm")
        .evidence("bytes written by others", Quantity::bytes(bytes), "/sys/class/block/*/stat")
        .advice(
            "Wait for the end of ext4lazyinit, or create the filesystem with lazy_itable_init=0.",
            None,
        );
    Outcome::one(draft.done())
}

/// Bytes that the thread wrote to the devices on top, where requests to them were seen one by one;
/// else what they wrote beyond direct writes of ours. With the bytes of all.
///
/// The thread flushes before it writes, and what waits for a flush is issued by kblockd, whose
/// workers (`kworker/0:1H`) do the same for writes of ours, and of others that may write.
fn written(observed: &Observed) -> Option<(f64, f64)> {
    let top = observed.top?;
    let ours = observed.app(Direction::Write).bytes;
    let is_kblockd = |who: &Issuer| who.is_kernel() && who.command.ends_with('H');
    let alone = !foreign::may_write(observed);
    // A journal flushes before it writes, too: changes of names need no write of ours.
    let changes = entry_jobs::ran(observed).iter().any(|names| names.entries.changes());
    let thread = |who: &Issuer| {
        who.command.starts_with("ext4lazyinit")
            || (alone && ours == 0.0 && !changes && is_kblockd(who))
    };
    if let Some(share) =
        foreign::seen_of(observed, &observed.tops(), |of| of.direction == RequestOp::Write, thread)
    {
        return Some((share * top.write.bytes, top.bytes()));
    }
    let rest = (top.write.bytes - ours).max(0.0);
    (alone && observed.all_direct()).then_some((rest, top.bytes()))
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{RequestStats, Requests};

    use super::*;
    use crate::testcase::TestCase;

    /// Direct writes beside which the device wrote so many times as much.
    fn beside(times: f64) -> TestCase {
        let mut case = TestCase::direct_write();
        case.host.before.state.ext4_lazy_init = Some(true);
        case.host.after.state.ext4_lazy_init = Some(false);
        let sectors = &mut case.after_top().write_sectors;
        *sectors = (*sectors as f64 * times) as u64;
        case
    }

    #[test]
    fn the_thread_is_seen_at_either_end_and_by_what_it_writes() {
        let mut case = beside(1.2);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(found[0].sentence.contains(" of the writes came from ext4"), "{found:?}");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "xfs".into();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn requests_to_other_devices_do_not_hide_the_thread() {
        let mut case = beside(1.0);
        let thread = Issuer { pid: 9, command: "ext4lazyinit".into(), count: 10, bytes: 10 << 20 };
        let on = |device: &str, bytes, issuers| Requests {
            device: device.into(),
            direction: RequestOp::Write,
            bytes,
            issuers,
            ..Requests::default()
        };
        let requests = vec![on("vda", 100 << 20, vec![thread]), on("vdb", 1 << 30, vec![])];
        case.host.requests = Some(RequestStats { requests, ..RequestStats::default() });
        assert_eq!(case.found(&RULE).len(), 1);
    }

    /// Requests of one kind on vda, all of them by one thread.
    fn seen_by(command: &str, direction: RequestOp, bytes: u64) -> RequestStats {
        let by = Issuer { pid: 10, command: command.into(), count: 9, bytes };
        let (device, issuers) = ("vda".into(), vec![by]);
        let seen = Requests { device, direction, bytes, issuers, ..Requests::default() };
        RequestStats { requests: vec![seen], ..RequestStats::default() }
    }

    #[test]
    fn writes_behind_its_flushes_are_its_own_next_to_reads_of_ours() {
        let seen = seen_by("kworker/0:0H", RequestOp::Write, 10 << 20);
        for (mut case, findings) in [(TestCase::direct(4096, 8, 1, 10_000.0), 1), (beside(1.0), 0)]
        {
            case.host.before.state.ext4_lazy_init = Some(true);
            case.after_top().write_sectors += (60 << 20) / 512;
            case.host.requests = Some(seen.clone());
            assert_eq!(case.found(&RULE).len(), findings);
        }
    }

    /// 500 names made on a mount with dirsync: kblockd issues what jbd2 writes after a flush.
    #[test]
    fn writes_behind_flushes_of_a_journal_are_not_its_own() {
        let mut case = TestCase::on_names(candor_plan::entries::Step::Create, 500, 113.0);
        case.host.before.state.ext4_lazy_init = Some(true);
        case.after_top().write_sectors = (14 << 20) / 512;
        case.host.requests = Some(seen_by("kworker/1:2H", RequestOp::Write, 2 << 20));
        assert_eq!(case.found(&RULE), []);
    }

    /// 2 GB of discards that workers of the kernel issued for others.
    #[test]
    fn discards_are_no_writes() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0);
        case.host.before.state.ext4_lazy_init = Some(true);
        let top = case.after_top();
        (top.write_sectors, top.discard_sectors) = (100, (2 << 30) / 512);
        case.host.requests = Some(seen_by("kworker/0:0H", RequestOp::Discard, 2 << 30));
        assert_eq!(case.found(&RULE), []);
    }

    /// The thread of another ext4 in a file of the root filesystem: its writes reach the disk by
    /// workers of the kernel.
    #[test]
    fn next_to_a_whole_system_only_the_thread_itself_counts() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0);
        case.host.before.state.ext4_lazy_init = Some(true);
        case.host.facts.targets[0].filesystem.as_mut().unwrap().mount_point = "/".into();
        case.after_top().write_sectors += (60 << 20) / 512;
        let mut see = |command: &str| {
            case.host.requests = Some(seen_by(command, RequestOp::Write, 10 << 20));
            case.found(&RULE).len()
        };
        assert_eq!(see("kworker/0:0H"), 0);
        assert_eq!(see("ext4lazyinit"), 1);
        let mut untraced = beside(1.2);
        untraced.host.facts.targets[0].filesystem.as_mut().unwrap().mount_point = "/".into();
        assert_eq!(untraced.found(&RULE), []);
    }

    /// Any mount of an ext4 starts the thread; most have nothing left to initialise.
    #[test]
    fn a_thread_that_writes_nothing_is_silent() {
        assert_eq!(beside(1.01).found(&RULE), []);
    }

    #[test]
    fn without_it_there_is_nothing_to_say() {
        let mut case = TestCase::direct_write();
        assert_eq!(case.found(&RULE), []);
        case.host.before.state.ext4_lazy_init = Some(false);
        assert_eq!(case.found(&RULE), []);
    }
}
