//! The phases of a repetition, in IOR's order: delete, fill, write, check, read, remove.

use std::time::Duration;

use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Job, Nanos, PathText, Phase, Plan, Sharing, Target};

use super::files::{self, Files, Present};
use super::{PhaseKind, TestPhase, work};
use crate::options::TestScope;
use crate::setup::{self, TestSetup};
use candor_front::{Diagnostics, Host, Origins};

/// Most phases, the same as in a plan.
const PHASES_MAX: usize = 4096;

/// A plan to which tests are added.
pub(super) struct Lowering<'a> {
    pub plan: Plan,
    pub host: &'a dyn Host,
    pub present: Present,
    pub phases: Vec<TestPhase>,
}

impl Lowering<'_> {
    /// Adds the phases of a test.
    pub fn test(
        &mut self,
        nth: usize,
        tests: &mut [TestSetup],
        scope: &TestScope<'_>,
        origins: &mut Origins,
        out: &mut Diagnostics,
    ) {
        let several = tests.len() > 1;
        let test = &mut tests[nth];
        for repetition in 0..test.options.run.repetitions {
            let files = Files::of(test, repetition, self.host, scope, out);
            if repetition == 0 {
                self.notice(test, &files, scope, out);
            }
            if !out.errors.is_empty() {
                return;
            }
            let place = Place { nth, repetition, several };
            let first = self.plan.phases.len();
            if first >= PHASES_MAX {
                let message = format!("there are more than {PHASES_MAX} phases");
                return out.wrong(scope, "repetitions", message, "repeat the command line instead");
            }
            self.repetition(&place, test, &files);
            for phase in first..self.plan.phases.len() {
                origins.job(phase, 0, scope);
            }
        }
    }

    /// Warns like IOR about existing files, and notes that devices stay.
    fn notice(
        &mut self,
        test: &mut TestSetup,
        files: &Files,
        scope: &TestScope<'_>,
        out: &mut Diagnostics,
    ) {
        let run = &test.options.run;
        if files.is_device && !(run.keep && (run.use_existing || !run.write)) {
            let why = "IOR would delete the node of the device";
            out.note(scope, "testFile", "the device stays", why);
        }
        if !(run.write || run.check_write) || files.is_device {
            return;
        }
        let fate = if run.use_existing { "overwritten" } else { "deleted" };
        let present = self.present.of(&files.paths, self.host);
        if let Some(first) = present.first() {
            let path = files.paths[*first].text();
            let warning = format!("The file \"{path}\" exists already and will be {fate}");
            setup::warn(test, scope, "testFile", &warning, out);
        }
    }

    fn repetition(&mut self, place: &Place, test: &TestSetup, files: &Files) {
        let run = &test.options.run;
        let removes = !files.is_device && !files.paths.is_empty();
        if run.write {
            let present = self.present.of(&files.paths, self.host);
            if removes && !run.use_existing && !present.is_empty() {
                let name = place.name("old files");
                let targets = files::old(&files.paths, &present, &name);
                self.unlink(place, PhaseKind::Clear, test, &targets);
                self.present.set(&files.paths, false);
            }
            match work::filling(test) {
                Some(filling) => {
                    self.moves(place, PhaseKind::Fill, &filling, &files.written);
                    self.moves(place, PhaseKind::Write, test, &files.found);
                }
                None => self.moves(place, PhaseKind::Write, test, &files.written),
            }
            self.present.set(&files.paths, true);
        }
        if run.check_write {
            self.moves(place, PhaseKind::Check, test, &files.found);
        }
        if test.reads() {
            self.moves(place, PhaseKind::Read, test, &files.found);
        }
        if removes && !run.keep {
            self.unlink(place, PhaseKind::Remove, test, &files.found);
            self.present.set(&files.paths, false);
        }
    }

    /// A phase that moves bytes.
    fn moves(&mut self, place: &Place, kind: PhaseKind, test: &TestSetup, targets: &[Target]) {
        let job = work::job(test, kind, place.repetition, self.use_targets(targets));
        let waits = matches!(kind, PhaseKind::Write | PhaseKind::Read);
        let between = if waits { test.options.run.delay } else { Duration::ZERO };
        let delay = between + work::dummy_delay(test, kind);
        let delay = Nanos(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        self.push(place, kind, Phase { delay, ..phase(job) });
    }

    /// A phase that removes files: each task removes its own file, the first task a shared one.
    fn unlink(&mut self, place: &Place, kind: PhaseKind, test: &TestSetup, targets: &[Target]) {
        let per_process = test.options.layout.file_per_process;
        let work =
            Entries { over: Over::TargetFiles, steps: vec![Step::Unlink], ..Entries::default() };
        let job = Job {
            name: "tasks".into(),
            workers: if per_process { test.tasks } else { 1 },
            targets: self.use_targets(targets),
            sharing: Sharing::Shared,
            // Removals come between results and are no results themselves.
            wants_cache: true,
            work: work.into(),
            ..Job::default()
        };
        self.push(place, kind, phase(job));
    }

    /// Adds targets that the plan does not have yet, and returns the names of all targets.
    fn use_targets(&mut self, targets: &[Target]) -> Vec<String> {
        targets.iter().map(|target| self.use_target(target)).collect()
    }

    /// Another test may use the same files with other sizes; its targets have a number after the
    /// name.
    fn use_target(&mut self, target: &Target) -> String {
        let named = |nth: usize| {
            let number = if nth == 1 { String::new() } else { format!(" ({nth})") };
            Target { name: format!("{}{number}", target.name), ..target.clone() }
        };
        let has_place = |of: &Target| self.plan.target(&of.name).is_none_or(|known| known == of);
        let wanted = (1..).map(named).find(has_place).unwrap_or_default();
        let name = wanted.name.clone();
        if self.plan.target(&name).is_none() {
            self.plan.targets.push(wanted);
        }
        name
    }

    fn push(&mut self, place: &Place, kind: PhaseKind, phase: Phase) {
        let name = place.name(kind.word());
        self.plan.phases.push(Phase { name, ..phase });
        self.phases.push(TestPhase { test: place.nth, repetition: place.repetition, kind });
    }
}

fn phase(job: Job) -> Phase {
    Phase { jobs: vec![job], ..Phase::default() }
}

/// A repetition of a test.
struct Place {
    nth: usize,
    repetition: u32,
    /// The plan has several tests.
    several: bool,
}

impl Place {
    /// A unique name of a phase or a target.
    fn name(&self, of: &str) -> String {
        let test = if self.several { format!("test {}, ", self.nth) } else { String::new() };
        let repetition = match self.repetition {
            0 => String::new(),
            later => format!(", repetition {later}"),
        };
        format!("{test}{of}{repetition}")
    }
}

impl PhaseKind {
    /// Name of the phase.
    pub fn word(self) -> &'static str {
        match self {
            PhaseKind::Clear => "delete",
            PhaseKind::Fill => "fill",
            PhaseKind::Write => "write",
            PhaseKind::Check => "check",
            PhaseKind::Read => "read",
            PhaseKind::Remove => "remove",
        }
    }
}
