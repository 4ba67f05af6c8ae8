//! A whole small front end, built from the kit: the command line of a made-up tool with three
//! options, one of them refused.

use std::ffi::OsString;

use candor_plan::{PlanPath, Problem};

use super::*;

/// The options of the tool.
#[derive(Default)]
struct Load {
    block: u64,
    threads: u32,
    given: Given,
}

fn number(text: &str) -> Result<u64, Refused> {
    let wrong = || Refused::whole(text, format!("`{text}` is no number"), "write digits");
    text.parse().map_err(|_| wrong())
}

type Value = Plain<Load>;

const TABLE: Table<Value> = Table(&[
    Group {
        title: "Load",
        rows: &[
            row(
                "block",
                Value::value("BYTES"),
                |load, text| number(text).map(|bytes| load.block = bytes),
                "bytes of an operation",
            )
            .letter('b')
            .default("4096")
            .exact("blocks.size", "8192"),
            row(
                "threads",
                Value::value("N"),
                |load, text| number(text).map(|count| load.threads = count as u32),
                "workers",
            )
            .letter('t')
            .near("job.workers", "2", "workers are threads, not processes"),
        ],
    },
    Group {
        title: "Devices",
        rows: &[bare("gpu", Value::SWITCH, "read into a GPU").refused("", "there is no GPU yet")],
    },
]);

const GRAMMAR: Grammar = Grammar {
    long_behind_one_dash: false,
    equals_behind_letters: false,
    unknown: "--help lists all",
};

/// The command line, with its texts.
struct CommandLine {
    load: Load,
    texts: Texts,
    at: Span,
}

impl Scope for CommandLine {
    type Kind = Value;
    const TOOL: &'static str = "tiny";
    const TABLE: Table<Value> = TABLE;

    fn given(&self) -> &Given {
        &self.load.given
    }

    fn at(&self) -> Span {
        self.at
    }

    fn name(&self) -> &str {
        "tiny"
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }
}

/// Reads a command line: what it set, its operands, and all there is to say.
fn read_tiny(words: &[&str]) -> (CommandLine, Vec<String>, Diagnostics) {
    let argv: Vec<OsString> = ["/bin/tiny"].iter().chain(words).map(OsString::from).collect();
    let (mut texts, mut diagnostics) = (Texts::default(), Diagnostics::default());
    let words = enter(&mut texts, &argv);
    let (mut load, mut operands) = (Load::default(), Vec::new());
    for item in read(&words, &TABLE.spellings().collect::<Vec<_>>(), GRAMMAR) {
        match item {
            Item::Option { name, at, value } => {
                let name = Word { text: name.to_owned(), at };
                match TABLE.assign(&Assignment { name, value }, &mut load, "--help lists all") {
                    Ok(assigned) => load.given.insert(assigned.row.name, assigned.given),
                    Err(error) => diagnostics.push(*error),
                }
            }
            Item::Operand(word) => operands.push(word.text),
            Item::Wrong(error) => diagnostics.push(error),
        }
    }
    let refusals = TABLE.refusals(&load, &load.given, |_| false);
    refusals.into_iter().for_each(|error| diagnostics.push(error));
    let notes = TABLE.notes(&load, &load.given, &texts);
    notes.into_iter().for_each(|note| diagnostics.add_note(note));
    (CommandLine { load, texts, at: words[0].at }, operands, diagnostics)
}

fn errors(line: &CommandLine, diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.errors.iter().map(|error| error.describe(&line.texts)).collect()
}

#[test]
fn options_enter_their_fields_and_differences_become_notes() {
    let (line, operands, diagnostics) = read_tiny(&["-b512", "/dev/a", "--thr=2", "--", "-x"]);
    assert_eq!((line.load.block, line.load.threads), (512, 2));
    assert_eq!(operands, ["/dev/a", "-x"]);
    assert_eq!(errors(&line, &diagnostics), Vec::<String>::new());
    let notes: Vec<_> = diagnostics
        .notes
        .iter()
        .map(|note| {
            let place = note.place.as_deref().unwrap_or_default();
            format!("{place}: {}: {}; {}", note.asked, note.did, note.why)
        })
        .collect();
    assert_eq!(
        notes,
        ["command line:1:19: threads=2: job.workers; workers are threads, not processes"]
    );
}

#[test]
fn everything_wrong_is_reported_at_once_and_at_its_place() {
    let (line, _, diagnostics) =
        read_tiny(&["--blck=1", "--block=1x", "-bq", "--gpu", "-z", "--gpu=1", "--threads"]);
    assert_eq!(
        errors(&line, &diagnostics),
        [
            "command line:1:6: `blck` is no option; did you mean `block`? --help lists all",
            "command line:1:23: block: `1x` is no number; write digits",
            "command line:1:28: block: `q` is no number; write digits",
            "command line:1:37: `z` is no option; --help lists all",
            "command line:1:45: --gpu takes no value; leave it out",
            "command line:1:47: --threads needs a value; write --threads=N",
            "command line:1:30: gpu is not done: there is no GPU yet; remove it",
        ]
    );
}

#[test]
fn lowering_refuses_and_notes_at_the_option_or_at_the_scope() {
    let (line, _, mut diagnostics) = read_tiny(&["--block=512"]);
    diagnostics.refuse(&line, "block", "the device has blocks of 4096");
    diagnostics.refuse(&line, "threads", "there is one CPU");
    let message = "a block is too small";
    diagnostics.wrong_known_as(&line, "block", message.to_owned(), "EINVAL", "give 4096");
    // A diagnostic that is pushed twice is kept once.
    diagnostics.wrong_known_as(&line, "block", message.to_owned(), "EINVAL", "give 4096");
    diagnostics.note(&line, "block", "4096 bytes", "the device has no smaller ones");
    assert_eq!(
        errors(&line, &diagnostics),
        [
            "command line:1:14: block=512 is not done: the device has blocks of 4096",
            "command line:1:1: threads is not done: there is one CPU",
            "command line:1:14: a block is too small; give 4096 (tiny: EINVAL)",
        ]
    );
    assert_eq!(diagnostics.notes[0].asked, "block=512");
    assert_eq!(diagnostics.notes[0].place.as_deref(), Some("command line:1:6"));
}

#[test]
fn problems_of_the_plan_point_at_the_option_that_caused_them() {
    let (line, ..) = read_tiny(&["--block=512"]);
    let mut origins = Origins::default();
    let job = origins.job(0, 0, &line);
    let size = job.key("work").key("blocks").key("size");
    let problem = Problem::error("size", size.clone(), "it is too small", "");
    let message = origins.diagnostic(&problem).describe(&line.texts);
    assert_eq!(message, "command line:1:14: it is too small");
    assert_eq!(origins.of_option("command line:1:6", &line.texts), [size]);
    let plan = Problem::error("seed", PlanPath::root().key("seed"), "it is odd", "");
    assert_eq!(origins.diagnostic(&plan).describe(&line.texts), "it is odd");
}

#[test]
fn help_and_matrix_come_from_the_table() {
    assert_eq!(
        TABLE.usage(),
        "  -b, --block=BYTES                bytes of an operation\n\
         \x20 -t, --threads=N                  workers\n\
         \x20     --gpu                        read into a GPU (refused)\n"
    );
    assert_eq!(
        TABLE.explain(Some("block")),
        Ok("               block: bytes of an operation\n                type: BYTES\n\
            \x20            default: 4096\n                plan: blocks.size\n\
            \x20            support: exact\n"
            .to_owned())
    );
    assert_eq!(
        TABLE.explain(Some("thread")),
        Err("there is no option `thread`; did you mean threads?".to_owned())
    );
    let head = "| option | support | plan | remark |\n| --- | --- | --- | --- |\n";
    assert_eq!(
        TABLE.matrix(),
        format!(
            "## Load\n\n{head}| `block` | exact | `blocks.size` |  |\n\
             | `threads` | approximate | `job.workers` | workers are threads, not processes |\n\n\
             ## Devices\n\n{head}| `gpu` | refused |  | there is no GPU yet |\n\n"
        )
    );
}

#[test]
fn a_value_that_is_the_default_is_neither_refused_nor_noted() {
    let (line, _, diagnostics) = read_tiny(&["--block", "4096"]);
    assert!(line.load.given.get("block").is_some_and(|given| given.is_default));
    assert!(diagnostics.errors.is_empty() && diagnostics.notes.is_empty());
}
