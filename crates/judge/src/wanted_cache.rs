//! Caches that the work wants: where they answered, that is the result.

use candor_plan::{Job, Phase};
use candor_record::{Finding, MeasuredInstead, Severity};

use crate::causes::stage_of;
use crate::stage::Stage;

/// Takes the weight from findings that a cache of this host answered jobs that want it. What a
/// cause took in goes with it: it follows from the cache.
pub fn credit(phase: &Phase, findings: Vec<Finding>) -> Vec<Finding> {
    let credited = |mut finding: Finding| {
        if is_of_cache(&finding) && is_wanted(phase, &finding) {
            finding.severity = Severity::Explains;
            finding.advice = "The job wants the cache (`wants_cache`).".into();
            finding.changes.clear();
            finding.next = None;
        }
        finding
    };
    findings.into_iter().map(credited).collect()
}

/// The cache whose figures these are, where the work wants one and it answered.
pub fn answered(findings: &[Finding]) -> Option<MeasuredInstead> {
    let credited =
        |finding: &&Finding| finding.severity == Severity::Explains && is_of_cache(finding);
    findings.iter().filter(credited).find_map(|finding| finding.measures)
}

/// The finding's job wants its cache, or all jobs do.
fn is_wanted(phase: &Phase, finding: &Finding) -> bool {
    let is_meant = |job: &&Job| finding.job.as_ref().is_none_or(|name| *name == job.name);
    let mut jobs = phase.jobs.iter().filter(is_meant).peekable();
    jobs.peek().is_some() && jobs.all(|job| job.wants_cache)
}

/// A cache of this host answered, or held it before.
fn is_of_cache(finding: &Finding) -> bool {
    use MeasuredInstead::*;
    match finding.measures {
        Some(
            PageCache | Memory | PageCacheWrites | NameChanges | NameCaches | CachedRecords
            | LaterPasses | NfsClientCache | UnflushedWrites,
        ) => true,
        Some(_) => false,
        None => {
            matches!(stage_of(finding), Stage::PageCache | Stage::WriteCache | Stage::CacheState)
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn the_page_cache_is_the_result_of_who_wants_it() {
        let judged = TestCase::buffered_read().wanting_cache().judge();
        assert_eq!(judged.verdict, Verdict::Ok, "{:?}", judged.findings);
        assert!(
            judged.headline.ends_with(": the number of the page cache, as planned."),
            "{}",
            judged.headline
        );
        let a1 = judged.finding("A1").expect("it is still said");
        assert_eq!((a1.severity, &a1.next, a1.changes.len()), (Severity::Explains, &None, 0));
        assert_eq!(TestCase::buffered_read().judge().verdict, Verdict::Wrong);
    }

    #[test]
    fn name_caches_are_named_in_the_headline() {
        use candor_plan::entries::Step;
        let mut case = TestCase::on_names(Step::Stat, 5000, 100_000.0);
        case.process_read(0);
        case.host.before.state.dentries = Some(400_000);
        case.host.after.state.dentries = Some(400_000);
        let judged = case.wanting_cache().judge();
        assert_eq!(judged.verdict, Verdict::Ok, "{:?}", judged.findings);
        let end =
            ": the number of the dentry and inode caches, as planned; limited by metadata (stat).";
        assert!(judged.headline.ends_with(end), "{}", judged.headline);
    }

    #[test]
    fn one_of_two_jobs_wants_nothing_for_the_other() {
        let mut case = TestCase::buffered_read().wanting_cache();
        let mut other = case.plan.phases[0].jobs[0].clone();
        (other.name, other.wants_cache) = ("other".into(), false);
        let mut measured = case.measured().clone();
        measured.job = "other".into();
        case.plan.phases[0].jobs.push(other);
        case.record.measurements.push(measured);
        assert_eq!(case.judge().verdict, Verdict::Wrong);
    }

    #[test]
    fn memory_that_is_the_target_is_no_cache() {
        let mut tmpfs = TestCase::buffered_read().wanting_cache();
        tmpfs.host.facts.targets[0].filesystem.as_mut().unwrap().in_memory = true;
        assert_eq!(tmpfs.judge().verdict, Verdict::Wrong);
    }
}
