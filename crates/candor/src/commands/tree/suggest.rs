//! Command lines for what findings advise about a tree.

use candor_plan::shell::quoted;
use candor_plan::{Plan, check, text};
use candor_record::Setting;

use super::plan_of;
use crate::commands::run::suggest::{is_same, leaves_files, without_outputs};

/// The words of a tree with changes, each as `--set`.
pub fn suggestion(words: &[String], plan: &Plan, changes: &[Setting]) -> Option<String> {
    if leaves_files(plan) || words.iter().any(|word| word == "--") {
        return None;
    }
    let (mut words, mut wanted) = (without_outputs(words), plan.clone());
    for setting in changes {
        let (changed, place) = text::set(&wanted, &setting.key, &setting.value).ok()?;
        let key = text::short_name(&wanted, &place);
        words.extend(["--set".to_owned(), format!("{key}={}", setting.value)]);
        wanted = changed;
    }
    let (read, _) = plan_of(&words)?;
    let is_new = is_same(&read, &wanted) && wanted != *plan;
    let runs = is_new && check::can_run(&check::check(&wanted));
    runs.then(|| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}
