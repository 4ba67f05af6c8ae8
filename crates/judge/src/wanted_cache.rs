//! Caches that the work wants, or allows: where they answered, that is the result, or a part of it.

use candor_plan::{Job, Phase};
use candor_record::{Finding, MeasuredInstead, Severity};

use crate::causes::stage_of;
use crate::stage::Stage;

/// Takes the weight from findings that a cache of this host answered jobs that want it; where jobs
/// allow it, a caution is left. What a cause took in goes with it: it follows from the cache.
pub fn credit(phase: &Phase, findings: Vec<Finding>) -> Vec<Finding> {
    let credited = |mut finding: Finding| {
        if !is_of_cache(&finding) {
            return finding;
        }
        if all_jobs(phase, &finding, |job| job.wants_cache) {
            finding.severity = Severity::Explains;
            finding.advice = "The job wants the cache (`wants_cache`).".into();
            finding.changes.clear();
            finding.next = None;
        } else if is_allowed(phase, &finding) && finding.severity > Severity::Caution {
            finding.severity = Severity::Caution;
            finding.measures.get_or_insert(MeasuredInstead::NameChanges);
            finding.advice = format!(
                "The number includes caches of this host, which the job allows (`allows_cache`). \
                 For the storage's number: {}",
                finding.advice
            );
        }
        finding
    };
    findings.into_iter().map(credited).collect()
}

/// The cache whose figures these are, where the work wants or allows one and it answered.
pub fn answered(phase: &Phase, findings: &[Finding]) -> Option<MeasuredInstead> {
    let credited = |finding: &&Finding| match finding.severity {
        Severity::Explains => is_of_cache(finding),
        Severity::Caution => is_of_cache(finding) && is_allowed(phase, finding),
        _ => false,
    };
    findings.iter().filter(credited).find_map(|finding| finding.measures)
}

fn is_allowed(phase: &Phase, finding: &Finding) -> bool {
    all_jobs(phase, finding, |job| job.allows_cache || job.wants_cache)
}

/// True for the finding's job, or for all jobs.
fn all_jobs(phase: &Phase, finding: &Finding, is_so: impl Fn(&Job) -> bool) -> bool {
    let is_meant = |job: &&Job| finding.job.as_ref().is_none_or(|name| *name == job.name);
    let mut jobs = phase.jobs.iter().filter(is_meant).peekable();
    jobs.peek().is_some() && jobs.all(is_so)
}

/// A cache of this host or of the server answered, or held the data before.
fn is_of_cache(finding: &Finding) -> bool {
    use MeasuredInstead::*;
    match finding.measures {
        Some(
            PageCache | Memory | PageCacheWrites | NameChanges | NameCaches | CachedRecords
            | LaterPasses | NfsClientCache | UnflushedWrites | ServerCache,
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

    /// mdtest counts whatever answers: a cache is a part of its number, and a device's answers are
    /// as good.
    #[test]
    fn a_cache_that_is_allowed_is_a_caution_and_none_a_result() {
        use candor_plan::entries::Step;
        fn stat(fetched: u64) -> candor_record::PhaseJudgement {
            let mut case = TestCase::on_names(Step::Stat, 5000, 100_000.0);
            case.plan.phases[0].jobs[0].allows_cache = true;
            case.process_read(fetched);
            case.after_top().read_sectors = fetched / 512;
            case.host.before.state.dentries = Some(400_000);
            case.host.after.state.dentries = Some(400_000);
            case.judge()
        }
        let cached = stat(0);
        assert_eq!(cached.verdict, Verdict::Caution, "{:?}", cached.findings);
        let end = ": the number includes the dentry and inode caches: names came from memory (H2).";
        assert!(cached.headline.ends_with(end), "{}", cached.headline);
        assert!(!cached.finding("H2").expect("it is said").changes.is_empty());
        let cold = stat(5000 * 300);
        assert_eq!(cold.verdict, Verdict::Ok, "{:?}", cold.findings);
        assert_eq!(cold.answered_by, None);
        // Changes of names that nothing vouches for.
        let mut made = TestCase::on_names(Step::Create, 5000, 9000.0);
        made.after_top().write_sectors = (4 << 20) / 512;
        assert_eq!(made.judge().verdict, Verdict::Unverified);
        made.plan.phases[0].jobs[0].allows_cache = true;
        let made = made.judge();
        assert_eq!(made.verdict, Verdict::Caution, "{:?}", made.findings);
        assert!(made.headline.contains("includes memory, not the journal"), "{}", made.headline);
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
