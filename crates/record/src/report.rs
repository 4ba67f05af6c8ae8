//! The report: the one document that renderers read.

use std::sync::LazyLock;

use candor_plan::{Phase, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::requests::RequestStats;
use crate::{Expectation, Facts, FollowUp, Judgement, Measurement, Note, PhaseJudgement, Snapshot};

/// Version of the report's shape. Adding a field keeps it; anything else raises it.
pub const REPORT_VERSION: u32 = 2;

/// Everything about a run: the plan, what was seen, and what was concluded from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`REPORT_VERSION`].
    pub report_version: u32,
    /// Version of candor that ran it.
    pub candor_version: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Length of the run in seconds, preparation included.
    pub elapsed_s: f64,
    /// The command line.
    pub command: Vec<String>,
    /// The plan that ran; `candor run` on the report repeats it exactly.
    pub plan: Plan,
    /// One per phase that ran, in order; repeats are entries of their own.
    pub phases: Vec<PhaseRecord>,
    /// Places where what ran is not exactly what was asked.
    pub notes: Vec<Note>,
    /// Conclusions from all that; they can be made again from the rest.
    pub judgement: Judgement,
    /// Reason for which the run ended early, in a sentence; absent where it ran to its end.
    pub cut_short: Option<String>,
    /// The user interrupted it.
    pub interrupted: bool,
    /// Percentiles that were asked for, ascending: tables show them in place of the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<f64>,
    /// Conditions of `--expect` with their results, in the order in which they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
}

impl Report {
    /// Quotes these percentiles in all measurements, as far as the samples carry them, and has
    /// tables show them in place of the usual ones.
    pub fn quote(&mut self, percentiles: &[f64]) {
        let measured = self.phases.iter_mut().flat_map(|phase| &mut phase.measurements);
        measured.for_each(|measurement| measurement.quote(percentiles));
        self.percentiles = percentiles.to_vec();
    }

    /// The phases that are results: all but the steps of a search.
    pub fn results(&self) -> impl DoubleEndedIterator<Item = &PhaseRecord> {
        self.phases.iter().filter(|phase| !phase.search_step)
    }

    /// The phases that were judged, each with its judgement.
    pub fn judged(&self) -> impl DoubleEndedIterator<Item = (&PhaseRecord, &PhaseJudgement)> {
        let judged = |(index, record)| Some((record, self.judgement.of(index)?));
        self.phases.iter().enumerate().filter_map(judged)
    }

    /// The first host's facts, as last seen.
    pub fn facts(&self) -> &Facts {
        self.phases.last().map_or(&NO_HOST.facts, |phase| &phase.host().facts)
    }
}

/// Record of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Index of the phase in the plan; of a search step, that of the phase that it searches for.
    pub phase: usize,
    /// Name of the phase.
    pub name: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// A short trial that only served to choose the next step; it is not judged.
    pub search_step: bool,
    /// The phase that such a trial ran; the plan does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Phase>,
    /// One per job, in the plan's order; none where the phase could not be prepared.
    pub measurements: Vec<Measurement>,
    /// Record of each host.
    pub hosts: Vec<HostRecord>,
    /// Short trials of other work after it, where it could not tell by itself what limited it.
    pub follow_ups: Vec<FollowUp>,
}

impl PhaseRecord {
    /// The record of the first host.
    pub fn host(&self) -> &HostRecord {
        self.hosts.first().unwrap_or(&NO_HOST)
    }

    /// The hosts, of those with one kernel the first: it counts for all of them.
    pub fn kernels(&self) -> impl Iterator<Item = &HostRecord> {
        let is_first = |at: usize, host: &HostRecord| {
            host.member.as_ref().is_none_or(|member| member.kernel_of as usize == at)
        };
        let hosts = self.hosts.iter().enumerate();
        hosts.filter(move |(at, host)| is_first(*at, host)).map(|(_, host)| host)
    }

    /// Names of the hosts in their order. Hosts of one name have their addresses behind it, or
    /// their numbers.
    pub fn host_names(&self) -> Vec<String> {
        let address = |host: &HostRecord| host.member.as_ref().map(|of| of.address.clone());
        let name = |(at, host): (usize, &HostRecord)| {
            let alike = || self.hosts.iter().filter(|other| other.host == host.host);
            let tells = |text: &String| {
                !text.is_empty()
                    && alike().filter(|other| address(other).as_ref() == Some(text)).count() == 1
            };
            match (alike().count(), address(host).filter(tells)) {
                (1, _) if !host.host.is_empty() => host.host.clone(),
                (_, Some(address)) if host.host.is_empty() => address,
                (_, Some(address)) => format!("{} ({address})", host.host),
                (_, None) => format!("{} #{at}", host.host).trim_start().to_owned(),
            }
        };
        self.hosts.iter().enumerate().map(name).collect()
    }
}

/// Record of one host for a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// Name of the host.
    pub host: String,
    /// Facts about the host and the targets, as they were in this phase.
    pub facts: Facts,
    /// Facts as they were later in this phase, one entry for each change that was seen; empty where
    /// nothing changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_facts: Vec<LaterFacts>,
    /// Traffic of others on the devices in the idle moment before the phase.
    pub idle: Option<IdleWindow>,
    /// The kernel's counters when the barrier was released (after the ramp).
    pub before: Snapshot,
    /// The counters of every second in between.
    pub during: Vec<Snapshot>,
    /// The counters when the last operation had completed.
    pub after: Snapshot,
    /// The counters after the final flush, where there was one.
    pub after_flush: Option<Snapshot>,
    /// Statistics of the block layer, request by request, where tracing is allowed.
    pub requests: Option<RequestStats>,
    /// How fast memory copies, measured after a phase that moved so many bytes that this may
    /// have been its limit.
    pub memory_copy: Option<MemoryCopy>,
    /// Rates of two ways to hand operations over, where both were tried before the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionTrial>,
    /// Place among several hosts, and what is known of its clock and link; absent where the run
    /// has one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<FleetMember>,
    /// Measurements of this host alone, one per job, where the run has several hosts. Those of the
    /// phase are their sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measurements: Vec<Measurement>,
}

/// Facts that differed when they were read again: limits of control groups, mount options, settings
/// of devices, extents of files that the phase only reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaterFacts {
    /// Moment of the reading before, at which nothing had changed yet, in ns since the start of the
    /// phase.
    pub unchanged_at_ns: u64,
    /// Moment of the reading that saw the change, in ns since the start of the phase.
    pub at_ns: u64,
    /// The facts then.
    pub facts: Facts,
}

/// One host among several that run a phase together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMember {
    /// Number of the host, from 0: its workers have the ranks of that place.
    pub index: u32,
    /// Address at which the coordinator reached it.
    pub address: String,
    /// Clock of the host minus clock of the coordinator, in ns, measured by messages to and fro.
    pub clock_offset_ns: i64,
    /// Greatest error of that offset: half of the fastest round trip of each link on the way.
    pub clock_error_ns: u64,
    /// Fastest round trip of a message to the host and back, in ns.
    pub round_trip_ns: u64,
    /// Release of its barrier minus the agreed moment, in ns of its own clock; absent where the
    /// phase did not start there.
    pub started_late_ns: Option<i64>,
    /// Lowest number of a host that sees the same files at the targets' paths; its own where none
    /// before it does.
    pub storage_of: u32,
    /// Lowest number of a host with the same kernel, hence the same page cache; its own where none
    /// before it has it.
    pub kernel_of: u32,
    /// The host was lost in this phase: its measurements are the last that arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostHost>,
    /// Times in this phase at which nothing was heard of the host, which was heard again later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<HostStall>,
}

/// Silence of a host in a phase, from one second on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostStall {
    /// Moment at which the host was last heard before it, in ns since the start of the phase.
    pub at_ns: u64,
    /// Length of the silence, in ns.
    pub silent_ns: u64,
}

/// Loss of a host in a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostHost {
    /// Moment at which the host was last heard, in ns since the start of the phase; absent where it
    /// was lost before the start.
    pub at_ns: Option<u64>,
    /// Reason in a few words: `the connection was reset`, `silent for 20.0 s`.
    pub why: String,
}

/// Operations handed over in two ways, each for a moment before the phase, and the way it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubmissionTrial {
    /// The phase handed them over one at a time; else all that were ready at once.
    pub one_at_a_time: bool,
    /// Operations per second with all that were ready in one call.
    pub ops_per_s_at_once: f64,
    /// Operations per second with one in each call.
    pub ops_per_s_one_at_a_time: f64,
}

/// The record of no host.
static NO_HOST: LazyLock<HostRecord> = LazyLock::new(HostRecord::default);

/// Two snapshots around a moment in which candor did nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleWindow {
    /// Beginning.
    pub before: Snapshot,
    /// End.
    pub after: Snapshot,
}

/// A short pass of copying from memory to memory, on all CPUs that the run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCopy {
    /// Bytes copied per second, by all threads together; each was read once and written once.
    pub bytes_per_s: f64,
    /// Number of threads.
    pub threads: u32,
    /// Buffers of all threads, sources and destinations, in bytes.
    pub buffer_bytes: u64,
    /// Cost in seconds: making the buffers, copying.
    pub cost_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_name_are_told_apart() {
        let host = |name: &str, address: &str| HostRecord {
            host: name.into(),
            member: Some(FleetMember { address: address.into(), ..FleetMember::default() }),
            ..HostRecord::default()
        };
        let names = |hosts| PhaseRecord { hosts, ..PhaseRecord::default() }.host_names();
        let alike = vec![host("a", "10.0.0.1"), host("b", "10.0.0.2"), host("a", "10.0.0.3")];
        assert_eq!(names(alike), ["a (10.0.0.1)", "b", "a (10.0.0.3)"]);
        assert_eq!(names(vec![host("a", "x"), host("a", "x")]), ["a #0", "a #1"]);
        assert_eq!(names(vec![host("", "x"), host("", "")]), ["x", "#1"]);
    }
}
