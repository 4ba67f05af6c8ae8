//! Short trials of other work after a phase, where the phase alone could not tell what limited it.
//!
//! They read, and write only what the phase wrote to files that this run made. They stay within
//! the phase's targets and range, and take a tenth of its time at most.

use std::time::Instant;

use candor_judge::thresholds::AGAIN;
use candor_judge::{Question, nears_memory};
use candor_plan::units::{Direction, Extent, SizeSpec};
use candor_plan::{Blocks, Bytes, Job, Nanos, Phase, Sharing, Stop};
use candor_record::{Change, Event, FollowUp, Measurement, Note, PhaseRecord, PrepareStep};

use super::Run;
use crate::error::RunError;
use crate::runner::Task;

/// All follow-ups together take this share of their phase at most.
const SHARE: f64 = 0.1;
/// One follow-up takes at most so long, in seconds.
const SECONDS_MAX: f64 = 1.0;
/// A shorter one shows nothing.
const SECONDS_MIN: f64 = 0.5;
/// No follow-up has more workers, unless its phase had.
const WORKERS_MAX: u32 = 256;

impl Run {
    /// Runs what answers the judge's questions, as far as it is allowed and there is time for it.
    pub(super) fn follow_ups(
        &mut self,
        phase: &Phase,
        record: &mut PhaseRecord,
        questions: Vec<Question>,
    ) {
        let elapsed_s = record.measurements.first().map_or(0, |m| m.elapsed_ns) as f64 / 1e9;
        let can = |question: Question| {
            let phase = self.changed(phase, record, question.change)?;
            Some((question, phase))
        };
        let can: Vec<(Question, Phase)> = questions.into_iter().filter_map(can).collect();
        let (chosen, seconds) = affordable(can, elapsed_s);
        for (question, changed) in chosen {
            if !self.follow_up(&changed, &question, seconds, record) {
                return;
            }
            if question.change == Change::SamePlaces && !destroys(phase) && is_faster(record) {
                self.repeat_elsewhere(phase, seconds, record);
            }
        }
    }

    /// Measures how fast memory copies, after a phase that may have come near to that.
    pub(super) fn copy_memory(&mut self, record: &mut PhaseRecord) {
        if self.channels.control.is_over() || !nears_memory(&self.case(record)) {
            return;
        }
        self.announce(record, "memory may be the limit: this copies some of it");
        self.runner.measure_memory(&mut record.hosts);
    }

    /// Runs the same load on other places: the control for a second pass that was faster.
    fn repeat_elsewhere(&mut self, phase: &Phase, seconds: f64, record: &mut PhaseRecord) {
        let change = Change::OtherPlaces;
        let why = "the same places were faster, which the moment alone might have been".into();
        if let Some(changed) = self.changed(phase, record, change) {
            self.follow_up(&changed, &Question { change, why }, seconds, record);
        }
    }

    /// The phase with that change; none where it cannot be made without harm or in honesty.
    fn changed(&self, phase: &Phase, record: &PhaseRecord, change: Change) -> Option<Phase> {
        let [job] = phase.jobs.as_slice() else { return None };
        let blocks = job.blocks()?;
        if blocks.destroys().is_some() && !(change == Change::SamePlaces && self.writes_own(phase))
        {
            return None;
        }
        let mut job = Job { stop: None, delay: Nanos(0), ..job.clone() };
        let mut blocks = blocks.clone();
        match change {
            Change::SamePlaces | Change::OtherPlaces => {}
            Change::TwiceTheDepth => blocks.depth = blocks.depth.checked_mul(2)?,
            Change::TwiceTheWorkers => job.workers = job.workers.checked_mul(2)?,
            Change::TwiceTheThreads => {
                (job.workers, blocks.depth) = (job.workers.checked_mul(2)?, blocks.depth / 2);
            }
            Change::OneAtATime => (job.workers, blocks.depth) = (1, 1),
            Change::FilesOfTheirOwn => job.sharing = Sharing::Own,
        }
        if change != Change::SamePlaces && !blocks.access.is_random() {
            self.go_on(&job, &mut blocks, record.measurements.first()?)?;
        }
        job.work = blocks.into();
        let name = match change {
            Change::SamePlaces => phase.name.clone(),
            change => format!("{}: {change:?}", phase.name),
        };
        let changed =
            Phase { name, jobs: vec![job], ramp: Nanos(0), delay: Nanos(0), ..phase.clone() };
        let few = changed.jobs[0].workers <= WORKERS_MAX.max(phase.jobs[0].workers);
        let can = few && super::sensible(&super::alone(self.plan(), &changed)).is_ok();
        can.then_some(changed)
    }

    /// Work in sequence goes on where the phase ended: places that were read before may be in a
    /// cache below. None where there is not enough left.
    fn go_on(&self, job: &Job, blocks: &mut Blocks, measured: &Measurement) -> Option<()> {
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
        let done = measured.bytes_moved();
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

/// Those that there is time for after a phase of that length, and how long each may take.
fn affordable(questions: Vec<(Question, Phase)>, elapsed_s: f64) -> (Vec<(Question, Phase)>, f64) {
    let budget_s = SHARE * elapsed_s;
    // A second read that is faster takes a control.
    let cost = |question: &Question, phase: &Phase| match question.change {
        Change::SamePlaces if !destroys(phase) => 2.0,
        _ => 1.0,
    };
    let (mut left, mut parts) = ((budget_s / SECONDS_MIN).floor(), 0.0);
    let mut chosen = questions;
    chosen.retain(|(question, phase)| {
        let cost = cost(question, phase);
        let fits = cost <= left;
        if fits {
            left -= cost;
            parts += cost;
        }
        fits
    });
    let seconds = (budget_s / f64::max(parts, 1.0)).clamp(SECONDS_MIN, SECONDS_MAX);
    (chosen, seconds)
}

/// The second pass was so much faster that the moment has to be ruled out.
fn is_faster(record: &PhaseRecord) -> bool {
    let rate = |m: &Measurement| m.ops_done() as f64 / m.elapsed_ns.max(1) as f64;
    let (Some(phase), Some(last)) = (record.measurements.first(), record.follow_ups.last()) else {
        return false;
    };
    rate(&last.measurement) >= AGAIN.value * rate(phase)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use candor_plan::blocks::Access;
    use candor_plan::units::Mix;
    use candor_plan::{Layout, Plan, Target};
    use candor_record::OpStats;

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

    #[test]
    fn nothing_is_written_but_to_files_of_this_run() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let theirs = dir.path().join("theirs");
        std::fs::write(&theirs, "precious").expect("written");
        let (mut theirs, phase) = run(&theirs, Mix::WRITE, Access::Random);
        theirs.phase(Step::Planned { index: 0, repeat: 0 }).expect("it may, and runs");
        assert_eq!(theirs.changed(&phase, &read(0), Change::SamePlaces), None);
        let (mut ours, phase) = run(&dir.path().join("ours"), Mix::WRITE, Access::Random);
        assert_eq!(ours.changed(&phase, &read(0), Change::SamePlaces), None, "it is not there");
        ours.phase(Step::Planned { index: 0, repeat: 0 }).expect("it runs");
        assert!(ours.changed(&phase, &read(0), Change::SamePlaces).is_some());
        assert_eq!(ours.changed(&phase, &read(0), Change::TwiceTheWorkers), None);
        ours.report.plan.targets[0].keep = true;
        assert_eq!(ours.changed(&phase, &read(0), Change::SamePlaces), None, "it is to be kept");
    }

    #[test]
    fn work_in_sequence_goes_on_where_the_phase_ended() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        let (sequence, phase) = run(file.path(), Mix::READ, Access::Sequential);
        let start = |bytes| {
            let changed = sequence.changed(&phase, &read(bytes), Change::TwiceTheDepth)?;
            Some(changed.jobs[0].blocks()?.range.start)
        };
        assert_eq!(start(8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start(1_044_480), None, "not two seconds' worth is left");
        assert_eq!(start((1 << 20) + 8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start((2 << 20) - 4096), Some(Extent::Bytes(Bytes(0))), "all was read before");
        let random = run(file.path(), Mix::READ, Access::Random);
        let twice = random.0.changed(&random.1, &read(8192), Change::TwiceTheWorkers);
        let twice = twice.expect("it can");
        assert_eq!(twice.jobs[0].workers, 2);
    }

    #[test]
    fn all_follow_ups_take_a_tenth_of_their_phase_at_most() {
        let question = |change| (Question { change, why: String::new() }, Phase::default());
        let all = || {
            let changes = [Change::TwiceTheDepth, Change::SamePlaces, Change::OneAtATime];
            changes.into_iter().map(question).collect::<Vec<_>>()
        };
        let chosen = |elapsed_s: f64| {
            let (chosen, seconds) = affordable(all(), elapsed_s);
            let changes: Vec<Change> = chosen.iter().map(|(question, _)| question.change).collect();
            (changes, seconds)
        };
        use Change::{OneAtATime, SamePlaces, TwiceTheDepth};
        assert_eq!(chosen(4.9).0, []);
        assert_eq!(chosen(5.0), (vec![TwiceTheDepth], 0.5));
        assert_eq!(chosen(10.0), (vec![TwiceTheDepth, OneAtATime], 0.5), "no room for a control");
        assert_eq!(chosen(16.0).0, [TwiceTheDepth, SamePlaces]);
        assert_eq!(chosen(20.0), (vec![TwiceTheDepth, SamePlaces, OneAtATime], 0.5));
        assert_eq!(chosen(30.0), (vec![TwiceTheDepth, SamePlaces, OneAtATime], 0.75));
        assert_eq!(chosen(3600.0).1, 1.0);
        let mut writes = vec![question(SamePlaces)];
        let blocks = Blocks { mix: Mix::WRITE, ..Blocks::default() };
        writes[0].1.jobs = vec![Job { work: blocks.into(), ..Job::default() }];
        assert_eq!(affordable(writes, 5.0).0.len(), 1, "writing once more needs no control");
    }
}
