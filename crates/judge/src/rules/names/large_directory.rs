//! H3: a directory with very many names.

use candor_record::facts::value;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::MANY_NAMES;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H3",
        title: "a very large directory",
        explanation: "A directory is a file of names, changed under one lock; each name makes it \
            deeper. Creating, removing and listing become slower, and workers wait for each other. \
            candor counts the names of the directory before a phase that works on names, and adds \
            the new names of the plan; more than ten thousand are reported. Spread the files over \
            several directories.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let many = on_names.iter().filter_map(|names| Some((names, most(observed, names)?)));
    let many = many.filter(|(_, large)| large.names > MANY_NAMES.value);
    let most = many.max_by(|a, b| a.1.names.total_cmp(&b.1.names));
    most.map_or(Outcome::Nothing, |(names, large)| Outcome::one(finding(names, &large)))
}

/// A directory with its number of names, as found, or as the plan makes it.
struct Directory<'a> {
    path: &'a str,
    names: f64,
}

/// The directory of the job with the most names.
fn most<'a>(observed: &Observed<'a>, names: &EntryJob<'a>) -> Option<Directory<'a>> {
    let counts = names.targets(observed).into_iter().map(|target| {
        let found = value(&target.names_in_directory).map_or(0.0, |count| *count as f64);
        let planned = observed.plan.target(&target.target);
        let entries = names.entries;
        let named = planned.and_then(|of| entries.names_in_one_directory(of, names.ranks()));
        let named = named.map_or(0.0, |count| count as f64);
        Directory { path: target.path.as_str(), names: found.max(named) }
    });
    counts.max_by(|a, b| a.names.total_cmp(&b.names))
}

fn finding(names: &EntryJob, directory: &Directory) -> Finding {
    let sentence =
        format!("{} names in one directory ({}).", fmt::count(directory.names), directory.path);
    FindingBuilder::new("H3", Severity::Explains, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Likely)
        .evidence("names", Quantity::count(directory.names), "getdents and plan")
        .advice("Spread the files over several directories.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};
    use candor_plan::entries::Step;

    #[test]
    fn half_a_million_files() {
        let case = TestCase::on_names(Step::Create, 500_000, 5000.0);
        assert_eq!(case.found(&RULE)[0].sentence, "500k names in one directory (/data/names).");
        let mut found = TestCase::on_names(Step::Stat, 100, 5000.0);
        found.host.facts.targets[0].names_in_directory = fact(30_000);
        assert_eq!(found.found(&RULE).len(), 1, "others put them there");
    }

    #[test]
    fn some_thousand_and_a_device_are_silent() {
        assert_eq!(TestCase::on_names(Step::Create, 5000, 5000.0).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
