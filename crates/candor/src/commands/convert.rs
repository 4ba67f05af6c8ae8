//! `candor convert WORDS`: what foreign words amount to, as a plan of candor's own, or in the words
//! of another tool.

mod own;

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use candor_plan::path_text::{bytes_of, word_of};
use candor_plan::{PathText, path_of, text};
use clap::{Arg, ArgMatches, Command};

use crate::commands::foreign::conversion::{Converted, Converter, Writer};
use crate::commands::foreign::host::ThisHost;
use crate::commands::tools::TOOLS;
use crate::{commands, exit, screen};

fn long_about() -> String {
    let tools: Vec<&str> = converters().map(|(tool, _)| tool).collect();
    format!(
        "Translate a command line or job file of another tool into a plan for candor run.\n\n\
         Give a command line, which begins with the name of its tool ({}), or only a file, whose \
         content identifies the tool. Without a tool, the arguments are {DEFAULT}'s. A comment \
         marks each difference between plan and request. A job that replays a trace needs --save, \
         which writes the trace next to the plan in the form that candor run reads.\n\n\
         With --to fio the result is a job file, if fio's options describe exactly the same work; \
         otherwise the differences are reported and nothing is written. A plan (FILE.toml) can be \
         converted, too.",
        tools.join(", ")
    )
}

/// Bytes at the start of a file that tell its language.
const BEGIN_BYTES: u64 = 64 << 10;

/// Name of the format that is candor's own.
const PLAN: &str = "plan";

/// Output formats besides [`PLAN`].
fn writers() -> impl Iterator<Item = (&'static str, Writer)> {
    TOOLS.iter().filter_map(|tool| Some((tool.name(), tool.writer?)))
}

/// Names of the output formats.
fn formats() -> Vec<&'static str> {
    [PLAN].into_iter().chain(writers().map(|(name, _)| name)).collect()
}

/// The tool whose command line has no tool's name.
const DEFAULT: &str = "fio";

/// Converters with the names that select them: the tools, and candor's own plans.
fn converters() -> impl Iterator<Item = (&'static str, &'static Converter)> {
    let tools = TOOLS.iter().filter_map(|tool| Some((tool.name(), tool.converter.as_ref()?)));
    tools.chain([("candor", &own::CONVERTER)])
}

/// The command line.
pub fn command() -> Command {
    let words = Arg::new("WORDS").num_args(1..).required(true);
    let words = words.help("A tool's name and its arguments, a file of a tool, or fio's arguments");
    let save = Arg::new("save").long("save").value_name("FILE");
    let save = save.help("Write the plan to FILE, and its traces next to it");
    let to = Arg::new("to").long("to").value_name("WORDS").value_parser(formats());
    let to = to.help("Output format [default: plan]");
    Command::new("convert")
        .about("Translate a command line or job file of another tool into a plan")
        .long_about(long_about())
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
    let to = to.as_deref().unwrap_or(PLAN);
    if !formats().contains(&to) {
        screen::error(&format!("--to {to}: it is one of {}", formats().join(", ")));
        return exit::USAGE;
    }
    if let Some(refusal) = save.as_deref().and_then(|path| candor_files::claim(path).err()) {
        screen::error(&format!("--save: {refusal}"));
        return exit::REFUSED;
    }
    let (converter, argv) = chosen(&words);
    let converted = match (converter.read)(&argv, save.as_deref()) {
        Ok(converted) => converted,
        Err(code) => return code,
    };
    match written(&converted, to) {
        Ok(text) => deliver(&text, save.as_deref()),
        Err(differences) => {
            screen::error(&format!("{to} has no options for exactly the same work:"));
            differences.iter().for_each(|of| screen::tell(&format!("  {of}\n")));
            exit::USAGE
        }
    }
}

/// The plan in a format, after its comments; or the differences.
fn written(of: &Converted, to: &str) -> Result<String, Vec<String>> {
    let Some((_, writer)) = writers().find(|(name, _)| *name == to) else {
        return Ok(text::write_commented(&of.plan, &of.comments));
    };
    let text = writer(&of.plan, &ThisHost::default())?;
    let comments = of.comments.iter().map(|(_, comment)| format!("# {comment}\n"));
    Ok(comments.collect::<String>() + &text)
}

/// The converter of the words, and the command line for it.
fn chosen(words: &[&str]) -> (&'static Converter, Vec<OsString>) {
    let own = |words: &[&str]| words.iter().map(|word| word_of(word)).collect::<Vec<_>>();
    let named = |name: &str| converters().find(|(tool, _)| *tool == name);
    if let Some((_, converter)) = words.first().and_then(|word| named(word)) {
        return (converter, own(words));
    }
    if let [file] = words
        && let Some(begin) = begin_of(file)
    {
        let known = |(_, of): (_, &'static Converter)| Some((of, (of.of_file)(file, &begin)?));
        if let Some(known) = converters().find_map(known) {
            return known;
        }
    }
    let (tool, converter) = named(DEFAULT).expect("fio has a converter");
    (converter, own(&[&[tool], words].concat()))
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
            let argv = chosen(words).1;
            let argv = argv.iter().map(|word| word.to_string_lossy().into_owned());
            argv.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(&["ior", "-w"]), "ior -w");
        assert_eq!(of(&[&script]), format!("ior -f {script}"));
        assert_eq!(of(&["vdbench", "-t"]), "vdbench -t");
        assert_eq!(of(&[&parameters]), format!("vdbench -f {parameters}"));
        assert_eq!(of(&[&job]), format!("fio {job}"));
        assert_eq!(of(&["--name=x"]), "fio --name=x");
        assert_eq!(of(&["md-workbench", "-1"]), "md-workbench -1");
        assert_eq!(of(&["fio", "a.fio"]), "fio a.fio");
        assert_eq!(of(&["/none"]), "fio /none");
        let plan = file("a.toml", "version = 2\n");
        assert_eq!(of(&[&plan]), format!("candor {plan}"));
    }
}
