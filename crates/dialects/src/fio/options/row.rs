//! A row of the table: everything that candor knows about one option.

use super::kind::{Kind, Parsed};
use crate::fio::job_options::JobOptions;

/// An option.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What values look like.
    pub kind: Kind,
    /// Its value where none is given; empty where there is no such value.
    pub default: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
    /// The option without which it means nothing.
    pub parent: &'static str,
    /// The engines that have it; empty where all have.
    pub engines: &'static [&'static str],
    /// The field of the plan, or of the output's description, that it lowers to.
    pub plan: &'static str,
    /// What candor makes of it.
    pub support: Support,
    /// A value other than the default.
    pub example: &'static str,
    /// Options beside which the example shows, as words of a command line without dashes.
    pub beside: &'static str,
    /// Whether it means anything beside the other settings; where not, it is neither refused nor
    /// noted.
    pub(super) when: fn(&JobOptions) -> bool,
    /// How it enters the settings.
    pub(super) put: fn(&mut JobOptions, &Parsed),
}

/// What candor makes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// What fio does.
    Exact,
    /// Nearly what fio does: the difference, which becomes a note of the report.
    Approximate(&'static str),
    /// Nothing to do: why it changes nothing.
    Idle(&'static str),
    /// It is recognised, and a job that sets it is refused: why.
    Refused(&'static str),
}

impl Support {
    /// One word for the matrix of options.
    pub fn word(self) -> &'static str {
        match self {
            Support::Exact => "exact",
            Support::Approximate(_) => "approximate",
            Support::Idle(_) => "no effect",
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

macro_rules! categories {
    ($($(#[$about:meta])* $name:ident = $title:literal),+ $(,)?) => {
        /// What an option is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Category { $( #[doc = $title] $name ),+ }

        impl Category {
            /// All of them, in the order of the matrix.
            pub const ALL: &'static [Category] = &[ $( Category::$name ),+ ];

            /// Its heading.
            pub fn title(self) -> &'static str {
                match self { $( Category::$name => $title ),+ }
            }
        }
    };
}

categories! {
    Description = "Description of the job",
    Units = "Units",
    Runtime = "Run time",
    Io = "RwMode, engine and depth",
    Blocks = "Block sizes",
    Area = "Sizes and offsets",
    Random = "Random offsets",
    Files = "Files",
    Making = "Making and removing files",
    Durability = "Durability",
    Buffers = "Contents of buffers",
    Memory = "Memory of buffers",
    Rate = "Rates",
    Think = "Think time",
    Goals = "Latency goals",
    Flow = "Flow between jobs",
    Verify = "Verification",
    Trace = "Traces",
    Processes = "Processes and their order",
    Placement = "Where and as whom jobs run",
    Zones = "Zones",
    DataPlacement = "Data placement",
    Logs = "Log files",
    Statistics = "Statistics",
    Errors = "Errors",
    Engines = "Options of single engines",
    Profiles = "Profiles",
}

/// A row that stores nothing: for options that are refused or change nothing.
pub(super) const fn bare(name: &'static str, kind: Kind, help: &'static str) -> Row {
    row(name, kind, |_, _| (), help)
}

/// A row.
pub(super) const fn row(
    name: &'static str,
    kind: Kind,
    put: fn(&mut JobOptions, &Parsed),
    help: &'static str,
) -> Row {
    Row {
        name,
        aliases: &[],
        kind,
        default: "",
        help,
        parent: "",
        engines: &[],
        plan: "",
        support: Support::Exact,
        example: "",
        beside: "",
        when: |_| true,
        put,
    }
}

impl Row {
    /// With other names.
    pub(super) const fn alias(mut self, aliases: &'static [&'static str]) -> Row {
        self.aliases = aliases;
        self
    }

    /// With the value that holds where none is given.
    pub(super) const fn default(mut self, default: &'static str) -> Row {
        self.default = default;
        self
    }

    /// With the option that it belongs to.
    pub(super) const fn under(mut self, parent: &'static str) -> Row {
        self.parent = parent;
        self
    }

    /// It means something only where that is so.
    pub(super) const fn when(mut self, when: fn(&JobOptions) -> bool) -> Row {
        self.when = when;
        self
    }

    /// Only these engines have it.
    pub(super) const fn of(mut self, engines: &'static [&'static str]) -> Row {
        self.engines = engines;
        self
    }

    /// The example shows beside these options.
    pub(super) const fn beside(mut self, beside: &'static str) -> Row {
        self.beside = beside;
        self
    }

    /// It does what fio does.
    pub(super) const fn exact(self, plan: &'static str, example: &'static str) -> Row {
        self.with(plan, example, Support::Exact)
    }

    /// It does nearly what fio does.
    pub(super) const fn near(
        self,
        plan: &'static str,
        example: &'static str,
        note: &'static str,
    ) -> Row {
        self.with(plan, example, Support::Approximate(note))
    }

    /// There is nothing to do.
    pub(super) const fn idle(self, example: &'static str, why: &'static str) -> Row {
        self.with("", example, Support::Idle(why))
    }

    /// A job that sets it is refused.
    pub(super) const fn refused(self, example: &'static str, why: &'static str) -> Row {
        self.with("", example, Support::Refused(why))
    }

    const fn with(mut self, plan: &'static str, example: &'static str, support: Support) -> Row {
        self.plan = plan;
        self.example = example;
        self.support = support;
        self
    }

    /// All its names, the first one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}
