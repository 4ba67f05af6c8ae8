//! H10: each name waits for a commit of the journal.

use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, OpStats, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{FLUSH_TIME, SYNC_CALLS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H10",
        title: "names wait for the journal",
        explanation: "An fsync of a new file waits for a commit of the filesystem's journal: the \
            journal blocks are written, the device empties its cache, and then the next file is \
            created. The rate of durable names is the rate of commits, regardless of the cost of a \
            name. candor adds up the time in fsync and syncfs of jobs on names; above half of the \
            workers' time, the journal is the limit. Workers that wait together share a commit; \
            one sync for many names makes them durable together.",
    },
    stage: Stage::Device,
    limit: Some(LimitClass::Device),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = entry_jobs::ran(observed).into_iter().filter_map(|names| {
        let syncs = names.measured.figure(Figure::Flush);
        let share = share_of_time(&names, &syncs)?;
        let waits = share > FLUSH_TIME.value && syncs.ops as f64 >= SYNC_CALLS.value;
        waits.then(|| finding(observed, &names, &syncs, share))
    });
    found.collect::<Vec<_>>().into()
}

/// Share of the workers' time that they spent in these calls.
fn share_of_time(names: &EntryJob, syncs: &OpStats) -> Option<f64> {
    let in_calls_ns = syncs.ops as f64 * syncs.latency.as_ref()?.mean_ns;
    let of_workers_ns = names.measured.elapsed_ns as f64 * f64::from(names.job.workers);
    Some(ratio(in_calls_ns, of_workers_ns).min(1.0))
}

fn finding(observed: &Observed, names: &EntryJob, syncs: &OpStats, share: f64) -> Finding {
    let count = syncs.ops as f64;
    let mean_ns = syncs.latency.as_ref().map_or(0.0, |latency| latency.mean_ns);
    let flushes = observed.top.map(|top| top.flushes).filter(|flushes| *flushes > 0.0);
    let sent = flushes.map_or(String::new(), |flushes| {
        format!(
            ", for which {} emptied its cache {} times",
            observed.device_names(),
            fmt::count(flushes)
        )
    });
    let sentence = format!(
        "Each name waits for the journal: {} of {} took {} of the workers' time{sent}.",
        fmt::plural(count, "sync", "syncs"),
        fmt::time(mean_ns),
        fmt::percent(share)
    );
    let flushes = flushes.map(|flushes| {
        (
            format!("flushes of {}", observed.device_names()),
            Quantity::count(flushes),
            stat_of(observed),
        )
    });
    FindingBuilder::new("H10", Severity::Explains, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Certain)
        .limits(Limit::SyncLatency)
        .evidence("fsync and syncfs calls", Quantity::count(count), "candor")
        .evidence("mean time of each", Quantity::ns(mean_ns), "candor")
        .evidence_if(flushes)
        .advice("Use more workers to share commits, or one sync for many names.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;

    use super::*;
    use crate::testcase::{TestCase, latency};

    /// Files made by one worker in ten seconds, each with an fsync of so many ns.
    fn synced(files: u64, fsync_ns: f64) -> TestCase {
        let mut case = TestCase::on_names(Step::Create, 5000, files as f64 / 10.0);
        let candor_plan::Work::Entries(entries) = &mut case.plan.phases[0].jobs[0].work else {
            panic!("names")
        };
        entries.steps = vec![Step::Create, Step::Fsync, Step::Close];
        let sync = case.measured().operation_mut(Step::Fsync.operation());
        (sync.ops, sync.latency) = (files, Some(latency(files, fsync_ns)));
        let top = case.after_top();
        (top.flushes, top.write_sectors) = (2 * files, 16 * files);
        case
    }

    #[test]
    fn files_that_wait_for_commits_name_the_limit() {
        let case = synced(4000, 2.4e6);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Each name waits for the journal: 4000 syncs of 2.4 ms took 96 % of the workers' time, \
             for which vda emptied its cache 8000 times."
        );
        let judged = case.judge();
        assert_eq!(judged.limit().as_deref(), Some("sync latency: writing data and the journal"));
        assert_eq!(judged.verdict, candor_record::Verdict::Ok, "{judged:#?}");
    }

    #[test]
    fn quick_syncs_few_of_them_and_none_are_silent() {
        assert_eq!(synced(4000, 0.4e6).found(&RULE), []);
        assert_eq!(synced(40, 200e6).found(&RULE), []);
        assert_eq!(TestCase::on_names(Step::Create, 5000, 9000.0).found(&RULE), []);
    }
}
