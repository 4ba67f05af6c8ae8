//! A run with its phases and the start of the window of objects.

use candor_plan::check::OPERATION_MAX;
use candor_plan::path_of;

use super::options::{Options, Reading};
use candor_front::{Diagnostics, Host, ReadAs, seed_31_bits};

/// Most phases of a run.
const PHASES_MAX: u64 = 4096;
/// Longest file with the number of the oldest object, in bytes.
const POSITION_BYTES_MAX: usize = 64;
/// Waiting times of `-T`, after the first benchmark, which does not wait.
const ADAPTIVE: [f64; 7] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

/// A run with its phases and the start of the window of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The options as given; if none names a phase, all phases are set.
    pub asked: Options,
    /// Number of the oldest object of each set at the start of the run.
    pub start: u64,
    /// Seed of the data.
    pub data_seed: u64,
}

impl Setup {
    /// Objects of all processes, including the objects that benchmarks create.
    pub fn all_objects(&self) -> u64 {
        let (objects, run) = (&self.asked.objects, &self.asked.run);
        let made = objects.steps.saturating_mul(run.iterations.into());
        let each = made.saturating_add(objects.precreate).saturating_mul(objects.sets);
        each.saturating_mul(self.asked.ranks.into())
    }

    /// Size of all objects that exist at one time, in MiB.
    pub fn working_set_mib(&self) -> f64 {
        let Options { ranks, objects, data, .. } = &self.asked;
        let each = objects.sets as f64 * objects.precreate as f64 * data.size as f64;
        f64::from(*ranks) * each / f64::from(1 << 20)
    }

    /// Waiting times of each iteration, one benchmark after another.
    pub fn waiting_times(&self) -> Vec<f64> {
        if self.asked.run.adaptive {
            [0.0].into_iter().chain(ADAPTIVE).collect()
        } else {
            vec![self.asked.run.waiting]
        }
    }

    /// Number and waiting time in names of latency files after the benchmarks.
    pub fn after_benchmarks(&self) -> (u32, f64) {
        let run = &self.asked.run;
        match (run.benchmark, run.adaptive) {
            (false, _) => (0, run.waiting),
            (true, false) => (run.iterations, run.waiting),
            (true, true) => (run.iterations, 2.0 * ADAPTIVE[ADAPTIVE.len() - 1]),
        }
    }
}

/// Settles the options, and adds all errors to `out`.
pub fn settle(reading: &Reading, host: &dyn Host, out: &mut Diagnostics) -> Setup {
    let mut asked = reading.options.clone();
    let run = &mut asked.run;
    if ![run.precreate, run.benchmark, run.cleanup].contains(&true) {
        [run.precreate, run.benchmark, run.cleanup] = [true; 3];
    }
    check_counts(reading, &asked, out);
    check_phases(reading, &asked, out);
    check_data(reading, &asked, out);
    let start = start(reading, &asked, host, out);
    let data_seed = asked.data.seed.unwrap_or_else(|| seed_31_bits(host));
    Setup { asked, start, data_seed }
}

/// Number of the oldest object, from the command line or from an earlier run.
fn start(reading: &Reading, asked: &Options, host: &dyn Host, out: &mut Diagnostics) -> u64 {
    let start = asked.objects.start_item;
    if start > 0 {
        if asked.run.precreate {
            let did = format!("made -P objects in each set, from number {start} on");
            let why = "md-workbench makes those with a number below -P only, and misses the others";
            out.note(reading, "start-item", &did, why);
        }
        return start;
    }
    if asked.run.precreate {
        return 0;
    }
    let file = &asked.run.run_info_file;
    position(host, file).unwrap_or_else(|| {
        let message = format!("{file} cannot be read, or has no line `pos: NUMBER`");
        let remedy = "run -1 first, name the file of that run, or give --start-item";
        out.wrong(reading, "run-info-file", message, remedy);
        0
    })
}

/// Number of the oldest object in the file of an earlier run; `None` if it cannot be read.
fn position(host: &dyn Host, file: &str) -> Option<u64> {
    let bytes = host.first_bytes(&path_of(file), ReadAs::Replaceable, POSITION_BYTES_MAX).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let number: u32 = text.trim_start().strip_prefix("pos:")?.trim().parse().ok()?;
    Some(number.into())
}

fn check_counts(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let (objects, run) = (&asked.objects, &asked.run);
    let waits = if run.adaptive { 1 + ADAPTIVE.len() as u64 } else { 1 };
    let benchmarks = u64::from(run.iterations) * waits;
    if benchmarks > PHASES_MAX {
        let message = format!("{benchmarks} benchmarks are more than {PHASES_MAX}");
        out.wrong(reading, "iterations", message, "use fewer");
    }
    let most = objects.precreate.max(2 * objects.steps);
    let handles = most.saturating_mul(objects.sets).saturating_mul(asked.ranks.into());
    if handles > u64::from(u32::MAX) {
        let message = format!("{handles} objects of all processes are more than 4 billion");
        out.wrong(reading, "obj-per-proc", message, "use fewer objects, sets or processes");
    }
    if run.read_only && run.benchmark && objects.steps > objects.precreate {
        let Options { objects, .. } = asked;
        let message = format!(
            "{} objects of each set are read, of {} that are there",
            objects.steps, objects.precreate
        );
        out.wrong(reading, "obj-per-proc", message, "give -I at most as large as -P");
    }
    if objects.offset > 0 && reading.given.has("offset") && asked.ranks > 1 {
        let why = "all processes run on this host: its caches know what the others did";
        out.note(reading, "offset", "worked on other processes' objects as requested", why);
    }
}

fn check_phases(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let run = &asked.run;
    if run.stonewall_s > 0 && run.benchmark && !run.wear_out {
        if !run.precreate {
            let message = "-2 without -1 needs as many objects of each process".to_owned();
            out.wrong(reading, "stonewall-timer", message, "add -W");
        }
        let did = "all processes went on to the furthest one's count, as with -W";
        let why = "otherwise later phases would look for objects that others have not made";
        out.note(reading, "stonewall-timer", did, why);
    }
    if run.wear_out && run.stonewall_s == 0 {
        let why = "-w is 0: no time is set that could be up";
        out.note(reading, "stonewall-wear-out", "did all operations", why);
    }
    if run.adaptive && reading.given.has("waiting-time") {
        let message = "-T sets the waiting times itself".to_owned();
        out.wrong(reading, "waiting-time", message, "remove -t or -T");
    }
    if asked.output.latency_all && asked.output.latency_prefix.is_none() {
        let message = "no latency files are requested".to_owned();
        out.wrong(reading, "latency-all", message, "add -L PREFIX");
    }
    if asked.objects.prefix.is_empty() {
        let message = "no directory is named".to_owned();
        out.wrong(reading, "o", message, "name one");
    }
}

fn check_data(reading: &Reading, asked: &Options, out: &mut Diagnostics) {
    let data = &asked.data;
    if data.size > OPERATION_MAX.0 {
        let message = format!("{} bytes are more than the kernel moves at once", data.size);
        out.wrong(reading, "object-size", message, "use smaller objects");
    }
    if data.direct && !data.size.is_multiple_of(512) {
        let message = format!("{} bytes are no multiple of 512, which direct I/O needs", data.size);
        out.wrong(reading, "object-size", message, "use a multiple of 512");
    }
    if data.verify_read && !asked.run.benchmark {
        out.note(reading, "verify-read", "compared nothing", "only -2 reads");
    } else if data.verify_read && data.size == 0 {
        out.wrong(reading, "verify-read", "objects have no bytes".to_owned(), "give -S");
    } else if data.verify_read && !asked.run.precreate && data.seed.is_none() {
        let message = "the seed of the run that made the objects is not known".to_owned();
        out.wrong(reading, "verify-read", message, "give -G in both runs");
    }
}
