//! Changes that findings advise, as options behind the user's own words.
//!
//! The words are read again with the options, as a user's would be. Where that does not give the
//! plan with the changes and nothing else, no command is shown.

use std::ffi::OsString;
use std::path::Path;

use candor_fio::{lower, read};
use candor_plan::blocks::Hints;
use candor_plan::shell::quoted;
use candor_plan::{Job, Plan, check, text};
use candor_plan::{PathText, path_text::word_of};
use candor_record::{Report, Setting};

use crate::commands::foreign::host::{HostEnvironment, ThisHost};

/// Ends of keys of the plan, and the options that set them.
const OPTIONS: [(&str, &str); 8] = [
    (".work.blocks.depth", "iodepth"),
    (".work.blocks.engine", "ioengine"),
    (".work.blocks.size", "bs"),
    (".work.blocks.direct", "direct"),
    (".work.blocks.durability.fsync_every", "fsync"),
    (".work.blocks.durability.fdatasync_every", "fdatasync"),
    (".work.blocks.durability.fsync_at_end", "end_fsync"),
    (".stop.time", "runtime"),
];

/// Writes into each finding of a run of that plan the command that tries its changes, where there
/// is one.
pub fn complete(report: &mut Report, plan: &Plan) {
    let words = &report.command;
    let findings = report.judgement.phases.iter_mut().flatten().flat_map(|of| &mut of.findings);
    findings.for_each(|finding| finding.next = suggestion(words, plan, &finding.changes));
}

fn suggestion(words: &[String], plan: &Plan, changes: &[Setting]) -> Option<String> {
    let options: Option<Vec<String>> = changes.iter().map(option).collect();
    let options = options.filter(|options| !options.is_empty())?;
    let wanted = changes.iter().try_fold(plan.clone(), |plan, setting| {
        text::set(&plan, &setting.key, &setting.value).ok().map(|(plan, _)| plan)
    })?;
    let kept = without_outputs(words);
    let words = || kept.iter().chain(&options);
    let argv: Vec<OsString> = words().map(|word| word_of(word)).collect();
    let (ast, mistakes) = read(&argv, &mut HostEnvironment);
    let again = lower::lower(&ast, &ThisHost::default()).ok().filter(|_| mistakes.is_empty())?;
    let direct = changes.iter().any(|setting| setting.key.ends_with(".direct"));
    let fits = is_same(again.plan, wanted.clone(), direct);
    let fits = fits && check::can_run(&check::check(&wanted));
    let line = words().skip(1).map(|word| quoted(word));
    let line: Vec<String> = program().into_iter().chain(line).collect();
    fits.then(|| line.join(" "))
}

/// The words without files for results, which the command would overwrite.
fn without_outputs(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut all = words.iter();
    while let Some(word) = all.next() {
        let option = word.strip_prefix("--").or(word.strip_prefix('-')).unwrap_or_default();
        let is_log = |name: &str| name.starts_with("write_") && name.ends_with("_log");
        match option.split_once('=') {
            Some(("output" | "bandwidth-log", _)) => {}
            Some((name, _)) if is_log(name) => {}
            None if option == "bandwidth-log" || is_log(option) => {}
            // The value is the next word.
            None if option == "output" => drop(all.next()),
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// Whether two plans have the same keys. Direct I/O has no use for hints to the page cache, and fio
/// leaves them out with it.
fn is_same(plan: Plan, other: Plan, without_hints: bool) -> bool {
    let keys = |mut plan: Plan| {
        let jobs = plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
        for blocks in jobs.filter_map(Job::blocks_mut).filter(|_| without_hints) {
            blocks.hints = Hints::default();
        }
        text::to_json(&plan)
    };
    keys(plan) == keys(other)
}

/// The first words of the command: a link of fio's name, or candor as fio.
fn program() -> Vec<String> {
    let program = std::env::args_os().next().unwrap_or_default();
    match Path::new(&program).file_name() {
        Some(name) if name == "fio" => vec![quoted(&program.text())],
        _ => vec!["candor".to_owned(), "fio".to_owned()],
    }
}

fn option(setting: &Setting) -> Option<String> {
    let (_, name) = OPTIONS.iter().find(|(end, _)| setting.key.ends_with(end))?;
    let value = match setting.value.as_str() {
        "true" => "1",
        value => value,
    };
    Some(format!("--{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn plan(words: &[String]) -> Plan {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (ast, mistakes) = read(&argv, &mut HostEnvironment);
        assert!(mistakes.is_empty());
        lower::lower(&ast, &ThisHost::default()).unwrap_or_else(|_| panic!("{words:?}")).plan
    }

    fn of_job(end: &str, value: &str) -> Setting {
        Setting { key: format!("phase[0].job[0]{end}"), value: value.into() }
    }

    #[test]
    fn the_command_is_the_users_own_with_one_option_more() {
        let given = words(
            "fio --name=a --filename=/nowhere/file --size=64m --rw=randread --bs=4k \
             --ioengine=libaio --iodepth=4 --runtime=10 --time_based",
        );
        for (end, value, option) in [
            (".work.blocks.depth", "32", "--iodepth=32"),
            (".work.blocks.direct", "true", "--direct=1"),
            (".work.blocks.size", "128k", "--bs=128k"),
        ] {
            let line = suggestion(&given, &plan(&given), &[of_job(end, value)]).unwrap();
            assert_eq!(line, format!("candor {} {option}", given.join(" ")));
            // Files for results are left out: the command would overwrite them.
            let outputs = words("--output=r.json --bandwidth-log --output-format=json");
            let with = [given.clone(), outputs, words("--output r.txt")].concat();
            let line = suggestion(&with, &plan(&with), &[of_job(end, value)]).unwrap();
            let kept = format!("{} --output-format=json", given.join(" "));
            assert_eq!(line, format!("candor {kept} {option}"));
        }
    }

    #[test]
    fn logs_are_not_written_again() {
        let given = words("fio --name=a --write_bw_log=x --write_lat_log --rw=read");
        assert_eq!(without_outputs(&given), words("fio --name=a --rw=read"));
    }

    #[test]
    fn what_words_cannot_say_is_not_shown() {
        // An option behind the last of two jobs would change that one only.
        let given = words(
            "fio --size=64m --rw=randread --name=a --filename=/nowhere/a --name=b \
             --filename=/nowhere/b",
        );
        let depth = of_job(".work.blocks.depth", "32");
        assert_eq!(suggestion(&given, &plan(&given), &[depth]), None);
        let workers = of_job(".workers", "2");
        assert_eq!(suggestion(&given, &plan(&given), &[workers]), None);
    }
}
