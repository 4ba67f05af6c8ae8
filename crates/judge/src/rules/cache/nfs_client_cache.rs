//! A14: a network filesystem's client answered from its own cache.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{
    Confidence, Finding, Limit, LimitClass, MeasuredInstead, MountBytes, Quantity, Severity,
};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, COVERAGE_FULL, COVERAGE_MEMORY};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A14",
        title: "NFS client answered from cache",
        explanation: "An NFS client keeps data that it has read, and answers reads from this cache \
            until the server's file changes; no block device counts such reads. The client counts, \
            per mount, the bytes that applications read and the bytes requested from the server. \
            If the server sent less than 95 %, the rest came from this host's memory. If the \
            server sent almost nothing, the rate is the speed of memory. Read directly, read data \
            that another host wrote, or remount.",
    },
    stage: Stage::KnownCache,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    fn on_nfs(target: &&candor_record::facts::TargetFacts) -> bool {
        let on = target.filesystem.as_ref();
        on.is_some_and(|on| matches!(on.kind.as_str(), "nfs" | "nfs4"))
    }
    let targets = observed.targets();
    let mut points: Vec<&str> = targets
        .iter()
        .filter(|target| on_nfs(target))
        .filter_map(|target| Some(target.filesystem.as_ref()?.mount_point.as_str()))
        .collect();
    points.sort_unstable();
    points.dedup();
    if points.is_empty() {
        return Outcome::Nothing;
    }
    let deltas: Option<Vec<(&str, f64, f64)>> = points.iter().map(|p| delta(observed, p)).collect();
    let Some(deltas) = deltas else {
        return Outcome::lacks("the bytes of the mount (/proc/self/mountstats)");
    };
    let found = deltas.into_iter().filter_map(|(point, app, server)| {
        let share = ratio(server + observed.slack_bytes(Direction::Read), app);
        let cached = app >= BYTES_MIN.value && share < COVERAGE_FULL.value;
        cached.then(|| finding(point, app, server))
    });
    found.collect::<Vec<_>>().into()
}

/// Bytes that applications read from a mount, and that its server gave.
fn delta<'a>(observed: &Observed, point: &'a str) -> Option<(&'a str, f64, f64)> {
    let at = |mounts: &[MountBytes]| mounts.iter().find(|m| m.mount_point == point).cloned();
    let before = at(&observed.host.before.state.mounts)?;
    let after = at(&observed.host.after.state.mounts)?;
    let app = after.app_read_bytes.checked_sub(before.app_read_bytes)?;
    let server = after.server_read_bytes.checked_sub(before.server_read_bytes)?;
    Some((point, app as f64, server as f64))
}

fn finding(point: &str, app: f64, server: f64) -> Finding {
    let cached = (1.0 - ratio(server, app)).clamp(0.0, 1.0);
    let memory = 1.0 - cached < COVERAGE_MEMORY.value;
    let sentence = format!(
        "The NFS client answered {} from its own cache ({point}): the server sent {} of {}.",
        fmt::percent(cached),
        fmt::size(server),
        fmt::size(app)
    );
    let severity = if memory { Severity::Wrong } else { Severity::Caution };
    let draft = FindingBuilder::new("A14", severity, sentence)
        .confidence(Confidence::Certain)
        .evidence("read by applications", Quantity::bytes(app), "/proc/self/mountstats")
        .evidence("read from the server", Quantity::bytes(server), "/proc/self/mountstats")
        .advice("Read directly, read data that another host wrote, or remount.", None);
    if memory {
        draft.measures(MeasuredInstead::NfsClientCache).limits(Limit::NfsClientCache).done()
    } else {
        draft.done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn served(share: f64) -> TestCase {
        let mut case = TestCase::direct(MIB, 8, 1, 1100.0).on_nfs(10_000);
        let mount = &mut case.host.after.state.mounts[0];
        mount.server_read_bytes = (mount.server_read_bytes as f64 * share) as u64;
        case
    }

    #[test]
    fn what_the_server_did_not_give_was_cached() {
        let found = served(0.2).found(&RULE);
        assert!(found[0].sentence.starts_with("The NFS client answered 80 % from its own cache"));
        assert_eq!(found[0].severity, Severity::Caution);
        let judgement = served(0.0).judge();
        assert_eq!(judgement.rules(), ["A14"]);
        assert_eq!(judgement.limit().as_deref(), Some("the cache of the NFS client"));
    }

    #[test]
    fn a_server_that_gave_all_and_local_files_are_silent() {
        assert_eq!(served(1.0).found(&RULE), []);
        assert_eq!(TestCase::direct(MIB, 8, 1, 1100.0).found(&RULE), []);
        let mut case = served(0.2);
        case.host.after.state.mounts.clear();
        assert!(case.lacked(&RULE).unwrap().contains("mountstats"));
    }
}
