//! Placement of workers, and start of the first phase.

use candor_plan::{MemoryPolicy, Nanos, Placement, Threads};

use crate::options::{Bind, Reading};
use crate::setup::Setup;
use candor_front::{Diagnostics, Host};

/// CPUs and nodes of the workers, and their preferred memory.
pub(super) fn placement(
    reading: &Reading,
    setup: &Setup,
    host: &dyn Host,
    out: &mut Diagnostics,
) -> (Placement, Threads) {
    let run = &setup.asked.run;
    let cpus = match &run.cores {
        Bind::None => Vec::new(),
        Bind::All => host.cpus().unwrap_or_default(),
        Bind::Listed(cpus) => cpus.clone(),
    };
    let nodes = match &run.zones {
        Bind::None => Vec::new(),
        Bind::All => host.nodes().unwrap_or_default(),
        Bind::Listed(nodes) => nodes.clone(),
    };
    let on_cpus = |cpus: Vec<u32>| Placement { split: !cpus.is_empty(), cpus, numa_node: None };
    let anywhere = Threads::default();
    match nodes[..] {
        [] => (on_cpus(cpus), anywhere),
        [node] if cpus.is_empty() => {
            (Placement { numa_node: Some(node), ..Placement::default() }, anywhere)
        }
        // Each worker has a CPU, and memory of its node.
        [node] => (on_cpus(cpus), Threads { memory: Some(MemoryPolicy::Prefer(node)), ..anywhere }),
        _ if !cpus.is_empty() => {
            let message = "with --cores, all workers use the memory of one NUMA node".to_owned();
            out.wrong(reading, "zones", message, "name one node, or give --cores or --zones alone");
            (on_cpus(cpus), anywhere)
        }
        _ => {
            let mut each = Vec::new();
            for node in nodes {
                match host.node_cpus(node) {
                    Some(cpus) => each.push(cpus),
                    None => {
                        let message = format!("there is no NUMA node {node}");
                        out.wrong(reading, "zones", message, "name nodes that the host has");
                    }
                }
            }
            (on_cpus(in_turn(&each)), anywhere)
        }
    }
}

/// Takes one element of each list in turn until all lists are empty.
fn in_turn(lists: &[Vec<u32>]) -> Vec<u32> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|nth| lists.iter().filter_map(move |list| list.get(nth).copied()))
        .collect()
}

/// Delay until the start time of the first phase.
pub(super) fn start_delay(reading: &Reading, host: &dyn Host, out: &mut Diagnostics) -> Nanos {
    let start = reading.options.run.start_at_s;
    if start == 0 || reading.options.run.dry_run {
        return Nanos(0);
    }
    let now = host.now();
    let now_s = now.as_secs();
    if start <= now_s {
        let message = format!("the second {start} has passed; it is {now_s} now");
        out.wrong(reading, "start", message, "name one to come");
        return Nanos(0);
    }
    Nanos::from_secs(start - now_s).0.checked_sub(now.subsec_nanos().into()).map_or(Nanos(0), Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_take_turns() {
        assert_eq!(in_turn(&[vec![0, 1], vec![4, 5, 6]]), [0, 4, 1, 5, 6]);
        assert_eq!(in_turn(&[]), Vec::<u32>::new());
    }
}
