//! The JSON report, as far as tests ask.

#[path = "schema.rs"]
mod schema;

use std::collections::BTreeMap;

use serde_json::Value;

/// Weights above an explanation: what makes a result less than believable.
const HEAVY: [&str; 3] = ["caution", "unverified", "wrong"];

/// A report.
pub struct Report(pub Value);

impl Report {
    /// Reads one; none if there is no such file.
    pub fn read(path: &str) -> Option<Report> {
        Some(Report::of(&std::fs::read_to_string(path).ok()?))
    }

    /// Of its text.
    pub fn of(text: &str) -> Report {
        let value = serde_json::from_str(text).expect("a report is JSON");
        Report(value)
    }

    /// Violations of the documented schema.
    pub fn violations(&self) -> Vec<String> {
        schema::violations(&self.0)
    }

    /// The value at a path such as `/phases/0/name`.
    pub fn at(&self, pointer: &str) -> &Value {
        self.0.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in the report"))
    }

    /// The number there.
    pub fn number(&self, pointer: &str) -> f64 {
        self.at(pointer).as_f64().unwrap_or_else(|| panic!("{pointer} is no number"))
    }

    /// The words there.
    pub fn words(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_else(|| panic!("{pointer} is no text"))
    }

    /// The list there.
    pub fn list(&self, pointer: &str) -> &Vec<Value> {
        self.at(pointer).as_array().unwrap_or_else(|| panic!("{pointer} is no list"))
    }

    /// The verdict of the whole.
    pub fn verdict(&self) -> &str {
        self.words("/judgement/verdict")
    }

    /// All findings of all phases.
    pub fn findings(&self) -> Vec<&Value> {
        let phases = self.list("/judgement/phases").iter();
        phases.flat_map(|phase| phase["findings"].as_array().into_iter().flatten()).collect()
    }

    /// The finding of this rule, if there is one.
    pub fn finding(&self, rule: &str) -> Option<&Value> {
        self.findings().into_iter().find(|finding| finding["rule"] == rule)
    }

    /// The finding of this rule; there has to be one.
    pub fn named(&self, rule: &str) -> &Value {
        let finding = self.finding(rule);
        finding.unwrap_or_else(|| panic!("{rule} is not found; {}", self.told()))
    }

    /// The sentence of the rule, in a finding of its own or folded into that of another.
    pub fn tells(&self, rule: &str) -> String {
        let own = self.finding(rule).and_then(|finding| finding["sentence"].as_str());
        let said = own.or_else(|| {
            let findings = self.findings().into_iter();
            let mut all = findings.flat_map(|f| f["consequences"].as_array().into_iter().flatten());
            all.find(|of| of["rule"] == rule)?["sentence"].as_str()
        });
        said.unwrap_or_else(|| panic!("{rule} is not told; {}", self.told())).to_owned()
    }

    /// The limit of a phase, in words.
    pub fn limited_by(&self, phase: usize) -> String {
        let limit = self.at(&format!("/judgement/phases/{phase}/limited_by")).clone();
        let limit: Option<candor_record::Limit> = serde_json::from_value(limit).expect("a limit");
        limit.map_or(String::new(), |limit| limit.to_string())
    }

    /// The sentence of this rule's own finding.
    pub fn sentence(&self, rule: &str) -> &str {
        self.named(rule)["sentence"].as_str().unwrap_or_default()
    }

    /// The finding of this rule says that the number is that of something else, and so does the
    /// verdict.
    pub fn denies(&self, rule: &str) -> &Value {
        let finding = self.named(rule);
        assert_eq!(finding["severity"], "wrong", "{}", self.told());
        assert_eq!(self.verdict(), "wrong", "{}", self.told());
        finding
    }

    /// The rules that weigh more than an explanation.
    pub fn heavy(&self) -> Vec<String> {
        let findings = self.findings().into_iter();
        let heavy = findings.filter(|f| HEAVY.iter().any(|severity| f["severity"] == *severity));
        heavy.filter_map(|finding| Some(finding["rule"].as_str()?.to_owned())).collect()
    }

    /// Everything the report says, for the message of a failing test.
    pub fn told(&self) -> String {
        let mut told = format!("the report says: {}", self.words("/judgement/headline"));
        for finding in self.findings() {
            told.push_str(&format!(
                "\n  {} {}: {}",
                finding["rule"], finding["severity"], finding["sentence"]
            ));
        }
        if let Some(cut) = self.0["cut_short"].as_str() {
            told.push_str(&format!("\n  cut short: {cut}"));
        }
        told
    }
}

/// Checks that each job's figures are the sum of those of its hosts: operations, bytes and every
/// class of the histogram of latencies. Returns how many operations that were.
pub fn check_sums(report: &Report) -> u64 {
    let mut all = 0;
    for phase in report.list("/phases") {
        let hosts = phase["hosts"].as_array().expect("hosts");
        for (at, job) in phase["measurements"].as_array().expect("jobs").iter().enumerate() {
            let of_hosts: Vec<&Value> =
                hosts.iter().map(|host| &host["measurements"][at]["operations"]).collect();
            for (name, total) in job["operations"].as_object().expect("operations") {
                let sum = |key: &str| {
                    let each = of_hosts.iter().map(|of| of[name][key].as_u64().unwrap_or(0));
                    each.sum::<u64>()
                };
                for key in ["ops", "bytes", "short", "failed"] {
                    assert_eq!(total[key].as_u64(), Some(sum(key)), "{key} of {name}");
                }
                let buckets = |of: &Value| histogram(&of[name]["latency"]["histogram"]["buckets"]);
                let mut joined = BTreeMap::new();
                for (class, count) in of_hosts.iter().flat_map(|of| buckets(of)) {
                    *joined.entry(class).or_insert(0) += count;
                }
                assert_eq!(buckets(&job["operations"]), joined, "latencies of {name}");
                assert_eq!(joined.values().sum::<u64>(), sum("ops"), "latencies of {name}");
                all += sum("ops");
            }
        }
    }
    all
}

/// A histogram of a report: counts by the lower end of a class, without those of nothing.
pub fn histogram(pairs: &Value) -> BTreeMap<u64, u64> {
    let pairs = pairs.as_array().into_iter().flatten();
    pairs
        .filter_map(|pair| Some((pair[0].as_u64()?, pair[1].as_u64().filter(|n| *n > 0)?)))
        .collect()
}

/// Counts by class, as the block tracer would make them of these.
pub fn counted(values: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts
}

/// Violations of the schema of a stream by one of its lines.
pub fn stream_violations(line: &Value) -> Vec<String> {
    schema::violations_of(schema::STREAM, line)
}

/// Violations of the schema of plans by a plan.
pub fn plan_violations(plan: &Value) -> Vec<String> {
    schema::violations_of(schema::PLAN, plan)
}

/// Violations of the schema of the comparison by a document.
pub fn comparison_violations(document: &Value) -> Vec<String> {
    schema::violations_of(schema::COMPARISON, document)
}
