//! A parameter file as typed data: its definitions, in their fixed order.

mod replicate;
mod sections;

use super::definitions::fsd::Fsd;
use super::definitions::fwd::Fwd;
use super::definitions::general::General;
use super::definitions::host::Host;
use super::definitions::rd::Rd;
use super::definitions::replay::ReplayGroup;
use super::definitions::sd::Sd;
use super::definitions::wd::Wd;
use super::definitions::{Defined, Definition};
use super::lines::Lines;
use super::parameters::{self, Written};
use super::values::{self, Unit};
use candor_front::{Diagnostic, Given, Span, Word};

/// Name of definitions that set defaults for later ones.
pub const DEFAULT: &str = "default";
/// Name of the workload that describes formats of file systems.
pub const FORMAT: &str = "format";

/// Definitions of one kind, and the defaults after the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Definitions<O> {
    /// The definitions, in order.
    pub all: Vec<Definition<O>>,
    /// The defaults.
    pub default: Definition<O>,
}

impl<O: Defined> Default for Definitions<O> {
    fn default() -> Self {
        let at = Span { text: 0, start: 0, end: 0 };
        let name = Word { text: DEFAULT.to_owned(), at };
        let default = Definition { name, options: O::default(), given: Given::default() };
        Definitions { all: Vec::new(), default }
    }
}

impl<O> Definitions<O> {
    /// The definition of that name.
    pub fn find(&self, name: &str) -> Option<&Definition<O>> {
        self.all.iter().find(|definition| definition.name.text == name)
    }
}

/// Everything that parameter files define.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterFile {
    /// General parameters.
    pub general: Definitions<General>,
    /// Hosts, one per client; without any, this host as `localhost`.
    pub hosts: Vec<HostName>,
    /// Definitions of hosts.
    pub host_definitions: Definitions<Host>,
    /// Replay groups.
    pub groups: Definitions<ReplayGroup>,
    /// Luns; one for each number of `count=`.
    pub sds: Definitions<Sd>,
    /// Workloads on luns.
    pub wds: Definitions<Wd>,
    /// File systems; one for each number of `count=`.
    pub fsds: Definitions<Fsd>,
    /// Workloads on file systems.
    pub fwds: Definitions<Fwd>,
    /// `fwd=format`: how file systems are formatted.
    pub format: Option<Definition<Fwd>>,
    /// Runs.
    pub rds: Definitions<Rd>,
    /// Parameters as read, with their positions, for `parmscan.html`.
    pub scanned: Vec<Written>,
}

/// A host or client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// Label that definitions use.
    pub label: String,
    /// Name or address.
    pub system: String,
    /// Position of the definition; `None` for this host.
    pub at: Option<Span>,
}

impl ParameterFile {
    /// General parameters.
    pub fn general(&self) -> &Definition<General> {
        &self.general.default
    }

    /// True if runs use file systems.
    pub fn is_of_files(&self) -> bool {
        !self.fsds.all.is_empty() || !self.fwds.all.is_empty()
    }
}

/// The result of reading.
#[derive(Debug, Default)]
pub struct Read {
    /// The definitions.
    pub file: ParameterFile,
    /// Everything wrong.
    pub errors: Vec<Diagnostic>,
    /// Warnings about values that are read as vdbench does, but possibly not as meant.
    pub remarks: Vec<Diagnostic>,
}

/// Reads definitions from lines.
pub fn read(lines: Lines) -> Read {
    let (mut errors, mut remarks) = (lines.errors, lines.remarks);
    let mut written = Vec::new();
    for line in &lines.all {
        written.extend(parameters::split(line, &mut errors, &mut remarks));
    }
    let mut sections = sections::Sections::default();
    sections.errors = errors;
    sections.read(written);
    let (file, errors) = sections.finish();
    remarks.extend(converted(&file));
    remarks.extend(falling(&file));
    Read { file, errors, remarks }
}

/// Remarks on compressed sizes, which vdbench converts into ratios.
fn converted(file: &ParameterFile) -> Vec<Diagnostic> {
    let of_rds = file.rds.all.iter().map(|rd| &rd.given);
    let mut remarks: Vec<Diagnostic> = Vec::new();
    for given in std::iter::once(&file.general.default.given).chain(of_rds) {
        for (name, ratio) in [("compression", "compratio"), ("forcompression", "forcompratio")] {
            let Some(option) = given.get(name) else { continue };
            let percents = option.value.as_deref().unwrap_or_default();
            let Ok(numbers) = values::numbers(percents, Unit::Size) else { continue };
            let ratios: Vec<String> =
                numbers.iter().map(|percent| format!("{:.2}", 100.0 / percent)).collect();
            let ratios = match &ratios[..] {
                [one] => one.clone(),
                several => format!("({})", several.join(",")),
            };
            let message = format!(
                "{name}={percents}, in percent, is {ratio}={ratios} today: 100 divided by it"
            );
            let remark = Diagnostic::warning(option.at, "compression", message);
            remarks.push(remark.remedy(format!("write {ratio}=")));
        }
    }
    // Defaults apply to each definition after them.
    remarks.dedup();
    remarks
}

/// Remarks on ranges that go down in steps.
fn falling(file: &ParameterFile) -> Vec<Diagnostic> {
    let options = file.rds.all.iter().flat_map(|rd| rd.given.iter());
    let mut remarks: Vec<Diagnostic> = options
        .filter_map(|(name, option)| {
            let value = option.value.as_deref().unwrap_or_default();
            let first = values::first_of_falling(value, Unit::Size)?;
            let message = format!(
                "{name}={value} goes down in steps, and vdbench takes {first} alone of such a range"
            );
            let remark = Diagnostic::warning(option.at, "range", message);
            Some(remark.remedy("write the range upwards, or list its numbers"))
        })
        .collect();
    // Defaults apply to each definition after them.
    remarks.dedup();
    remarks
}

#[cfg(test)]
mod tests;
