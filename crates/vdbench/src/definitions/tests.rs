//! All tables alike: examples are read, names and prefixes mean one row.

use super::*;
use crate::kind::meant;
use candor_front::Support;
use candor_front::evidence::{self, Sources};

/// Parameters whose default applies later, because other definitions can set them.
const INHERITED: &[&str] = &["curve", "dedupsets", "dedupacross", "formatxfersize"];

/// Every row reads its default, which is also the struct's, and its example. A row that is done
/// stores something else than the default.
fn examples<O: Defined + PartialEq + std::fmt::Debug>() {
    for row in O::TABLE.rows() {
        assert!(!row.help.is_empty() && !row.example.is_empty(), "{}={}", O::WORD, row.name);
        let mut options = O::default();
        if !row.default.is_empty() && !INHERITED.contains(&row.name) {
            let read = row.apply(&mut options, Some(row.default));
            assert!(read.is_ok(), "{}: {}={}: {read:?}", O::WORD, row.name, row.default);
            assert_eq!(options, O::default(), "{}: {}={}", O::WORD, row.name, row.default);
        }
        let read = row.apply(&mut options, Some(row.example));
        assert!(read.is_ok(), "{}: {}={}: {read:?}", O::WORD, row.name, row.example);
        let stores = matches!(row.support, Support::Exact | Support::Approximate(_));
        assert!(!stores || options != O::default(), "{}: {}", O::WORD, row.name);
        for name in row.names() {
            let found = meant(&O::TABLE, name).map(|found| found.name);
            assert_eq!(found, Some(row.name), "{}: {name}", O::WORD);
        }
    }
}

#[test]
fn examples_of_all_tables_are_read() {
    examples::<general::General>();
    examples::<host::Host>();
    examples::<replay::ReplayGroup>();
    examples::<sd::Sd>();
    examples::<wd::Wd>();
    examples::<fsd::Fsd>();
    examples::<fwd::Fwd>();
    examples::<rd::Rd>();
}

/// Sources after the reader of parameter files.
const READERS: &[&str] = &[
    "candor/src/commands/tools/vdbench",
    "candor/src/commands/tools/vdbench.rs",
    "vdbench/src/file",
    "vdbench/src/file.rs",
    "vdbench/src/lower",
    "vdbench/src/lower.rs",
    "vdbench/src/output",
    "vdbench/src/output.rs",
    "vdbench/src/runs",
    "vdbench/src/runs.rs",
];

#[test]
fn every_parameter_that_is_stored_is_read() {
    let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), READERS);
    let broken = [
        evidence::unread_settings(&general::General::TABLE, &sources),
        evidence::unread_settings(&host::Host::TABLE, &sources),
        evidence::unread_settings(&replay::ReplayGroup::TABLE, &sources),
        evidence::unread_settings(&sd::Sd::TABLE, &sources),
        evidence::unread_settings(&wd::Wd::TABLE, &sources),
        evidence::unread_settings(&fsd::Fsd::TABLE, &sources),
        evidence::unread_settings(&fwd::Fwd::TABLE, &sources),
        evidence::unread_settings(&rd::Rd::TABLE, &sources),
    ];
    assert!(broken.iter().all(Vec::is_empty), "{broken:#?}");
}

#[test]
fn keywords_may_be_shortened_to_the_first_that_fits() {
    let rd = |keyword| meant(&rd::Rd::TABLE, keyword).map(|row| row.name);
    for (keyword, name) in [
        ("io", "iorate"),
        ("el", "elapsed"),
        ("in", "interval"),
        ("wa", "warmup"),
        ("pa", "pause"),
        ("for", "forxfersize"),
        ("fort", "forthreads"),
        ("forx", "forxfersize"),
        ("forth", "forthreads"),
        ("fo", "forxfersize"),
        ("xf", "xfersize"),
        ("th", "threads"),
        ("di", "distribution"),
        ("fwd", "fwd"),
        ("fwdr", "fwdrate"),
        ("fw", "fwdrate"),
        ("op", "operations"),
        ("open", "openflags"),
        ("start", "startcmd"),
        ("cu", "curve"),
    ] {
        assert_eq!(rd(keyword), Some(name), "{keyword}");
    }
    for keyword in ["i", "max", "iox", "", "s"] {
        assert_eq!(rd(keyword), None, "{keyword}");
    }
    let wd = |keyword| meant(&wd::Wd::TABLE, keyword).map(|row| row.name);
    assert_eq!(
        (wd("rd"), wd("rdp"), wd("rea")),
        (Some("readpct"), Some("readpct"), Some("readpct"))
    );
    assert_eq!(
        (wd("xf"), wd("se"), wd("sk"), wd("io")),
        (Some("xfersize"), Some("seekpct"), Some("skew"), Some("iorate"))
    );
    let sd = |keyword| meant(&sd::Sd::TABLE, keyword).map(|row| row.name);
    assert_eq!(
        (sd("th"), sd("lu"), sd("si"), sd("op"), sd("hd")),
        (Some("threads"), Some("lun"), Some("size"), Some("openflags"), Some("host"))
    );
    let general = |keyword| meant(&general::General::TABLE, keyword).map(|row| row.name);
    assert_eq!(
        (general("co"), general("va"), general("me")),
        (Some("compratio"), Some("validate"), Some("messagescan"))
    );
    assert_eq!((general("journ"), general("start")), (None, None), "written out");
}

#[test]
fn rules_that_loops_follow() {
    use rd::{LoopKind, LoopValues, Rd};
    let mut rd = Rd::default();
    let mut set = |keyword: &str, text: &str| {
        let row = meant(&Rd::TABLE, keyword).expect("a parameter");
        row.apply(&mut rd, Some(text)).expect("a value");
    };
    set("forx", "(4k,8k)");
    set("th", "(1-4,d)");
    set("xfersize", "64k");
    set("seekpct", "(random,seq)");
    let kinds: Vec<_> = rd.loops.iter().map(|of| of.kind).collect();
    assert_eq!(kinds, [LoopKind::Threads, LoopKind::TransferSize, LoopKind::SeekPercent]);
    assert_eq!(rd.loops[1].values, LoopValues::Numbers(vec![65536.0]), "the later one holds");
    assert_eq!(rd.loops[2].values, LoopValues::Numbers(vec![100.0, 0.0]));
}
