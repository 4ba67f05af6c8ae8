//! Help and the matrix of support, from the table of options.

use super::{Coverage, Row, Support, Table, Takes, ValueKind};

const MATRIX_HEAD: &str = "| option | support | plan | remark |\n| --- | --- | --- | --- |\n";

impl<K: ValueKind> Row<K> {
    /// The option on one line.
    pub fn short(&self) -> String {
        format!("{:<24}: {}\n", self.name, self.help)
    }

    /// Everything that a user may ask about the option.
    pub fn long(&self) -> String {
        let mut text = format!("{:>20}: {}\n", self.name, self.help);
        let mut line = |name: &str, value: &str| {
            if !value.is_empty() {
                text.push_str(&format!("{name:>20}: {value}\n"));
            }
        };
        line("alias", &self.aliases.join(", "));
        line("type", &self.kind.form());
        line("default", if self.default.is_empty() { "no default" } else { self.default });
        line("parent", self.parent);
        line("engines", &self.engines.join(", "));
        for (nth, choice) in self.kind.choices().iter().enumerate() {
            line(if nth == 0 { "valid values" } else { "" }, choice.word);
        }
        line("plan", self.plan);
        line(self.support.word(), self.support.reason());
        if self.support == Support::Exact {
            line("support", "exact");
        }
        text
    }

    /// The option on a command line, as help shows it.
    fn usage(&self) -> String {
        let form = match self.kind.takes() {
            Takes::Nothing => format!("--{}", self.name),
            Takes::One(value) => format!("--{}={value}", self.name),
            Takes::Maybe(value) | Takes::MaybeNext(value) => format!("--{}[={value}]", self.name),
        };
        let letter = self.letter.map_or_else(|| "    ".to_owned(), |letter| format!("-{letter}, "));
        let refused = match self.support {
            Support::Refused(_) => " (refused)",
            _ => "",
        };
        format!("  {letter}{form:<28} {}{refused}\n", self.help)
    }

    /// True for an option that has no name but its letter.
    fn is_letter(&self) -> bool {
        self.letter.is_some_and(|letter| self.name.chars().eq([letter]))
    }

    fn matrix_line(&self) -> String {
        let dash = if self.is_letter() { "-" } else { "" };
        let names: Vec<String> = self.names().map(|name| format!("`{dash}{name}`")).collect();
        let plan = if self.plan.is_empty() { String::new() } else { format!("`{}`", self.plan) };
        let (support, reason) = (self.support.word(), self.support.reason());
        format!("| {} | {support} | {plan} | {} |\n", names.join(", "), reason.replace('|', "\\|"))
    }
}

impl<K: ValueKind> Table<K> {
    /// How many of the options have an effect.
    pub fn coverage(&self) -> Coverage {
        let works = |row: &&Row<K>| matches!(row.support, Support::Exact | Support::Approximate(_));
        Coverage { works: self.rows().filter(works).count(), listed: self.rows().count() }
    }

    /// A line for each option, as `--help` shows them.
    pub fn usage(&self) -> String {
        self.rows().map(Row::usage).collect()
    }

    /// An option, or all of those that are done.
    ///
    /// # Errors
    /// There is no such option; the sentence names the nearest.
    pub fn explain(&self, name: Option<&str>) -> Result<String, String> {
        let Some(name) = name else {
            return Ok(self.rows().filter(|row| row.is_done()).map(Row::short).collect());
        };
        match self.find(name) {
            Some(row) => Ok(row.long()),
            None => Err(unknown("option", name, self.names())),
        }
    }

    /// The matrix of support as tables in Markdown, one for each heading.
    pub fn matrix(&self) -> String {
        let mut text = String::new();
        for groups in self.0.chunk_by(|one, next| one.title == next.title) {
            let rows = groups.iter().flat_map(|group| group.rows);
            let rows: String = rows.map(Row::matrix_line).collect();
            text.push_str(&format!("## {}\n\n{MATRIX_HEAD}{rows}\n", groups[0].title));
        }
        text
    }
}

/// The sentence about a name that is none of those known.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = candor_plan::nearest(name, known);
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    format!("there is no {what} `{name}`{near}")
}
