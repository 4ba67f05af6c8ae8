//! Command lines and scripts of IOR.

use std::ffi::OsString;
use std::path::Path;

use candor_front::comments;
use candor_ior::options;
use candor_ior::plan::{self, Lowered};
use candor_plan::PlanPath;
use candor_plan::path_text::word_of;

use crate::commands::foreign::conversion::{Converted, refused};
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::foreign::host::ThisHost;

/// The command line of a script; none for another file.
pub fn of_file(file: &str, begin: &str) -> Option<Vec<OsString>> {
    let is_start = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 2
            && words[0].eq_ignore_ascii_case("ior")
            && words[1].eq_ignore_ascii_case("start")
    };
    begin.lines().any(is_start).then(|| ["ior", "-f", file].map(word_of).into())
}

/// Reads a command line of IOR, the program's name first.
pub fn read(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let reading = options::read(argv, &mut HostEnvironment);
    if !reading.errors.is_empty() {
        return Err(refused(&reading.errors, &reading.texts));
    }
    let lowered = match plan::lower(&reading, &ThisHost::default()) {
        Ok(lowered) => lowered,
        Err(errors) => return Err(refused(&errors, &reading.texts)),
    };
    let mut all = comments(&lowered.plan, &lowered.notes, &lowered.origins, &reading.texts);
    all.extend(left_out(&lowered).map(|sentence| (PlanPath::root(), sentence.to_owned())));
    Ok(Converted { plan: lowered.plan, comments: all })
}

/// Sentences on what `candor ior` decides while it runs, and a plan cannot say.
fn left_out(lowered: &Lowered) -> impl Iterator<Item = &'static str> {
    let any = |is: fn(&options::Options) -> bool| {
        lowered.setup.tests.iter().any(|test| is(&test.options))
    };
    let sentences = [
        (
            any(|of| of.ends.deadline_s > 0 && of.run.write && (of.run.read || of.run.check_read)),
            "-D: reads do not end with the count of transfers that the write before them reached",
        ),
        (any(|of| of.ends.max_time_min > 0), "-T: all phases run, however long that takes"),
        (any(|of| of.run.keep_with_error), "-K: files in which errors were found are removed too"),
        (
            any(|of| of.ends.status_file.is_some() && of.run.write),
            "stoneWallingStatusFile: the count of the write is kept nowhere",
        ),
        (
            any(|of| of.output.rank_csv.is_some() || of.output.operations_csv.is_some()),
            "no rows of tasks or transfers are written; `candor run --json` has the rows of tasks",
        ),
    ];
    sentences.into_iter().filter(|(applies, _)| *applies).map(|(_, sentence)| sentence)
}
