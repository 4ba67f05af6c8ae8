//! Ceilings of several hosts together.

use candor_record::Ceiling;
use candor_record::fmt;

use crate::bound::{Bound, Kind};
use crate::ceilings;
use crate::observed::Observed;
use crate::parts::{all_of, listed};

/// A ceiling of one host, with the host's place.
type OnHost = (usize, Bound);

/// The ceilings of all hosts: one that each of them has is their sum, another one has the names of
/// its hosts. The link of a block device that hosts share is one link; their own links to a server
/// are not.
pub fn together(whole: &Observed) -> Vec<Bound> {
    let each = whole.hosts.iter().enumerate();
    let all = each.flat_map(|(at, on)| {
        ceilings::bounds(&on.observed).into_iter().map(move |bound| (at, bound))
    });
    let mut groups: Vec<Vec<OnHost>> = Vec::new();
    for (at, bound) in all {
        match groups.iter_mut().find(|group| {
            let (_, first) = &group[0];
            let is_new = group.iter().all(|(host, _)| *host != at);
            is_new && (first.kind, &first.ceiling.element) == (bound.kind, &bound.ceiling.element)
        }) {
            Some(group) => group.push((at, bound)),
            None => groups.push(vec![(at, bound)]),
        }
    }
    groups.into_iter().map(|group| sum(whole, group)).collect()
}

fn sum(whole: &Observed, group: Vec<OnHost>) -> Bound {
    let hosts = whole.hosts.len();
    let places: Vec<usize> = group.iter().map(|(at, _)| *at).collect();
    let kind = group[0].1.kind;
    let ceilings: Vec<Ceiling> = group.into_iter().map(|(_, bound)| bound.ceiling).collect();
    let first = ceilings[0].clone();
    if hosts == 1 {
        return Bound { kind, ceiling: first };
    }
    let of = if places.len() == hosts {
        all_of(hosts)
    } else {
        listed(&places.iter().map(|at| whole.hosts[*at].name.as_str()).collect::<Vec<_>>())
    };
    if is_one_link(whole, kind, &places) {
        let used = total(ceilings.iter().map(|ceiling| ceiling.used));
        let element = format!("{}, shared by {of}", first.element);
        return Bound { kind, ceiling: Ceiling { element, used, ..first } };
    }
    let bytes_per_s = total(ceilings.iter().map(|ceiling| ceiling.bytes_per_s));
    let ops_per_s = total(ceilings.iter().map(|ceiling| ceiling.ops_per_s));
    let most = |ceiling: &Ceiling| ceiling.bytes_per_s.or(ceiling.ops_per_s).unwrap_or(0.0);
    let passed = total(ceilings.iter().map(|ceiling| Some(ceiling.used? * most(ceiling))));
    let whole_most = bytes_per_s.or(ops_per_s);
    let used = passed.zip(whole_most).map(|(passed, most)| fmt::ratio(passed, most));
    let ceiling = Ceiling {
        element: format!("{} on {of}", first.element),
        bytes_per_s,
        ops_per_s,
        arithmetic: arithmetic(&ceilings, bytes_per_s.is_some(), whole_most.unwrap_or(0.0)),
        used,
    };
    Bound { kind, ceiling }
}

/// Hosts that see the same files on block devices of their own kernels share the device, hence its
/// link.
fn is_one_link(whole: &Observed, kind: Kind, places: &[usize]) -> bool {
    let storage = |at: &usize| {
        let host = &whole.record.hosts[*whole.hosts[*at].places.first()?];
        host.member.as_ref().map(|member| member.storage_of)
    };
    let first = places.first().and_then(storage);
    let is_of_device = matches!(kind, Kind::Link | Kind::Links | Kind::Shared);
    is_of_device
        && places.len() > 1
        && first.is_some()
        && places.iter().all(|at| storage(at) == first)
}

/// The sum of values that are all known.
fn total(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.sum()
}

/// `8 × 1.18 GB/s = 9.42 GB/s`, or the sum of unlike ones.
fn arithmetic(ceilings: &[Ceiling], in_bytes: bool, sum: f64) -> String {
    let text = |value: f64| if in_bytes { fmt::rate_decimal(value) } else { fmt::iops(value) };
    let most = |of: &Ceiling| of.bytes_per_s.or(of.ops_per_s).unwrap_or(0.0);
    let terms: Vec<String> = ceilings.iter().map(|ceiling| text(most(ceiling))).collect();
    let is_alike = terms.iter().all(|term| *term == terms[0]);
    match terms.len() {
        1 => ceilings[0].arithmetic.clone(),
        n if is_alike => format!("{n} × {} = {}", terms[0], text(sum)),
        _ => format!("{} = {}", terms.join(" + "), text(sum)),
    }
}
