//! A21: caches answered some of several hosts only.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage;
use crate::evidence;
use crate::observed::Observed;
use crate::parts::listed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{COVERAGE_APART, COVERAGE_FULL};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A21",
        title: "only some hosts used caches",
        explanation: "If some hosts read from their own memory and others from the storage, the \
            sum is the speed of neither. The sum grows with the number of hosts that hold the data \
            in memory. candor compares the share of the bytes that each host's kernel fetched. \
            Typical reasons: one host wrote the data, ran before, or has more memory. Evict the \
            data on every host, read directly, or let each host read data that another host wrote.",
    },
    stage: Stage::KnownCache,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let cached = cached(observed);
    if cached.is_empty() || observed.wants_cache() {
        Outcome::Nothing
    } else {
        Outcome::one(finding(observed, &cached))
    }
}

/// Places of the hosts whose caches answered, where other hosts read the storage.
pub fn cached(observed: &Observed) -> Vec<usize> {
    let shares = shares(observed);
    let most = shares.iter().flatten().copied().fold(0.0, f64::max);
    if most < COVERAGE_FULL.value {
        return Vec::new();
    }
    let is_cached = |share: &Option<f64>| share.is_some_and(|s| most - s >= COVERAGE_APART.value);
    let all = shares.iter().enumerate().filter(|(_, share)| is_cached(share));
    all.map(|(at, _)| at).collect()
}

/// The share of what each host read that came from a device or a server.
fn shares(observed: &Observed) -> Vec<Option<f64>> {
    observed.hosts.iter().map(|on| coverage::of_reads(&on.observed).share()).collect()
}

fn finding(observed: &Observed, cached: &[usize]) -> Finding {
    let shares = shares(observed);
    let lowest = cached.iter().filter_map(|at| shares[*at]).fold(1.0, f64::min);
    let rest: Vec<usize> = (0..shares.len()).filter(|at| !cached.contains(at)).collect();
    let [cached, others] = [cached, &rest].map(|places| {
        let names: Vec<&str> = places.iter().map(|at| observed.hosts[*at].name.as_str()).collect();
        listed(&names)
    });
    let sentence = format!(
        "{cached} read {} of the bytes from memory, while {others} read the storage: the sum is \
         the speed of neither.",
        fmt::percent(1.0 - lowest)
    );
    let all = evidence::seen(observed, Direction::Read).map(|seen| {
        let share = ratio(seen.bytes, observed.moved(Direction::Read).bytes).min(1.0);
        ("from storage on all hosts".to_owned(), Quantity::share(share), seen.from)
    });
    let known = observed.hosts.iter().zip(&shares).filter_map(|(on, share)| Some((on, (*share)?)));
    let mut finding = FindingBuilder::new("A21", Severity::Caution, sentence);
    for (on, share) in known {
        let what = format!("from storage on {}", on.name);
        finding = finding.evidence(what, Quantity::share(share), "/proc/self/io read_bytes");
    }
    finding
        .evidence_if(all)
        .advice("Evict the data on every host before the phase, or read directly.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload, together};
    use candor_plan::blocks::Engine;

    fn cold() -> TestCase {
        Workload { engine: Engine::Psync, direct: false, ..Workload::default() }.case()
    }

    #[test]
    fn a_host_that_read_its_memory_is_named() {
        let found = together(&[cold(), TestCase::buffered_read(), cold()]).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "node-b read 100 % of the bytes from memory, while node-a and node-c read the \
             storage: the sum is the speed of neither."
        );
        let of_all = found[0].evidence.last().expect("the sum");
        assert_eq!(of_all.quantity, "from storage on all hosts");
    }

    #[test]
    fn hosts_that_all_read_the_same_place_are_not() {
        assert_eq!(together(&[cold(), cold()]).found(&RULE), []);
        let cached = || TestCase::buffered_read();
        assert_eq!(together(&[cached(), cached()]).found(&RULE), []);
        let wanted = together(&[cold(), cached()]).wanting_cache();
        assert_eq!(wanted.found(&RULE), []);
    }
}
