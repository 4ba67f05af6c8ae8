//! Where and as whom jobs run.

use candor_plan::{Hook, Hooks, Job, OnDone, Placement};

use super::{Instance, Told};
use crate::fio::settings::{CpuPolicy, ExitWhat};

pub(super) fn lower(from: &Instance<'_>, job: &mut Job, told: &mut Told) {
    let said = &from.settings.place;
    let cpus = match said.policy {
        CpuPolicy::Shared => said.cpus.clone(),
        CpuPolicy::Split => split(&said.cpus, from.clone),
    };
    let numa_node = match said.nodes[..] {
        [] => None,
        [node] => Some(node),
        _ => {
            told.refuse(from, "numa_cpu_nodes", "more than one node is not built yet");
            None
        }
    };
    job.placement = Placement { cpus, split: false, numa_node };
    job.prepare_only = from.settings.making.only;
    let process = &from.settings.process;
    job.on_done = match process.exit_what {
        _ if !process.exit_all => OnDone::GoOn,
        ExitWhat::Group | ExitWhat::Stonewall => OnDone::EndPhase,
        ExitWhat::All => OnDone::EndRun,
    };
    job.hooks = Hooks {
        before: hook(from, process.before.as_deref(), "prerun"),
        after: hook(from, process.after.as_deref(), "postrun"),
    };
}

/// A command, whose output goes into a file that is named after the job.
fn hook(from: &Instance<'_>, command: Option<&str>, which: &str) -> Option<Hook> {
    let output = Some(format!("{}.{which}.txt", from.name));
    command.map(|command| Hook { command: command.to_owned(), output })
}

/// Each clone gets one CPU of the list.
fn split(cpus: &[u32], clone: u64) -> Vec<u32> {
    let nth = clone.checked_rem(cpus.len() as u64).and_then(|nth| cpus.get(nth as usize));
    nth.copied().into_iter().collect()
}
