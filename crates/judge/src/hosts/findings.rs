//! Findings of several hosts as those of one phase.

use candor_record::{Consequence, Evidence, Finding, PhaseJudgement};

use crate::causes::{self, stage_of};
use crate::observed::Observed;
use crate::parts::{all_of, listed};
use crate::rules;
use crate::rules::cache::cache_on_some_hosts;
use crate::rules::depth::slow_host;
use crate::rules::link::slow_host_link;
use crate::stage::Stage;

/// Hosts whose numbers stand beside those of the one that is quoted.
const BESIDE_MAX: usize = 8;

/// A finding of one host or more.
struct Shared {
    /// The places of the hosts that have it, each with its own: the one that is quoted first.
    of: Vec<(usize, Finding)>,
}

/// The findings of each host and those across all of them, heaviest first.
pub fn joined(whole: &Observed, each: &[PhaseJudgement], across: Vec<Finding>) -> Vec<Finding> {
    let mut shared = shared(each);
    let mut all: Vec<Finding> = Vec::new();
    let mut nth = 0;
    for mut finding in across {
        let hosts = match finding.rule.as_str() {
            "B20" => {
                nth += 1;
                slow_host::slow(whole).get(nth - 1).map(|slow| vec![slow.at]).unwrap_or_default()
            }
            "A21" => cache_on_some_hosts::cached(whole),
            "D12" => (0..whole.hosts.len()).collect(),
            _ => Vec::new(),
        };
        take(whole, &mut finding, &hosts, &mut shared);
        all.push(finding);
    }
    let slow = slow_host_link::slow(whole);
    link_first(&mut all, whole, &slow.iter().map(|link| link.at).collect::<Vec<_>>());
    all.extend(shared.into_iter().map(|shared| told(whole, shared)));
    causes::sort(&mut all);
    all
}

/// Findings of all hosts, those of one rule on the same job together.
fn shared(each: &[PhaseJudgement]) -> Vec<Shared> {
    let mut all: Vec<Shared> = Vec::new();
    for (at, judged) in each.iter().enumerate() {
        for finding in judged.findings.iter().filter(|of| !rules::is_across(&of.rule)) {
            match all.iter_mut().find(|known| {
                let (_, first) = &known.of[0];
                let is_new = known.of.iter().all(|(host, _)| *host != at);
                is_new && (&first.rule, &first.job) == (&finding.rule, &finding.job)
            }) {
                Some(known) => known.of.push((at, finding.clone())),
                None => all.push(Shared { of: vec![(at, finding.clone())] }),
            }
        }
    }
    // The heaviest is quoted, of several the first.
    for shared in &mut all {
        shared.of.sort_by_key(|(at, finding)| (std::cmp::Reverse(finding.severity), *at));
    }
    all
}

/// The finding of several hosts in one, with their names.
fn told(whole: &Observed, shared: Shared) -> Finding {
    let all = whole.hosts.len();
    let mut places: Vec<usize> = shared.of.iter().map(|(at, _)| *at).collect();
    places.sort_unstable();
    let name = |at: usize| whole.hosts[at].name.as_str();
    let members: usize = whole.hosts.iter().map(|on| on.places.len()).sum();
    // Of hosts that were lost nothing is known.
    let is_all = places.len() == all && members == whole.record.hosts.len();
    let hosts = if is_all {
        format!("On {}", all_of(members))
    } else {
        format!("On {}", listed(&places.iter().map(|at| name(*at)).collect::<Vec<_>>()))
    };
    let mut rest = shared.of;
    let (quoted, mut finding) = rest.remove(0);
    let is_alike = rest.iter().all(|(_, other)| other.sentence == finding.sentence);
    finding.sentence = if is_alike {
        format!("{hosts}: {}", finding.sentence)
    } else {
        format!("{hosts}, on {}: {}", name(quoted), finding.sentence)
    };
    if rest.iter().any(|(_, other)| other.when != finding.when) {
        finding.when = None;
    }
    if !is_alike {
        let beside = rest.iter().take(BESIDE_MAX);
        finding.evidence.extend(beside.filter_map(|(at, other)| {
            let first = other.evidence.first()?;
            Some(Evidence {
                quantity: format!("{}, on {}", first.quantity, name(*at)),
                ..first.clone()
            })
        }));
    }
    finding
}

/// Moves into a finding about some hosts what it explains there, or what explains it.
fn take(whole: &Observed, finding: &mut Finding, hosts: &[usize], all: &mut Vec<Shared>) {
    let is_theirs =
        |shared: &Shared| shared.of.iter().all(|(at, _)| hosts.contains(at)) && !hosts.is_empty();
    let (taken, left): (Vec<Shared>, Vec<Shared>) =
        all.drain(..).partition(|shared| is_theirs(shared) && belongs(finding, &shared.of[0].1));
    *all = left;
    let is_reason = finding.rule == "B20";
    for follow in taken.into_iter().map(|shared| told(whole, shared)) {
        finding.severity = finding.severity.max(follow.severity);
        finding.measures = finding.measures.or(follow.measures);
        let Finding { rule, title, sentence, consequences, .. } = follow;
        finding.consequences.push(Consequence { rule, title, sentence, is_reason });
        finding.consequences.extend(consequences);
    }
}

/// A finding on one host belongs to one across hosts.
fn belongs(across: &Finding, on_host: &Finding) -> bool {
    let stage = stage_of(on_host);
    match across.rule.as_str() {
        "A21" => matches!(stage, Stage::KnownCache | Stage::PageCache | Stage::CacheState),
        "D12" => on_host.rule == "D5",
        // That only this host has it makes it a reason; what only describes its load is none.
        "B20" => stage > Stage::CacheState && stage < Stage::WriteCourse,
        _ => false,
    }
}

/// A slow host with a slow link is slow because of that.
fn link_first(all: &mut Vec<Finding>, whole: &Observed, with_slow_link: &[usize]) {
    let is_slow = |finding: &Finding, at: usize| {
        finding.rule == "B20"
            && finding.sentence.starts_with(&format!("{} did ", whole.hosts[at].name))
    };
    for (nth, at) in with_slow_link.iter().enumerate() {
        let Some(slow) = all.iter().position(|finding| is_slow(finding, *at)) else { continue };
        let slow = all.remove(slow);
        let mut links = all.iter_mut().filter(|finding| finding.rule == "D11");
        let Some(link) = links.nth(nth) else {
            all.push(slow);
            continue;
        };
        link.severity = link.severity.max(slow.severity);
        let Finding { rule, title, sentence, consequences, .. } = slow;
        link.consequences.push(Consequence { rule, title, sentence, is_reason: false });
        link.consequences.extend(consequences);
    }
}
