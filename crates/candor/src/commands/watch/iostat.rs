//! `candor watch --iostat …`, and the binary called as `iostat`: sysstat's reports.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use candor_front::{About, Coverage};
use candor_iostat::moment::Clock;
use candor_iostat::options::{self, CounterDirectory, Entry, Options, Request};
use candor_iostat::{Disk, Host, Printer, Sample};
use candor_observe::Roots;
use candor_plan::{PathText, path_of};
use candor_run::Control;

use super::pace::Pace;
use crate::commands::foreign::Complaints;
use crate::commands::foreign::host::cpus_online;
use crate::commands::foreign::tool::{self, Page, Tool};
use crate::{exit, screen};

/// Description.
const ABOUT: About = About {
    name: "iostat",
    summary: "",
    example: "candor watch --iostat -x 1",
    help: String::new,
    page: matrix,
    coverage,
};

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: tool::Entry::Absent,
    main,
    page: Page::Written("how-to/watch.md#as-sysstats-iostat"),
    converter: None,
    writer: None,
    has_report: false,
};

/// Version of sysstat whose reports these are; scripts read it from the third word of `-V`.
const SYSSTAT: &str = "12.6.1";

/// As sysstat's iostat: whatever is wrong with the words.
const WRONG: u8 = 1;

const COMPLAINTS: Complaints<'static> = Complaints { tool: "iostat", file: None, exit_code: WRONG };

/// How many of the options have an effect.
fn coverage() -> Coverage {
    options::TABLE.coverage()
}

/// Options, and what candor makes of them.
fn matrix() -> String {
    format!("# Options of iostat\n\n{}", options::TABLE.matrix())
}

/// Does what a command line asks for, the program's name first, and gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    let set = |name| std::env::var_os(name).is_some();
    let request = match options::read(argv, set("POSIXLY_CORRECT")) {
        Ok(request) => request,
        Err((diagnostics, texts)) => {
            COMPLAINTS.diagnostics(&diagnostics, &texts);
            screen::tell(options::USAGE);
            return WRONG;
        }
    };
    let done = match request {
        Request::Version => screen::data(&format!(
            "sysstat version {SYSSTAT}\ncandor {} with the reports of sysstat's iostat\n",
            env!("CARGO_PKG_VERSION")
        )),
        Request::Reports(mut options) => {
            resolve(&mut options);
            reports(&options)
        }
    };
    match done {
        Ok(()) => exit::RAN,
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    }
}

/// Nodes of the device mapper and links below `/dev` are other names of devices.
fn resolve(options: &mut Options) {
    for entry in &mut options.entries {
        let (Entry::Device(name) | Entry::WithPartitions(name)) = entry else { continue };
        let node = format!("/dev/{}", name.replace('!', "/"));
        let real = path_of(&node).canonicalize().ok();
        let real = real.as_deref().and_then(|path| path.strip_prefix("/dev").ok());
        if let Some(real) = real {
            *name = real.text().replace('/', "!");
        }
    }
}

fn reports(options: &Options) -> Result<(), String> {
    let clock = Clock::new(std::env::var("S_TIME_FORMAT").ok().as_deref());
    let mut printer = Printer::new(options);
    let interval = options.interval_s;
    let control = match interval {
        // An interrupt ends it with one more report, so that JSON is whole.
        Some(_) => candor_run::interrupts(),
        None => Control::default(),
    };
    let mut pace = Pace::new(Duration::from_secs(interval.unwrap_or(0)), control.clone());
    let mut before = Sample::default();
    let mut is_read = screen::stream(printer.head(&host(&clock)))?;
    let mut left = options.count.unwrap_or(if interval.is_some() { u64::MAX } else { 1 });
    let mut passes_over = options.skip_first && interval.is_some();
    while is_read {
        let is_last = control.is_stopped();
        let now = sample(options.directory.as_ref())?;
        if passes_over {
            passes_over = false;
            is_read = screen::stream(printer.passed_over())?;
        } else {
            let timestamp = options.timestamp.then(|| clock.moment());
            is_read = screen::stream(printer.report(&before, &now, timestamp.as_deref()))?;
            left -= 1;
        }
        before = now;
        if left == 0 || is_last {
            break;
        }
        pace.wait();
    }
    screen::stream(printer.tail()).map(|_| ())
}

fn sample(directory: Option<&CounterDirectory>) -> Result<Sample, String> {
    let roots = Roots::default();
    let wrong = |place: &Path, error| format!("{}/diskstats: {error}", place.text());
    let mut disks = Vec::new();
    if directory.is_none_or(|directory| directory.with_kernel) {
        let kernel = candor_observe::diskstats(&roots);
        disks.extend(kernel.map_err(|error| wrong(&roots.proc, error))?);
    }
    if let Some(CounterDirectory { path, .. }) = directory {
        let user = candor_observe::user_diskstats(path, &roots);
        for disk in user.map_err(|error| wrong(path, error) + ", and there is no block/")? {
            // A device of both has the directory's counters.
            match disks.iter_mut().find(|known| known.name == disk.name) {
                Some(known) => *known = disk,
                None => disks.push(disk),
            }
        }
    }
    // The moment is that of the counters, not that of what is read beside them.
    let uptime_ns = u64::try_from(candor_observe::uptime().as_nanos()).unwrap_or(u64::MAX);
    let disks = disks.into_iter().map(|disk| Disk {
        name: disk.name,
        partition_of: disk.partition_of,
        mapped: disk.mapped,
        counters: disk.counters,
    });
    let cpu = candor_observe::cpu_times(&roots).unwrap_or_default();
    Ok(Sample { uptime_ns, cpu, disks: disks.collect() })
}

fn host(clock: &Clock) -> Host {
    let uname = rustix::system::uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Host {
        nodename: text(uname.nodename()),
        sysname: text(uname.sysname()),
        release: text(uname.release()),
        machine: text(uname.machine()),
        cpus: cpus_online(),
        date: clock.date(),
    }
}
