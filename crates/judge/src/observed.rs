//! A phase that ran, as the numbers that rules compare: bytes and operations of the application,
//! of the process, of the devices on top and at the bottom; occupancy at each level.

use std::ops::Deref;

use candor_plan::units::Direction;
use candor_plan::work::Figure;
use candor_plan::{Job, Phase};
use candor_record::facts::{AccountingOutcome, DeviceFacts, value};
use candor_record::fmt::ratio;
use candor_record::{
    Facts, HostRecord, Latency, Measurement, OpStats, PhaseJudgement, PhaseRecord, Snapshot,
    Verdict,
};

use crate::case::Case;
use crate::flow::Flow;
use crate::parts::Part;
use crate::setup::{Planned, SetupFacts};
use crate::thresholds::{BYTES_MIN, QUEUE_SEEN, QUEUE_WINDOW_S, SLACK_FLAT, SLACK_MAX};

/// A job that ran and moved real bytes.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    /// The job as planned.
    pub planned: Planned<'a>,
    /// Measurement of the job.
    pub measured: &'a Measurement,
}

impl<'a> Deref for Ran<'a> {
    type Target = Planned<'a>;
    fn deref(&self) -> &Planned<'a> {
        &self.planned
    }
}

/// Bytes and operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Operations.
    pub ops: f64,
    /// Bytes.
    pub bytes: f64,
}

/// One of several hosts, or several with one kernel, as a phase of its own.
pub struct OnHost<'a> {
    /// Places among the hosts of the phase.
    pub places: &'a [usize],
    /// Name, or names.
    pub name: String,
    /// The phase as it was there.
    pub observed: Observed<'a>,
}

/// A phase that ran.
pub struct Observed<'a> {
    /// Facts known before it.
    pub setup: SetupFacts<'a>,
    /// The measurements.
    pub record: &'a PhaseRecord,
    /// The host, and what its kernel counted.
    pub host: &'a HostRecord,
    /// Phases before it.
    pub earlier: &'a [PhaseRecord],
    /// Judgements on those, at the same indices.
    judged: &'a [Option<PhaseJudgement>],
    /// Believable phases after it, where it is judged again.
    pub later: &'a [&'a PhaseRecord],
    /// Jobs that moved real bytes.
    pub ran: Vec<Ran<'a>>,
    /// Work of the devices on top; of those at the bottom, where only they count.
    pub top: Option<Flow>,
    /// Work of the devices at the bottom.
    pub leaf: Option<Flow>,
    /// The hosts, where several ran the phase, without those that were lost. What is said above of
    /// counters is then that of the first one.
    pub hosts: Vec<OnHost<'a>>,
}

impl<'a> Deref for Observed<'a> {
    type Target = SetupFacts<'a>;
    fn deref(&self) -> &SetupFacts<'a> {
        &self.setup
    }
}

impl<'a> Observed<'a> {
    /// Computes what several rules need.
    pub fn new(case: &Case<'a>) -> Observed<'a> {
        let Case { record, host, earlier, judged, later, .. } = *case;
        let setup = SetupFacts::new(case);
        let measured = |planned: &Planned<'a>| {
            let measured = measurement_of(record, planned.index, &planned.job.name)?;
            Some(Ran { planned: *planned, measured })
        };
        let ran = setup.jobs.iter().filter_map(measured).collect();
        let leaf = Flow::between(&setup.leaves(), &host.before, &host.after);
        let top = Flow::between(&counting(&setup), &host.before, &host.after);
        let hosts = Vec::new();
        Observed { setup, record, host, earlier, judged, later, ran, top, leaf, hosts }
    }

    /// A phase that several hosts ran, with each of them.
    pub fn of_hosts(case: &Case<'a>, parts: &'a [Part]) -> Observed<'a> {
        let names = case.record.host_names();
        let on_host = |part: &'a Part| OnHost {
            places: &part.hosts,
            name: part.name(&names),
            observed: Observed::new(&part.case(case)),
        };
        Observed { hosts: parts.iter().map(on_host).collect(), ..Observed::new(case) }
    }

    /// The bytes and operations of the application in one direction.
    pub fn app(&self, op: Direction) -> Moved {
        let sides = self.ran.iter().map(|ran| ran.measured.of(op));
        sides.fold(Moved::default(), |sum, side| Moved {
            ops: sum.ops + side.ops as f64,
            bytes: sum.bytes + side.bytes as f64,
        })
    }

    /// The same, with what was read and written in files of a tree.
    pub fn moved(&self, op: Direction) -> Moved {
        let figure = match op {
            Direction::Read => Figure::Read,
            Direction::Write => Figure::Write,
            Direction::Trim => return self.app(op),
        };
        let jobs = self.phase.jobs.iter().enumerate().filter(|(_, job)| job.entries().is_some());
        let measured = jobs.filter_map(|(at, job)| measurement_of(self.record, at, &job.name));
        measured.map(|measured| measured.figure(figure)).fold(self.app(op), |sum, side| Moved {
            ops: sum.ops + side.ops as f64,
            bytes: sum.bytes + side.bytes as f64,
        })
    }

    /// The bytes and operations of the application.
    pub fn app_all(&self) -> Moved {
        let (read, write) = (self.app(Direction::Read), self.app(Direction::Write));
        Moved { ops: read.ops + write.ops, bytes: read.bytes + write.bytes }
    }

    /// The direction that moved more bytes.
    pub fn main_op(&self) -> Direction {
        if self.app(Direction::Write).bytes > self.app(Direction::Read).bytes {
            Direction::Write
        } else {
            Direction::Read
        }
    }

    /// Devices whose counters count for the targets: the top ones, or those at the bottom where
    /// only they count.
    pub fn counting(&self) -> Vec<&'a DeviceFacts> {
        counting(&self.setup)
    }

    /// Work of the devices that count for the targets, from the beginning of the phase on.
    pub fn counted_until(&self, end: &Snapshot) -> Option<Flow> {
        Flow::between(&counting(&self.setup), &self.host.before, end)
    }

    /// The work of one device.
    pub fn flow_of(&self, device: &str) -> Option<Flow> {
        Flow::of_device(device, &self.host.before, &self.host.after)
    }

    /// The work of each device right below one; nothing where one of them was not read.
    pub fn flows_below(&self, device: &DeviceFacts) -> Option<Vec<Flow>> {
        device.below.iter().map(|name| self.flow_of(name)).collect()
    }

    /// Bytes that the kernel charged to this process in one direction.
    /// It charges nobody for commands past the block layer.
    pub fn process(&self, op: Direction) -> Option<f64> {
        let targets = self.targets().into_iter();
        let mut probes = targets.filter_map(|target| target.accounting_probe.as_ref());
        if probes.any(|probe| probe.passthrough) {
            return None;
        }
        let (before, after) = (self.host.before.process_io?, self.host.after.process_io?);
        let delta = match op {
            Direction::Read => after.read_bytes.checked_sub(before.read_bytes)?,
            Direction::Write => after.write_bytes.checked_sub(before.write_bytes)?,
            Direction::Trim => return None,
        };
        Some(delta as f64)
    }

    /// Length of the phase without the ramp: of the longest job, else between the snapshots.
    pub fn elapsed_s(&self) -> f64 {
        match self.longest_ns() {
            0 => self.window_s(),
            longest => longest as f64 / 1e9,
        }
    }

    /// Time between the two snapshots, which is what device counters cover.
    pub fn window_s(&self) -> f64 {
        let (from, to) = (self.host.before.at_ns, self.host.after.at_ns);
        let window = to.saturating_sub(from);
        (if window > 0 { window } else { self.longest_ns() }) as f64 / 1e9
    }

    fn longest_ns(&self) -> u64 {
        self.record.measurements.iter().map(|m| m.elapsed_ns).max().unwrap_or(0)
    }

    /// Time over which operations of a direction count, in seconds; writes count until the end of
    /// their final flush.
    fn counted_s(&self, op: Direction) -> f64 {
        let time_ns = |m: &Measurement| match op {
            Direction::Write => m.times().of_ns(Figure::Write),
            Direction::Read | Direction::Trim => m.elapsed_ns,
        };
        match self.record.measurements.iter().map(time_ns).max() {
            None | Some(0) => self.window_s(),
            Some(longest) => longest as f64 / 1e9,
        }
    }

    /// Bytes that may be counted on one side and not on the other: operations in flight when the
    /// counters were read after a ramp, and a flat share for the edges.
    pub fn slack_bytes(&self, op: Direction) -> f64 {
        let app = self.moved(op).bytes;
        let largest = |ran: &Ran| ran.blocks.size.of(op).max().0 as f64 * ran.concurrency();
        let in_flight: f64 =
            if self.phase.has_ramp() { self.ran.iter().map(largest).sum() } else { 0.0 };
        in_flight.min(SLACK_MAX.value * app) + SLACK_FLAT.value * app
    }

    /// The share of what the application moved that another level saw; all of it where the rest
    /// is within the slack. Absent where too little was moved for a ratio.
    pub fn share_seen(&self, op: Direction, seen_bytes: f64) -> Option<f64> {
        let app = self.moved(op).bytes;
        if app < BYTES_MIN.value {
            return None;
        }
        let all = seen_bytes + self.slack_bytes(op) >= app;
        Some(if all { 1.0 } else { ratio(seen_bytes, app).clamp(0.0, 1.0) })
    }

    /// The work of the devices on top, where they demonstrably count: at least half of what the
    /// application moved passed them.
    pub fn working_top(&self) -> Option<Flow> {
        let app = self.app_all().bytes;
        self.top.filter(|top| app >= BYTES_MIN.value && top.bytes() >= 0.5 * app)
    }

    /// The block layer is known not to count for some target.
    pub fn blind(&self) -> bool {
        let targets = self.targets().into_iter();
        let probes = targets.filter_map(|target| target.accounting_probe.as_ref());
        probes.into_iter().any(|probe| {
            let not_counted = probe.outcome == AccountingOutcome::NotCounted;
            probe.is_uncounted_command() || (probe.direct && not_counted)
        }) || self.tops().iter().any(|device| value(&device.counts_io) == Some(&false))
    }

    /// Counting was switched off for a device on top, or was so at some time.
    fn uncounted(&self) -> bool {
        let later = self.host.later_facts.iter().map(|later| &later.facts);
        let mut all = std::iter::once(self.facts).chain(later);
        fn off(facts: &Facts, name: &str) -> bool {
            facts.device(name).is_some_and(|device| value(&device.counts_io) == Some(&false))
        }
        let tops = self.tops();
        all.any(|facts| tops.iter().any(|top| off(facts, &top.name)))
    }

    /// Operations that can really be in flight: a synchronous engine has one per worker.
    pub fn concurrency(&self) -> f64 {
        self.ran.iter().map(|ran| ran.concurrency()).sum()
    }

    /// Operations in flight that the plan asks for.
    pub fn requested(&self) -> f64 {
        self.ran.iter().map(|ran| ran.in_flight_requested()).sum()
    }

    /// Mean number of operations in flight, as the application saw them.
    pub fn occupancy(&self) -> f64 {
        self.ran.iter().map(|ran| finite(ran.measured.occupancy)).sum()
    }

    /// Mean number of requests in the device, and pieces per operation. Where only devices below
    /// count, these say nothing of the queue on top.
    pub fn queue(&self) -> Option<(f64, f64)> {
        let top = self.working_top().filter(|_| !self.uncounted())?;
        let window_s = self.window_s();
        let ops = self.app_all().ops;
        if window_s < QUEUE_WINDOW_S.value || ops <= 0.0 {
            return None;
        }
        let pieces = ratio(top.requests(), ops);
        // Devices without a queue of their own may leave the time to their members.
        let members = self.leaf.map_or(0.0, |leaf| leaf.weighted_ms);
        let busy_ms = if top.weighted_ms > 0.0 { top.weighted_ms } else { members };
        Some((ratio(busy_ms / 1e3, window_s), if pieces > 0.0 { pieces } else { 1.0 }))
    }

    /// Operations in the device: its requests, with the pieces of one operation counted as one.
    pub fn queue_ops(&self) -> Option<f64> {
        self.queue().map(|(queue, pieces)| queue / pieces.max(f64::MIN_POSITIVE))
    }

    /// Operations in the device, where that is as many as were asked for.
    pub fn queue_full(&self) -> Option<f64> {
        self.queue_ops().filter(|queue| *queue >= QUEUE_SEEN.value * self.concurrency())
    }

    /// The device had what it was asked to have in flight, so that waiting for a CPU did not slow
    /// it down.
    pub fn device_fed(&self) -> bool {
        self.all_direct() && self.queue_full().is_some()
    }

    /// Share of the time that the workers waited for a CPU, by what they did.
    pub fn waited_for_cpu(&self) -> Option<f64> {
        let moving = self.ran.iter().map(|ran| ran.measured);
        let requesting = self.record.measurements.iter().filter(|m| m.http.is_some());
        let workers = moving.chain(requesting).flat_map(|measured| &measured.per_worker);
        let known = workers.filter_map(|worker| {
            let share = ratio(worker.run_wait_ns? as f64, worker.elapsed_ns as f64);
            Some((share, worker.ops as f64))
        });
        let known: Vec<(f64, f64)> = known.collect();
        let ops: f64 = known.iter().map(|(_, ops)| ops).sum();
        let weighted: f64 = known.iter().map(|(share, ops)| share * ops).sum();
        let plain: f64 = known.iter().map(|(share, _)| share).sum();
        let mean = if ops > 0.0 { ratio(weighted, ops) } else { ratio(plain, known.len() as f64) };
        (!known.is_empty()).then_some(mean)
    }

    /// How often each byte passes memory, in reads and writes of it: a device does so once, a copy
    /// by the processor twice.
    pub fn memory_passes(&self) -> f64 {
        if self.all_direct() && !self.all_memory() { 1.0 } else { 2.0 }
    }

    /// Rate of one direction over the phase, in bytes per second.
    pub fn bytes_per_s(&self, op: Direction) -> f64 {
        ratio(self.moved(op).bytes, self.counted_s(op))
    }

    /// Rate of one direction over the phase, in operations per second.
    pub fn ops_per_s(&self, op: Direction) -> f64 {
        ratio(self.app(op).ops, self.counted_s(op))
    }

    /// No operation completed.
    pub fn nothing_done(&self) -> bool {
        !self.record.measurements.iter().any(|m| m.ops_done() > 0)
    }

    /// Some job is slowed down on purpose.
    pub fn paced(&self) -> bool {
        self.ran.iter().any(|ran| ran.paced())
    }

    /// Phases before this one, without the trials that only served to choose the next step.
    pub fn judged_before(&self) -> impl DoubleEndedIterator<Item = &'a PhaseRecord> + use<'a> {
        self.earlier.iter().filter(|report| !report.search_step)
    }

    /// Phases before it that were measured by one job, and whose result stands.
    pub fn believed_before(&self) -> impl DoubleEndedIterator<Item = &'a PhaseRecord> + use<'a> {
        fn believed(judged: &Option<PhaseJudgement>) -> bool {
            judged.as_ref().is_some_and(|judged| judged.verdict <= Verdict::Caution)
        }
        let earlier = self.earlier.iter().zip(self.judged);
        let stand = earlier
            .filter(move |(record, judged)| believed(judged) && record.measurements.len() == 1);
        stand.map(|(record, _)| record)
    }

    /// The phase that a record is of: the plan's, or that of a search step.
    pub fn phase_of(&self, report: &'a PhaseRecord) -> Option<&'a Phase> {
        report.tried.as_ref().or_else(|| self.setup.plan.phases.get(report.phase))
    }

    /// The job, where it has just one.
    pub fn only_job_of(&self, report: &'a PhaseRecord) -> Option<&'a Job> {
        let [job] = self.phase_of(report)?.jobs.as_slice() else { return None };
        Some(job)
    }

    /// An earlier phase wrote to a target of this one: as the plan has it, or, where the plan
    /// repeats, as it happened.
    pub fn written_before(&self) -> bool {
        let ours = |name: &String| self.ran.iter().any(|ran| ran.job.targets.contains(name));
        self.written_by().is_some()
            || self.earlier.iter().any(|report| {
                let jobs = self.phase_of(report).into_iter().flat_map(|phase| &phase.jobs);
                jobs.flat_map(|job| &job.targets).any(ours)
                    && report.measurements.iter().any(|m| m.of(Direction::Write).ops > 0)
            })
    }

    /// The job that moved the most bytes.
    pub fn main_job(&self) -> Option<Ran<'a>> {
        fn bytes(ran: &&Ran) -> u128 {
            u128::from(ran.measured.of(Direction::Read).bytes)
                + u128::from(ran.measured.of(Direction::Write).bytes)
        }
        self.ran.iter().max_by_key(bytes).copied()
    }

    /// Mean latency over all directions of all jobs, weighted by operations.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        let sides = self.ran.iter().flat_map(|ran| ran.measured.directions());
        mean(sides.filter_map(|(_, stats)| stats.latency.as_ref()))
    }
}

/// The devices on top; those at the bottom, where they counted the accounting probe and the ones on
/// top did not.
fn counting<'a>(setup: &SetupFacts<'a>) -> Vec<&'a DeviceFacts> {
    let probes = setup.targets().into_iter().filter_map(|target| target.accounting_probe.as_ref());
    let below = probes.into_iter().any(|probe| probe.outcome == AccountingOutcome::CountedBelow);
    if below { setup.leaves() } else { setup.tops() }
}

/// Mean of several distributions, weighted by their numbers of samples.
pub fn mean<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<f64> {
    let (sum, count) = latencies.fold((0.0, 0.0), |(sum, count), l| {
        (sum + finite(l.mean_ns) * l.count as f64, count + l.count as f64)
    });
    (count > 0.0).then(|| sum / count)
}

/// The direction with the most operations of a job.
pub fn busiest(measured: &Measurement) -> (Direction, &OpStats) {
    let (read, write) = (measured.of(Direction::Read), measured.of(Direction::Write));
    if write.ops > read.ops { (Direction::Write, write) } else { (Direction::Read, read) }
}

/// The value, or zero for what is no number.
pub fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// The measurement of a job: measurements stand in the plan's order, but a partial report may
/// lack some, so the name decides where it contradicts.
pub fn measurement_of<'a>(
    report: &'a PhaseRecord,
    index: usize,
    name: &str,
) -> Option<&'a Measurement> {
    let same = |m: &&Measurement| m.job == name;
    let in_place = report.measurements.get(index);
    in_place.filter(same).or_else(|| report.measurements.iter().find(same))
}
