//! Short trials of other work after a phase, where the phase alone could not tell what limited it.
//!
//! They read, and write only what the phase wrote to files that this run made. They stay within
//! the phase's targets and range, and take a tenth of its time at most.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use candor_engine::names;
use candor_engine::{Prepared, Task, Watch};
use candor_judge::thresholds::AGAIN;
use candor_judge::{Question, nears_memory};
use candor_observe::{Sampler, SnapshotDetail};
use candor_plan::units::{Direction, Extent, SizeSpec};
use candor_plan::{Blocks, Bytes, Job, Nanos, Phase, Plan, Sharing, Stop};
use candor_record::{
    Change, Event, FollowUp, Measurement, Note, PhaseRecord, PrepareStep, Snapshot,
};

use super::Local;
use crate::error::RunError;
use crate::memory;
use crate::stop::interrupted;
use crate::{Events, ready};

/// All follow-ups together take this share of their phase at most.
const SHARE: f64 = 0.1;
/// One follow-up takes at most so long, in seconds.
const SECONDS_MAX: f64 = 1.0;
/// A shorter one tells nothing.
const SECONDS_MIN: f64 = 0.5;
/// More is not asked of a host for a look.
const WORKERS_MAX: u32 = 256;

impl Local {
    /// Runs what the judge wants to know, as far as it is allowed and there is time for it, and
    /// has the phase judged again with it.
    pub(super) fn follow_ups(
        &mut self,
        phase: &Phase,
        record: &mut PhaseRecord,
        questions: Vec<Question>,
        events: &mut Events<'_>,
    ) {
        let elapsed_s = record.measurements.first().map_or(0, |m| m.elapsed_ns) as f64 / 1e9;
        let can = |question: Question| {
            let phase = self.changed(phase, record, question.change)?;
            Some((question, phase))
        };
        let can: Vec<(Question, Phase)> = questions.into_iter().filter_map(can).collect();
        let (chosen, seconds) = affordable(can, elapsed_s);
        for (question, changed) in chosen {
            if !self.follow_up(&changed, &question, seconds, record, events) {
                return;
            }
            if question.change == Change::SamePlaces && !destroys(phase) && is_faster(record) {
                self.control(phase, seconds, record, events);
            }
        }
    }

    /// How fast memory copies, after a phase that may have come near to that.
    pub(super) fn copy_memory(&mut self, record: &mut PhaseRecord, events: &mut Events<'_>) {
        let stop = interrupted().load(Relaxed) || self.is_called_off();
        if stop || !nears_memory(&self.case(record)) {
            return;
        }
        preparing(record, "memory may be the limit: this copies some of it", events);
        if let Some(host) = record.hosts.first_mut() {
            host.memory_copy =
                memory::copy(&mut self.session, &self.facts.host, &self.roots, interrupted());
        }
    }

    /// Other places with the same load: what the moment is like.
    fn control(
        &mut self,
        phase: &Phase,
        seconds: f64,
        record: &mut PhaseRecord,
        events: &mut Events<'_>,
    ) {
        let change = Change::OtherPlaces;
        let why = "the same places were faster, which the moment alone might have been".into();
        if let Some(changed) = self.changed(phase, record, change) {
            self.follow_up(&changed, &Question { change, why }, seconds, record, events);
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
        let alone = Plan { phases: vec![changed.clone()], ..self.plan.clone() };
        let can = few && super::sensible(&alone).is_ok();
        can.then_some(changed)
    }

    /// Work in sequence goes on where the phase ended: places that were read before may be in a
    /// cache below. None where there is not enough left.
    fn go_on(&self, job: &Job, blocks: &mut Blocks, measured: &Measurement) -> Option<()> {
        let whole = blocks.range == candor_plan::blocks::Range::default();
        let ([name], 1, true) = (job.targets.as_slice(), job.workers, whole) else { return None };
        let index = self.plan.targets.iter().position(|target| target.name == *name)?;
        let facts = self.facts.targets.get(index)?;
        let of_file = || match facts.files.as_slice() {
            [file] => Some(file.size_bytes),
            _ => None,
        };
        let of_device = || Some(self.facts.device(&facts.device.as_ref()?.value)?.size_bytes);
        let asked = self.plan.targets[index].size.map(|size| size.0);
        let size = asked.or_else(of_file).or_else(of_device).filter(|size| *size > 0)?;
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

    /// Nothing is written but to files that this run made and will remove.
    fn writes_own(&self, phase: &Phase) -> bool {
        let mut paths = ready::targets(&self.plan, phase)
            .into_iter()
            .flat_map(|(_, target, _)| names::paths(target).map(move |path| (target, path)));
        let verified = self.plan.phases.iter().flat_map(|phase| &phase.jobs);
        let verified = verified.filter_map(|job| job.blocks()).any(|b| b.verify.is_some());
        !verified && paths.all(|(target, path)| !target.keep && self.guard.made(&path))
    }

    /// Runs one follow-up and adds it to the record; false where no other should follow.
    fn follow_up(
        &mut self,
        changed: &Phase,
        question: &Question,
        seconds: f64,
        record: &mut PhaseRecord,
        events: &mut Events<'_>,
    ) -> bool {
        if interrupted().load(Relaxed) || self.is_called_off() {
            return false;
        }
        preparing(record, &question.why, events);
        match self.run_follow_up(changed, question, seconds, record) {
            Ok(follow_up) => {
                let whole = !interrupted().load(Relaxed);
                if whole {
                    record.follow_ups.push(follow_up);
                }
                whole
            }
            Err(error) => {
                self.notes.push(Note {
                    asked: format!("a short trial after `{}`: {}", record.name, question.why),
                    did: "nothing".into(),
                    why: error.to_string(),
                    place: None,
                });
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
        let writes = destroys(changed);
        // Not further than any worker came before: what it did not write is not ours to write.
        let workers = record.measurements.iter().flat_map(|m| &m.per_worker);
        let least = workers.map(|worker| worker.bytes).min().map(Bytes).filter(|_| writes);
        let stop = Stop { time, bytes: least, ..Stop::default() };
        let changed = Phase { stop, ..changed.clone() };
        if writes {
            self.guard.admit(&Plan { phases: vec![changed.clone()], ..self.plan.clone() })?;
        }
        let mut sampler = Sampler::new(&self.facts, &self.files(&changed), &self.roots);
        // A second pass makes the random choices of its phase; others make new ones.
        let index = (question.change == Change::SamePlaces).then_some(record.phase);
        let task = Task { plan: &self.plan, phase: &changed, index, repeat: record.repeat };
        let prepared = Prepared::new(&mut self.session, &task)?;
        let mut ends = Ends { local: self, sampler: &mut sampler, at: Default::default() };
        let measurement = prepared.run(interrupted(), &mut ends).into_iter().next();
        let [before, after] = ends.at;
        let job = &changed.jobs[0];
        Ok(FollowUp {
            change: question.change,
            why: question.why.clone(),
            workers: job.workers,
            depth: job.blocks().map_or(1, |blocks| blocks.depth),
            cost_s: began.elapsed().as_secs_f64(),
            measurement: measurement.unwrap_or_default(),
            before,
            after,
        })
    }
}

/// Says why a follow-up runs.
fn preparing(record: &PhaseRecord, why: &str, events: &mut Events<'_>) {
    events(&Event::Preparing {
        phase: record.name.clone(),
        step: PrepareStep::FollowUp,
        what: why.to_owned(),
        bytes_done: 0,
        bytes_total: 0,
    });
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

/// Takes the two snapshots of a follow-up.
struct Ends<'a> {
    local: &'a Local,
    sampler: &'a mut Sampler,
    at: [Snapshot; 2],
}

impl Watch for Ends<'_> {
    fn about_to_start(&mut self) {
        self.at[0] = self.sampler.snapshot(SnapshotDetail::Full);
    }

    fn calls_off(&mut self) -> bool {
        self.local.is_called_off()
    }

    fn ended(&mut self) {
        self.at[1] = self.sampler.snapshot(SnapshotDetail::Full);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use candor_plan::blocks::Access;
    use candor_plan::units::Mix;
    use candor_plan::{Layout, Target};
    use candor_record::OpStats;

    use super::*;
    use crate::Options;

    /// A runner of one job on one file, and its phase.
    fn runner(path: &Path, mix: Mix, access: Access) -> (Local, Phase) {
        let target = Target {
            path: path.to_owned(),
            size: Some(Bytes(1 << 20)),
            overwrite: true,
            layout: Layout::Never,
            ..Target::default()
        };
        let blocks = Blocks { mix, access, direct: true, ..Blocks::default() };
        let targets = vec!["target".to_owned()];
        let job = Job { workers: 1, targets, work: blocks.into(), ..Job::default() };
        let phase = Phase { jobs: vec![job], ..Phase::default() };
        let plan = Plan { targets: vec![target], phases: vec![phase.clone()], ..Plan::default() };
        let local = Local::open(&plan, &Options::default(), &mut |_| {}).expect("the plan is fine");
        (local, phase)
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
        let (local, phase) = runner(&theirs, Mix::WRITE, Access::Random);
        assert_eq!(local.changed(&phase, &read(0), Change::SamePlaces), None);
        let ours = dir.path().join("ours");
        let (mut local, phase) = runner(&ours, Mix::WRITE, Access::Random);
        assert_eq!(local.changed(&phase, &read(0), Change::SamePlaces), None, "it is not there");
        let target = local.plan.targets[0].clone();
        local.guard.create(&target, 0, &ours, None).expect("made");
        assert!(local.changed(&phase, &read(0), Change::SamePlaces).is_some());
        assert_eq!(local.changed(&phase, &read(0), Change::TwiceTheWorkers), None);
        local.plan.targets[0].keep = true;
        assert_eq!(local.changed(&phase, &read(0), Change::SamePlaces), None, "it is to be kept");
    }

    #[test]
    fn work_in_sequence_goes_on_where_the_phase_ended() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        let (local, phase) = runner(file.path(), Mix::READ, Access::Sequential);
        let start = |bytes| {
            let changed = local.changed(&phase, &read(bytes), Change::TwiceTheDepth)?;
            Some(changed.jobs[0].blocks()?.range.start)
        };
        assert_eq!(start(8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start(1_044_480), None, "not two seconds' worth is left");
        assert_eq!(start((1 << 20) + 8192), Some(Extent::Bytes(Bytes(8192))));
        assert_eq!(start((2 << 20) - 4096), Some(Extent::Bytes(Bytes(0))), "all was read before");
        let random = runner(file.path(), Mix::READ, Access::Random);
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
