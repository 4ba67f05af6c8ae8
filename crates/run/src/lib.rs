//! Running a plan on one host: plan in, report out.
//!
//! A [`Run`] gives a plan's phases to a [`Runner`] one after another, has them judged, and collects
//! the report. [`Local`] is the runner of this host: it prepares targets, and runs the engine and
//! the observation of counters in parallel. `Local` also prevents damage: consent and devices in
//! use are checked before anything is opened, and files that candor made are removed at every end.
//! Commands reach a run through its [`Control`]; events leave it through [`Events`].
//!
//! ```no_run
//! use candor_run::{Control, HostOptions, Options, execute};
//!
//! let plan = candor_plan::Plan::default();
//! let (options, host) = (Options::default(), HostOptions::default());
//! let control = Control::default();
//! let report = execute(&plan, &options, &host, &control, |event| println!("{event:?}"));
//! if let Ok(report) = report {
//!     println!("{}", report.judgement.headline);
//! }
//! ```
//!
//! [`execute_on`] takes any runner; `candor-fleet` has the one of many hosts. [`DeviceWatch`],
//! [`align()`], [`inspect()`] and [`cached`] serve commands that run no plan.

mod align;
mod cached_work;
mod claims;
mod consent;
mod control;
mod device_claim;
mod device_watch;
mod devices;
mod error;
mod events;
mod families;
mod files_in_use;
mod free_space;
mod hooks;
mod inspection;
mod integrity;
mod layout;
mod leftovers;
mod local;
mod memory;
mod occupied_memory;
mod operations_log;
mod owned_files;
mod page_cache;
mod peers;
mod phase_snapshots;
mod precheck;
mod resource_limits;
mod run;
mod runner;
mod schedulers;
mod signals;
mod signature;
mod sizes;
mod submission;
mod target_check;
mod tracer;
mod trees;
mod upcoming;

use candor_plan::Plan;
use candor_record::{Event, Report};

pub use align::{ProcessTracing, align, trace_processes};
pub use candor_observe::trace::{Processes, TraceMethod};
pub use control::{Command, Control};
pub use device_claim::{DeviceClaim, claim_device};
pub use device_watch::{DeviceSelection, DeviceWatch};
pub use error::RunError;
pub use events::{Channels, Events, consumed};
pub use files_in_use::note as note_files;
pub use inspection::{inspect, list_devices, record, replay};
pub use local::{HostOptions, Local, remove_leftovers};
pub use owned_files::NOT_REMOVED;
pub use page_cache::cached;
pub use peers::{PeerNews, Peers};
pub use resource_limits::raise_stack_limit;
pub use run::{Options, Run, Step, Stopped};
pub use runner::{Collected, Ready, Runner, Running, Space, Survey, Task};
pub use signals::{
    around_stop, before_exit, interrupt_exit_code, interrupts, interrupts_and_interims,
    survive_file_size_limit,
};
pub use tracer::BlockTraceMode;

/// Runs a whole plan on this host; `consumer` receives the events.
///
/// # Errors
/// The plan is refused: it makes no sense, consent is missing, or a device is held. Whatever goes
/// wrong later ends up in the report, with [`Report::cut_short`] set.
pub fn execute(
    plan: &Plan,
    options: &Options,
    host: &HostOptions,
    control: &Control,
    consumer: impl FnMut(&Event) + Send,
) -> Result<Report, RunError> {
    let local = |channels: &Channels| -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(Local::new(host, channels)))
    };
    execute_on(local, plan, options, control, consumer, Run::whole_plan)
}

/// Runs phases of a plan on the hosts of any runner, which is made of the run's channels. `drive`
/// decides which phases run, and in which order.
///
/// # Errors
/// The errors of [`execute`] and of the runner.
pub fn execute_on(
    runner: impl FnOnce(&Channels) -> Result<Box<dyn Runner>, RunError>,
    plan: &Plan,
    options: &Options,
    control: &Control,
    consumer: impl FnMut(&Event) + Send,
    drive: impl FnOnce(&mut Run) -> Result<(), Stopped>,
) -> Result<Report, RunError> {
    consumed(control, consumer, |channels| {
        let mut run = Run::new(runner(channels)?, options, channels);
        run.open(plan.clone(), None)?;
        let ended = drive(&mut run);
        run.finish(ended)
    })
}
