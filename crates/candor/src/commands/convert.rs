//! `candor convert WORDS`: what foreign words amount to, as a plan of candor's own.

mod fio;
mod ior;
mod md_workbench;
mod mdtest;
mod vdbench;

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use candor_dialects::kit::{Diagnostic, Origins, Texts};
use candor_plan::{Plan, PlanPath, check, text};
use candor_record::Note;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Print what foreign words amount to, as a plan for candor run.

Words begin with the name of their tool (fio, ior, md-workbench, mdtest, vdbench) and are its command line; or they are a file alone, \
whose content tells the tool. Words without a tool are those of fio. Where the plan is not exactly what \
was asked, a comment says so. A job that replays a trace needs --save, which writes the trace beside the \
plan, for candor run reads traces of its own form.";

/// Bytes at the start of a file that tell its language.
const BEGIN_BYTES: u64 = 64 << 10;

/// A language that plans are made of.
struct Converter {
    /// The tool, as the first word names it.
    tool: &'static str,
    /// The command line of a file alone; none where its content is of another language.
    of_file: fn(&str, &str) -> Option<Vec<OsString>>,
    /// Converts a command line, the tool's name first, prints the plan or saves it, and gives the
    /// exit code.
    convert: fn(&[OsString], Option<&Path>) -> u8,
}

/// All of them; the first one takes what none knows.
const CONVERTERS: &[Converter] = &[
    Converter { tool: "fio", of_file: |_, _| None, convert: fio::convert },
    Converter { tool: "ior", of_file: ior::of_file, convert: ior::convert },
    Converter { tool: "md-workbench", of_file: |_, _| None, convert: md_workbench::convert },
    Converter { tool: "mdtest", of_file: |_, _| None, convert: mdtest::convert },
    Converter { tool: "vdbench", of_file: vdbench::of_file, convert: vdbench::convert },
];

/// The command line.
pub fn command() -> Command {
    let words = Arg::new("WORDS").num_args(1..).required(true);
    let words = words.help("A tool's name and its words, or a file of one, or fio's words");
    let save =
        Arg::new("save").long("save").value_name("FILE").value_parser(value_parser!(PathBuf));
    let save = save.help("Write the plan there, and its traces beside it");
    Command::new("convert")
        .about("Print work of fio, IOR, mdtest, md-workbench or vdbench as a plan")
        .long_about(LONG_ABOUT)
        .arg(save)
        .arg(words.allow_hyphen_values(true).trailing_var_arg(true))
}

/// Prints it, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let words = matches.get_many::<String>("WORDS").into_iter().flatten();
    let mut words: Vec<&str> = words.map(String::as_str).collect();
    let save = matches.get_one::<PathBuf>("save").cloned().or_else(|| take_save(&mut words));
    let (converter, argv) = chosen(&words);
    (converter.convert)(&argv, save.as_deref())
}

/// The language of the words, and the command line in it.
fn chosen(words: &[&str]) -> (&'static Converter, Vec<OsString>) {
    let own = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
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
    let open = std::fs::File::open(file).ok()?;
    open.take(BEGIN_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes `--save FILE` out of the words of a tool, none of which has an option of that name.
fn take_save(words: &mut Vec<&str>) -> Option<PathBuf> {
    let value = |word: &str| word.strip_prefix("--save=").map(PathBuf::from);
    let at = words.iter().position(|word| *word == "--save" || value(word).is_some())?;
    let word = words.remove(at);
    value(word).or_else(|| (at < words.len()).then(|| words.remove(at).into()))
}

/// Prints a plan with comments, or writes it to a file, and gives the exit code.
pub fn deliver(plan: &Plan, comments: &[(PlanPath, String)], save: Option<&Path>) -> u8 {
    let text = text::write_commented(plan, comments);
    let Some(path) = save else { return commands::printed(&text) };
    match std::fs::write(path, text) {
        Ok(()) => exit::RAN,
        Err(cause) => {
            screen::error(&format!("cannot write {}: {cause}", path.display()));
            exit::TROUBLE
        }
    }
}

/// Shows why there is no plan, and gives the exit code.
pub fn refused(diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
    diagnostics.iter().for_each(|diagnostic| screen::error(&diagnostic.describe(texts)));
    exit::USAGE
}

/// Notes and warnings of a plan, each at the places of the plan that it is about.
pub fn comments(
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
    }
}
