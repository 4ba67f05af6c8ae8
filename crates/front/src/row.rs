//! The table of options: a row holds everything that candor knows about one option.

use super::{Choice, Refused};

/// The value behind the name of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None does.
    Nothing,
    /// A value of this name, behind an equals sign or as the next word.
    One(&'static str),
    /// A value of this name behind an equals sign, or none.
    Maybe(&'static str),
    /// A value of this name behind an equals sign, or the next word where it can be one, or none.
    MaybeNext(&'static str),
}

/// The values of a tool's options: what they look like, and how they enter what is read.
pub trait ValueKind: Copy + 'static {
    /// The struct that options are read into.
    type Options: 'static;
    /// The function by which a value enters the options.
    type Setter: Copy + 'static;
    /// A setter that stores nothing.
    const NOTHING: Self::Setter;

    /// The form of a value, in a few words.
    fn form(&self) -> String;

    /// The words to choose from, where a value is one of several.
    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    /// The value behind the name on a command line.
    fn takes(&self) -> Takes;

    /// Reads a value and lets it enter the options. `None` is an option without one.
    ///
    /// # Errors
    /// The value cannot be read.
    fn apply(
        row: &Row<Self>,
        options: &mut Self::Options,
        text: Option<&str>,
    ) -> Result<Applied, Refused>;
}

/// The result of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// A sentence for the notes of the report.
    pub remark: Option<String>,
    /// The value says what holds without it.
    pub is_default: bool,
}

/// candor's support of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The option does what the tool does.
    Exact,
    /// The option does nearly what the tool does: the difference becomes a note of the report.
    Approximate(&'static str),
    /// The option changes nothing: why.
    Idle(&'static str),
    /// The option is recognised, and refused where it is set: why.
    Refused(&'static str),
}

impl Support {
    /// One word for the matrix of options.
    pub fn word(self) -> &'static str {
        match self {
            Support::Exact => "exact",
            Support::Approximate(_) => "approximate",
            Support::Idle(_) => "accepted, no effect",
            Support::Refused(_) => "refused",
        }
    }

    /// The difference or the reason, where there is one.
    pub fn reason(self) -> &'static str {
        match self {
            Support::Exact => "",
            Support::Approximate(text) | Support::Idle(text) | Support::Refused(text) => text,
        }
    }
}

/// How many options of a tool have an effect here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Options that do what the tool does, or nearly.
    pub works: usize,
    /// All options that the tables list.
    pub listed: usize,
}

impl std::iter::Sum for Coverage {
    fn sum<I: Iterator<Item = Coverage>>(tables: I) -> Coverage {
        tables.fold(Coverage::default(), |sum, of| Coverage {
            works: sum.works + of.works,
            listed: sum.listed + of.listed,
        })
    }
}

/// An option.
pub struct Row<K: ValueKind> {
    /// The name, without dashes.
    pub name: &'static str,
    /// The letter that stands for it behind a single dash.
    pub letter: Option<char>,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The kind of value.
    pub kind: K,
    /// The value where none is given; empty where there is no such value.
    pub default: &'static str,
    /// The effect, in a few words.
    pub help: &'static str,
    /// The option without which it means nothing.
    pub parent: &'static str,
    /// The engines that have it; empty where all have.
    pub engines: &'static [&'static str],
    /// The fields of the plan, or of the output's description, that it lowers to.
    pub plan: &'static str,
    /// candor's support.
    pub support: Support,
    /// A value other than the default.
    pub example: &'static str,
    /// True if the option has an effect next to the others. If not, a note says so, and nothing is
    /// refused.
    pub when: fn(&K::Options) -> bool,
    /// True if its approximation differs with the values at hand.
    pub differs: fn(&K::Options) -> bool,
    /// The value is a secret, which no output contains.
    pub is_secret: bool,
    /// The function by which a value enters the options.
    pub set: K::Setter,
}

/// A row that stores nothing: for options that are refused or change nothing.
pub const fn bare<K: ValueKind>(name: &'static str, kind: K, help: &'static str) -> Row<K> {
    row(name, kind, K::NOTHING, help)
}

/// A row.
pub const fn row<K: ValueKind>(
    name: &'static str,
    kind: K,
    set: K::Setter,
    help: &'static str,
) -> Row<K> {
    Row {
        name,
        letter: None,
        aliases: &[],
        kind,
        default: "",
        help,
        parent: "",
        engines: &[],
        plan: "",
        support: Support::Exact,
        example: "",
        when: |_| true,
        differs: |_| true,
        is_secret: false,
        set,
    }
}

impl<K: ValueKind> Row<K> {
    /// With a letter that stands for it.
    #[must_use]
    pub const fn letter(mut self, letter: char) -> Self {
        self.letter = Some(letter);
        self
    }

    /// With other names.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// With the value that holds where none is given.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    /// With the option that it belongs to.
    #[must_use]
    pub const fn under(mut self, parent: &'static str) -> Self {
        self.parent = parent;
        self
    }

    /// Without meaning, unless that is so.
    #[must_use]
    pub const fn when(mut self, when: fn(&K::Options) -> bool) -> Self {
        self.when = when;
        self
    }

    /// Exact, unless that is so.
    #[must_use]
    pub const fn differing(mut self, differs: fn(&K::Options) -> bool) -> Self {
        self.differs = differs;
        self
    }

    /// With a value that no output contains.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// An option of these engines only.
    #[must_use]
    pub const fn of(mut self, engines: &'static [&'static str]) -> Self {
        self.engines = engines;
        self
    }

    /// Supported exactly.
    #[must_use]
    pub const fn exact(self, plan: &'static str, example: &'static str) -> Self {
        self.with(plan, example, Support::Exact)
    }

    /// Supported nearly; the note says what differs.
    #[must_use]
    pub const fn near(self, plan: &'static str, example: &'static str, note: &'static str) -> Self {
        self.with(plan, example, Support::Approximate(note))
    }

    /// Without anything to do.
    #[must_use]
    pub const fn idle(self, example: &'static str, why: &'static str) -> Self {
        self.with("", example, Support::Idle(why))
    }

    /// True unless it is refused.
    pub fn is_done(&self) -> bool {
        !matches!(self.support, Support::Refused(_))
    }

    /// Refused where it is set.
    #[must_use]
    pub const fn refused(self, example: &'static str, why: &'static str) -> Self {
        self.with("", example, Support::Refused(why))
    }

    const fn with(mut self, plan: &'static str, example: &'static str, support: Support) -> Self {
        self.plan = plan;
        self.example = example;
        self.support = support;
        self
    }

    /// All its names, the first one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<K> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Reads a value and lets it enter the options.
    ///
    /// # Errors
    /// The value cannot be read.
    pub fn apply(&self, options: &mut K::Options, text: Option<&str>) -> Result<Applied, Refused> {
        K::apply(self, options, text)
    }
}

/// Rows that belong together in help and matrix.
pub struct Group<K: ValueKind> {
    /// The heading; neighbouring groups may share one.
    pub title: &'static str,
    /// The rows.
    pub rows: &'static [Row<K>],
}

/// All options of a tool.
pub struct Table<K: ValueKind>(pub &'static [Group<K>]);

impl<K: ValueKind> Table<K> {
    /// All rows, in the order of the matrix.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row<K>> + use<K> {
        self.0.iter().flat_map(|group| group.rows)
    }

    /// The row of an option, by any of its names.
    pub fn find(&self, name: &str) -> Option<&'static Row<K>> {
        self.rows().find(|row| row.names().any(|known| known == name))
    }

    /// The row of an option, by its letter.
    pub fn by_letter(&self, letter: char) -> Option<&'static Row<K>> {
        self.rows().find(|row| row.letter == Some(letter))
    }

    /// All names of all options.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<K> {
        self.rows().flat_map(Row::names)
    }
}
