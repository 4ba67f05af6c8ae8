//! Conditions under which results came about: plan and environment by name.

mod environment;
mod plan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Report;

pub(super) use plan::of_job;

/// One condition of a run or of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Part of the run that it belongs to.
    pub area: Area,
    /// Name, such as `pace.ops` or `scheduler`.
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

/// Conditions of a whole report: its targets, the tool, host and storage. Those of the work stand
/// with each job.
pub(super) fn of(report: &Report) -> Vec<Condition> {
    let host = report.phases.last().map(crate::PhaseRecord::host);
    let name = Some(host.map_or("", |host| &host.host).to_owned()).filter(|name| !name.is_empty());
    let mut all = plan::of_targets(&report.plan);
    let version = Some(report.candor_version.clone());
    all.extend(condition(Area::Tool, "version of candor", version, false));
    all.extend(condition(Area::Host, "host", name, false));
    all.extend(environment::of_host(&report.facts().host));
    all.extend(environment::of_storage(report.facts()));
    all
}

/// A condition, where its value is known.
fn condition(area: Area, name: &str, value: Option<String>, matters: bool) -> Option<Condition> {
    Some(Condition { area, name: name.to_owned(), value: value?, matters })
}
