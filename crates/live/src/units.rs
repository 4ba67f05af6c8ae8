//! Numbers in the units that the user chose, and rows in the order that the user chose.

use candor_record::fmt::column;

/// Units of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1000.
    #[default]
    Decimal,
    /// Powers of 1024.
    Binary,
}

impl Units {
    /// The other ones.
    pub fn other(self) -> Units {
        match self {
            Units::Decimal => Units::Binary,
            Units::Binary => Units::Decimal,
        }
    }

    /// Bytes per second.
    pub fn rate(self, bytes_per_s: f64) -> String {
        match self {
            Units::Decimal => column::rate(bytes_per_s),
            Units::Binary => column::rate_binary(bytes_per_s),
        }
    }
}

/// Order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As they are in the plan, or on the host.
    #[default]
    AsGiven,
    /// Most work first.
    Most,
    /// Least work first.
    Least,
}

impl Sort {
    /// The next one.
    pub fn next(self) -> Sort {
        match self {
            Sort::AsGiven => Sort::Most,
            Sort::Most => Sort::Least,
            Sort::Least => Sort::AsGiven,
        }
    }

    /// Name, beside the key that changes it.
    pub fn name(self) -> &'static str {
        match self {
            Sort::AsGiven => "as given",
            Sort::Most => "most first",
            Sort::Least => "least first",
        }
    }

    /// Puts rows in order by their work.
    pub fn apply<T>(self, rows: &mut [T], work: impl Fn(&T) -> f64) {
        match self {
            Sort::AsGiven => {}
            Sort::Most => rows.sort_by(|a, b| work(b).total_cmp(&work(a))),
            Sort::Least => rows.sort_by(|a, b| work(a).total_cmp(&work(b))),
        }
    }
}

/// A time in ns, or a dash.
pub fn time(ns: Option<u64>) -> String {
    ns.map_or("-".to_owned(), column::time)
}
