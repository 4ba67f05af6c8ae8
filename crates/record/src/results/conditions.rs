//! Conditions under which results came about: plan and environment by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Report;
use crate::facts::value;

/// One condition of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Part of the run that it belongs to.
    pub area: Area,
    /// Name, such as `depth of job randread` or `scheduler of sda`.
    pub name: String,
    /// Value as people read it.
    pub value: String,
    /// Results under another value answer another question.
    pub matters: bool,
}

/// Part of a run that a condition belongs to.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Work that was asked for.
    #[default]
    Plan,
    /// The tool and its version.
    Tool,
    /// Host, kernel, CPUs, memory.
    Host,
    /// Filesystem, mount, device, queue, links.
    Storage,
}

/// Conditions of a report: plan, tool, host and storage.
pub(super) fn of(report: &Report) -> Vec<Condition> {
    let host = &report.facts().host;
    let tool = format!("candor {}", report.candor_version);
    let known = [
        (Area::Tool, "tool", Some(tool)),
        (Area::Host, "kernel", value(&host.kernel).cloned()),
        (Area::Host, "CPU", value(&host.cpu_model).cloned()),
        (Area::Host, "CPUs", value(&host.cpus).map(u32::to_string)),
    ];
    let condition = |(area, name, value): (Area, &str, Option<String>)| {
        Some(Condition { area, name: name.into(), value: value?, matters: true })
    };
    known.into_iter().filter_map(condition).collect()
}
