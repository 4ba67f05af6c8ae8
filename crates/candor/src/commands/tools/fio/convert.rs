//! Job files of fio, and its options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use candor_fio as fio;
use candor_fio::flags::Flags;
use candor_fio::lower::{self, Lowered};
use candor_front::{Diagnostic, comments};
use candor_plan::blocks::Access;
use candor_plan::{PathText, Plan};

use crate::commands::foreign::conversion::{Converted, refused};
use crate::commands::foreign::host::{HostEnvironment, ThisHost};
use crate::{exit, screen};

/// Reads a command line of fio, the program's name first, and writes the traces of its jobs beside
/// the plan.
pub fn read(argv: &[OsString], save: Option<&Path>) -> Result<Converted, u8> {
    let (ast, mut diagnostics) = fio::read(argv, &mut HostEnvironment);
    diagnostics.extend(Flags::read(&ast).1);
    if !diagnostics.is_empty() {
        return Err(refused(&diagnostics, &ast.texts));
    }
    if let Some(client) = ast.clients.first() {
        let message = "a plan names no hosts";
        let diagnostic = Diagnostic::new(client.at, "client", "--client", message);
        let remedy = "leave --client out, and run the plan with candor run --hosts";
        return Err(refused(&[diagnostic.remedy(remedy)], &ast.texts));
    }
    if ast.sections.is_empty() {
        let diagnostic = Diagnostic::nowhere("no-job", "there is no job in these words");
        return Err(refused(&[diagnostic], &ast.texts));
    }
    let lowered = lower::lower(&ast, &ThisHost::default());
    let mut lowered = lowered.map_err(|diagnostics| refused(&diagnostics, &ast.texts))?;
    if replays(&lowered.plan) {
        let Some(path) = save else {
            screen::error(
                "the job replays a trace, which becomes a file next to the plan: `candor convert \
                 --save FILE.toml JOB.fio`",
            );
            return Err(exit::USAGE);
        };
        for (name, text) in traces(path, &mut lowered) {
            if let Err(cause) = candor_files::replace(&name, text) {
                screen::error(&format!("cannot write {}: {cause}", name.text()));
                return Err(exit::TROUBLE);
            }
        }
    }
    let comments = comments(&lowered.plan, &lowered.notes, &lowered.origins, &ast.texts);
    Ok(Converted { plan: lowered.plan, comments })
}

/// Each trace under a name that begins with the plan's, which then names it.
fn traces(path: &Path, lowered: &mut Lowered) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for job in lowered.plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        let Some(Access::Trace(said)) = job.blocks_mut().map(|blocks| &mut blocks.access) else {
            continue;
        };
        let Some(trace) = &said.trace else { continue };
        said.file = path.with_extension(format!("{}.trace", files.len() + 1));
        files.push((said.file.clone(), trace.text()));
    }
    files
}

fn replays(plan: &Plan) -> bool {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let mut blocks = jobs.filter_map(candor_plan::Job::blocks);
    blocks.any(|blocks| matches!(blocks.access, Access::Trace(_)))
}
