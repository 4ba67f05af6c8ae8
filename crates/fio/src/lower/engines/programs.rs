//! Jobs that do something else than I/O: burn CPU, run a program.

use candor_plan::{Burn, Job, Nanos, Program, Stop, Work, path_of};

use crate::lower::instance::Instance;
use crate::options;
use crate::options::CpuMode;
use candor_front::Diagnostics;

/// True for engines without I/O.
pub(in crate::lower) fn is_one(from: &Instance<'_>) -> bool {
    matches!(engine(from), "cpuio" | "exec")
}

fn engine(from: &Instance<'_>) -> &'static str {
    options::engine(&from.options.issue.engine).map_or("", |engine| engine.name)
}

/// The work of such a job; none for engines that do I/O.
pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    job: &mut Job,
    diagnostics: &mut Diagnostics,
) -> Option<Work> {
    match engine(from) {
        "cpuio" => burn(from, job, diagnostics).map(Work::Burn),
        "exec" => program(from, job, diagnostics).map(Work::Program),
        _ => None,
    }
}

/// Uses a share of each cycle until the I/O jobs have ended.
fn burn(from: &Instance<'_>, job: &mut Job, diagnostics: &mut Diagnostics) -> Option<Burn> {
    let options = &from.options.engine;
    if options.cpu_load == 0 {
        let message = "ioengine=cpuio burns a share of a CPU, and cpuload is not set";
        diagnostics.wrong(from, "ioengine", message.to_owned(), "set cpuload");
        return None;
    }
    let chunk = options.cpu_chunks_us.saturating_mul(1000);
    let rest = chunk.saturating_mul(100 - options.cpu_load.min(100)) / options.cpu_load;
    job.background = true;
    job.stop.iter_mut().for_each(endless);
    let sort = options.cpu_mode == CpuMode::Qsort;
    Some(Burn { chunk: Nanos(chunk), rest: Nanos(rest), sort })
}

/// Runs until time or another stop ends it.
fn endless(stop: &mut Stop) {
    (stop.passes, stop.bytes) = (None, None);
    stop.ops.get_or_insert(u64::MAX / 4);
}

/// Runs a program for as long as the job is to last, as fio does, or until it ends.
fn program(from: &Instance<'_>, job: &mut Job, diagnostics: &mut Diagnostics) -> Option<Program> {
    let options = &from.options.engine;
    let Some(name) = &options.program else {
        let message = "ioengine=exec runs a program, and program is not set";
        diagnostics.wrong(from, "ioengine", message.to_owned(), "set program");
        return None;
    };
    let runtime = from.options.runtime.runtime;
    if runtime == Nanos(0) {
        let did = "the job lasts as long as its program";
        let why = "without a runtime fio ends the program at once and runs for ever";
        diagnostics.note(from, "ioengine", did, why);
    }
    let seconds = (runtime.0 / 1_000_000_000).to_string();
    let arguments = options.arguments.as_deref().unwrap_or_default();
    let arguments = arguments.replace("%r", &seconds).replace("%n", from.name);
    let words = [name.as_str(), &arguments].map(|text| text.split(' '));
    let words = words.into_iter().flatten().filter(|word| !word.is_empty());
    let file = |end: &str| options.redirect.then(|| path_of(&format!("{}.{end}", from.name)));
    job.stop.iter_mut().for_each(endless);
    Some(Program {
        command: words.map(str::to_owned).collect(),
        output: file("stdout"),
        errors: file("stderr"),
        grace: Nanos(options.grace_s.saturating_mul(1_000_000_000)),
        until_end: runtime == Nanos(0),
        // fio does not look whether it started.
        optional: true,
    })
}
