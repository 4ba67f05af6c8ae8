//! How threads are treated.

use super::engine::io_priority;
use super::{CPU_MAX, Found};
use crate::{PlanPath, Threads};

const NICE_MIN: i8 = -20;
const NICE_MAX: i8 = 19;

pub(super) fn check(threads: &Threads, at: &PlanPath, out: &mut Found) {
    let nice = threads.nice.unwrap_or(0);
    if !(NICE_MIN..=NICE_MAX).contains(&nice) {
        let message = format!("nice is {nice}");
        out.error("nice", at.key("nice"), message, "use -20 (first) to 19 (last)");
    }
    if let Some(priority) = threads.io_priority {
        io_priority(priority, &at.key("io_priority"), out);
    }
    if let Some(name) = &threads.name
        && (name.is_empty() || name.len() > Threads::NAME_MAX || name.contains('\0'))
    {
        let message = format!("`{name}` is no name for a thread");
        out.error("thread-name", at.key("name"), message, "use 1 to 15 bytes");
    }
    memory(threads, &at.key("memory"), out);
    if let Some(group) = &threads.control_group {
        let parts = group.name.split('/').filter(|part| !part.is_empty());
        let climbs = parts.clone().any(|part| part == ".." || part == ".");
        if parts.count() == 0 || climbs {
            let message = format!("`{}` is no name of a control group", group.name);
            let place = at.key("control_group").key("name");
            out.error("control-group", place, message, "name one below the controller");
        }
    }
}

fn memory(threads: &Threads, at: &PlanPath, out: &mut Found) {
    let Some(policy) = &threads.memory else { return };
    for node in policy.nodes().iter().filter(|node| **node > CPU_MAX) {
        let message = format!("there is no NUMA node {node}");
        out.error("numa-node", at.clone(), message, format!("use 0 to {CPU_MAX}"));
    }
    let takes_some = !matches!(policy, crate::MemoryPolicy::Default | crate::MemoryPolicy::Local);
    if takes_some && policy.nodes().is_empty() {
        out.error("numa-node", at.clone(), "no node is named", "name at least one");
    }
}
