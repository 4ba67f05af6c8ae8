//! Lines of `--debug`: a topic, the number of the process, a text.

use candor_engine::Task;
use candor_fio::ast::Ast;
use candor_fio::flags::DebugKind;
use candor_fio::job::FioJob;
use candor_fio::options::TABLE;
use candor_fio::output::logs::operations;
use candor_plan::units::Direction;
use candor_plan::{PathText, Plan, text};
use candor_record::{Event, Measurement, Report};

/// A consumer of events that tells about some kinds of things.
pub struct Debug<'a> {
    kinds: &'a [DebugKind],
}

impl<'a> Debug<'a> {
    /// About these kinds of things.
    pub fn new(kinds: &'a [DebugKind]) -> Debug<'a> {
        Debug { kinds }
    }

    /// The first lines: which kinds are traced, and which cannot be.
    pub fn begin(&self) -> String {
        let line = |kind: &DebugKind| {
            let name = kind.name();
            let set = format!("fio: set debug option {name}\n");
            if kind.is_traced() { set } else { set + &said(*kind, "candor keeps no trace of this") }
        };
        self.kinds.iter().map(line).collect()
    }

    /// Every operation of the jobs.
    pub fn operations(&self, report: &Report, jobs: &[FioJob]) -> String {
        let lines = jobs.iter().flat_map(|job| operations::lines(report, job));
        self.tell(DebugKind::Io, lines)
    }

    fn tell(&self, kind: DebugKind, texts: impl Iterator<Item = String>) -> String {
        if self.kinds.contains(&kind) {
            texts.map(|text| said(kind, &text)).collect()
        } else {
            String::new()
        }
    }

    /// The options as they were read.
    pub fn words(&self, ast: &Ast) -> String {
        let globals = ast.globals.iter().map(|block| ("global", block));
        let own = ast.sections.iter().map(|section| (&*section.name.text, &section.own));
        let options = globals.chain(own).flat_map(|(section, block)| {
            block.assignments.iter().map(move |option| {
                let (name, value) = (&option.name.text, option.value.as_ref());
                let value = value.map_or("", |word| word.text.as_str());
                let value = TABLE.find(name).map_or(value, |row| row.shown(value));
                let steady = matches!(name.as_str(), "ss" | "steadystate");
                let meant = if steady { steady_limit(value) } else { String::new() };
                format!("[{section}] {name}={value}{meant}")
            })
        });
        self.tell(DebugKind::Parse, options)
    }

    /// The plan that the options lowered to.
    pub fn read(&self, plan: &Plan) -> String {
        let files = plan.targets.iter().map(|target| {
            let size = target.size.map_or_else(String::new, |size| format!(", {size}"));
            format!("uses {}{size}", target.path.text())
        });
        self.tell(DebugKind::Job, text::write(plan).lines().map(str::to_owned))
            + &self.tell(DebugKind::Random, seeds(plan))
            + &self.tell(DebugKind::File, files)
    }

    /// Something happened.
    pub fn on(&self, event: &Event) -> String {
        let once = |kind, text: String| self.tell(kind, std::iter::once(text));
        match event {
            Event::Preparing { step, what, bytes_done, bytes_total, .. } => {
                once(DebugKind::File, format!("{step:?} {what}: {bytes_done} of {bytes_total}"))
            }
            Event::PhaseStarted { phase, .. } => {
                once(DebugKind::Process, format!("jobs of `{phase}` are released"))
            }
            Event::WorkerDone { job, .. } => {
                once(DebugKind::Process, format!("job `{job}` has ended"))
            }
            Event::PhaseDone { record } => {
                self.tell(DebugKind::Io, record.measurements.iter().flat_map(moved))
                    + &self.tell(DebugKind::Verify, record.measurements.iter().filter_map(verified))
            }
            _ => String::new(),
        }
    }
}

/// The seed of the run and those that its workers draw from, in the words that scripts look for:
/// how many a worker has, and each by its number.
fn seeds(plan: &Plan) -> impl Iterator<Item = String> {
    let phases = (0..plan.phases.len()).map(|index| Task::of(plan, index));
    let jobs =
        phases.flat_map(|task| task.phase.jobs.iter().enumerate().map(move |job| (task, job)));
    let own = jobs.flat_map(move |(task, (index, job))| {
        (0..job.workers).flat_map(move |rank| {
            let seed = task.worker_seed(index, rank);
            let count = format!("job `{}`: FIO_RAND_NR_OFFS=1", job.name);
            [count, format!("job `{}`: rand_seeds[0]={seed}", job.name)]
        })
    });
    std::iter::once(format!("seed {}", plan.seed)).chain(own)
}

fn said(kind: DebugKind, text: &str) -> String {
    format!("{:<8} {:<5} {text}\n", kind.name(), std::process::id())
}

/// The limit of a steady state in the words that scripts look for.
fn steady_limit(value: &str) -> String {
    let (of, limit) = value.split_once(':').unwrap_or((value, ""));
    let number = |text: &str| text.parse::<f64>().unwrap_or_default();
    match limit.strip_suffix('%') {
        Some(percent) => format!(": set steady state threshold to {:.6}%", number(percent)),
        None if of.starts_with("iops") => {
            format!(": set steady state IOPS threshold to {:.6}", number(limit))
        }
        None => format!(": set steady state BW threshold to {limit}"),
    }
}

fn moved(job: &Measurement) -> impl Iterator<Item = String> {
    let done = Direction::ALL.into_iter().filter(|op| job.of(*op).ops > 0);
    done.map(|op| {
        let stats = job.of(op);
        format!("job `{}`: {}: {} operations, {} bytes", job.job, op.name(), stats.ops, stats.bytes)
    })
}

fn verified(job: &Measurement) -> Option<String> {
    let found = job.verify.as_ref()?;
    let wrong = found.flipped + found.torn + found.misdirected + found.stale + found.foreign;
    Some(format!("job `{}`: {} blocks checked, {wrong} wrong", job.job, found.blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_about_what_was_requested() {
        let debug = Debug::new(&[DebugKind::Process, DebugKind::Mem]);
        let process = std::process::id();
        assert_eq!(
            debug.begin(),
            format!(
                "fio: set debug option process\nfio: set debug option mem\n\
                 mem      {process:<5} candor keeps no trace of this\n"
            )
        );
        let ended = Event::WorkerDone { phase: "p".into(), job: "a".into(), rank: 0 };
        assert_eq!(debug.on(&ended), format!("process  {process:<5} job `a` has ended\n"));
        let plan = Plan::default();
        assert_eq!(debug.read(&plan), "");
        let random = Debug::new(&[DebugKind::Random]).read(&plan);
        assert_eq!(random, format!("random   {process:<5} seed 1\n"));
    }

    #[test]
    fn seeds_of_workers_are_reported_and_differ_with_that_of_the_run() {
        let read = "[[phase]]\nname = \"p\"\n[[phase.job]]\nname = \"a\"\nworkers = 2\n\
                    work.blocks = {}\n";
        let with = |seed| Plan { seed, ..text::read("t", read).unwrap().0 };
        let printed = |seed| seeds(&with(seed)).collect::<Vec<_>>();
        let (one, two) = (printed(1), printed(2));
        assert_eq!((one.len(), &*one[1]), (5, "job `a`: FIO_RAND_NR_OFFS=1"));
        let seed = one[2].strip_prefix("job `a`: rand_seeds[0]=").unwrap().parse::<u64>();
        assert_eq!(seed, Ok(Task::of(&with(1), 0).worker_seed(0, 0)));
        assert!(one[2] != one[4] && one[2] != two[2], "{one:?} {two:?}");
    }

    #[test]
    fn limits_of_steady_states_are_reported() {
        assert_eq!(steady_limit("iops:10"), ": set steady state IOPS threshold to 10.000000");
        assert_eq!(steady_limit("bw_slope:.1%"), ": set steady state threshold to 0.100000%");
        assert_eq!(steady_limit("bw:12"), ": set steady state BW threshold to 12");
    }
}
