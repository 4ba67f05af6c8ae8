//! A15: a second cache between filesystem and disk.

use candor_plan::units::Direction;
use candor_record::fmt::ratio;
use candor_record::{CacheHits, Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{CACHE_HITS, CACHE_LOOKUPS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A15",
        title: "a second cache answered",
        explanation: "ZFS has its own cache in memory (ARC). Direct I/O of older versions and page \
            eviction do not bypass or empty the ARC. bcache and dm-cache keep data on a faster \
            device. All three count hits and misses, dm-cache for root only. candor compares these \
            counts before and after a phase that reads, and reports a hit share of 10 % or more. \
            The ARC counts cover the whole host. Use a data set far larger than the cache, or \
            state the tier with the number.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !observed.does(Direction::Read) {
        return Outcome::Nothing;
    }
    let (before, after) = (&observed.host.before.state.caches, &observed.host.after.state.caches);
    let ours = |cache: &&CacheHits| {
        cache.name == "ARC" || observed.devices().iter().any(|device| device.name == cache.name)
    };
    let found = after.iter().filter(ours).filter_map(|now| {
        let then = before.iter().find(|then| then.name == now.name)?;
        let hits = now.hits.checked_sub(then.hits)? as f64;
        let lookups = hits + now.misses.checked_sub(then.misses)? as f64;
        let share = ratio(hits, lookups);
        (lookups >= CACHE_LOOKUPS.value && share > CACHE_HITS.value)
            .then(|| finding(now, share, lookups))
    });
    found.collect::<Vec<_>>().into()
}

fn finding(cache: &CacheHits, share: f64, lookups: f64) -> Finding {
    let share = Quantity::share(share);
    let sentence = match cache.name.as_str() {
        "ARC" => format!(
            "{share} of the reads on this host were answered by the ZFS cache in memory (ARC)."
        ),
        name => format!("{share} of the requests to {name} were answered by its caching device."),
    };
    FindingBuilder::new("A15", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("answered by the cache", share, cache.from.clone())
        .evidence("lookups", Quantity::count(lookups), cache.from.clone())
        .advice(
            "Use a data set far larger than the cache, or state the tier with the number.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn counting(name: &str, hits: u64, misses: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0);
        let count = |hits, misses| {
            vec![CacheHits { name: name.into(), hits, misses, from: "/proc".into() }]
        };
        case.host.before.state.caches = count(1000, 1000);
        case.host.after.state.caches = count(1000 + hits, 1000 + misses);
        case
    }

    #[test]
    fn hits_are_reported_with_their_tier() {
        let found = counting("ARC", 84_000, 16_000).found(&RULE);
        assert!(found[0].sentence.starts_with("84 % of the reads on this host"), "{found:?}");
        let found = counting("vda", 84_000, 16_000).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "84 % of the requests to vda were answered by its caching device."
        );
    }

    #[test]
    fn misses_few_requests_and_caches_of_others_are_silent() {
        assert_eq!(counting("ARC", 1000, 99_000).found(&RULE), []);
        assert_eq!(counting("ARC", 90, 10).found(&RULE), []);
        assert_eq!(counting("bcache7", 84_000, 16_000).found(&RULE), []);
    }
}
