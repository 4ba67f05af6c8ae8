//! Finished runs of candor's own commands go into the history.

use candor_history::{Filter, History, Kind, Place, RunId, VARIABLE, place};
use candor_record::Report;
use candor_record::results::Results;
use candor_show::json;

use crate::screen;

/// Prefix of a run of the history where a report is named.
pub const PREFIX: &str = "history:";

/// The history of this user.
///
/// # Errors
/// There is none; a sentence.
pub fn of_user() -> Result<History, String> {
    match place(|name| std::env::var_os(name)) {
        Place::At(dir) => Ok(History::at(dir)),
        Place::Off => Err(format!(
            "the history is switched off by {VARIABLE}=off; set it to a directory, or unset it"
        )),
        Place::Nowhere => {
            Err(format!("no place for a history: set {VARIABLE} to a directory, or set HOME"))
        }
    }
}

/// Keeps a run. Whether that works changes nothing for the run: a warning tells where it does not.
pub fn keep(report: &Report) {
    let Ok(history) = of_user() else { return };
    let directory = std::env::current_dir().unwrap_or_default();
    let kept = json::report(report)
        .map_err(|error| error.to_string())
        .and_then(|json| history.keep(report, &json, &directory).map_err(|why| why.to_string()));
    let dir = history.dir().display();
    match kept {
        Err(why) => screen::tell(&format!(
            "candor: warning: this run is not in the history: {why}; {VARIABLE}=off keeps none\n"
        )),
        Ok(kept) => {
            if kept.is_first {
                screen::tell(&format!(
                    "candor: finished runs are kept in {dir}\n\
                     candor: candor history lists them, --no-history keeps a run out\n"
                ));
            }
            if let Some(why) = kept.unindexed {
                screen::tell(&format!(
                    "candor: warning: this run is kept as run {} and not listed yet: {why}; \
                     candor history puts that right\n",
                    kept.run
                ));
            }
        }
    }
}

/// The document of a run that is named as `history:42`; none where no run is named so.
pub fn document(name: &str) -> Option<Result<String, String>> {
    let read = |run| {
        let (kind, text) = of_user()?.document(run).map_err(|why| why.to_string())?;
        match kind {
            Kind::Report => Ok(text),
            Kind::Results => Err(format!(
                "run {run} has another tool's results, which are no report; candor history show \
                 {run} shows them"
            )),
        }
    };
    run_of(name).map(|run| run.and_then(read))
}

/// The results of a run that is named so; none where no run is named so.
pub fn results(name: &str) -> Option<Result<Results, String>> {
    run_of(name)
        .map(|run| run.and_then(|run| of_user()?.results(run).map_err(|why| why.to_string())))
}

/// The run after the prefix: its number, or a tag that no other run has.
fn run_of(name: &str) -> Option<Result<RunId, String>> {
    let run = name.strip_prefix(PREFIX)?;
    Some(match run.parse() {
        Ok(number) => Ok(number),
        Err(_) => of_user().and_then(|history| tagged(&history, run)),
    })
}

/// The one run with that tag.
fn tagged(history: &History, tag: &str) -> Result<RunId, String> {
    let filter = Filter { tag: Some(tag.to_owned()), ..Filter::default() };
    let runs = history
        .with_index(&mut |line| screen::tell(&format!("candor: {line}\n")), |index| {
            index.list(&filter, 2)
        })
        .map_err(|why| why.to_string())?;
    match &runs.runs[..] {
        [one] => Ok(one.run),
        [] => Err(format!(
            "no run has the tag `{tag}`; a run is named by its number or its tag, such as \
             {PREFIX}42"
        )),
        _ => Err(format!(
            "{} runs have the tag `{tag}`; candor history --tag {tag} lists them with their \
             numbers, such as {PREFIX}{}",
            runs.matching, runs.runs[0].run
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_number() {
        assert_eq!((run_of("history:42"), run_of("history.json")), (Some(Ok(42)), None));
        assert_eq!(run_of("last"), None);
    }

    #[test]
    fn a_tag_of_one_run_names_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let history = History::at(dir.path().to_owned());
        let report = Report::default();
        for _ in 0..2 {
            let json = json::report(&report).expect("JSON");
            history.keep(&report, &json, dir.path()).expect("kept");
        }
        let mut quiet = |_: &str| {};
        let mut tag = |run, tag: &str| {
            history.with_index(&mut quiet, |index| history.tag(index, run, tag, true)).expect(tag);
        };
        for (run, name) in [(1, "base"), (1, "both"), (2, "both")] {
            tag(run, name);
        }
        assert_eq!(tagged(&history, "base"), Ok(1));
        let error = tagged(&history, "both").unwrap_err();
        assert!(error.starts_with("2 runs have the tag `both`; "), "{error}");
        assert!(tagged(&history, "other").unwrap_err().starts_with("no run has the tag `other`"));
    }
}
