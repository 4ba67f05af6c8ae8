//! H1: names, not data.

use candor_plan::entries::Step;
use candor_plan::units::SizeSpec;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::NAMES_SHARE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H1",
        title: "time went into names",
        explanation: "Creating, looking up and removing names is work on the filesystem's \
            metadata: names wait for its journal and locks, and rarely for the bandwidth of a \
            device. Programs that read small files pay this cost for each file. Their rate in \
            bytes is the number of files per second times their size: 127 files/s of 128 KiB are \
            16 MiB/s, on any disk. candor adds up the time in operations on names and in reads and \
            writes. If names took more than half, candor reports this with the byte rate for files \
            of the plan's size. More workers help; larger files, or records packed into few files, \
            help more.",
    },
    stage: Stage::Names,
    limit: Some(LimitClass::Filesystem),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let of_names: f64 = on_names.iter().map(|names| entry_jobs::names_ns(names.measured)).sum();
    let of_files = on_names.iter().map(|names| entry_jobs::data_ns(names.measured));
    let of_blocks = observed.ran.iter().map(|ran| entry_jobs::data_ns(ran.measured));
    let of_data: f64 = of_files.chain(of_blocks).sum();
    let share = ratio(of_names, of_names + of_data);
    let most = on_names.into_iter().max_by(|a, b| a.ops().total_cmp(&b.ops()));
    match most.filter(|_| share > NAMES_SHARE.value) {
        Some(names) => Outcome::one(finding(observed, &names, share)),
        None => Outcome::Nothing,
    }
}

fn finding(observed: &Observed, names: &EntryJob, share: f64) -> Finding {
    let of_directories = names.entries.is_of_directories();
    let kind = if of_directories { "directories" } else { "files" };
    let step = names.step.name();
    let per_s = names.ops_per_s();
    let size = size(observed, names).filter(|_| !of_directories);
    let data = match size {
        Some(bytes) => format!(
            "with files of {} this equals {}, a metadata rate, not a data rate",
            fmt::size(bytes),
            fmt::rate(per_s * bytes)
        ),
        None => "this is a metadata rate, not a data rate".into(),
    };
    let sentence = format!(
        "{} of the time was spent on names ({step}: {} {kind}/s); {data}.",
        fmt::percent(share),
        fmt::count(per_s)
    );
    let draft = FindingBuilder::new("H1", Severity::Explains, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Certain)
        .evidence(format!("{step} calls"), Quantity::count(names.ops()), "candor")
        .evidence("share of the time in these calls", Quantity::share(share), "candor")
        .advice(advice(names.step), None);
    let draft = match size {
        Some(bytes) => draft.evidence("size of the files", Quantity::bytes(bytes), "plan"),
        None => draft,
    };
    if observed.ran.is_empty() {
        draft.limits(Limit::Metadata { operation: step.to_owned() }).done()
    } else {
        draft.done()
    }
}

/// Bytes of each file, as the plan has it.
fn size(observed: &Observed, names: &EntryJob) -> Option<f64> {
    let target = observed.plan.target(names.job.targets.first()?)?;
    let size = target.size.or_else(|| match &target.tree.as_ref()?.file_size {
        SizeSpec::Fixed(size) => Some(*size),
        _ => None,
    });
    size.map(|size| size.0 as f64).filter(|bytes| *bytes > 0.0)
}

fn advice(step: Step) -> &'static str {
    match step {
        Step::Stat | Step::Lstat | Step::Statx => "Use more workers, or keep fewer, larger files.",
        _ => "Use more workers with separate directories, or fewer, larger files.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload};

    #[test]
    fn small_files_are_a_number_of_metadata() {
        let case = TestCase::on_names(Step::Create, 1000, 127.0);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "100 % of the time was spent on names (create: 127 files/s); with files of 128 KiB \
             this equals 16.6 MB/s (15.9 MiB/s), a metadata rate, not a data rate."
        );
        let mut case = case;
        case.after_top().write_sectors = 1000;
        let options = "rw,commit=1".into();
        case.host.facts.targets[0].filesystem.as_mut().unwrap().options = options;
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("metadata (create)"));
        assert!(judgement.headline.contains("127 operations/s on names"), "{}", judgement.headline);
    }

    #[test]
    fn names_beside_much_data_and_data_alone_are_silent() {
        let mut case = TestCase::on_names(Step::Stat, 1000, 1000.0);
        let data = Workload::default().case();
        case.plan.targets.push(data.plan.targets[0].clone());
        let mut job = data.plan.phases[0].jobs[0].clone();
        job.name = "data".into();
        case.plan.phases[0].jobs.push(job);
        let mut measured = data.record.measurements[0].clone();
        measured.job = "data".into();
        case.record.measurements.push(measured);
        case.record.measurements[0].operations[0].latency.as_mut().unwrap().mean_ns = 1000.0;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(data.found(&RULE), []);
    }
}
