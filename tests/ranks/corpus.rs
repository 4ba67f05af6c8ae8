//! Cases as text: what is there, what is called, and what must come of it.
//!
//! ```text
//! == title                      a case; its commands run in an empty directory, one after another
//! ranks 2                       ranks of all its commands; one where nothing is said
//! open the sentence has no place   it does not hold yet, and why: it fails once it does
//! @ parm                        a file of this name, of the lines below that begin with `|`
//! | sd=sd1,lun={dir}/disk       `{dir}` is the directory of the case, `{cr}` a carriage return
//! $ vdbench -f parm -s          a command; quotes keep blanks; `\` at the end goes on
//!   labels rd1                  what must come of it: a verb and its words (see `facts.rs`)
//! ```
//!
//! A command that says nothing of its exit code has to end with 0.

use std::path::Path;

/// A case.
pub struct Case {
    /// File and line, for messages.
    pub place: String,
    /// The words behind `==`.
    pub title: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Why it does not hold yet, where it does not.
    pub open: Option<String>,
    /// Files that are there before the first command, with their text.
    pub files: Vec<(String, String)>,
    /// Commands, in order.
    pub commands: Vec<Command>,
}

/// A command of a case.
pub struct Command {
    /// File and line, for messages.
    pub place: String,
    /// The program's name and its words.
    pub words: Vec<String>,
    /// Facts that must hold afterwards.
    pub facts: Vec<Fact>,
}

/// A fact that must hold after a command.
pub struct Fact {
    /// First word of the line.
    pub verb: String,
    /// The rest of the line.
    pub rest: String,
}

impl Command {
    /// True if the command has to be refused.
    pub fn is_refused(&self) -> bool {
        self.facts.iter().any(|fact| fact.verb == "exit" && fact.rest != "0" && fact.rest != "bad")
    }

    /// True if the words ask for a plan only.
    pub fn is_dry(&self) -> bool {
        self.words.iter().any(|word| word == "-s" || word == "--dryRun" || word == "--dry-run")
    }

    /// True if the command calls this tool, by its own name or through candor.
    pub fn calls(&self, tool: &str) -> bool {
        self.words[0] == tool || (self.words[0] == "candor" && self.words[1] == tool)
    }
}

/// All cases of a file of the corpus.
pub fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a file of cases");
    let file = path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        let place = format!("{file}:{number}");
        let mut whole = line.to_owned();
        while whole.starts_with('$') && whole.ends_with('\\') {
            whole.pop();
            whole.push_str(lines.next().map_or("", |(line, _)| line.trim_start()));
        }
        add(&mut cases, &whole, place);
    }
    cases
}

fn add(cases: &mut Vec<Case>, line: &str, place: String) {
    let blank = line.trim().is_empty() || line.starts_with('#');
    if blank {
        return;
    }
    if let Some(title) = line.strip_prefix("== ") {
        let title = title.trim().to_owned();
        let (files, commands) = (Vec::new(), Vec::new());
        cases.push(Case { place, title, ranks: 1, open: None, files, commands });
        return;
    }
    let case = cases.last_mut().unwrap_or_else(|| panic!("{place}: no case begins above"));
    if let Some(ranks) = line.strip_prefix("ranks ") {
        case.ranks = ranks.trim().parse().unwrap_or_else(|_| panic!("{place}: no number"));
    } else if let Some(why) = line.strip_prefix("open ") {
        case.open = Some(why.trim().to_owned());
    } else if let Some(name) = line.strip_prefix("@ ") {
        case.files.push((name.trim().to_owned(), String::new()));
    } else if let Some(text) = line.strip_prefix('|') {
        let file = case.files.last_mut().unwrap_or_else(|| panic!("{place}: no file begins above"));
        file.1.push_str(text.strip_prefix(' ').unwrap_or(text));
        file.1.push('\n');
    } else if let Some(words) = line.strip_prefix("$ ") {
        case.commands.push(Command { place, words: split(words), facts: Vec::new() });
    } else if let Some(fact) = line.strip_prefix("  ") {
        let command = case.commands.last_mut();
        let command = command.unwrap_or_else(|| panic!("{place}: no command stands above"));
        let (verb, rest) = fact.trim().split_once(' ').unwrap_or((fact.trim(), ""));
        command.facts.push(Fact { verb: verb.to_owned(), rest: rest.trim().to_owned() });
    } else {
        panic!("{place}: `{line}` is no line of a case");
    }
}

/// Words of a line; quotes keep blanks, and may be empty.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
