//! `--metrics`: a real Prometheus scrapes it, real parsers read it, numbers are the report's.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Report, Running, Scratch, candor, python_folder, quiet_host, skip, spawn};

/// Nothing here takes so long; what does hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// A process that is stopped when the test ends.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run of two phases, whose metrics stay until their last state was read.
fn run(scratch: &Scratch, seconds: u32) -> (Running, String) {
    let plan = scratch.outside("plan.toml");
    let phase = |name: &str| {
        format!(
            "[[phase]]\nname = \"{name}\"\nstop = {{ time = \"{seconds}s\" }}\n\
             [[phase.job]]\nname = \"{name}s\"\ntargets = [\"file\"]\n\
             [phase.job.work.blocks]\nmix = \"{name}\"\naccess = \"random\"\n\
             direct = true\n"
        )
    };
    let path = scratch.path("file");
    let target = format!("[[target]]\nname = \"file\"\npath = \"{path}\"\nsize = \"64m\"\n");
    let (write, read) = (phase("write"), phase("read"));
    let text = format!("version = 2\nname = \"measured\"\n{target}{write}{read}");
    std::fs::write(&plan, text).expect("a plan");
    let json = scratch.outside("report.json");
    let words = ["run", &plan, "--metrics", "0", "--metrics-wait", "30", "--json", &json];
    let mut running = spawn(&words);
    let at = address(&mut running);
    (running, at)
}

/// Address of the metrics, from the line that says it.
fn address(running: &mut Running) -> String {
    running.wait_for("/metrics\n");
    let err = running.err_so_far();
    let at = err.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    at.expect("an address").to_owned()
}

/// The body of an answer, if there is one that has what was asked for.
fn get(at: &str, path: &str, accept: &str) -> Option<String> {
    let mut stream = TcpStream::connect(at).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {at}\r\nAccept: {accept}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.contains(" 200 OK").then(|| body.to_owned())
}

/// Repeats a look until it shows something.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < LIMIT, "never seen: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Operations and bytes of the report, by phase, job and operation.
fn totals(report: &Report) -> BTreeMap<(String, String, String), (f64, f64)> {
    let mut totals = BTreeMap::new();
    for phase in report.list("/phases") {
        for job in phase["measurements"].as_array().expect("jobs") {
            for (operation, stats) in job["operations"].as_object().expect("operations") {
                let name = |of: &Value| of.as_str().expect("a name").to_owned();
                let of = (name(&phase["name"]), name(&job["job"]), operation.clone());
                let [ops, bytes] =
                    ["ops", "bytes"].map(|key| stats[key].as_f64().expect("a number"));
                totals.insert(of, (ops, bytes));
            }
        }
    }
    totals
}

/// Reads metrics with the parser of Prometheus' own library, and prints each sample as JSON.
const PARSE: &str = "\
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation, family.name
    for sample in family.samples:
        print(json.dumps([sample.name, sample.labels, str(sample.value)]))
";

/// Runs a program on a text.
fn piped(command: &mut Command, text: &str) -> (bool, String, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let ran = child.wait_with_output().expect("it ends");
    let [out, err] = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into());
    (ran.status.success(), out, err)
}

fn find(program: &str, from: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').map(|folder| Path::new(folder).join(program)).find(|p| p.exists());
    if found.is_none() {
        skip(&format!("it needs {program}: {from}"));
    }
    found
}

/// Samples of an OpenMetrics text by a real parser; none where it is not installed.
fn parsed(text: &str) -> Option<Vec<(String, Value, f64)>> {
    let python = python_folder().join("python3");
    let (done, out, err) = if python.exists() {
        piped(Command::new(python).args(["-c", PARSE]), text)
    } else {
        (false, String::new(), "ModuleNotFoundError".to_owned())
    };
    if err.contains("ModuleNotFoundError") {
        skip("it needs Python's prometheus_client: cargo xtask setup installs it");
        return None;
    }
    assert!(done, "{err}\n{text}");
    let sample = |line: &str| {
        let of: Value = serde_json::from_str(line).expect("JSON");
        let value = of[2].as_str().expect("a value").parse().expect("a number");
        (of[0].as_str().expect("a name").to_owned(), of[1].clone(), value)
    };
    Some(out.lines().map(sample).collect())
}

#[test]
fn parsers_read_it_and_totals_are_those_of_the_report() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let (running, at) = run(&scratch, 1);
    let first = until("a phase that ended", || {
        let text = get(&at, "/metrics", "text/plain")?;
        text.contains("candor_phases_done_total{} 1\n").then_some(text)
    });
    if let Some(promtool) = find("promtool", "Debian's package prometheus") {
        let (done, out, err) = piped(Command::new(promtool).args(["check", "metrics"]), &first);
        assert!(done && out.is_empty() && err.is_empty(), "{out}{err}\n{first}");
    }
    // It ends once its last state was read, so the last answer is that.
    let mut last = String::new();
    while let Some(text) = get(&at, "/metrics", "application/openmetrics-text; version=1.0.0") {
        last = text;
        std::thread::sleep(Duration::from_millis(50));
    }
    let ran = running.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(TcpStream::connect(&at).is_err(), "the endpoint ends with the run");
    let report = Report::read(&scratch.outside("report.json")).expect("a report");
    let Some(samples) = parsed(&last) else { return };
    let value = |name: &str, labels: Value| {
        let found = samples.iter().find(|(n, l, _)| n == name && *l == labels);
        found.map(|(_, _, value)| *value)
    };
    for ((phase, job, operation), (ops, bytes)) in totals(&report) {
        let labels = serde_json::json!({"phase": phase, "job": job, "operation": operation});
        let of = |name| value(name, labels.clone());
        assert_eq!(of("candor_operations_total"), Some(ops), "{labels}");
        assert_eq!(of("candor_bytes_total"), Some(bytes), "{labels}");
        assert_eq!(of("candor_result_operations_per_second").is_some(), ops > 0.0, "{labels}");
    }
    let verdict = serde_json::json!({"verdict": report.verdict()});
    assert_eq!(value("candor_run_verdict", verdict), Some(1.0));
    let findings = samples.iter().filter(|(name, ..)| name == "candor_finding").count();
    assert_eq!(findings, report.findings().len(), "{}", report.told());
}

#[test]
fn runs_in_words_of_another_tool_have_metrics_a_page_and_a_report_by_variables() {
    let scratch = Scratch::new();
    let (json, html) = (scratch.outside("report.json"), scratch.outside("report.html"));
    let with = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(words).current_dir(scratch.dir()).env("CANDOR_VERDICT", "off");
        command.env("CANDOR_JSON", &json).env("CANDOR_HTML", &html);
        command.env("CANDOR_METRICS", "0").env("CANDOR_METRICS_WAIT", "30");
        Running::start(&mut command, Stdio::null())
    };
    for (words, operations) in [
        ("fio --name=a --size=1m --bs=4k --rw=randread --output-format=json", &["read"][..]),
        ("elbencho -w -r -t 2 -s 1m -b 4k data", &["write", "read"]),
    ] {
        let mut running = with(&words.split(' ').collect::<Vec<_>>());
        let at = address(&mut running);
        let mut last = String::new();
        while let Some(text) = get(&at, "/metrics", "text/plain") {
            last = text;
            std::thread::sleep(Duration::from_millis(50));
        }
        let ran = running.wait();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "the address alone: {}", ran.err);
        let report = Report::read(&json).expect("a report");
        let totals = totals(&report);
        let done: Vec<&str> = totals.keys().map(|(_, _, operation)| operation.as_str()).collect();
        assert!(operations.iter().all(|operation| done.contains(operation)), "{done:?}");
        for ((phase, job, operation), (ops, _)) in totals {
            let of = format!("phase=\"{phase}\",job=\"{job}\",operation=\"{operation}\"");
            assert!(last.contains(&format!("candor_operations_total{{{of}}} {ops}\n")), "{last}");
        }
        let page = std::fs::read_to_string(&html).expect("a page");
        assert!(page.starts_with("<!doctype html>"), "{}", &page[..100]);
        [&json, &html].into_iter().for_each(|file| std::fs::remove_file(file).expect("removed"));
    }
    let mut wrong = Command::new(env!("CARGO_BIN_EXE_candor"));
    wrong.args(["fio", "--name=a", "--ioengine=null", "--size=4k"]).env("CANDOR_METRICS", "here");
    let ran = Running::start(&mut wrong, Stdio::null()).wait();
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with("fio: CANDOR_METRICS: `here` is no address"), "{}", ran.err);
}

/// A free port of this host. Another program may take it before it is used, which nobody does here.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Starts a Prometheus that scrapes these every second.
fn prometheus(program: &Path, scratch: &Scratch, targets: &[&str]) -> (Stopped, String) {
    let config = scratch.outside("prometheus.yml");
    let text = format!(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: candor\n    \
         honor_labels: true\n    static_configs:\n      - targets: {targets:?}\n"
    );
    std::fs::write(&config, text).expect("a configuration");
    let at = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new(program);
    command.arg(format!("--config.file={config}"));
    command.arg(format!("--storage.tsdb.path={}", scratch.outside("tsdb")));
    command.arg(format!("--web.listen-address={at}")).arg("--log.level=error");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = Stopped(command.spawn().expect("prometheus starts"));
    until("Prometheus", || get(&at, "/-/ready", "*/*"));
    (process, at)
}

/// Whether a query has had a number since that time.
fn has_data(at: &str, query: &str, since: f64, until: f64) -> bool {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    // The last scrape's figures stand for less than a second: the next one finds nobody.
    let (end, range) = (until + 1.0, "/api/v1/query_range");
    let path = format!("{range}?query={encoded}&start={since}&end={end}&step=0.1");
    let text = get(at, &path, "*/*").expect("an answer");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let series = answer["data"]["result"].as_array().expect("series").iter();
    let mut values = series.flat_map(|of| of["values"].as_array().cloned().unwrap_or_default());
    values.any(|value| value[1] != "NaN")
}

/// The queries of all panels of the dashboard, with their panels.
fn queries() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana-candor.json");
    let text = std::fs::read_to_string(path).expect("the dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let of_panel = |panel: &Value| {
        let title = panel["title"].as_str().expect("a title").to_owned();
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        let query = move |target: Value| {
            let query = target["expr"].as_str().expect("a query");
            // What Grafana makes of it at a scrape interval of a second.
            (title.clone(), query.replace("$__rate_interval", "4s"))
        };
        targets.into_iter().map(query).collect::<Vec<_>>()
    };
    panels.iter().flat_map(of_panel).collect()
}

fn unix_s() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.expect("a clock after 1970").as_secs_f64()
}

#[test]
fn every_panel_of_the_dashboard_has_data_of_a_real_prometheus() {
    let Some(program) = find("prometheus", "Debian's package prometheus") else { return };
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let since = unix_s();
    let mut watching = spawn(&["watch", "--interval", "0.5", "--metrics", "0"]);
    let watched = address(&mut watching);
    let (running, at) = run(&scratch, 4);
    let (_process, server) = prometheus(&program, &scratch, &[&at, &watched]);
    // It ends when Prometheus has read its last state.
    let ran = running.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    watching.signal(Signal::INT);
    assert_eq!(watching.wait().code, Some(0));
    let report = Report::read(&scratch.outside("report.json")).expect("a report");
    let has_devices = !report.list("/phases/0/hosts/0/before/devices").is_empty();
    let queries = queries();
    assert!(queries.len() > 25, "{}", queries.len());
    let mut lacking = queries.iter().filter(|(_, query)| {
        let needs_device = query.contains("requests_in_flight") || query.contains("_wait_seconds");
        (has_devices || !needs_device) && !has_data(&server, query, since, unix_s())
    });
    assert_eq!(lacking.next(), None, "no data");
    for ((phase, job, operation), (ops, _)) in totals(&report) {
        let labels = format!(r#"phase="{phase}",job="{job}",operation="{operation}""#);
        let query = format!("candor_operations_total{{{labels}}} == {ops}");
        assert!(has_data(&server, &query, since, unix_s()), "{query}");
    }
}

#[test]
fn addresses_that_cannot_be_had_are_sentences() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let scratch = Scratch::new();
    let (file, dir) = (scratch.path("file"), scratch.dir());
    let words = ["run", "--target", &file, "--size", "1m", "--rw", "read", "--bs", "4k"];
    for (more, sentence) in [
        (
            &["--metrics", port.as_str()][..],
            format!("metrics cannot be served at 127.0.0.1:{port}"),
        ),
        (&["--metrics", "here:1"], "`here:1` is no address to listen on".to_owned()),
        (&["--metrics-wait", "5"], "--metrics-wait is for --metrics".to_owned()),
        (&["--csv-of", "samples"], "give --csv FILE as well".to_owned()),
    ] {
        let ran = candor(&[&words, more].concat());
        assert_eq!(ran.code, Some(2), "{more:?}: {}", ran.err);
        assert!(ran.err.contains(&sentence), "{more:?}: {}", ran.err);
    }
    let ran = candor(&["watch", "--count", "1", "--metrics", &port]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("metrics cannot be served at"), "{}", ran.err);
    assert!(scratch.entries().is_empty(), "nothing was made in {dir}");
}
