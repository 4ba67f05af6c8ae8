//! Candor's own results of a run in another tool's words: a report, a page and metrics, where
//! variables such as `CANDOR_HTML` ask for them.

use candor_record::{Event, Report};
use candor_run::Control;
use candor_show::json;

use crate::exporter::RunExporter;
use crate::output::Output;

/// Candor's own results of a run.
pub struct OwnResults {
    output: Output,
    exporter: RunExporter,
}

impl OwnResults {
    /// As the environment says. The error is a sentence.
    pub fn open() -> Result<OwnResults, String> {
        let output = Output::of_environment(|name| std::env::var_os(name))?;
        let exporter = RunExporter::open(&output)?;
        Ok(OwnResults { output, exporter })
    }

    /// Somebody reads them.
    pub fn have_readers(&self) -> bool {
        self.output.has_readers()
    }

    /// Takes an event of the run.
    pub fn take(&mut self, event: &Event) {
        self.exporter.take(event);
    }

    /// Writes the files. The error is a sentence.
    pub fn write(&self, report: &Report) -> Result<(), String> {
        let json = json::report(report).map_err(|error| error.to_string())?;
        self.output.write_files(report, &json)
    }

    /// Ends serving, once the last figures were read or the time for that is over.
    pub fn close(self, control: &Control) {
        self.exporter.close(control);
    }
}
