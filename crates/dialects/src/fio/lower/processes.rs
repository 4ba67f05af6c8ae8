//! Where and as whom jobs run.

use candor_plan::{Job, Placement};

use super::{Instance, Told};
use crate::fio::settings::CpuPolicy;

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
}

/// Each clone gets one CPU of the list.
fn split(cpus: &[u32], clone: u64) -> Vec<u32> {
    let nth = clone.checked_rem(cpus.len() as u64).and_then(|nth| cpus.get(nth as usize));
    nth.copied().into_iter().collect()
}
