//! The pages of all runs, as they are written.

use candor_plan::{PathText, path_of};
use candor_record::{CpuShares, Ended, HostSample, JobSample, PhaseRecord};

use super::corruptions::{self, Context};
use super::figures::Figures;
use super::files::counted_steps;
use super::flatfile::{self, FlatRow};
use super::histogram::Histogram;
use super::pages::{COMMON, escaped, link, page_of, title};
use super::skew::{self, DIFFERENCE_MAX, Part};
use super::{Now, Sheet};
use crate::definitions::general::{Buckets, Reports};
use crate::lower::{JOURNAL_RECOVERY, JobRow, LoweredRun, SD_FORMAT};

/// Name of the page that is standard output.
pub const CONSOLE: &str = "";
/// Intervals between two heads of a table.
const HEAD_EVERY: usize = 30;
/// CPU use in percent above which a warning names the host as a possible limit.
const CPU_MAX: f64 = 80.0;

/// Data of pages in addition to the runs.
pub struct Setup {
    /// The directory, as it was named.
    pub directory: String,
    /// Paths and names of the luns, or of the trees.
    pub luns: Vec<(String, String)>,
    /// Runs work on file systems.
    pub is_of_files: bool,
    /// The columns.
    pub sheet: Box<dyn Sheet + Send>,
    /// Bytes of a megabyte.
    pub megabyte: f64,
    /// Buckets of histograms.
    pub buckets: Buckets,
    /// Further pages.
    pub reports: Reports,
    /// Totals of all runs are kept.
    pub has_run_totals: bool,
    /// Deviation from a skew in percent that fails the run.
    pub skew_max: Option<f64>,
    /// Names and texts of the parameter files.
    pub files: Vec<(String, String)>,
    /// Parameters as they were understood.
    pub scanned: Vec<String>,
    /// True for a simulation.
    pub is_simulation: bool,
}

/// Result of a run, for runs that depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunResult {
    /// Operations per second.
    pub rate: f64,
    /// Mean response time in ms.
    pub response_ms: f64,
    /// A sentence about a skew that was missed by more than is allowed.
    pub failed_skew: Option<String>,
}

/// Text per page, in order of appearance.
pub struct Book {
    setup: Setup,
    out: Vec<(String, String)>,
    /// Runs that began.
    begun: usize,
    current: Option<Current>,
    /// Averages of all runs, for `totals_optional`.
    totals: Vec<(String, Figures)>,
    /// True once a corruption was reported.
    has_corruptions: bool,
}

/// The run under way.
struct Current {
    run: LoweredRun,
    rate: Option<f64>,
    /// Metrics of each interval: per job, and of the CPUs.
    intervals: Vec<(Vec<Figures>, Option<CpuShares>)>,
    /// Metrics per job since the start of its phase, or since the end of its ramp.
    since: Vec<Figures>,
    /// Metrics per job after the last interval of an ended phase.
    rest: Vec<Figures>,
    /// Ends of the intervals.
    last: Now,
}

/// Name under which a job is counted.
type Naming = fn(&JobRow) -> String;

/// Jobs of a run that share a page.
struct Selection {
    page: String,
    name: String,
    jobs: Vec<usize>,
}

fn selections(rows: &[JobRow], of: impl Fn(&JobRow) -> Option<String>) -> Vec<Selection> {
    let mut all: Vec<Selection> = Vec::new();
    for (nth, name) in rows.iter().enumerate().filter_map(|(nth, row)| Some((nth, of(row)?))) {
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.jobs.push(nth),
            None => all.push(Selection { page: page_of(&name), name, jobs: vec![nth] }),
        }
    }
    all
}

impl Current {
    /// Metrics of some jobs in an interval.
    fn at(&self, interval: usize, jobs: &[usize]) -> Figures {
        let (of_jobs, cpu) = &self.intervals[interval];
        let mut figures = Figures { cpu: *cpu, ..Figures::default() };
        jobs.iter().filter_map(|job| of_jobs.get(*job)).for_each(|of| figures.beside(of));
        figures
    }

    /// First and last interval that count, from 1.
    fn counted(&self) -> [usize; 2] {
        let all = self.intervals.len();
        let left_out = self.run.warmup_intervals as usize;
        [if left_out < all { left_out + 1 } else { 1 }, all]
    }

    /// Names of the operations that the rate counts, if not all.
    fn counted_steps(&self) -> Option<Vec<&'static str>> {
        self.run.files.as_ref().map(|files| counted_steps(&files.requested))
    }

    /// Keeps the metrics of a phase after its last interval.
    fn keep_rest(&mut self, record: &PhaseRecord) {
        let counted = self.counted_steps();
        self.rest.resize(self.run.phase.jobs.len(), Figures::default());
        for (at, job) in self.run.phase.jobs.iter().enumerate() {
            let of_job = record.measurements.iter().find(|measured| measured.job == job.name);
            if let Some(measured) = of_job {
                let whole = Figures::whole(measured, counted.as_deref());
                let rest = match self.since.get(at) {
                    Some(since) => whole.less(since),
                    None => whole,
                };
                self.rest[at].then(&rest);
            }
        }
        self.since.clear();
    }

    fn average(&self, jobs: &[usize]) -> Figures {
        let [first, last] = self.counted();
        let mut average = Figures::default();
        (first..=last).for_each(|nth| average.then(&self.at(nth - 1, jobs)));
        average
    }

    fn jobs(&self) -> Vec<usize> {
        (0..self.run.jobs.len()).collect()
    }
}

impl Book {
    /// A book with the titles of all pages in it.
    pub fn open(setup: Setup, runs: &[LoweredRun], now: &Now) -> Book {
        let (out, totals) = (Vec::new(), Vec::new());
        let mut book = Book { setup, out, begun: 0, current: None, totals, has_corruptions: false };
        let mut pages: Vec<String> = COMMON.iter().map(|(page, _)| (*page).to_owned()).collect();
        let mut links = String::new();
        for (page, what) in &COMMON[..COMMON.len() - 1] {
            links += &link(what, page);
        }
        let rows: Vec<JobRow> = runs.iter().flat_map(|run| run.jobs.clone()).collect();
        for selection in book.selections(&rows) {
            links += &link(&format!("Link to {} report:", selection.name), &selection.page);
            pages.push(format!("{}.histogram", selection.page));
            pages.push(selection.page);
        }
        if book.setup.has_run_totals {
            pages.push("totals_optional".to_owned());
        }
        for page in &pages {
            let title = title(&book.setup.directory, page);
            book.put(page, title);
        }
        let mut summary = format!("Vdbench summary report, created {}\n\n{links}\n", now.created);
        for (nth, run) in runs.iter().enumerate() {
            summary += &format!(
                "{:<32} <A HREF=\"#_{}\">{} {}</A>\n",
                if nth == 0 { "Link to runs:" } else { "" },
                nth + 1,
                escaped(&run.name),
                escaped(&run.loops)
            );
        }
        book.put("summary", summary);
        let head = flatfile::head(&*book.setup.sheet);
        book.put("flatfile", head);
        for (name, text) in std::mem::take(&mut book.setup.files) {
            book.put("parmfile", format!("\n* {}\n{}\n", escaped(&name), escaped(&text)));
        }
        for line in std::mem::take(&mut book.setup.scanned) {
            book.put("parmscan", escaped(&line) + "\n");
        }
        book
    }

    /// The pages that selections of jobs have.
    fn selections(&self, rows: &[JobRow]) -> Vec<Selection> {
        let reports = self.setup.reports;
        let mut all = selections(rows, |row| Some(row.host.clone()));
        if !reports.no_sd_detail {
            all.extend(selections(rows, |row| Some(row.sd.clone())));
        }
        all.extend(selections(rows, |row| {
            (row.wd != row.sd && row.wd != SD_FORMAT).then(|| row.wd.clone())
        }));
        if reports.host_detail || reports.slave_detail {
            all.extend(selections(rows, |row| Some(format!("{}.{}", row.host, row.sd))));
        }
        // Names of different kinds may be the same.
        let mut pages: Vec<String> = Vec::new();
        for selection in &mut all {
            while pages.contains(&selection.page)
                || COMMON.iter().any(|(page, _)| *page == selection.page)
            {
                selection.page += "_";
            }
            pages.push(selection.page.clone());
        }
        all
    }

    /// Returns the new text of each page.
    pub fn take(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.out)
    }

    fn put(&mut self, page: &str, text: String) {
        self.out.push((page.to_owned(), text));
    }

    /// A line on standard output and in the log.
    pub fn say(&mut self, now: &Now, line: &str) {
        self.put(CONSOLE, format!("{} {line}\n", now.tod));
        self.put("logfile", format!("{} {}\n", now.tod, escaped(line)));
    }

    /// A line in the log alone.
    pub fn log(&mut self, now: &Now, line: &str) {
        self.put("logfile", format!("{} {}\n", now.tod, escaped(line)));
    }

    /// A line on another page as well.
    pub fn write(&mut self, page: &str, now: &Now, line: &str) {
        self.put(page, format!("{} {}\n", now.tod, escaped(line)));
    }

    /// An error, which also appears in the log.
    pub fn error(&mut self, now: &Now, line: &str) {
        self.write("errorlog", now, line);
        self.say(now, line);
    }

    /// The corruptions of a run: a line for each data block on standard output, and all that is
    /// known of it in the log of errors. The number of key blocks.
    pub fn corruptions(&mut self, record: &PhaseRecord, now: &Now) -> u64 {
        let verified = || record.measurements.iter().filter_map(|job| job.verify.as_ref());
        if record.name == JOURNAL_RECOVERY {
            let pending = verified().filter_map(|verify| verify.journal.map(|own| own.pending));
            let pending: u64 = pending.sum();
            let line = format!(
                "{pending} pending writes found in this journal were checked: each of their blocks \
                 is to be as before its write or as after it."
            );
            self.write("errorlog", now, &line);
        }
        let name_of = |path: &str| {
            let path = path_of(path);
            // A tree of another shape has a numeric suffix after its file system's name.
            let target = self.setup.luns.iter().find(|(lun, _)| path.starts_with(lun));
            target.map_or_else(
                || path.text(),
                |(_, name)| name.split(' ').next().unwrap_or_default().into(),
            )
        };
        let is_of_files = self.setup.is_of_files;
        let date = |unix_ms| Now::at(unix_ms).full;
        let now_unix_ms = now.unix_ms;
        let context = Context { name_of: &name_of, is_of_files, date: &date, now_unix_ms };
        let (mut count, mut lines, mut said) = (0, Vec::new(), Vec::new());
        for verify in verified().filter(|verify| verify.mismatches() > 0) {
            count += verify.mismatches();
            if !self.has_corruptions && lines.is_empty() {
                lines.extend(corruptions::introduction(&context));
            }
            lines.extend(corruptions::lines(&verify.first, &context).concat());
            said.extend(corruptions::summary(&verify.first, &context));
            said.push(corruptions::total(verify));
            said.push(corruptions::definitions(&verify.first, &context));
        }
        self.has_corruptions |= count > 0;
        for line in &lines {
            // Scripts search for `===>`, which needs no escape.
            let line = escaped(line).replace("&gt;", ">");
            self.put("errorlog", format!("{} {line}\n", now.tod));
        }
        said.iter().for_each(|line| self.error(now, line));
        count
    }

    /// Starts a run, with its rate if known.
    pub fn begin(&mut self, run: &LoweredRun, rate: Option<f64>, now: &Now) {
        self.begun += 1;
        let verb = if self.setup.is_simulation { "Simulating" } else { "Starting" };
        let line = match run.heading_at(rate) {
            heading if heading.is_empty() => format!("{verb} RD={}", run.name),
            heading => format!("{verb} RD={}; {heading}", run.name),
        };
        self.put(CONSOLE, format!("{} {line}\n\n", now.tod));
        self.put("logfile", format!("{} {}\n\n", now.tod, escaped(&line)));
        let anchored = format!(
            "\n<a name=\"_{}\"></a><i><b>{} {}</b></i>\n",
            self.begun,
            now.tod,
            escaped(&line)
        );
        self.put("summary", anchored.clone());
        self.put("totals", anchored.clone());
        self.put("histogram", anchored.clone());
        self.put("skew", anchored.clone());
        for selection in self.selections(&run.jobs) {
            self.put(&selection.page, anchored.clone());
            self.put(&format!("{}.histogram", selection.page), anchored.clone());
        }
        self.status(now, "Starting", run);
        self.current = Some(Current {
            run: run.clone(),
            rate,
            intervals: Vec::new(),
            since: Vec::new(),
            rest: Vec::new(),
            last: now.clone(),
        });
    }

    fn status(&mut self, now: &Now, state: &str, run: &LoweredRun) {
        let line = format!("{}\t{state}\trd={}\t{}\n", now.tod, run.name, run.loops);
        self.put("status", escaped(&line));
    }

    /// An interval ended.
    pub fn interval(&mut self, samples: &[JobSample], hosts: &[HostSample], now: &Now) {
        let Some(mut current) = self.current.take() else { return };
        let counted = current.counted_steps();
        let mut figures: Vec<Figures> = current
            .run
            .phase
            .jobs
            .iter()
            .map(|job| {
                let sample = samples.iter().find(|sample| sample.job == job.name);
                sample.map_or_else(Figures::default, |sample| {
                    Figures::of(&sample.sample, counted.as_deref())
                })
            })
            .collect();
        current.since.resize(figures.len(), Figures::default());
        current.since.iter_mut().zip(&figures).for_each(|(since, more)| since.then(more));
        // Metrics after a step's last interval are in the next step's first interval.
        for (figures, rest) in figures.iter_mut().zip(std::mem::take(&mut current.rest)) {
            figures.then(&rest);
        }
        self.row(&mut current, figures, CpuShares::of_hosts(hosts), now);
        let nth = current.intervals.len() as u64;
        if nth == current.run.warmup_intervals && current.run.phase.ramp.0 > 0 {
            current.since.clear();
            self.status(now, "Warmup done", &current.run);
        }
        self.current = Some(current);
    }

    /// A row of an interval on every page.
    fn row(
        &mut self,
        current: &mut Current,
        figures: Vec<Figures>,
        cpu: Option<CpuShares>,
        now: &Now,
    ) {
        current.intervals.push((figures, cpu));
        current.last = now.clone();
        let nth = current.intervals.len();
        let label = nth.to_string();
        let all = current.at(nth - 1, &current.jobs());
        let head = (nth - 1).is_multiple_of(HEAD_EVERY).then(|| self.setup.sheet.head(&now.date));
        let row = format!("{}{}\n", now.tod, self.setup.sheet.row(&label, &all));
        for page in [CONSOLE, "logfile", "summary"] {
            self.put(page, head.clone().unwrap_or_default() + &row);
        }
        for selection in self.selections(&current.run.jobs) {
            let figures = current.at(nth - 1, &selection.jobs);
            let row = format!("{}{}\n", now.tod, self.setup.sheet.row(&label, &figures));
            self.put(&selection.page, head.clone().unwrap_or_default() + &row);
        }
        self.flat(current, &label, &all, now);
    }

    /// Ends a step of a run that continues.
    pub fn part(&mut self, record: &PhaseRecord) {
        if let Some(current) = &mut self.current {
            current.keep_rest(record);
        }
    }

    /// A last row of a run that ended within an interval.
    fn last_row(&mut self, current: &mut Current, record: &PhaseRecord, now: &Now) {
        current.keep_rest(record);
        let rest = std::mem::take(&mut current.rest);
        let is_empty = rest.iter().all(|of_job| of_job.is_empty() || of_job.seconds == 0.0);
        if !is_empty
            && (current.intervals.is_empty()
                || !record.measurements.iter().any(|measured| measured.ended == Ended::Time))
        {
            self.row(current, rest, None, now);
        }
    }

    fn flat(&mut self, current: &Current, label: &str, figures: &Figures, now: &Now) {
        let (run, rate) = (&current.run, current.rate);
        let row = FlatRow { tod: &now.tod, stamp: &now.stamp, run, rate, label, figures };
        let line = flatfile::row(&*self.setup.sheet, &row);
        self.put("flatfile", line);
    }

    /// The run ended.
    pub fn end(&mut self, record: &PhaseRecord, now: &Now) -> RunResult {
        let Some(mut current) = self.current.take() else { return RunResult::default() };
        let run = current.run.clone();
        self.last_row(&mut current, record, now);
        self.status(now, "Workload done", &run);
        if current.intervals.is_empty() {
            return RunResult::default();
        }
        let [first, last] = current.counted();
        let label = format!("avg_{first}-{last}");
        let jobs = current.jobs();
        let average = current.average(&jobs);
        let row = format!("{}{}\n", now.tod, self.setup.sheet.row(&label, &average));
        for page in [CONSOLE, "logfile", "summary"] {
            self.put(page, row.clone() + "\n");
        }
        let head = self.setup.sheet.head(&now.date);
        self.put("totals", format!("{head}{row}"));
        for selection in self.selections(&run.jobs) {
            let figures = current.average(&selection.jobs);
            let row = format!("{}{}\n\n", now.tod, self.setup.sheet.row(&label, &figures));
            self.put(&selection.page, row);
            let histogram = histogram(record, &run, &selection.jobs);
            let text = histogram
                .text(&format!("{} of RD={}", selection.name, run.name), &self.setup.buckets);
            self.put(&format!("{}.histogram", selection.page), text);
        }
        self.flat(&current, &label, &average, now);
        let text =
            histogram(record, &run, &jobs).text(&format!("RD={}", run.name), &self.setup.buckets);
        self.put("histogram", text);
        let failed_skew = self.skew(&current, now);
        self.passed_over(record, now);
        if !run.is_format {
            self.cpu(&average, now);
        }
        self.status(now, "Slaves done", &run);
        self.totals.push((run.name, average.clone()));
        RunResult { rate: average.rate(), response_ms: average.all().response_ms(), failed_skew }
    }

    /// Shares of the work, with a warning or a failure if they deviate.
    fn skew(&mut self, current: &Current, now: &Now) -> Option<String> {
        let run = &current.run;
        let asked = asked(current);
        let mut sentence = None;
        let kinds: [(&str, Naming); 3] = [
            ("SD", |row| row.sd.clone()),
            ("WD", |row| row.wd.clone()),
            ("Host", |row| row.host.clone()),
        ];
        for (kind, of) in kinds {
            let parts: Vec<Part> = selections(&run.jobs, |row| Some(of(row)))
                .into_iter()
                .map(|selection| Part {
                    asked: asked
                        .as_ref()
                        .map(|asked| selection.jobs.iter().map(|job| asked[*job]).sum::<f64>()),
                    figures: current.average(&selection.jobs),
                    name: selection.name,
                })
                .collect();
            let text = skew::table(kind, &parts, self.setup.megabyte);
            self.put("skew", escaped(&text));
            let Some((name, off)) = skew::greatest(&parts).filter(|_| !run.is_format) else {
                continue;
            };
            if off > DIFFERENCE_MAX {
                let line = format!(
                    "Observed workload skew for {kind}={name} differs from the requested skew by \
                     {off:.2}%, more than {DIFFERENCE_MAX}%. See skew.html"
                );
                self.warn(now, &line);
            }
            if self.setup.skew_max.is_some_and(|max| off > max) && sentence.is_none() {
                sentence = Some(format!(
                    "the skew of {kind}={name} is off by {off:.2}%, more than \
                     abort_failed_skew allows"
                ));
            }
        }
        sentence
    }

    /// Files and directories that workers passed over, by reason.
    fn passed_over(&mut self, record: &PhaseRecord, now: &Now) {
        let mut all = std::collections::BTreeMap::<&str, u64>::new();
        for (why, items) in record.measurements.iter().flat_map(|measured| &measured.passed_over) {
            *all.entry(why.as_str()).or_default() += items;
        }
        if all.is_empty() {
            return;
        }
        self.log(now, "Files and directories passed over:");
        for (why, items) in all {
            self.log(now, &format!("{why:<20} {items:>12}"));
        }
    }

    /// A warning if the CPUs were busy.
    fn cpu(&mut self, average: &Figures, now: &Now) {
        let Some(cpu) = average.cpu else { return };
        let used = 100.0 * (cpu.user + cpu.system);
        if used > CPU_MAX {
            let line = format!(
                "Average CPU utilization of {used:.1}% is above {CPU_MAX}%: the host may be what \
                 limits this run"
            );
            self.warn(now, &line);
        }
    }

    /// A highlighted warning.
    pub fn warn(&mut self, now: &Now, line: &str) {
        self.put(CONSOLE, format!("{} *** {line}\n", now.tod));
        for page in ["logfile", "summary"] {
            self.put(page, format!("{} *** {}\n", now.tod, escaped(line)));
        }
    }

    /// All runs ended, well or not.
    pub fn close(&mut self, succeeded: bool, now: &Now) {
        if self.setup.has_run_totals {
            self.run_totals(now);
        }
        if !succeeded {
            return;
        }
        let directory = &self.setup.directory;
        let line = if self.setup.is_simulation {
            format!("Vdbench simulation completed successfully. Output directory: {directory}")
        } else {
            format!("Vdbench execution completed successfully. Output directory: {directory}")
        };
        self.say(now, &line);
        self.write("summary", now, &line);
        self.put("status", format!("{}\tVdbench complete\n", now.tod));
    }

    /// A row per run with its average.
    fn run_totals(&mut self, now: &Now) {
        let mut text = self.setup.sheet.head(&now.date);
        for (name, average) in &self.totals {
            text += &format!("{name:<12}{}\n", self.setup.sheet.row("avg", average));
        }
        self.put("totals_optional", escaped(&text));
    }
}

/// Requested percentage of each job; `None` without skew.
fn asked(current: &Current) -> Option<Vec<f64>> {
    let rows = &current.run.jobs;
    let flows = current.run.phase.jobs.iter().any(|job| {
        job.blocks().is_some_and(|blocks| blocks.pace.flow.is_some())
            || job.entries().is_some_and(|entries| entries.pace.flow.is_some())
    });
    match current.rate {
        Some(rate) => {
            let own: f64 = rows.iter().filter_map(|row| row.own_rate).sum();
            let rest = (rate - own).max(0.0) / 100.0;
            let all = own + rest * 100.0;
            Some(
                rows.iter()
                    .map(|row| {
                        100.0 * row.own_rate.unwrap_or(rest * row.share_percent)
                            / all.max(f64::MIN_POSITIVE)
                    })
                    .collect(),
            )
        }
        None if flows && rows.iter().all(|row| row.own_rate.is_none()) => {
            Some(rows.iter().map(|row| row.share_percent).collect())
        }
        None => None,
    }
}

/// Response times of some jobs.
fn histogram(record: &PhaseRecord, run: &LoweredRun, jobs: &[usize]) -> Histogram {
    let mut all = Histogram::default();
    let counted = run.files.as_ref().map(|files| counted_steps(&files.requested));
    let counts = |name: &str| counted.as_ref().is_none_or(|counted| counted.contains(&name));
    for measured in &record.measurements {
        let nth = run.phase.jobs.iter().position(|job| job.name == measured.job);
        if !nth.is_some_and(|nth| jobs.contains(&nth)) {
            continue;
        }
        for op in measured.operations.iter().filter(|op| counts(&op.name)) {
            let counts = op.latency.as_ref().map(|latency| latency.histogram.clone());
            let of = match op.name.as_str() {
                "read" => Histogram { reads: counts, ..Histogram::default() },
                "write" => Histogram { writes: counts, ..Histogram::default() },
                _ if run.files.is_some() => Histogram { others: counts, ..Histogram::default() },
                _ => Histogram { writes: counts, ..Histogram::default() },
            };
            all.add(&of);
        }
    }
    all
}
