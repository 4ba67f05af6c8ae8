//! Each host of a phase that several ran, as a phase of its own.
//!
//! Hosts with one kernel count the same devices, links and CPUs, so they are one part: its counters
//! are theirs, and its measurements the sum of theirs. Lost hosts are in no part: their counters
//! have no end.

use candor_plan::Plan;
use candor_record::{
    FleetMember, FollowUp, HostRecord, Measurement, PhaseRecord, ProcessIo, Snapshot,
};

use crate::case::Case;

/// The work of hosts with the same kernel in a phase.
pub struct Part {
    /// Places of these hosts among those of the phase.
    pub hosts: Vec<usize>,
    /// The plan with the workers of all of them, where they are several.
    plan: Option<Plan>,
    record: PhaseRecord,
    earlier: Vec<PhaseRecord>,
}

impl Part {
    /// The case of this part, among those of the whole.
    pub fn case<'a>(&'a self, whole: &Case<'a>) -> Case<'a> {
        let plan = self.plan.as_ref().unwrap_or(whole.plan);
        Case {
            plan,
            record: &self.record,
            host: self.record.host(),
            earlier: &self.earlier,
            judged: whole.judged,
            // Later phases are of all hosts together.
            later: &[],
        }
    }

    /// Name of the host, or names of all of them.
    pub fn name(&self, names: &[String]) -> String {
        let own: Vec<&str> =
            self.hosts.iter().filter_map(|at| Some(names.get(*at)?.as_str())).collect();
        listed(&own)
    }

    /// The same without its follow-ups.
    pub fn without_follow_ups(mut self) -> Part {
        self.record.follow_ups.clear();
        self
    }
}

/// Names in a sentence: `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// All hosts of so many in a sentence: `both hosts`, `all 8 hosts`.
pub fn all_of(hosts: usize) -> String {
    if hosts == 2 { "both hosts".into() } else { format!("all {hosts} hosts") }
}

/// Whether several hosts ran a phase.
pub fn are_several(record: &PhaseRecord) -> bool {
    record.hosts.len() > 1
}

/// The parts of a phase that several hosts ran, in the order of the first host of each; none where
/// it has one host.
pub fn of(case: &Case) -> Vec<Part> {
    if !are_several(case.record) {
        return Vec::new();
    }
    kernels(&case.record.hosts).into_iter().map(|hosts| part(case, hosts)).collect()
}

/// The first part, where there is one: follow-ups are those of its first host.
pub fn first(case: &Case) -> Option<Part> {
    let hosts = kernels(&case.record.hosts).into_iter().next()?;
    are_several(case.record).then(|| part(case, hosts))
}

/// Places of the hosts that were not lost, those with the same kernel together.
fn kernels(hosts: &[HostRecord]) -> Vec<Vec<usize>> {
    let mut kernels: Vec<(u32, Vec<usize>)> = Vec::new();
    for (at, host) in hosts.iter().enumerate().filter(|(_, host)| !is_lost(host)) {
        let kernel = host.member.as_ref().map_or(at as u32, |member| member.kernel_of);
        match kernels.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, places)) => places.push(at),
            None => kernels.push((kernel, vec![at])),
        }
    }
    kernels.into_iter().map(|(_, places)| places).collect()
}

/// The host was lost in the phase.
pub fn is_lost(host: &HostRecord) -> bool {
    host.member.as_ref().is_some_and(|member| member.lost.is_some())
}

fn part(case: &Case, hosts: Vec<usize>) -> Part {
    let members: Vec<&HostRecord> = hosts.iter().map(|at| &case.record.hosts[*at]).collect();
    let indices: Vec<Option<u32>> = members.iter().map(|host| index(host)).collect();
    let has_first = hosts.first() == Some(&0);
    let plan = (hosts.len() > 1).then(|| with_workers(case.plan, hosts.len() as u32));
    let mut record = of_hosts(case.record, &members);
    if !has_first {
        // Their counters are those of the first host.
        record.follow_ups.clear();
    }
    let share = share(&record, case.record);
    record.follow_ups.iter_mut().for_each(|follow_up| scale(follow_up, share));
    let earlier = case.earlier.iter().map(|earlier| earlier_of(earlier, &indices)).collect();
    Part { hosts, plan, record, earlier }
}

fn index(host: &HostRecord) -> Option<u32> {
    host.member.as_ref().map(|FleetMember { index, .. }| *index)
}

/// The plan in which each job has so many times the workers.
fn with_workers(plan: &Plan, times: u32) -> Plan {
    let mut plan = plan.clone();
    let jobs = plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
    jobs.for_each(|job| job.workers = job.workers.saturating_mul(times));
    plan
}

/// The record of what these hosts did.
fn of_hosts(record: &PhaseRecord, members: &[&HostRecord]) -> PhaseRecord {
    let mut measurements: Vec<Measurement> = Vec::new();
    for measured in members.iter().flat_map(|host| &host.measurements) {
        match measurements.iter_mut().find(|known| known.job == measured.job) {
            Some(known) => known.merge(measured.clone()),
            None => measurements.push(measured.clone()),
        }
    }
    PhaseRecord {
        phase: record.phase,
        name: record.name.clone(),
        repeat: record.repeat,
        search_step: record.search_step,
        tried: record.tried.clone(),
        measurements,
        hosts: vec![of_kernel(members)],
        follow_ups: record.follow_ups.clone(),
    }
}

/// An earlier phase as these hosts saw it, without what no rule asks of one.
fn earlier_of(earlier: &PhaseRecord, indices: &[Option<u32>]) -> PhaseRecord {
    let members: Vec<&HostRecord> =
        earlier.hosts.iter().filter(|host| indices.contains(&index(host))).collect();
    if !are_several(earlier) || members.is_empty() {
        return earlier.clone();
    }
    let mut record = of_hosts(earlier, &members);
    record.hosts.iter_mut().for_each(|host| host.during.clear());
    record.follow_ups.clear();
    record
}

/// The record of hosts with one kernel: counters of the kernel from the first start to the last
/// end, those of processes added up.
fn of_kernel(members: &[&HostRecord]) -> HostRecord {
    let [only] = members else { return together(members) };
    HostRecord { measurements: Vec::new(), ..(*only).clone() }
}

fn together(members: &[&HostRecord]) -> HostRecord {
    let first = members.first().map_or_else(HostRecord::default, |first| (*first).clone());
    HostRecord {
        before: at(members, |host| Some(&host.before), false).unwrap_or_default(),
        after: at(members, |host| Some(&host.after), true).unwrap_or_default(),
        after_flush: at(members, |host| host.after_flush.as_ref(), true),
        measurements: Vec::new(),
        ..first
    }
}

/// The first or last snapshot that hosts took at that moment, with the counters of all processes.
fn at(
    members: &[&HostRecord],
    moment: fn(&HostRecord) -> Option<&Snapshot>,
    is_last: bool,
) -> Option<Snapshot> {
    let all = || members.iter().filter_map(|host| moment(host));
    let chosen = if is_last {
        all().max_by_key(|snapshot| snapshot.at_ns)?
    } else {
        all().min_by_key(|snapshot| snapshot.at_ns)?
    };
    let own = all().map(|snapshot| snapshot.process_io).reduce(|a, b| Some(added(a?, b?)));
    Some(Snapshot { process_io: own.flatten(), ..chosen.clone() })
}

fn added(a: ProcessIo, b: ProcessIo) -> ProcessIo {
    ProcessIo {
        rchar: a.rchar + b.rchar,
        wchar: a.wchar + b.wchar,
        read_bytes: a.read_bytes + b.read_bytes,
        write_bytes: a.write_bytes + b.write_bytes,
        cancelled_write_bytes: a.cancelled_write_bytes + b.cancelled_write_bytes,
    }
}

/// Share of a part in the operations of the whole.
fn share(part: &PhaseRecord, whole: &PhaseRecord) -> f64 {
    fn ops(record: &PhaseRecord) -> f64 {
        record.measurements.iter().map(|measured| measured.ops_done() as f64).sum::<f64>()
    }
    candor_record::fmt::ratio(ops(part), ops(whole))
}

/// A follow-up of all hosts, as if this part had the same share in it as in the phase.
fn scale(follow_up: &mut FollowUp, share: f64) {
    let of = |count: u64| (count as f64 * share).round() as u64;
    follow_up.measurement.operations.iter_mut().for_each(|stats| {
        (stats.ops, stats.bytes) = (of(stats.ops), of(stats.bytes));
        stats.ops_per_s *= share;
        stats.bytes_per_s *= share;
    });
}
