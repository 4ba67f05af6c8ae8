//! The text that mdtest or md-workbench prints.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::VERSION;
use super::results::StageResult;
use crate::plan::Stage;
use crate::setup::Setup;
use candor_ior_family::results::exponent;
use candor_stats::{deviation, mean};

/// Date and time: `2026-11-25 13:22:48`.
pub fn stamp() -> String {
    stamp_of(Timestamp::now(), TimeZone::system())
}

pub(super) fn stamp_of(at: Timestamp, zone: TimeZone) -> String {
    at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The lines before the phases.
pub fn header(setup: &Setup, stamp: &str) -> String {
    let asked = &setup.asked;
    let mut text = String::new();
    if !asked.output.quiet {
        let (program, words) = asked
            .command
            .split_first()
            .map_or(("md-workbench", &[][..]), |(first, rest)| (first.as_str(), rest));
        let words: String = words.iter().map(|word| format!(" \"{word}\"")).collect();
        text += &format!("Args: {program}{words}\n");
    }
    if asked.objects.start_item > 0 {
        text += &format!("Using start position {}\n", asked.objects.start_item);
    }
    if asked.output.quiet {
        return text;
    }
    text += &format!(
        "MD-Workbench total objects: {} workingset size: {:.3} MiB (version: {VERSION}) time: \
         {stamp}\n",
        setup.all_objects(),
        setup.working_set_mib()
    );
    if asked.objects.steps > asked.objects.precreate {
        text += "WARNING: num > precreate, this may cause the situation that no objects are \
                 available to read\n";
    }
    if asked.output.detailed {
        text += "phase\t\td name\tcreate\tdelete\tob nam\tcreate\tread\tstat\tdelete\tt_inc_b\t\
                 t_no_bar\tthp\tmax_t\n";
    }
    text
}

/// The line after the phases.
pub fn closing(setup: &Setup, seconds: f64, stamp: &str) -> String {
    if setup.asked.output.quiet {
        String::new()
    } else {
        format!("Total runtime: {seconds:.0}s time: {stamp}\n")
    }
}

/// The line of a phase, after its line about the time limit.
pub fn line(setup: &Setup, result: &StageResult) -> String {
    let hit = result.stonewall.filter(|(reached, _)| *reached < setup.asked.objects.steps);
    let stonewall = hit.map_or_else(String::new, |(reached, at_s)| {
        format!("stonewall wear out {at_s:.6}s ({reached} iter)\n")
    });
    if setup.asked.output.detailed {
        return stonewall + &detailed(setup, result);
    }
    let mut text = stonewall + &times(result) + &rates(setup, result);
    let failed = result.failed();
    match (failed, setup.asked.output.quiet) {
        (0, true) => {}
        (0, false) => text += " (0 errs)",
        (_, _) => text += &format!(" ({failed} errs!!!)"),
    }
    if let Some((reached, _)) = result.stonewall.filter(|_| !setup.asked.output.quiet) {
        text += &format!(" stonewall-iter:{reached}");
    }
    for (name, op) in result.operations() {
        let Some(seven) = op.seven() else { continue };
        let figures = seven.map(|seconds| exponent(seconds, 4) + "s").join(", ");
        text += &format!(" {name}({figures})");
    }
    text + "\n" + &failures(result)
}

/// Times of the processes.
fn times(result: &StageResult) -> String {
    let seconds: Vec<f64> = result.processes.iter().map(|process| process.seconds).collect();
    let (mean, deviation, max) = (mean(&seconds), deviation(&seconds), result.seconds());
    let min = seconds.iter().copied().fold(max, f64::min);
    let balance = if max > 0.0 { min / max * 100.0 } else { 0.0 };
    format!(
        "{} process max:{max:.2}s min:{min:.2}s mean: {mean:.2}s balance:{balance:.1} \
         stddev:{deviation:.1} ",
        result.stage.name()
    )
}

/// Rates per second of the slowest process.
fn rates(setup: &Setup, result: &StageResult) -> String {
    let (sets, objects) = (result.sets.done, result.objects());
    let rate = result.per_second(result.done());
    let [per_set, per_object] = [sets, objects].map(|count| result.per_second(count));
    let mib = result.mib_per_s(setup.asked.data.size);
    let longest = exponent(result.longest_s(), 4);
    match result.stage {
        Stage::Precreate => format!(
            "rate:{rate:.1} iops/s dsets: {sets} objects:{objects} rate:{per_set:.3} dset/s \
             rate:{per_object:.1} obj/s tp:{mib:.1} MiB/s op-max:{longest}s"
        ),
        Stage::Benchmark => {
            let waits = if result.waiting > 1e-9 {
                format!(" waiting_factor:{:.2}", result.waiting)
            } else {
                String::new()
            };
            format!(
                "rate:{rate:.1} iops/s objects:{objects} rate:{per_object:.1} obj/s \
                 tp:{mib:.1} MiB/s op-max:{longest}s{waits}"
            )
        }
        Stage::Cleanup => format!(
            "rate:{rate:.1} iops/s objects:{objects} dsets: {sets} rate:{per_object:.1} obj/s \
             rate:{per_set:.3} dset/s op-max:{longest}s"
        ),
    }
}

/// Counts of a phase in columns.
fn detailed(setup: &Setup, result: &StageResult) -> String {
    let made = result.stage == Stage::Precreate;
    let columns = |of: fn(&super::OpResult) -> u64| {
        let sets = of(&result.sets);
        let sets = if made { [sets, 0] } else { [0, sets] };
        let objects = [&result.create, &result.read, &result.stat, &result.delete].map(of);
        let all = sets.into_iter().chain(objects).map(|count| count.to_string());
        all.collect::<Vec<_>>().join("\t")
    };
    let (name, seconds) = (result.stage.name(), result.seconds());
    let mut text = format!(
        "{name} \t{}\t{seconds:.3}s\t{seconds:.3}s\t{:.2} MiB/s {}\n",
        columns(|op| op.done),
        result.mib_per_s(setup.asked.data.size),
        exponent(result.longest_s(), 4)
    );
    if result.failed() > 0 {
        text += &format!("{name} err\t{}\n", columns(|op| op.failed));
    }
    text + &failures(result)
}

/// Lines about errors of a phase.
fn failures(result: &StageResult) -> String {
    let mut text = String::new();
    let (name, failed) = (result.stage.name(), result.failed() - result.mismatches);
    if failed > 0 {
        let reason = result.reason.as_deref().unwrap_or("no reason is known");
        text += &format!(
            "WARNING: {failed} operations of {name} failed and are in no rate; the first: \
             {reason}\n"
        );
    }
    if result.mismatches > 0 {
        text += &format!(
            "ERROR: {} objects that {name} read are not what was written\n",
            result.mismatches
        );
    }
    text
}
