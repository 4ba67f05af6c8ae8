//! `candor fio …`, and the binary called as `fio`: candor in fio's clothes.
//!
//! Programs rely on this: nothing on stderr when all went well, results on stdout or in the file of
//! `--output`, the number of failed jobs as exit code.

mod clients;
mod convert;
mod cpus;
mod crctest;
mod debug;
mod failures;
mod forbidden;
mod hooks;
mod host;
mod instead;
mod laying;
mod logs;
mod progress;
mod run;
mod suggest;

use std::ffi::OsString;

use candor_fio::ast::Ast;
use candor_fio::flags::{DebugKind, Flags, Instead};
use candor_fio::lower::Lowered;
use candor_fio::{ABOUT, lower, read, show_command};
use candor_front::Diagnostic;
use candor_plan::Plan;
use candor_record::Note;

use self::clients::Clients;
use self::debug::Debug;
use crate::commands::foreign::Complaints;
use crate::commands::foreign::conversion::Converter;
use crate::commands::foreign::host::{HostEnvironment, ThisHost};
use crate::commands::foreign::tool::{Entry, Page, Tool};
use crate::screen;

/// Bad input, a refusal, a missing file: whatever keeps jobs from starting.
const WRONG: u8 = 1;

/// The tool.
pub const TOOL: Tool = Tool {
    about: &ABOUT,
    entry: Entry::Own,
    main,
    page: Page::Written("fio.md"),
    converter: Some(Converter { of_file: |_, _| None, read: convert::read }),
    writer: Some(candor_fio::write::job_file),
    has_report: true,
};

/// Reads the words, the first of which is `fio`, does what they say, gives the exit code.
fn main(argv: &[OsString]) -> u8 {
    let (ast, mut diagnostics) = read(argv, &mut HostEnvironment);
    let (flags, wrong) = Flags::read(&ast);
    diagnostics.extend(wrong);
    // Who asks for help may well have made diagnostics.
    if let Some(Instead::Help | Instead::Version) = flags.instead {
        return instead::main(&flags);
    }
    diagnostics.extend(clients::refused(&ast, &flags));
    if flags.pid_file.is_some() && flags.server.is_none() {
        let wrong = Diagnostic::nowhere("daemonize", "--daemonize is for servers");
        diagnostics.push(wrong.remedy("add --server"));
    }
    if !diagnostics.is_empty() {
        return complaints(&flags).diagnostics(&diagnostics, &ast.texts);
    }
    if let Some(address) = &flags.server {
        return complaints(&flags).done(clients::serve(address, flags.pid_file.as_deref()));
    }
    match flags.instead {
        None | Some(Instead::ParseOnly | Instead::ShowCommand | Instead::MergeOnly) => {
            jobs(&ast, &flags, argv)
        }
        Some(_) => instead::main(&flags),
    }
}

/// Runs the jobs, or only checks or shows them.
fn jobs(ast: &Ast, flags: &Flags, argv: &[OsString]) -> u8 {
    let parse_only = flags.instead == Some(Instead::ParseOnly);
    if ast.sections.is_empty() && !parse_only {
        let diagnostic = Diagnostic::nowhere("no-job", "No job(s) defined");
        let diagnostic = diagnostic.remedy("name a job file, or begin a job with --name=NAME");
        return complaints(flags).diagnostics(&[diagnostic], &ast.texts);
    }
    if flags.instead == Some(Instead::ShowCommand) {
        return printed(&show_command::lines(ast));
    }
    let diagnostics = forbidden::by_flags(ast, flags);
    if !diagnostics.is_empty() {
        return complaints(flags).diagnostics(&diagnostics, &ast.texts);
    }
    if parse_only {
        let debug = Debug::new(&flags.debug);
        return printed(&(debug.begin() + &debug.words(ast)));
    }
    let lowered = if ast.clients.is_empty() {
        Ok(lower::lower(ast, &ThisHost::default()).map(|lowered| (lowered, None)))
    } else {
        clients::lowered(ast).map(|lowered| lowered.map(|(l, clients)| (l, Some(clients))))
    };
    let (lowered, clients) = match lowered {
        Ok(Ok(lowered)) => lowered,
        Ok(Err(diagnostics)) => return complaints(flags).diagnostics(&diagnostics, &ast.texts),
        Err(sentence) => return complaints(flags).sentence(&sentence),
    };
    run(ast, lowered, clients, flags, argv)
}

/// Runs jobs that are lowered.
fn run(
    ast: &Ast,
    mut lowered: Lowered,
    clients: Option<Clients>,
    flags: &Flags,
    argv: &[OsString],
) -> u8 {
    let mut diagnostics = forbidden::notes(&lowered.notes, flags);
    diagnostics.extend(forbidden::by_work(&lowered, flags));
    if !diagnostics.is_empty() {
        return complaints(flags).diagnostics(&diagnostics, &ast.texts);
    }
    if flags.readonly {
        lowered.make_nothing();
    }
    if flags.debug.contains(&DebugKind::Io) {
        lowered.log_operations();
    }
    if let Some(size) = &flags.pools {
        lowered.notes.push(Note {
            asked: format!("--alloc-size={size}"),
            did: "nothing".into(),
            why: "candor takes memory as it needs it and has no pools to size".into(),
            place: None,
        });
    }
    // Before the merged traces are written.
    let targets = Plan { targets: lowered.plan.targets.clone(), ..Plan::default() };
    let noted = candor_run::note_files(&targets).map_err(|error| error.to_string());
    if let Err(sentence) = noted.and_then(|()| logs::merged(&lowered.merged)) {
        return complaints(flags).sentence(&sentence);
    }
    if flags.instead == Some(Instead::MergeOnly) {
        return 0;
    }
    lowered.secrets.drain(..).for_each(candor_s3::vault::give);
    run::main(ast, &lowered, clients, flags, argv)
}

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "fio", file: None, exit_code: WRONG };

/// Complaints on stderr and, as fio does, in the file of `--output`.
fn complaints(flags: &Flags) -> Complaints<'_> {
    Complaints { file: flags.output.file.as_deref(), ..COMPLAINTS }
}

/// Prints data, and turns success into an exit code.
fn printed(text: &str) -> u8 {
    match screen::data(text) {
        Ok(()) => 0,
        Err(sentence) => {
            screen::error(&sentence);
            WRONG
        }
    }
}
