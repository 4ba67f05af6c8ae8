//! Counts that may only fall: `xtask/ceilings.toml` holds the current number of each.

use toml::{Table, Value};

use super::tokens::{self, File};
use super::{Breach, Source, arrows, circles, fronts, idioms};

const FILE: &str = "xtask/ceilings.toml";

/// A count with a ceiling.
pub struct Ceiling {
    /// The key in the file.
    pub key: &'static str,
    pub title: &'static str,
    pub goal: &'static str,
    /// Advice for a change that would add one.
    instead: &'static str,
    find: Find,
}

/// How the positions that a ceiling counts are found.
enum Find {
    InCode(fn(&[File]) -> Vec<Breach>),
    InManifests(fn(&[Source]) -> Vec<Breach>),
}

impl Ceiling {
    /// Every position that counts.
    pub fn positions(&self, sources: &[Source], files: &[File]) -> Vec<Breach> {
        match self.find {
            Find::InCode(find) => find(files),
            Find::InManifests(find) => find(sources),
        }
    }
}

/// Every count with a ceiling.
pub const CEILINGS: &[Ceiling] = &[
    Ceiling {
        key: "host_traits",
        title: "`trait Host`",
        goal: "1",
        instead: "use a trait `Host` that exists",
        find: Find::InCode(fronts::host_traits),
    },
    Ceiling {
        key: "this_host_structs",
        title: "`struct ThisHost`",
        goal: "1",
        instead: "use a `ThisHost` that exists",
        find: Find::InCode(fronts::this_host_structs),
    },
    Ceiling {
        key: "draft_types",
        title: "types named `Draft`",
        goal: "≤ 2",
        instead: "name the type after its content, or build the final type",
        find: Find::InCode(fronts::draft_types),
    },
    Ceiling {
        key: "family_arrows",
        title: "arrows between families",
        goal: "0",
        instead: "move the shared code into a crate below both",
        find: Find::InManifests(arrows::between_families),
    },
    Ceiling {
        key: "import_circles",
        title: "import circles inside crates",
        goal: "0",
        instead: "move the shared items into a module below both",
        find: Find::InCode(circles::circles),
    },
    Ceiling {
        key: "circle_modules",
        title: "modules in these circles",
        goal: "0",
        instead: "move the shared items into a module below both",
        find: Find::InCode(circles::circle_modules),
    },
    Ceiling {
        key: "identities",
        title: "identity by address (`ptr::eq`)",
        goal: "0",
        instead: "pass the index or the key",
        find: Find::InCode(idioms::identities),
    },
    Ceiling {
        key: "tuple_parameters",
        title: "tuple and array parameters",
        goal: "0",
        instead: "name a struct, or pass the fields",
        find: Find::InCode(idioms::tuple_parameters),
    },
    Ceiling {
        key: "bool_matches",
        title: "`match` on a bool",
        goal: "0",
        instead: "write `if`",
        find: Find::InCode(idioms::bool_matches),
    },
    Ceiling {
        key: "named_closures",
        title: "named closures",
        goal: "≤ 15",
        instead: "write a function or a method",
        find: Find::InCode(idioms::named_closures),
    },
];

/// Counts that differ from the file.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let Some(file) = sources.iter().find(|source| source.path == FILE) else { return Vec::new() };
    let Ok(numbers) = file.text.parse::<Table>() else {
        return vec![file.breach(1, "the ceilings are not TOML")];
    };
    let files = tokens::files(sources);
    let mut breaches = Vec::new();
    for ceiling in CEILINGS {
        let count = ceiling.positions(sources, &files).len();
        breaches.extend(ceiling.breach(file, &numbers, count));
    }
    breaches
}

impl Ceiling {
    /// The breach if a count differs from the number in the file.
    fn breach(&self, file: &Source, numbers: &Table, count: usize) -> Option<Breach> {
        let Ceiling { key, title, instead, .. } = self;
        let line = file.text.lines().position(|line| line.starts_with(key)).map_or(1, |i| i + 1);
        let number = numbers.get(*key).and_then(Value::as_integer);
        let Some(most) = number.and_then(|number| usize::try_from(number).ok()) else {
            return Some(
                file.breach(line, format!("{key} has no number: write `{key} = {count}`")),
            );
        };
        if count > most {
            let list = format!("`cargo run -p xtask -- counts {key}` lists all");
            let sentence = format!("{title}: {count}, at most {most}: {instead}; {list}");
            return Some(file.breach(line, sentence));
        }
        let sentence = format!("{title}: {count}, less than {most}: lower it, `{key} = {count}`");
        (count < most).then(|| file.breach(line, sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Breaches with one bool matched in the code and this line in the file.
    fn breaches(line: &str) -> Vec<String> {
        let zeros = CEILINGS.iter().filter(|ceiling| ceiling.key != "bool_matches");
        let zeros: String = zeros.map(|ceiling| format!("{} = 0\n", ceiling.key)).collect();
        let code = Source::new("crates/a/src/lib.rs", "match a { true => 1, false => 2 }");
        let found = check(&[code, Source::new(FILE, &format!("{line}\n{zeros}"))]);
        found.iter().map(Breach::to_string).collect()
    }

    #[test]
    fn a_count_above_or_below_its_ceiling_is_found() {
        assert_eq!(
            breaches("bool_matches = 0"),
            ["xtask/ceilings.toml:1: `match` on a bool: 1, at most 0: write `if`; \
              `cargo run -p xtask -- counts bool_matches` lists all"]
        );
        assert_eq!(
            breaches("bool_matches = 2"),
            ["xtask/ceilings.toml:1: `match` on a bool: 1, less than 2: lower it, \
              `bool_matches = 1`"]
        );
        assert_eq!(
            breaches(""),
            ["xtask/ceilings.toml:1: bool_matches has no number: write `bool_matches = 1`"]
        );
    }

    #[test]
    fn a_count_at_its_ceiling_is_not() {
        assert_eq!(breaches("bool_matches = 1"), [""; 0]);
    }
}
