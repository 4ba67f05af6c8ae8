//! A report as tables for spreadsheets and data frames: one table has rows of one kind.

mod devices;
mod hosts;
mod http;
mod latencies;
mod measured;
mod requests;
mod series;
mod table;

use candor_record::{PhaseRecord, Report};

use self::table::{described, written};

/// A table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Table {
    /// Results, their parts by target, and samples, told apart by a column.
    #[default]
    Overview,
    /// Intervals.
    Samples,
    /// Quoted percentiles.
    Percentiles,
    /// Buckets of latencies.
    Histograms,
    /// Intervals of devices.
    Devices,
    /// Single requests of devices, summed up.
    Requests,
    /// Buckets of their sizes, places and latencies.
    RequestHistograms,
    /// Means and spread of phases that ran several times.
    Repeats,
    /// Phases beside each other that differ in a setting.
    Sweep,
    /// Hosts beside each other, where several ran a phase.
    Hosts,
    /// HTTP requests by operation.
    HttpRequests,
    /// Servers of HTTP requests.
    HttpServers,
    /// Failed HTTP requests.
    HttpFailures,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 13] = [
        Table::Overview,
        Table::Samples,
        Table::Percentiles,
        Table::Histograms,
        Table::Devices,
        Table::Requests,
        Table::RequestHistograms,
        Table::Repeats,
        Table::Sweep,
        Table::Hosts,
        Table::HttpRequests,
        Table::HttpServers,
        Table::HttpFailures,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Overview => "overview",
            Table::Samples => "samples",
            Table::Percentiles => "percentiles",
            Table::Histograms => "histograms",
            Table::Devices => "devices",
            Table::Requests => "requests",
            Table::RequestHistograms => "request_histograms",
            Table::Repeats => "repeats",
            Table::Sweep => "sweep",
            Table::Hosts => "hosts",
            Table::HttpRequests => "http_requests",
            Table::HttpServers => "http_servers",
            Table::HttpFailures => "http_failures",
        }
    }
}

/// Results, their parts by target, and samples, as comma-separated values with a line of names
/// first.
///
/// # Errors
/// None that a report can cause.
pub fn report(report: &Report) -> Result<String, csv::Error> {
    table(report, Table::Overview)
}

/// A table of a report, as comma-separated values with a line of names first. Phases of a search
/// are in none: they are no results.
///
/// # Errors
/// None that a report can cause.
pub fn table(report: &Report, table: Table) -> Result<String, csv::Error> {
    match table {
        Table::Overview => {
            let columns = measured::overview_columns(&report.percentiles);
            written(&columns, measured::overview_rows(report))
        }
        Table::Samples => written(&measured::sample_columns(), measured::sample_rows(report)),
        Table::Percentiles => {
            written(&latencies::percentile_columns(), latencies::percentile_rows(report))
        }
        Table::Histograms => written(&latencies::bucket_columns(), latencies::bucket_rows(report)),
        Table::Devices => {
            let results = candor_derive::results(report);
            written(&devices::columns(), devices::rows(&results))
        }
        Table::Requests => written(&requests::columns(), requests::rows(report)),
        Table::RequestHistograms => {
            written(&requests::bucket_columns(), requests::bucket_rows(report))
        }
        Table::Repeats => written(&series::repeat_columns(), series::repeat_rows(report)),
        Table::Sweep => {
            let keys = report.judgement.sweep.iter().flat_map(|sweep| &sweep.keys);
            let keys: Vec<&str> = keys.map(|key| key.name()).collect();
            written(&series::sweep_columns(&keys), series::sweep_rows(report))
        }
        Table::Hosts => written(&hosts::columns(), hosts::rows(report)),
        Table::HttpRequests => written(&http::request_columns(), http::request_rows(report)),
        Table::HttpServers => written(&http::server_columns(), http::server_rows(report)),
        Table::HttpFailures => written(&http::failure_columns(), http::failure_rows(report)),
    }
}

/// The text before the tables.
const PAGE_HEAD: &str = "# Tables of --csv\n\nDerived from the tables of columns; a test checks \
    this. `--csv FILE` writes one of these tables, `--csv-of TABLE` selects it; `candor show \
    REPORT` writes any of them later.\n\nNumbers have full precision and a decimal point, in the \
    unit at the end of the column name. An empty cell was not measured. Steps of a search are in \
    no table. Cells hold names unchanged; a spreadsheet may run a cell that begins with `=`, `+`, \
    `-` or `@`: import it as text. Columns keep their names and positions; new columns are added \
    at the end.\n";

/// The page that describes all tables.
pub fn page() -> String {
    let mut page = PAGE_HEAD.to_owned();
    for table in Table::ALL {
        let name = table.name();
        page.push_str(&match table {
            Table::Overview => described(
                name,
                "One row for each operation of a job in a phase (`result`), on request for each \
                 target (`target`), and for each interval with a completed operation (`sample`). \
                 After these columns, further columns hold the percentiles requested by \
                 `--percentiles`, such as `latency_ns_p99.99`.",
                &measured::overview_columns(&[]),
            ),
            Table::Samples => described(
                name,
                "One row for each interval of each operation, including intervals without a \
                 completion.",
                &measured::sample_columns(),
            ),
            Table::Percentiles => described(
                name,
                "One row for each percentile in the report.",
                &latencies::percentile_columns(),
            ),
            Table::Histograms => described(
                name,
                "One row for each bucket with a latency; 64 buckets to each power of two.",
                &latencies::bucket_columns(),
            ),
            Table::Devices => described(
                name,
                "One row for each interval of each device below the targets, from the kernel's \
                 counters: the work of all processes.",
                &devices::columns(),
            ),
            Table::Requests => described(
                name,
                "One row for each traced device and direction, and one more for the requests of \
                 this run.",
                &requests::columns(),
            ),
            Table::RequestHistograms => described(
                name,
                "One row for each step of a distribution of traced requests.",
                &requests::bucket_columns(),
            ),
            Table::Repeats => described(
                name,
                "One row for each metric of each operation of a phase that ran several times.",
                &series::repeat_columns(),
            ),
            Table::Sweep => described(
                name,
                "One row for each value, or pair of values, of the settings that differ between \
                 phases. The first columns are these settings, by name (`rw`, `bs`, `depth`, \
                 `workers`).",
                &series::sweep_columns(&[]),
            ),
            Table::Hosts => described(name, hosts::ABOUT, &hosts::columns()),
            Table::HttpRequests => described(name, http::REQUESTS, &http::request_columns()),
            Table::HttpServers => described(name, http::SERVERS, &http::server_columns()),
            Table::HttpFailures => described(name, http::FAILURES, &http::failure_columns()),
        });
    }
    page
}

/// The phases that are results, each with its number of the repeat from 1.
fn phases(report: &Report) -> impl Iterator<Item = (&PhaseRecord, u32)> {
    report.judged().map(|(phase, _)| (phase, phase.repeat + 1))
}

#[cfg(test)]
mod tests;
