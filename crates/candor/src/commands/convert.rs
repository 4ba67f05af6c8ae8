//! `candor convert WORDS`: what foreign words amount to, as a plan of candor's own, or in the words
//! of another tool.

mod fio;
mod ior;
mod md_workbench;
mod mdtest;
mod own;
mod vdbench;

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use candor_dialects::kit::{Diagnostic, Origins, Texts};
use candor_plan::path_text::{bytes_of, word_of};
use candor_plan::{PathText, Plan, PlanPath, check, path_of, text};
use candor_record::Note;
use clap::{Arg, ArgMatches, Command};

use crate::commands::foreign::host::ThisHost;
use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Translate a command line or job file of another tool into a plan for candor run.

Give a command line, which begins with the name of its tool (fio, ior, md-workbench, mdtest, \
vdbench), or only a file, whose content identifies the tool. Without a tool, the arguments are \
fio's. A comment marks each difference between plan and request. A job that replays a trace \
needs --save, which writes the trace next to the plan in the form that candor run reads.

With --to fio the result is a job file, if fio's options describe exactly the same work; \
otherwise the differences are reported and nothing is written. A plan \
(FILE.toml) can be converted, too.";

/// Bytes at the start of a file that tell its language.
const BEGIN_BYTES: u64 = 64 << 10;

/// A language that plans are made of.
struct Converter {
    /// The tool, as the first word names it.
    tool: &'static str,
    /// The command line of a file alone; none where its content is of another language.
    of_file: fn(&str, &str) -> Option<Vec<OsString>>,
    /// Reads a command line, the tool's name first; else the exit code, after all was told. Files
    /// beside the plan go where it is saved.
    read: fn(&[OsString], Option<&Path>) -> Result<Converted, u8>,
}

/// A plan, and comments on where it is not exactly what was asked.
struct Converted {
    plan: Plan,
    comments: Vec<(PlanPath, String)>,
}

/// Words that a plan is written in: their name, and the text.
type Writer = (&'static str, fn(&Converted) -> Result<String, Vec<String>>);

/// All of them; the first is the default.
const WRITERS: &[Writer] =
    &[("plan", |of| Ok(text::write_commented(&of.plan, &of.comments))), ("fio", job_file)];

/// All of them; the first one takes what none knows.
const CONVERTERS: &[Converter] = &[
    Converter { tool: "fio", of_file: |_, _| None, read: fio::read },
    Converter { tool: "ior", of_file: ior::of_file, read: ior::read },
    Converter { tool: "md-workbench", of_file: |_, _| None, read: md_workbench::read },
    Converter { tool: "mdtest", of_file: |_, _| None, read: mdtest::read },
    Converter { tool: "vdbench", of_file: vdbench::of_file, read: vdbench::read },
    Converter { tool: "candor", of_file: own::of_file, read: own::read },
];

/// The command line.
pub fn command() -> Command {
    let words = Arg::new("WORDS").num_args(1..).required(true);
    let words = words.help("A tool's name and its arguments, a file of a tool, or fio's arguments");
    let save = Arg::new("save").long("save").value_name("FILE");
    let save = save.help("Write the plan to FILE, and its traces next to it");
    let to = Arg::new("to")
        .long("to")
        .value_name("WORDS")
        .value_parser(WRITERS.iter().map(|of| of.0).collect::<Vec<_>>());
    let to = to.help("Output format [default: plan]");
    Command::new("convert")
        .about("Print work of fio, IOR, mdtest, md-workbench or vdbench as a plan")
        .long_about(LONG_ABOUT)
        .arg(save)
        .arg(to)
        .arg(words.allow_hyphen_values(true).trailing_var_arg(true))
}

/// Prints it, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let words = matches.get_many::<String>("WORDS").into_iter().flatten();
    let mut words: Vec<&str> = words.map(String::as_str).collect();
    // No tool has options of these names.
    let save = matches.get_one::<String>("save").cloned();
    let save = save.or_else(|| take(&mut words, "--save")).as_deref().map(path_of);
    let to = matches.get_one::<String>("to").cloned().or_else(|| take(&mut words, "--to"));
    let to = to.as_deref().unwrap_or(WRITERS[0].0);
    let Some((_, writer)) = WRITERS.iter().find(|(name, _)| *name == to) else {
        let names: Vec<&str> = WRITERS.iter().map(|of| of.0).collect();
        screen::error(&format!("--to {to}: it is one of {}", names.join(", ")));
        return exit::USAGE;
    };
    if let Some(refusal) = save.as_deref().and_then(|path| candor_files::claim(path).err()) {
        screen::error(&format!("--save: {refusal}"));
        return exit::REFUSED;
    }
    let (converter, argv) = chosen(&words);
    let converted = match (converter.read)(&argv, save.as_deref()) {
        Ok(converted) => converted,
        Err(code) => return code,
    };
    match writer(&converted) {
        Ok(text) => deliver(&text, save.as_deref()),
        Err(differences) => {
            screen::error(&format!("in the words of {to} this is not exactly the same work:"));
            differences.iter().for_each(|of| screen::tell(&format!("  {of}\n")));
            exit::USAGE
        }
    }
}

/// The plan as a job file of fio, behind comments on what came before it.
fn job_file(of: &Converted) -> Result<String, Vec<String>> {
    let text = candor_dialects::fio::write::job_file(&of.plan, &ThisHost::default())?;
    let comments = of.comments.iter().map(|(_, comment)| format!("# {comment}\n"));
    Ok(comments.collect::<String>() + &text)
}

/// The language of the words, and the command line in it.
fn chosen(words: &[&str]) -> (&'static Converter, Vec<OsString>) {
    let own = |words: &[&str]| words.iter().map(|word| word_of(word)).collect::<Vec<_>>();
    let named = CONVERTERS.iter().find(|of| words.first() == Some(&of.tool));
    if let Some(named) = named {
        return (named, own(words));
    }
    if let [file] = words
        && let Some(begin) = begin_of(file)
    {
        let known = |of: &'static Converter| Some((of, (of.of_file)(file, &begin)?));
        if let Some(known) = CONVERTERS.iter().find_map(known) {
            return known;
        }
    }
    let first = &CONVERTERS[0];
    (first, own(&[&[first.tool], words].concat()))
}

/// The text at the start of a file; none where there is no such file.
fn begin_of(file: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let open = std::fs::File::open(path_of(file)).ok()?;
    open.take(BEGIN_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes an option of our own and its value out of the words of a tool.
fn take(words: &mut Vec<&str>, option: &str) -> Option<String> {
    let value = |word: &str| Some(word.strip_prefix(option)?.strip_prefix('=')?.to_owned());
    let at = words.iter().position(|word| *word == option || value(word).is_some())?;
    let word = words.remove(at);
    value(word).or_else(|| (at < words.len()).then(|| words.remove(at).to_owned()))
}

/// Prints the text, or writes it to a file, and gives the exit code.
fn deliver(text: &str, save: Option<&Path>) -> u8 {
    let Some(path) = save else { return commands::exit_code(screen::words(text)) };
    match candor_files::replace(path, bytes_of(text)) {
        Ok(()) => exit::RAN,
        Err(cause) => {
            screen::error(&format!("cannot write {}: {cause}", path.text()));
            exit::TROUBLE
        }
    }
}

/// Shows why there is no plan, and gives the exit code.
fn refused(diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
    diagnostics.iter().for_each(|diagnostic| screen::error(&diagnostic.describe(texts)));
    exit::USAGE
}

/// Notes that are about the whole plan.
fn of_the_whole(notes: &[Note]) -> Vec<(PlanPath, String)> {
    let comment = |note: &Note| format!("{}: {}, {}", note.asked, note.did, note.why);
    notes.iter().map(|note| (PlanPath::root(), comment(note))).collect()
}

/// Notes and warnings of a plan, each at the places of the plan that it is about.
fn comments(
    plan: &Plan,
    notes: &[Note],
    origins: &Origins,
    texts: &Texts,
) -> Vec<(PlanPath, String)> {
    let mut comments = Vec::new();
    for Note { asked, did, why, place } in notes {
        let written_at = place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        let comment = format!("{asked}: {did}; {why}{written_at}").replace('\n', " ");
        let option = place.iter().flat_map(|place| origins.of_option(place, texts));
        let places: Vec<_> = option.collect();
        let places = if places.is_empty() { vec![PlanPath::root()] } else { places };
        comments.extend(places.into_iter().map(|place| (place, comment.clone())));
    }
    let warnings = check::check(plan).into_iter().filter(|problem| !problem.is_error());
    comments.extend(warnings.map(|warning| (warning.place, warning.message.replace('\n', " "))));
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_content_tell_the_tool() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name).display().to_string();
            std::fs::write(&path, text).expect("written");
            path
        };
        let script = file("a", "\n  ior start\nrun\nIOR STOP\n");
        let job = file("b", "[ior start]\nrw=read\n");
        let parameters = file("c", "* runs\nsd=sd1,lun=/x\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1\n");
        let of = |words: &[&str]| {
            let (converter, argv) = chosen(words);
            let argv = argv.iter().map(|word| word.to_string_lossy().into_owned());
            (converter.tool, argv.collect::<Vec<_>>().join(" "))
        };
        assert_eq!(of(&["ior", "-w"]), ("ior", "ior -w".into()));
        assert_eq!(of(&[&script]), ("ior", format!("ior -f {script}")));
        assert_eq!(of(&["vdbench", "-t"]), ("vdbench", "vdbench -t".into()));
        assert_eq!(of(&[&parameters]), ("vdbench", format!("vdbench -f {parameters}")));
        assert_eq!(of(&[&job]), ("fio", format!("fio {job}")));
        assert_eq!(of(&["--name=x"]), ("fio", "fio --name=x".into()));
        assert_eq!(of(&["md-workbench", "-1"]), ("md-workbench", "md-workbench -1".into()));
        assert_eq!(of(&["fio", "a.fio"]), ("fio", "fio a.fio".into()));
        assert_eq!(of(&["/none"]), ("fio", "fio /none".into()));
        let plan = file("a.toml", "version = 2\n");
        assert_eq!(of(&[&plan]), ("candor", format!("candor {plan}")));
    }
}
