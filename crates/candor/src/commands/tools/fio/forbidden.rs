//! Errors of jobs that are found before candor is asked whether it can run them.

use candor_fio::ast::Ast;
use candor_fio::flags::{Flags, Instead};
use candor_fio::lower::Lowered;
use candor_fio::options;
use candor_front::{Diagnostic, Diagnostics, Severity};
use candor_plan::Job;
use candor_plan::entries::Step;
use candor_record::Note;

/// Errors in the options of all sections, and what flags forbid of them. A file that names an
/// engine which this build lacks is well written all the same.
pub fn by_flags(ast: &Ast, flags: &Flags) -> Vec<Diagnostic> {
    let checked = flags.readonly || flags.warnings_fatal;
    // Whoever runs the jobs reads them once more, and tells the same diagnostics.
    if !checked && flags.instead != Some(Instead::ParseOnly) {
        return Vec::new();
    }
    // Clones share what their section and its defaults got wrong.
    let mut diagnostics = Diagnostics::default();
    for section in &ast.sections {
        let reading = options::read(ast, section);
        reading.errors.into_iter().for_each(|error| diagnostics.push(error));
        let direction = reading.options.rw.direction;
        if flags.readonly && (direction.writes() || direction.trims()) {
            let (at, name) = (section.name.at, &section.name.text);
            let message = format!("job <{name}> writes or trims");
            let error = Diagnostic::new(at, "readonly", name, message);
            diagnostics.push(error.remedy("--readonly forbids it"));
        }
        for remark in reading.remarks.into_iter().filter(|_| flags.warnings_fatal) {
            let severity = Severity::Error;
            diagnostics.push(Diagnostic { severity, ..remark }.remedy(FATAL));
        }
    }
    diagnostics.errors
}

/// Jobs that would change or make something, whatever their `rw` says, under `--readonly`.
pub fn by_work(lowered: &Lowered, flags: &Flags) -> Vec<Diagnostic> {
    let changes = |job: &Job| {
        let makes = |step: Step| matches!(step, Step::Create | Step::Mkdir).then(|| step.name());
        let made = job.entries().and_then(|entries| entries.all_steps().find_map(makes));
        job.work.destroys().map(|operation| operation.name).or(made)
    };
    let jobs = lowered.plan.phases.iter().flat_map(|phase| &phase.jobs).filter(|_| flags.readonly);
    jobs.filter_map(|job| {
        let message = format!("job <{}> would {} files", job.name, changes(job)?);
        Some(Diagnostic::nowhere("readonly", message).remedy("--readonly forbids it"))
    })
    .collect()
}

const FATAL: &str = "--warnings-fatal makes this an error";

/// Notes, where they are fatal.
pub fn notes(notes: &[Note], flags: &Flags) -> Vec<Diagnostic> {
    let diagnostic = |note: &Note| {
        let place = note.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        let message = format!("{place}{}: {}; {}", note.asked, note.did, note.why);
        Diagnostic::nowhere("warning", message).remedy(FATAL)
    };
    notes.iter().filter(|_| flags.warnings_fatal).map(diagnostic).collect()
}
