//! Files are written in one place, `crates/files`: elsewhere nothing creates, truncates, appends to
//! or replaces a file, but for the listed exceptions.

use super::{Breach, Source};

/// Words that write to a file by its name. (`create_new` changes no byte that exists.)
const WRITES: &[&str] = &[
    "File::create(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    ".create(true)",
    ".truncate(true)",
    ".append(true)",
    ".write(true)",
];

/// (file or folder, what it writes)
const LISTED: &[(&str, &str)] = &[
    ("crates/files/", "the writer"),
    ("crates/blocks/src/targets/", "targets, behind consent"),
    ("crates/blocks/src/layout.rs", "targets, behind consent"),
    ("crates/bytes/src/journal/mod.rs", "keys of a journal, by a name of its own"),
    ("crates/entries/src/", "targets, behind consent"),
    ("crates/run/src/leftovers.rs", "marks of a run, new files"),
    ("crates/run/src/schedulers.rs", "the scheduler of a device in sysfs"),
    ("crates/engine/src/host/thread_attributes.rs", "control groups"),
    ("crates/observe/src/trace/", "tracefs"),
    ("crates/fleet/src/rendezvous.rs", "the address of a rank, new files and a rename to its own"),
    ("crates/history/src/index.rs", "the index of a history, a new file that gets its name"),
    ("crates/history/src/lib.rs", "an index that is damaged, which is put aside"),
    ("crates/candor/build.rs", "the licences that the program includes"),
    ("crates/candor/src/docs.rs", "derived pages, in tests"),
];

/// Folders of code that no user runs.
const OTHERS: &[&str] = &["tests/", "bench/", "lab/", "xtask/"];

/// Writes elsewhere.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    fn is_ours(source: &&Source) -> bool {
        let listed = LISTED.iter().map(|(place, _)| place);
        let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
        let is_support = ["/real.rs", "/fake.rs"].iter().any(|end| source.path.ends_with(end));
        let mut spared = listed.chain(OTHERS);
        source.is_rust()
            && !is_test
            && !is_support
            && !spared.any(|place| source.path.starts_with(place))
    }
    for source in sources.iter().filter(is_ours) {
        let lines: Vec<&str> = source.layers.code.lines().collect();
        let code = lines.iter().take_while(|line| !line.ends_with("mod tests {"));
        for (i, line) in code.enumerate() {
            // A new file changes no byte; the call may continue in the next lines.
            let call = lines[i..lines.len().min(i + 3)].concat();
            let is_new = line.contains(".write(true)") && call.contains(".create_new(true)");
            let is_new = is_new || call.contains(".append(true).create_new(true)");
            if WRITES.iter().any(|word| line.contains(word)) && !is_new {
                let sentence =
                    "a file is written outside crates/files: use candor_files, or list it";
                breaches.push(source.breach(i + 1, sentence));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&[Source::new(path, text)]).iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn a_write_elsewhere_is_found() {
        let text = "fn f() {\n  std::fs::write(a, b);\n  File::create(a);\n}";
        assert_eq!(lines("crates/show/src/a.rs", text), [2, 3]);
        let text = "let o = OpenOptions::new().append(true).create(true);";
        assert_eq!(lines("crates/candor/src/a.rs", text), [1]);
    }

    #[test]
    fn new_files_tests_and_listed_places_are_not() {
        let text = "let o = File::options().write(true).create_new(true);";
        assert!(lines("crates/show/src/a.rs", text).is_empty());
        let text = "#[cfg(test)]\nmod tests {\n  fn f() { fs::write(a, b); }\n}";
        assert!(lines("crates/show/src/a.rs", text).is_empty());
        for place in ["crates/files/src/a.rs", "tests/a.rs", "crates/blocks/src/layout.rs"] {
            assert!(lines(place, "fs::write(a, b);").is_empty(), "{place}");
        }
    }
}
