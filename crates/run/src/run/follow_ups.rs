//! Short trials of other work after a phase, where the phase alone could not tell what limited it.
//!
//! They read, and write only what the phase wrote to files that this run made. They stay within
//! the phase's targets and range, and take a tenth of its time at most.

use std::time::Instant;

use candor_judge::{Question, judge, nears_memory, questions};
use candor_plan::units::{Direction, Extent, SizeSpec};
use candor_plan::{Blocks, Bytes, Job, Nanos, Phase, Sharing, Stop};
use candor_record::{Change, Event, FollowUp, Note, PhaseRecord, PrepareStep};

use super::Run;
use crate::error::RunError;
use crate::runner::Task;

/// All follow-ups together take this share of their phase at most, and two of the shortest.
const SHARE: f64 = 0.1;
/// One follow-up takes at most so long, in seconds.
const SECONDS_MAX: f64 = 1.0;
/// A shorter one shows nothing.
const SECONDS_MIN: f64 = 0.5;
/// Follow-ups that there should be time for, where the phase is long enough.
const FOLLOW_UPS: f64 = 6.0;
/// No follow-up has more workers, unless its phase had.
const WORKERS_MAX: u32 = 256;

impl Run {
    /// Runs what answers the judge's questions, as far as it is allowed and there is time for it.
    /// What one answered decides what is asked next.
    pub(super) fn follow_ups(&mut self, phase: &Phase, record: &mut PhaseRecord) {
        let elapsed_s = record.measurements.first().map_or(0, |m| m.elapsed_ns) as f64 / 1e9;
        let mut budget = Budget::of(elapsed_s);
        while let Some((question, changed)) = self.next_follow_up(phase, record, &budget) {
            budget.left -= 1;
            if !self.follow_up(&changed, &question, budget.seconds, record) {
                return;
            }
        }
    }

    /// The most important question that is open, can be asked, and that there is time for.
    fn next_follow_up(
        &self,
        phase: &Phase,
        record: &PhaseRecord,
        budget: &Budget,
    ) -> Option<(Question, Phase)> {
        let case = self.case(record);
        let mut open = questions(&case, &judge(&case)).into_iter();
        open.find_map(|question| {
            let changed = self.changed(phase, record, &question)?;
            (cost(&question, &changed) <= budget.left).then_some((question, changed))
        })
    }

    /// Measures how fast memory copies, after a phase that may have come near to that.
    pub(super) fn copy_memory(&mut self, record: &mut PhaseRecord) {
        if self.channels.control.is_over() || !nears_memory(&self.case(record)) {
            return;
        }
        self.announce(record, "memory may be the limit: this copies some of it");
        self.runner.measure_memory(&mut record.hosts);
    }

    /// The phase with that change; none where it cannot be made without harm or in honesty.
    fn changed(&self, phase: &Phase, record: &PhaseRecord, question: &Question) -> Option<Phase> {
        let change = question.change;
        let [job] = phase.jobs.as_slice() else { return None };
        let blocks = job.blocks()?;
        if blocks.destroys().is_some() && !(change == Change::SamePlaces && self.writes_own(phase))
        {
            return None;
        }
        let mut job = Job { stop: None, delay: Nanos(0), ..job.clone() };
        let mut blocks = blocks.clone();
        (job.workers, blocks.depth) = (question.workers, question.depth);
        if change == Change::FilesOfTheirOwn {
            job.sharing = Sharing::Own;
        }
        if change != Change::SamePlaces && !blocks.access.is_random() {
            self.go_on(&job, &mut blocks, record)?;
        }
        job.work = blocks.into();
        let name = match change {
            Change::SamePlaces => phase.name.clone(),
            // Each load and each repeat of it makes random choices of its own.
            change => format!("{}: {change:?} {}", phase.name, record.follow_ups.len()),
        };
        let changed = Phase {
            name,
            jobs: vec![job],
            ramp: Nanos(0),
            ramp_amount: None,
            delay: Nanos(0),
            ..phase.clone()
        };
        let few = changed.jobs[0].workers <= WORKERS_MAX.max(phase.jobs[0].workers);
        let can = few && super::sensible(&super::alone(self.plan(), &changed)).is_ok();
        can.then_some(changed)
    }

    /// Work in sequence goes on where the phase ended: places that were read before may be in a
    /// cache below. None where there is not enough left.
    fn go_on(&self, job: &Job, blocks: &mut Blocks, record: &PhaseRecord) -> Option<()> {
        let whole = blocks.range == candor_plan::blocks::Range::default();
        let ([name], 1, true) = (job.targets.as_slice(), job.workers, whole) else { return None };
        let index = self.plan().targets.iter().position(|target| target.name == *name)?;
        let facts = self.facts().targets.get(index)?;
        let of_file = || match facts.files.as_slice() {
            [file] => Some(file.size_bytes),
            _ => None,
        };
        let of_device = || Some(self.facts().device(&facts.device.as_ref()?.value)?.size_bytes);
        let planned = self.plan().targets[index].size.map(|size| size.0);
        let size = planned.or_else(of_file).or_else(of_device).filter(|size| *size > 0)?;
        let SizeSpec::Fixed(each) = blocks.size.read else { return None };
        let measured = record.measurements.first()?;
        let went_on = record.follow_ups.iter().filter(|f| f.change != Change::SamePlaces);
        let done = went_on.fold(measured.bytes_moved(), |sum, f| sum + f.measurement.bytes_moved());
        let at = done % size / each.0.max(1) * each.0;
        let second = measured.of(Direction::Read).bytes_per_s as u64;
        // What was read several times over is as it was, wherever the follow-up begins.
        if size - at < second.saturating_mul(2) {
            return (done >= size).then_some(());
        }
        blocks.range.start = Extent::Bytes(Bytes(at));
        Some(())
    }

    /// True where a phase writes nothing but unverified bytes of files that the run will remove.
    fn writes_own(&self, phase: &Phase) -> bool {
        let jobs = self.plan().phases.iter().flat_map(|phase| &phase.jobs);
        let verified = jobs.filter_map(|job| job.blocks()).any(|b| b.verify.is_some());
        !verified && self.runner.owns(self.plan(), phase)
    }

    /// Runs one follow-up and adds it to the record; false where no other should follow.
    fn follow_up(
        &mut self,
        changed: &Phase,
        question: &Question,
        seconds: f64,
        record: &mut PhaseRecord,
    ) -> bool {
        if self.channels.control.is_over() {
            return false;
        }
        self.announce(record, &question.why);
        match self.run_follow_up(changed, question, seconds, record) {
            Ok(follow_up) => {
                let whole = !self.channels.control.is_stopped();
                if whole {
                    record.follow_ups.push(follow_up);
                }
                whole
            }
            Err(error) => {
                self.note(vec![Note {
                    asked: format!("a short trial after `{}`: {}", record.name, question.why),
                    did: "nothing".into(),
                    why: error.to_string(),
                    place: None,
                }]);
                false
            }
        }
    }

    fn run_follow_up(
        &mut self,
        changed: &Phase,
        question: &Question,
        seconds: f64,
        record: &PhaseRecord,
    ) -> Result<FollowUp, RunError> {
        let began = Instant::now();
        let time = Some(Nanos((seconds * 1e9) as u64));
        // Not further than any worker came before: what it did not write is not ours to write.
        let workers = record.measurements.iter().flat_map(|m| &m.per_worker);
        let least = workers.map(|worker| worker.bytes).min().map(Bytes);
        let stop = Stop { time, bytes: least.filter(|_| destroys(changed)), ..Stop::default() };
        let changed = Phase { stop, ..changed.clone() };
        // A second pass makes the random choices of its phase; others make new ones.
        let index = (question.change == Change::SamePlaces).then_some(record.phase);
        let (plan, phase, repeat) = (&self.report.plan, &changed, record.repeat);
        let task = Task { plan, phase, index, repeat, follow_up: true };
        let collected = self.runner.prepare(&task)?.start(None).collect(&mut |_| {});
        self.report.notes.extend(collected.notes);
        let host = collected.hosts.into_iter().next().unwrap_or_default();
        let job = &changed.jobs[0];
        Ok(FollowUp {
            change: question.change,
            why: question.why.clone(),
            workers: job.workers,
            depth: job.blocks().map_or(1, |blocks| blocks.depth),
            cost_s: began.elapsed().as_secs_f64(),
            measurement: collected.measurements.into_iter().next().unwrap_or_default(),
            before: host.before,
            after: host.after,
        })
    }

    /// Says why a follow-up runs.
    fn announce(&self, record: &PhaseRecord, why: &str) {
        self.channels.events.send(Event::Preparing {
            phase: record.name.clone(),
            step: PrepareStep::FollowUp,
            what: why.to_owned(),
            bytes_done: 0,
            bytes_total: 0,
        });
    }
}

fn destroys(phase: &Phase) -> bool {
    phase.jobs.iter().any(|job| job.work.destroys().is_some())
}

/// Time for follow-ups.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Budget {
    /// Length of one.
    seconds: f64,
    /// How many may still run.
    left: u32,
}

impl Budget {
    /// After a phase of that length.
    fn of(elapsed_s: f64) -> Budget {
        // Two show whether more load moves more; fewer decide nothing.
        let all_s = (SHARE * elapsed_s).max(2.0 * SECONDS_MIN);
        let seconds = (all_s / FOLLOW_UPS).clamp(SECONDS_MIN, SECONDS_MAX);
        Budget { seconds, left: (all_s / seconds) as u32 }
    }
}

/// Follow-ups that an answer takes: a second read that is faster takes a control.
fn cost(question: &Question, phase: &Phase) -> u32 {
    match question.change {
        Change::SamePlaces if !destroys(phase) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use candor_plan::blocks::Access;
    use candor_plan::units::Mix;
    use candor_plan::{Layout, Plan, Target};
    use candor_record::{Measurement, OpStats};

    use super::*;
    use crate::{Channels, HostOptions, Local, Options, Step};

    /// A run of one job on one file, and its phase.
    fn run(path: &Path, mix: Mix, access: Access) -> (Run, Phase) {
        let target = Target {
            path: path.to_owned(),
            size: Some(Bytes(1 << 20)),
            overwrite: true,
            layout: Layout::Never,
            ..Target::default()
        };
        let blocks = Blocks { mix, access, ..Blocks::default() };
        let targets = vec!["target".to_owned()];
        let job = Job { workers: 1, targets, work: blocks.into(), ..Job::default() };
        let phase = Phase { jobs: vec![job], ..Phase::default() };
        let plan = Plan { targets: vec![target], phases: vec![phase.clone()], ..Plan::default() };
        let channels = Channels::default();
        let host = HostOptions { at_once: true, ..HostOptions::default() };
        let local = Box::new(Local::new(&host, &channels));
        let mut run = Run::new(local, &Options::default(), &channels);
        run.open(plan, None).expect("the plan is fine");
        (run, phase)
    }

    /// A phase that read so many bytes.
    fn read(bytes: u64) -> PhaseRecord {
        let stats = OpStats { ops: 1, bytes, bytes_per_s: 4096.0, ..OpStats::default() };
        let mut measurement = Measurement::default();
        measurement.put(Direction::Read, stats);
        PhaseRecord { measurements: vec![measurement], ..PhaseRecord::default() }
    }

    /// The phase with that change; a change of load doubles it.
    fn changed(run: &Run, phase: &Phase, bytes: u64, change: Change) -> Option<Phase> {
        let workers = if change == Change::MoreWorkers { 2 } else { 1 };
        let depth = if change == Change::MoreDepth { 2 } else { 1 };
        let question = Question { change, workers, depth, why: String::new() };
        run.changed(phase, &read(bytes), &question)
    }

    #[test]
    fn nothing_is_written_but_to_files_of_this_run() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let theirs = dir.path().join("theirs");
        std::fs::write(&theirs, "precious").expect("written");
        let (mut theirs, phase) = run(&theirs, Mix::WRITE, Access::Random);
        theirs.phase(Step::Planned { index: 0, repeat: 0 }).expect("it may, and runs");
        assert_eq!(changed(&theirs, &phase, 0, Change::SamePlaces), None);
        let (mut ours, phase) = run(&dir.path().join("ours"), Mix::WRITE, Access::Random);
        assert_eq!(changed(&ours, &phase, 0, Change::SamePlaces), None, "it is not there");
        ours.phase(Step::Planned { index: 0, repeat: 0 }).expect("it runs");
        assert!(changed(&ours, &phase, 0, Change::SamePlaces).is_some());
        assert_eq!(changed(&ours, &phase, 0, Change::MoreWorkers), None);
        ours.report.plan.targets[0].keep = true;
        assert_eq!(changed(&ours, &phase, 0, Change::SamePlaces), None, "it is to be kept");
    }

    #[test]
    fn work_in_sequence_goes_on_where_the_phase_ended() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        let (sequence, phase) = run(file.path(), Mix::READ, Access::Sequential);
        let start = |bytes| {
            let deeper = changed(&sequence, &phase, bytes, Change::MoreDepth)?;
            Some(deeper.jobs[0].blocks()?.range.start)
        };
        assert_eq!(start(8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start(1_044_480), None, "not two seconds' worth is left");
        assert_eq!(start((1 << 20) + 8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start((2 << 20) - 4096), Some(Extent::Bytes(Bytes(0))), "all was read before");
        let random = run(file.path(), Mix::READ, Access::Random);
        let twice = changed(&random.0, &random.1, 8192, Change::MoreWorkers);
        let twice = twice.expect("it can");
        assert_eq!(twice.jobs[0].workers, 2);
    }

    #[test]
    fn all_follow_ups_take_a_tenth_of_their_phase_or_a_second() {
        for (elapsed_s, seconds, left) in
            [(5.0, 0.5, 2), (10.0, 0.5, 2), (20.0, 0.5, 4), (30.0, 0.5, 6), (45.0, 0.75, 6)]
        {
            assert_eq!(Budget::of(elapsed_s), Budget { seconds, left }, "{elapsed_s}");
        }
        assert_eq!(Budget::of(3600.0), Budget { seconds: 1.0, left: 360 });
        let question = |change| Question { change, workers: 1, depth: 1, why: String::new() };
        let mut phase = Phase::default();
        assert_eq!(cost(&question(Change::MoreDepth), &phase), 1);
        assert_eq!(cost(&question(Change::SamePlaces), &phase), 2, "it may take a control");
        let blocks = Blocks { mix: Mix::WRITE, ..Blocks::default() };
        phase.jobs = vec![Job { work: blocks.into(), ..Job::default() }];
        assert_eq!(cost(&question(Change::SamePlaces), &phase), 1, "writing needs no control");
    }
}
