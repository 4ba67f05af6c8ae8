//! Conditions of a report: plan and environment by name.

mod environment;
mod http;
mod plan;

use candor_record::results::{Area, Condition};
use candor_record::{PhaseRecord, Report};

pub(super) use http::of_http;
pub(super) use plan::of_job;

/// Conditions of a whole report: targets, tool, host and storage. Conditions of the work are part
/// of each job.
pub(super) fn of(report: &Report) -> Vec<Condition> {
    let host = report.phases.last().map(PhaseRecord::host);
    let name = Some(host.map_or("", |host| &host.host).to_owned()).filter(|name| !name.is_empty());
    let mut all = plan::of_targets(&report.plan);
    let version = Some(report.candor_version.clone());
    all.extend(condition(Area::Tool, "version of candor", version, false));
    all.extend(condition(Area::Host, "host", name, false));
    all.extend(environment::of_host(&report.facts().host));
    all.extend(environment::of_storage(report.facts()));
    all
}

/// A condition, if its value is known.
fn condition(area: Area, name: &str, value: Option<String>, matters: bool) -> Option<Condition> {
    Some(Condition { area, name: name.to_owned(), value: value?, matters })
}
