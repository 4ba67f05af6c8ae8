//! `unsafe` lives in the engine, its families and observe; elsewhere it is listed with a reason.

use super::leftovers::has_word;
use super::{Breach, Source};

/// Folders in which it is at home.
const HOMES: &[&str] = &[
    "crates/engine/",
    "crates/bytes/",
    "crates/blocks/",
    "crates/entries/",
    "crates/memory/",
    "crates/objects/",
    "crates/observe/",
];

/// (file or folder, reason)
const LISTED: &[(&str, &str)] = &[
    ("crates/copy/src/process.rs", "notes what a process inherits; installs handlers; closes"),
    ("crates/run/src/signals.rs", "installs the handlers of interrupts and stops"),
    ("crates/run/src/owned_files.rs", "unlinks candor's files from within such a handler"),
    ("crates/http/src/", "drops received bytes in the kernel; reads TCP_INFO"),
    ("crates/fleet/src/priority.rs", "the scheduling policy of a thread that answers peers"),
    ("crates/fleet/src/rendezvous/", "the launcher's socket and its PMIx library"),
    ("bench/src/lib.rs", "the bare loops' clock, buffers and CPU time"),
    ("bench/src/bin/", "bare loops are system calls and little else"),
    ("bench/src/tool.rs", "wait4 and kill of the tools it starts"),
    ("bench/src/interrupt.rs", "the signal handler"),
];

/// `unsafe` elsewhere.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|s| s.is_rust()).filter(|source| {
        let mut places = HOMES.iter().copied().chain(LISTED.iter().map(|(place, _)| *place));
        !places.any(|place| source.path.starts_with(place))
    }) {
        for (i, line) in source.layers.code.lines().enumerate() {
            if has_word(line, "unsafe") {
                let sentence =
                    "unsafe is at home in the engine, its families and observe: move or list it";
                breaches.push(source.breach(i + 1, sentence));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_elsewhere_is_found() {
        let text = "\nfn f() { unsafe { g() } }";
        assert_eq!(check(&[Source::new("crates/plan/src/a.rs", text)])[0].line, 2);
    }

    #[test]
    fn unsafe_at_home_and_the_word_alone_are_not() {
        let text = "fn f() { unsafe { g() } }";
        assert!(check(&[Source::new("crates/engine/src/a.rs", text)]).is_empty());
        let text = "#![deny(unsafe_op_in_unsafe_fn)] // unsafe\nconst A: &str = \"unsafe\";";
        assert!(check(&[Source::new("crates/plan/src/a.rs", text)]).is_empty());
    }
}
