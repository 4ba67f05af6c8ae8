//! Command lines and parameter files of vdbench.

use std::ffi::OsString;
use std::path::Path;

use candor_front::comments;
use candor_plan::path_text::word_of;
use candor_plan::{Plan, PlanPath};
use candor_vdbench::lower::{Lowered, LoweredRun};
use candor_vdbench::options;
use candor_vdbench::runs::RunRate;

use crate::commands::foreign::conversion::{Converted, refused};
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::tools::vdbench::lowered;

/// The command line of a parameter file; none for another file.
pub fn of_file(file: &str, begin: &str) -> Option<Vec<OsString>> {
    let starts = |word: &str| begin.lines().any(|line| line.trim_start().starts_with(word));
    let is_one = starts("rd=") && !starts("[");
    is_one.then(|| ["vdbench", "-f", file].map(word_of).into())
}

/// Reads a command line of vdbench, the program's name first.
pub fn read(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let reading = options::read(argv, &mut HostEnvironment);
    let Lowered { targets, runs, notes, origins, systems } = match lowered(&reading) {
        Ok(lowered) => lowered,
        Err(errors) => return Err(refused(&errors, &reading.texts)),
    };
    let left_out: Vec<String> = runs.iter().filter_map(left_out).collect();
    let phases = runs.into_iter().map(|run| run.phase).collect();
    let (name, hosts) = ("vdbench".into(), systems.count());
    let plan = Plan { name, hosts, targets, phases, ..Plan::default() };
    let mut all = comments(&plan, &notes, &origins, &reading.texts);
    all.extend(left_out.into_iter().map(|sentence| (PlanPath::root(), sentence)));
    Ok(Converted { plan, comments: all })
}

/// Decisions of `candor vdbench` while it runs, which a plan cannot say.
fn left_out(run: &LoweredRun) -> Option<String> {
    let (LoweredRun { name, .. }, word) = (run, "candor vdbench");
    match run.rate {
        Some(RunRate::OfCurve(percent) | RunRate::OfPrevious(percent)) => Some(format!(
            "{name}: its rate is {percent} % of an earlier run's, which only {word} knows"
        )),
        _ if run.start.is_some() || run.end.is_some() => {
            Some(format!("{name}: only {word} runs startcmd= and endcmd="))
        }
        _ => None,
    }
}
