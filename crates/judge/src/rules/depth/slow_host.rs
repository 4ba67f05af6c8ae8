//! B20: one of several hosts is slower than the others.

use candor_record::fmt::{self, ratio};
use candor_record::{Finding, Measurement, Quantity, Severity};
use candor_stats::median;

use crate::builder::FindingBuilder;
use crate::observed::{Observed, OnHost};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::SLOW_HOST;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B20",
        title: "one host is slower",
        explanation: "Hosts with the same work and the same number of workers should reach about \
            the same rate. candor compares each host's rate with the median of the other hosts and \
            reports a host below 80 %. The finding includes problems found on this host alone: \
            CPUs used by others, a slower link, a limit of its control group, another device. If \
            no problem was found, the storage may serve this host from another location. The sum \
            of all hosts is then not a multiple of one host's rate.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// A host that is slower than the others.
pub struct Slow {
    /// Place among the hosts that were observed.
    pub at: usize,
    /// Rate of each of its members, in bytes or operations per second.
    rate: f64,
    /// Median of the rates of the others.
    others: f64,
}

fn after(observed: &Observed) -> Outcome {
    slow(observed).iter().map(|slow| finding(observed, slow)).collect::<Vec<_>>().into()
}

/// Hosts that are slower than the others with as many workers.
pub fn slow(observed: &Observed) -> Vec<Slow> {
    let hosts = &observed.hosts;
    let is_alike = hosts.windows(2).all(|two| workers(&two[0]) == workers(&two[1]));
    if hosts.len() < 2 || !is_alike {
        return Vec::new();
    }
    let moves = hosts.iter().any(|on| bytes(on) > 0.0);
    let rates: Vec<f64> = hosts.iter().map(|on| rate(on, moves)).collect();
    let of = |(at, rate): (usize, &f64)| {
        let mut others = rates.clone();
        others.remove(at);
        let others = median(&others)?;
        (*rate < SLOW_HOST.value * others).then_some(Slow { at, rate: *rate, others })
    };
    rates.iter().enumerate().filter_map(of).collect()
}

/// Workers of each host.
fn workers(on: &OnHost) -> u32 {
    let measured = on.observed.record.measurements.iter();
    measured.map(|measured| measured.workers).sum::<u32>() / on.places.len().max(1) as u32
}

fn bytes(on: &OnHost) -> f64 {
    let measured = on.observed.record.measurements.iter();
    measured.flat_map(Measurement::work_operations).map(|op| op.bytes as f64).sum()
}

/// Rate of each host, in bytes or operations per second.
fn rate(on: &OnHost, moves: bool) -> f64 {
    let ops = || on.observed.record.measurements.iter().map(|of| of.ops_done() as f64).sum::<f64>();
    let done = if moves { bytes(on) } else { ops() };
    ratio(done, on.observed.elapsed_s() * on.places.len() as f64)
}

fn finding(observed: &Observed, slow: &Slow) -> Finding {
    let moves = observed.hosts.iter().any(|on| bytes(on) > 0.0);
    let text = |rate: f64| {
        if moves { fmt::rate(rate) } else { format!("{} operations/s", fmt::count(rate)) }
    };
    let quantity =
        |rate: f64| if moves { Quantity::bytes_per_s(rate) } else { Quantity::count(rate) };
    let others = match observed.hosts.len() - 1 {
        1 => "the rate of the other host".to_owned(),
        others => format!("the median of the other {others} hosts"),
    };
    let sentence = format!(
        "{} did {}, {} of {}, {others}, with the same number of workers.",
        observed.hosts[slow.at].name,
        text(slow.rate),
        fmt::percent(ratio(slow.rate, slow.others)),
        text(slow.others),
    );
    FindingBuilder::new("B20", Severity::Caution, sentence)
        .evidence("rate of this host", quantity(slow.rate), "candor")
        .evidence("median of the other hosts", quantity(slow.others), "candor")
        .advice(
            "Compare this host's CPUs, link and limits with the other hosts, or leave it out.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, together};

    fn hosts(rates: &[f64]) -> TestCase {
        let hosts: Vec<_> = rates.iter().map(|rate| TestCase::direct(4096, 8, 2, *rate)).collect();
        together(&hosts)
    }

    #[test]
    fn a_host_far_below_the_median_is_named() {
        let found = hosts(&[10_000.0, 4000.0, 11_000.0]).found(&RULE);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].sentence,
            "node-b did 16.4 MB/s (15.6 MiB/s), 38 % of 43 MB/s (41 MiB/s), the median of the \
             other 2 hosts, with the same number of workers."
        );
    }

    #[test]
    fn like_hosts_and_hosts_with_other_numbers_of_workers_are_not() {
        assert_eq!(hosts(&[10_000.0, 9000.0, 11_000.0]).found(&RULE), []);
        let fewer =
            [2, 1].map(|workers| TestCase::direct(4096, 8, workers, 5000.0 * f64::from(workers)));
        assert_eq!(together(&fewer).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 8, 2, 10.0).found(&RULE), []);
    }

    #[test]
    fn agents_of_one_kernel_are_compared_by_the_agent() {
        let mut case = hosts(&[10_000.0, 10_000.0, 10_000.0]);
        case.member(1).kernel_of = 0;
        assert_eq!(case.found(&RULE), []);
    }
}
