//! Where results go: options that all commands share.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_compare::{Expect, is_phase};
use candor_plan::{PathText, Plan, path_of};
use candor_record::{ExpectationResult, Report, Verdict};
use candor_show::csv::{self, Table};
use candor_show::{Style, json, report};

use crate::flag::{Flag, Group, Takes, put, put_some};
use crate::run_dir::RunDir;
use crate::screen::{self, Color};
use crate::{exit, expectations, parse};

/// Where results go.
#[derive(Debug, Default)]
pub struct Output {
    json: Option<PathBuf>,
    /// The report may replace its own source.
    json_onto_input: bool,
    /// Where lines for programs go while it runs.
    pub json_stream: Option<PathBuf>,
    csv: Option<PathBuf>,
    html: Option<PathBuf>,
    csv_of: Option<Table>,
    run_dir: Option<PathBuf>,
    claimed: Option<RunDir>,
    /// The whole report as text, not its first screen.
    pub verbose: bool,
    /// No progress, no hints where files went.
    pub quiet: bool,
    /// The run stays out of the history.
    pub no_history: bool,
    /// A line of progress, no screen.
    pub no_live: bool,
    /// When to use colours.
    pub color: Color,
    /// Percentiles to quote, ascending, in place of the usual ones.
    percentiles: Vec<f64>,
    /// Worst verdict that is a success.
    require: Option<Verdict>,
    /// Conditions that results have to meet.
    expect: Vec<Expect>,
    /// Where metrics of the run are served.
    pub metrics: Option<SocketAddr>,
    /// How long they are served after the end until someone has read them.
    pub metrics_wait: Option<Duration>,
}

const JSON: Flag<Output> = Flag {
    long: "json",
    takes: Takes::One("FILE"),
    help: "Write the report for machines to FILE; - writes it to stdout instead of the text",
    fields: &[],
    set: |output, text| put_some(&mut output.json, Ok(path_of(text))),
};

/// The same of a command that writes the report again that it reads.
const JSON_AGAIN: Flag<Output> = Flag {
    set: |output, text| {
        output.json_onto_input = true;
        put_some(&mut output.json, Ok(path_of(text)))
    },
    ..JSON
};

const JSON_STREAM: Flag<Output> = Flag {
    long: "json-stream",
    takes: Takes::One("FILE"),
    help: "Write a line of JSON each second of the run to FILE; - writes to stdout instead of the \
           text",
    fields: &[],
    set: |output, text| put_some(&mut output.json_stream, Ok(path_of(text))),
};

const CSV: Flag<Output> = Flag {
    long: "csv",
    takes: Takes::One("FILE"),
    help: "Write results and samples to FILE as comma-separated values; - is stdout, without text",
    fields: &[],
    set: |output, text| put_some(&mut output.csv, Ok(path_of(text))),
};

const HTML: Flag<Output> = Flag {
    long: "html",
    takes: Takes::One("FILE"),
    help: "Write the report as a page for the browser to FILE, pictures and data included",
    fields: &[],
    set: |output, text| put_some(&mut output.html, html_file(text)),
};

/// A page is for a browser, which reads files.
fn html_file(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("a page takes a FILE; stdout is for --json and --csv".to_owned()),
        file => Ok(path_of(file)),
    }
}

const CSV_OF: Flag<Output> = Flag {
    long: "csv-of",
    takes: Takes::One("TABLE"),
    help: "The table that --csv writes, as docs/csv.md describes them: overview (results, targets \
           and samples in one), samples, percentiles, histograms, devices, requests, \
           request_histograms, repeats, sweep, hosts, http_requests, http_servers or \
           http_failures [default: overview]",
    fields: &[],
    set: |output, text| {
        let words = Table::ALL.map(|table| (table.name(), table));
        put_some(&mut output.csv_of, parse::one_of(text, &words))
    },
};

const METRICS: Flag<Output> = Flag {
    long: "metrics",
    takes: Takes::One("[ADDRESS:]PORT"),
    help: METRICS_HELP,
    fields: &[],
    set: |output, text| put_some(&mut output.metrics, candor_metrics::address(text)),
};

/// Purpose of `--metrics`, wherever it is taken.
pub const METRICS_HELP: &str = "Serve metrics to Prometheus during the run, at \
                                http://ADDRESS:PORT/metrics; ADDRESS is 127.0.0.1 unless it is \
                                given";

const METRICS_WAIT: Flag<Output> = Flag {
    long: "metrics-wait",
    takes: Takes::One("SECONDS"),
    help: "After the run, keep serving metrics until one scrape, for at most SECONDS [default: 0]",
    fields: &[],
    set: |output, text| {
        let wait = parse::seconds(text).map(|time| Duration::from_nanos(time.0));
        put_some(&mut output.metrics_wait, wait)
    },
};

const RUN_DIR: Flag<Output> = Flag {
    long: "run-dir",
    takes: Takes::One("DIR"),
    help: "Keep plan, report and text of this run in DIR, so that it can be repeated exactly",
    fields: &[],
    set: |output, text| put_some(&mut output.run_dir, Ok(path_of(text))),
};

const NO_HISTORY: Flag<Output> = Flag {
    long: "no-history",
    takes: Takes::Nothing,
    help: "Do not enter this run into the history, which candor history lists",
    fields: &[],
    set: |output, _| put(&mut output.no_history, Ok(true)),
};

const VERBOSE: Flag<Output> = Flag {
    long: "verbose",
    takes: Takes::Nothing,
    help: "Print all findings with their evidence, requests and notes, not one screen",
    fields: &[],
    set: |output, _| put(&mut output.verbose, Ok(true)),
};

const QUIET: Flag<Output> = Flag {
    long: "quiet",
    takes: Takes::Nothing,
    help: "No progress on stderr",
    fields: &[],
    set: |output, _| put(&mut output.quiet, Ok(true)),
};

const NO_LIVE: Flag<Output> = Flag {
    long: "no-live",
    takes: Takes::Nothing,
    help: "Disable the live screen; a line on stderr",
    fields: &[],
    set: |output, _| put(&mut output.no_live, Ok(true)),
};

const COLOR: Flag<Output> = Flag {
    long: "color",
    takes: Takes::One("auto|always|never"),
    help: "When to use colours [default: auto]",
    fields: &[],
    set: |output, text| {
        let words = [("auto", Color::Auto), ("always", Color::Always), ("never", Color::Never)];
        output.color = parse::one_of(text, &words)?;
        Ok(())
    },
};

const PERCENTILES: Flag<Output> = Flag {
    long: "percentiles",
    takes: Takes::One("P,…"),
    help: "Show these percentiles of latency, such as 50,95,99.9 [default: 50,99 and what fits]",
    fields: &[],
    set: |output, text| put(&mut output.percentiles, parse::percentiles(text)),
};

const REQUIRE: Flag<Output> = Flag {
    long: "require",
    takes: Takes::One("ok|caution"),
    help: "Exit with 6 if the verdict is worse than this",
    fields: &[],
    set: |output, text| {
        let words = [("ok", Verdict::Ok), ("caution", Verdict::Caution)];
        put_some(&mut output.require, parse::one_of(text, &words))
    },
};

const EXPECT: Flag<Output> = Flag {
    long: "expect",
    takes: Takes::Many("CONDITION"),
    help: "Report whether results meet a condition; exit 9 if not, 10 if the storage's number is \
           unknown: \"p99 < 10ms\", \"commit > 2k/s\", \"PHASE/JOB: read bandwidth > 100MB/s\"; \
           figures are iops, bandwidth, mean, p50, p99, …; may be given several times",
    fields: &[],
    set: |output, text| {
        output.expect.push(Expect::parse(text)?);
        Ok(())
    },
};

/// Options of a command that runs something.
pub const OF_RUNS: &[Group<Output>] = &[Group {
    title: "Output",
    flags: &[
        JSON,
        JSON_STREAM,
        CSV,
        CSV_OF,
        HTML,
        RUN_DIR,
        NO_HISTORY,
        PERCENTILES,
        REQUIRE,
        EXPECT,
        METRICS,
        METRICS_WAIT,
        VERBOSE,
        QUIET,
        NO_LIVE,
        COLOR,
    ],
}];

/// Options of a command that shows a stored report.
pub const OF_REPORTS: &[Group<Output>] = &[Group {
    title: "Output",
    flags: &[JSON_AGAIN, CSV, CSV_OF, HTML, PERCENTILES, REQUIRE, EXPECT, VERBOSE, COLOR],
}];

/// Options of a command that only looks.
pub const OF_LOOKS: &[Group<Output>] = &[Group { title: "Output", flags: &[JSON, COLOR] }];

/// Options of a command that sets results beside each other.
pub const OF_COMPARISONS: &[Group<Output>] =
    &[Group { title: "Output", flags: &[JSON, HTML, COLOR] }];

/// Options of a command that shows something again and again.
pub const OF_SCREENS: &[Group<Output>] = &[Group { title: "Output", flags: &[NO_LIVE, COLOR] }];

/// Options of a command whose words are another tool's, which variables give: `CANDOR_HTML=FILE` is
/// `--html FILE`.
const OF_FOREIGN: &[Flag<Output>] = &[JSON, HTML, METRICS, METRICS_WAIT];

/// The variable of an option.
fn variable(long: &str) -> String {
    format!("CANDOR_{}", long.to_uppercase().replace('-', "_"))
}

impl Output {
    /// Where a command whose words are another tool's is to put candor's own results, as variables
    /// say; empty ones say nothing. The error is a sentence.
    pub fn of_environment(value: impl Fn(&str) -> Option<OsString>) -> Result<Output, String> {
        let mut output = Output::default();
        for flag in OF_FOREIGN {
            let name = variable(flag.long);
            let Some(value) = value(&name).filter(|value| !value.is_empty()) else { continue };
            (flag.set)(&mut output, &value.text()).map_err(|why| format!("{name}: {why}"))?;
        }
        if is_stdout(&output.json) {
            return Err("CANDOR_JSON takes a FILE; stdout has the results of the tool".to_owned());
        }
        if let Some((long, file)) = output.unwritable() {
            let (name, file) = (variable(long), file.text());
            return Err(format!("{name}={file} is not a file that can be made"));
        }
        output.claim(variable)?;
        if output.metrics_wait.is_some() && output.metrics.is_none() {
            return Err("CANDOR_METRICS_WAIT is for CANDOR_METRICS; set that as well".to_owned());
        }
        // Nothing stands on stderr of a tool, but for a port that nobody else knows.
        output.quiet = output.metrics.is_none_or(|address| address.port() != 0);
        Ok(output)
    }

    /// True where files or metrics tell what the judgement says.
    pub fn has_readers(&self) -> bool {
        self.json.is_some() || self.html.is_some() || self.metrics.is_some()
    }

    /// Options that name a file, each with it.
    fn files(&self) -> [(&'static str, &Option<PathBuf>); 4] {
        [
            ("json", &self.json),
            ("json-stream", &self.json_stream),
            ("csv", &self.csv),
            ("html", &self.html),
        ]
    }

    /// Options that have stdout for data, so that no text goes there.
    fn on_stdout(&self) -> Vec<&'static str> {
        let files = self.files().into_iter();
        files.filter(|(_, place)| is_stdout(place)).map(|(long, _)| long).collect()
    }

    /// stdout has data while it runs.
    pub fn streams_to_stdout(&self) -> bool {
        is_stdout(&self.json_stream)
    }

    /// Option and path of a file that cannot be made.
    fn unwritable(&self) -> Option<(&'static str, &Path)> {
        let files =
            self.files().into_iter().filter_map(|(long, file)| Some((long, as_file(file)?)));
        let mut unwritable = files.filter(|(_, file)| {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            parent.is_some_and(|parent| !parent.is_dir()) || file.is_dir()
        });
        unwritable.next()
    }

    /// Claims the files; messages name each by the user's option.
    fn claim(&self, name: impl Fn(&str) -> String) -> Result<(), String> {
        let files: Vec<_> = self
            .files()
            .into_iter()
            .filter_map(|(long, file)| Some((long, as_file(file)?)))
            .collect();
        for (nth, (long, file)) in files.iter().enumerate() {
            let shown = format!("{} {}", name(long), file.text());
            let is_file = !file.exists() || file.is_file();
            let mut earlier = files[..nth].iter().filter(|_| is_file);
            if let Some((other, _)) = earlier.find(|(_, of)| candor_files::is_same(of, file)) {
                return Err(format!(
                    "{shown} is also the file of {}; name another file",
                    name(other)
                ));
            }
            let claimed = if *long == "json" && self.json_onto_input {
                candor_files::claim_onto(file, candor_files::Use::Input)
            } else {
                candor_files::claim(file)
            };
            claimed.map_err(|refusal| format!("{shown}: {refusal}"))?;
        }
        Ok(())
    }

    /// Looks whether everything can be written, before time is spent on measuring.
    pub fn prepare(&mut self) -> Result<(), String> {
        if let Some((long, file)) = self.unwritable() {
            return Err(format!("--{long} {} is not a file that can be made", file.text()));
        }
        self.claim(|long| format!("--{long}"))?;
        if let [one, other, ..] = self.on_stdout()[..] {
            return Err(format!(
                "--{one} - and --{other} - cannot both have stdout; give one a FILE"
            ));
        }
        if self.csv_of.is_some() && self.csv.is_none() {
            return Err("--csv-of selects the table of --csv; give --csv FILE as well".into());
        }
        if self.metrics_wait.is_some() && self.metrics.is_none() {
            return Err("--metrics-wait is for --metrics; give --metrics PORT as well".into());
        }
        self.claimed = self.run_dir.as_deref().map(RunDir::claim).transpose()?;
        Ok(())
    }

    /// Writes a report to all places that were asked for, with the percentiles that were asked for.
    pub fn deliver(&self, result: &mut Report) -> Result<(), String> {
        if !self.percentiles.is_empty() {
            result.quote(&self.percentiles);
        }
        if !self.expect.is_empty() {
            result.expectations = expectations::check(&self.expect, result);
        }
        let result = &*result;
        let json = json::report(result).map_err(|error| error.to_string())?;
        if let Some(dir) = &self.claimed {
            let style = Style::default();
            let text = report::text(result, &style) + &report::expectations(result, &style);
            dir.keep(result, &json, &text)?;
        }
        self.write_files(result, &json)?;
        if self.on_stdout().is_empty() {
            let style = screen::style(self.color);
            let text = if self.verbose {
                report::text(result, &style)
            } else {
                report::first_screen(result, &style)
            };
            screen::data(&(text + &report::expectations(result, &style)))?;
        }
        if !self.quiet {
            let dir = self.claimed.as_ref().map(RunDir::name);
            let [file, page] = [&self.json, &self.html]
                .map(|place| as_file(place).map(candor_plan::PathText::text));
            screen::tell(&report::written(dir.as_deref(), file.as_deref(), page.as_deref()));
        }
        Ok(())
    }

    /// Writes the files that were asked for; `json` is the report as such.
    pub fn write_files(&self, result: &Report, json: &str) -> Result<(), String> {
        write(&self.json, json)?;
        if self.csv.is_some() {
            let table = csv::table(result, self.csv_of.unwrap_or_default());
            write(&self.csv, &table.map_err(|error| error.to_string())?)?;
        }
        self.page(|| {
            let csv = csv::report(result).map_err(|error| error.to_string())?;
            Ok(candor_html::report(result, json, &csv))
        })
    }

    /// Writes the page for the browser where one was asked for.
    pub fn page(&self, page: impl FnOnce() -> Result<String, String>) -> Result<(), String> {
        if self.html.is_some() { write(&self.html, &page()?) } else { Ok(()) }
    }

    /// The exit code of a report that earned `code`. If nothing went wrong, an expectation that is
    /// not met, a verdict worse than `--require` takes, and an expectation that cannot be checked
    /// have codes of their own, in this order; the reason goes to stderr.
    pub fn exit_code(&self, code: u8, report: &Report) -> u8 {
        let verdict = report.judgement.verdict;
        let unbelieved = self.require.filter(|required| verdict > *required);
        if let Some(required) = unbelieved {
            let [required, verdict] = [required, verdict].map(Verdict::name);
            screen::tell(&format!(
                "candor: required \"{required}\", and the verdict is \"{verdict}\"\n"
            ));
        }
        let expected = report.expectations.iter().filter(|_| !self.expect.is_empty());
        let mut result = ExpectationResult::Met;
        for expectation in expected {
            result = result.max(expectation.result);
            if expectation.result > ExpectationResult::Met {
                let (label, condition) = (expectation.result.label(), &expectation.condition);
                screen::tell(&format!("candor: expected {condition}: {label}\n"));
            }
        }
        match result {
            _ if code != exit::RAN => code,
            ExpectationResult::NotMet => exit::NOT_MET,
            _ if unbelieved.is_some() => exit::UNBELIEVED,
            ExpectationResult::CannotTell => exit::CANNOT_TELL,
            ExpectationResult::Met => code,
        }
    }

    /// A sentence if an expectation names none of the phases of the plan.
    ///
    /// # Errors
    /// The sentence.
    pub fn fits(&self, plan: &Plan) -> Result<(), String> {
        let phases: Vec<&str> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
        self.expect.iter().find_map(|expect| expect.misses(&phases)).map_or(Ok(()), Err)
    }

    /// A sentence if an expectation names no result of a check; the names of job and result are
    /// the same.
    ///
    /// # Errors
    /// The sentence.
    pub fn fits_check(&self, results: &[String]) -> Result<(), String> {
        let names: Vec<&str> = results.iter().map(String::as_str).collect();
        let mut others = self.expect.iter().filter(|expect| {
            !expect.of().is_some_and(|of| {
                let phase = of.split_once('/').map_or(of, |(phase, _)| phase);
                names.iter().any(|result| is_phase(phase, result) || is_phase(result, phase))
            })
        });
        others.find_map(|expect| expect.misses(&names)).map_or(Ok(()), Err)
    }

    /// An error for options that only a report of candor can follow.
    pub fn refuse_what_needs_a_report(&self, file: &str) -> Result<(), String> {
        let given = [
            ("--csv", self.csv.is_some()),
            ("--html", self.html.is_some()),
            ("--percentiles", !self.percentiles.is_empty()),
            ("--require", self.require.is_some()),
            ("--expect", !self.expect.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(format!("{flag} needs a report of candor, and {file}")),
            None => Ok(()),
        }
    }

    /// Writes a result that is no report as JSON to the file that `--json` names, beside a command
    /// that has stdout.
    pub fn write_json<E: std::fmt::Display>(
        &self,
        json: impl FnOnce() -> Result<String, E>,
    ) -> Result<(), String> {
        match &self.json {
            None => Ok(()),
            Some(_) if is_stdout(&self.json) => {
                Err("--json takes a FILE here; stdout belongs to COMMAND".to_owned())
            }
            Some(_) => write(&self.json, &json().map_err(|error| error.to_string())?),
        }
    }

    /// Shows a result that is no report: as JSON where `--json` wants it, and as text unless that
    /// was stdout.
    pub fn show<E: std::fmt::Display>(
        &self,
        json: impl FnOnce() -> Result<String, E>,
        text: impl FnOnce(&Style) -> String,
    ) -> Result<(), String> {
        if self.json.is_some() {
            write(&self.json, &json().map_err(|error| error.to_string())?)?;
        }
        if is_stdout(&self.json) { Ok(()) } else { screen::data(&text(&screen::style(self.color))) }
    }
}

fn is_stdout(place: &Option<PathBuf>) -> bool {
    place.as_deref() == Some(Path::new("-"))
}

/// The file, where it is not stdout.
fn as_file(place: &Option<PathBuf>) -> Option<&Path> {
    place.as_deref().filter(|file| *file != Path::new("-"))
}

/// Writes a text for machines to the place that it was asked for.
fn write(place: &Option<PathBuf>, text: &str) -> Result<(), String> {
    match as_file(place) {
        None if place.is_none() => Ok(()),
        None => screen::machine(text),
        Some(file) => candor_files::replace(file, text)
            .map_err(|error| format!("{} cannot be written: {error}", file.text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_options_of_foreign_commands() {
        let of = |set: &'static [(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(known, _)| *known == name);
            Output::of_environment(move |name| value(name).map(|(_, value)| value.into()))
        };
        let none = of(&[("CANDOR_HTML", "")]).expect("nothing is asked for");
        assert!(none.quiet && !none.has_readers());
        let some = of(&[("CANDOR_METRICS", "9500"), ("CANDOR_METRICS_WAIT", "5")]);
        assert!(some.is_ok_and(|some| some.quiet && some.has_readers()));
        assert!(of(&[("CANDOR_METRICS", "0")]).is_ok_and(|some| !some.quiet));
        for (set, sentence) in [
            (&[("CANDOR_METRICS", "x")][..], "CANDOR_METRICS: `x` is no address to listen on"),
            (&[("CANDOR_JSON", "-")], "CANDOR_JSON takes a FILE"),
            (&[("CANDOR_HTML", "-")], "CANDOR_HTML: a page takes a FILE"),
            (&[("CANDOR_HTML", "/")], "CANDOR_HTML=/ is not a file that can be made"),
            (&[("CANDOR_METRICS_WAIT", "5")], "CANDOR_METRICS_WAIT is for CANDOR_METRICS"),
        ] {
            let refused = of(set).expect_err(sentence);
            assert!(refused.starts_with(sentence), "{refused}");
        }
    }

    #[test]
    fn help_names_each_table_of_csv() {
        for table in Table::ALL {
            assert!(CSV_OF.help.contains(table.name()), "{}", table.name());
        }
    }
}
