//! Options as rows of a table.
//!
//! An option is one [`Flag`]: its name, what it takes, its help, the keys of the plan that it sets
//! and the function that sets them. The command line, its help and the places that error messages
//! point at all come from the row.

use std::ffi::OsString;
use std::ops::Range;

use candor_plan::shell::quoted;
use candor_plan::{PathText, PlanPath, Problem, Source};
use clap::{Arg, ArgAction, ArgMatches};

/// One option, for a command whose options are gathered in a `T`.
pub struct Flag<T: 'static> {
    /// Name, without the dashes.
    pub long: &'static str,
    /// Kind of its value.
    pub takes: Takes,
    /// Purpose, in a line or two.
    pub help: &'static str,
    /// Keys of the plan that it sets; empty where it sets none.
    pub fields: &'static [&'static str],
    /// Sets them. The error is a sentence with the value in it.
    pub set: fn(&mut T, &str) -> Result<(), String>,
}

/// Puts a value where it belongs.
pub fn put<T>(slot: &mut T, value: Result<T, String>) -> Result<(), String> {
    *slot = value?;
    Ok(())
}

/// Puts a value where one may be.
pub fn put_some<T>(slot: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *slot = Some(value?);
    Ok(())
}

/// Kind of an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is a switch.
    Nothing,
    /// A value of this name.
    One(&'static str),
    /// A value of this name behind an equals sign, or nothing.
    Maybe(&'static str),
    /// A value of this name, each time it is given.
    Many(&'static str),
}

/// Options that belong together in the help.
pub struct Group<T: 'static> {
    /// The heading.
    pub title: &'static str,
    /// The options.
    pub flags: &'static [Flag<T>],
}

/// The options of some groups, as the parser wants them.
pub fn args<T>(groups: &[Group<T>]) -> Vec<Arg> {
    let row = |group: &Group<T>, flag: &Flag<T>| {
        let arg = Arg::new(flag.long).long(flag.long).help(flag.help).help_heading(group.title);
        match flag.takes {
            Takes::Nothing => arg.action(ArgAction::SetTrue),
            Takes::One(name) => arg.value_name(name).action(ArgAction::Set),
            Takes::Maybe(name) => arg
                .value_name(name)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("")
                .action(ArgAction::Set),
            Takes::Many(name) => arg.value_name(name).action(ArgAction::Append),
        }
    };
    groups.iter().flat_map(|group| group.flags.iter().map(move |flag| row(group, flag))).collect()
}

/// Names of the options of these groups that were given.
pub fn given<T>(groups: &[Group<T>], matches: &ArgMatches) -> Vec<&'static str> {
    let flags = groups.iter().flat_map(|group| group.flags);
    flags.filter(|flag| !values(flag, matches).is_empty()).map(|flag| flag.long).collect()
}

/// Sets everything that was given, in the order of the table, and tells what could not be set.
pub fn apply<T>(
    groups: &[Group<T>],
    matches: &ArgMatches,
    line: &mut CommandLine,
    into: &mut T,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for flag in groups.iter().flat_map(|group| group.flags) {
        for (nth, value) in values(flag, matches).iter().enumerate() {
            let place = line.point(flag.long, nth, flag.fields);
            if let Err(message) = (flag.set)(into, value) {
                problems.push(Problem::error("value", place, message, flag.remedy()));
            }
        }
    }
    problems
}

/// Takes an option of these groups, and its value, from the words behind the program's name; none
/// where these begin with another word. The error is a sentence.
pub fn take_first<T>(
    groups: &[Group<T>],
    argv: &mut Vec<OsString>,
    into: &mut T,
) -> Option<Result<(), String>> {
    let word = argv.get(1)?.text().strip_prefix("--")?.to_owned();
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word.as_str(), None),
    };
    let flag = groups.iter().flat_map(|group| group.flags).find(|flag| flag.long == name)?;
    argv.remove(1);
    let value = match (flag.takes, value) {
        (Takes::Nothing, Some(value)) => {
            Err(format!("--{name} takes no value, and `{value}` is one"))
        }
        (Takes::Nothing | Takes::Maybe(_), None) => Ok(String::new()),
        (_, Some(value)) => Ok(value),
        (Takes::One(_) | Takes::Many(_), None) if argv.len() > 1 => Ok(argv.remove(1).text()),
        (Takes::One(_) | Takes::Many(_), None) => Err(format!("--{name} has no value")),
    };
    let set = value.and_then(|value| (flag.set)(into, &value));
    Some(set.map_err(|sentence| format!("{sentence}; {}", flag.remedy())))
}

/// Options with their forms and their help, in lines for a terminal.
pub fn listed<T>(groups: &[Group<T>]) -> String {
    let line = |flag: &Flag<T>| format!("  {:<24}  {}\n", flag.form(), flag.help);
    groups.iter().flat_map(|group| group.flags).map(line).collect()
}

/// The same as rows of a table of Markdown.
pub fn rows<T>(groups: &[Group<T>]) -> String {
    let row = |flag: &Flag<T>| {
        // A bar would end the cell.
        let [form, help] = [&flag.form(), flag.help].map(|text| text.replace('|', "\\|"));
        format!("| `{form}` | {help} |\n")
    };
    groups.iter().flat_map(|group| group.flags).map(row).collect()
}

/// Lists of good values where only one is taken.
pub fn lists_refused<T: Default>(
    groups: &[Group<T>],
    matches: &ArgMatches,
    line: &mut CommandLine,
) -> Vec<Problem> {
    let all = || groups.iter().flat_map(|group| group.flags);
    let takers: Vec<String> =
        all().filter(|flag| flag.takes_list()).map(|flag| format!("--{}", flag.long)).collect();
    let takers = takers.join(", ");
    let mut problems = Vec::new();
    for flag in all().filter(|flag| !flag.takes_list()) {
        for (nth, value) in values(flag, matches).iter().enumerate() {
            let takes = |value: &str| (flag.set)(&mut T::default(), value).is_ok();
            if value.contains(',') && !takes(value) && value.split(',').all(takes) {
                let place = line.point(flag.long, nth, flag.fields);
                let message = format!(
                    "`{value}` is a list, and --{} takes one value; lists are for {takers}",
                    flag.long
                );
                problems.push(Problem::error("value", place, message, flag.remedy()));
            }
        }
    }
    problems
}

impl<T> Flag<T> {
    /// Whether its value may be a list of values, each of which is run.
    fn takes_list(&self) -> bool {
        matches!(self.takes, Takes::One(name) if name.contains("[,"))
    }

    /// The option as it is written.
    pub fn form(&self) -> String {
        match self.takes {
            Takes::Nothing => format!("--{}", self.long),
            Takes::One(name) | Takes::Many(name) => format!("--{} {name}", self.long),
            Takes::Maybe(name) => format!("--{}[={name}]", self.long),
        }
    }

    /// The form of the option and its purpose.
    fn remedy(&self) -> String {
        format!("{}: {}", self.form(), self.help)
    }
}

fn values<T>(flag: &Flag<T>, matches: &ArgMatches) -> Vec<String> {
    match flag.takes {
        Takes::Nothing if matches.get_flag(flag.long) => vec![String::new()],
        Takes::Nothing => Vec::new(),
        _ => matches.get_many::<String>(flag.long).into_iter().flatten().cloned().collect(),
    }
}

/// The words of a command line, and where each stands in the text that messages show.
pub struct CommandLine {
    words: Vec<String>,
    ranges: Vec<Range<usize>>,
    /// The text, and the places of the plan that its words set.
    pub source: Source,
}

impl CommandLine {
    /// From the words that the program was called with, its own name included.
    pub fn new(words: &[String]) -> Self {
        let mut words = words.to_vec();
        if let Some(program) = words.first_mut() {
            *program = "candor".to_owned();
        }
        let (mut source, ranges) = Source::command_line(words.iter().map(|word| quoted(word)));
        // Problems that no word caused point at the command, not at nothing.
        source.spans.insert(PlanPath::root(), 0..ranges.get(1).map_or(0, |range| range.end));
        CommandLine { words, ranges, source }
    }

    /// The words, for the report.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Enters the places that an option sets, and gives the one to complain about.
    fn point(&mut self, long: &str, nth: usize, fields: &[&str]) -> PlanPath {
        let own = PlanPath::from(format!("--{long}").as_str());
        let Some(span) = self.span(long, nth) else { return own };
        let places: Vec<PlanPath> = fields
            .iter()
            // `target[]` is the nth target where the option may be given several times.
            .map(|field| PlanPath::from(field.replace("[]", &format!("[{nth}]")).as_str()))
            .collect();
        let first = places.first().cloned().unwrap_or(own.clone());
        for place in places.into_iter().chain([own]) {
            self.source.spans.insert(place, span.clone());
        }
        first
    }

    /// Enters that the nth use of an option sets a place of the plan.
    pub fn mark(&mut self, long: &str, nth: usize, place: &PlanPath) {
        if let Some(span) = self.span(long, nth) {
            self.source.spans.insert(place.clone(), span);
        }
    }

    /// The range of the nth use of an option: its value, or the option itself if it has none.
    fn span(&self, long: &str, nth: usize) -> Option<Range<usize>> {
        let name = format!("--{long}");
        let with_value = format!("--{long}=");
        let is_it = |word: &&String| **word == name || word.starts_with(&with_value);
        let end = self.words.iter().position(|word| word == "--").unwrap_or(self.words.len());
        let used = self.words[..end].iter().enumerate().filter(|(_, word)| is_it(word));
        let (at, word) = used.take(nth + 1).last()?;
        let range = self.ranges[at].clone();
        let next = self.words.get(at + 1).filter(|next| !next.starts_with("--"));
        Some(match next {
            // The word and its value, so that a switch is underlined as well.
            Some(_) if *word == name => range.start..self.ranges[at + 1].end,
            _ => range,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> CommandLine {
        CommandLine::new(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn places_point_at_words() {
        let mut line =
            line(&["/usr/bin/candor", "run", "--bs=4q", "--target", "a b", "--target", "c"]);
        assert_eq!(line.source.text, "candor run --bs=4q --target 'a b' --target c");
        let place = line.point("bs", 0, &["phase[0].job[0].work.blocks.size"]);
        assert_eq!(&line.source.text[line.source.span(&place).unwrap()], "--bs=4q");
        let place = line.point("target", 1, &["target[].path"]);
        assert_eq!(place.as_str(), "target[1].path");
        assert_eq!(&line.source.text[line.source.span(&place).unwrap()], "--target c");
        let elsewhere = PlanPath::from("phase[0].job[0].workers");
        assert_eq!(&line.source.text[line.source.span(&elsewhere).unwrap()], "candor run");
    }

    /// A number, a text that may be missing, and a switch.
    const FRONT: &[Group<Vec<String>>] = &[Group {
        title: "Front",
        flags: &[
            Flag { long: "n", takes: Takes::One("N"), help: "a number", fields: &[], set: noted },
            Flag { long: "m", takes: Takes::Maybe("X"), help: "perhaps", fields: &[], set: noted },
            Flag { long: "s", takes: Takes::Nothing, help: "a switch", fields: &[], set: noted },
        ],
    }];

    fn noted(noted: &mut Vec<String>, text: &str) -> Result<(), String> {
        noted.push(text.to_owned());
        if text == "bad" { Err("`bad` is bad".into()) } else { Ok(()) }
    }

    #[test]
    fn options_are_taken_from_the_front() {
        let taken = |words: &str| {
            let mut argv: Vec<OsString> = words.split(' ').map(Into::into).collect();
            let mut noted = Vec::new();
            let mut last = Ok(());
            while let Some(taken) =
                take_first(FRONT, &mut argv, &mut noted).filter(|_| last.is_ok())
            {
                last = taken;
            }
            let rest: Vec<String> = argv.iter().map(|word| word.display().to_string()).collect();
            (noted.join("|"), rest.join(" "), last.err())
        };
        let good = |words: &str, noted: &str, rest: &str| {
            assert_eq!(taken(words), (noted.into(), rest.into(), None), "{words}");
        };
        good("t --n 4 --m --s -w", "4||", "t -w");
        good("t --n=4 --m=x -n --s", "4|x", "t -n --s");
        good("t -w --n 4", "", "t -w --n 4");
        for (words, why) in [
            ("t --n", "--n has no value; --n N: a number"),
            ("t --n bad -w", "`bad` is bad; --n N: a number"),
            ("t --s=1", "--s takes no value, and `1` is one; --s: a switch"),
        ] {
            assert_eq!(taken(words).2.as_deref(), Some(why));
        }
    }

    #[test]
    fn switches_are_underlined_without_what_follows() {
        let mut line = line(&["candor", "run", "--direct", "--bs", "4k", "--keep"]);
        let place = line.point("direct", 0, &[]);
        assert_eq!(&line.source.text[line.source.span(&place).unwrap()], "--direct");
        let place = line.point("keep", 0, &[]);
        assert_eq!(&line.source.text[line.source.span(&place).unwrap()], "--keep");
    }
}
