//! Command lines of dd.

use super::*;
use candor_front::evidence::{self, Claim, Outcome, Sources};

/// Reads a command line of these operands.
fn reading(operands: &[&str]) -> Result<Request, Mistake> {
    let words = std::iter::once("dd").chain(operands.iter().copied());
    read(&words.map(OsString::from).collect::<Vec<_>>())
}

/// The copy of these operands.
pub(crate) fn copying(operands: &[&str]) -> Options {
    match reading(operands) {
        Ok(Request::Copy(options)) => *options,
        other => panic!("{operands:?}: {other:?}"),
    }
}

fn refused(operands: &[&str]) -> (String, bool) {
    let Mistake { sentences, remedy } = reading(operands).expect_err("it makes no sense");
    (sentences.join("; "), !remedy.is_empty())
}

#[test]
fn every_row_changes_the_copy() {
    for row in TABLE.rows() {
        for name in row.names() {
            let operand = format!("{name}={}", row.example);
            // Each row changes an option by itself.
            assert_ne!(copying(&[&operand]), Options::default(), "{operand}");
        }
        assert_eq!(TABLE.rows().filter(|other| other.name == row.name).count(), 1);
    }
    assert_eq!(evidence::wrong_defaults(&TABLE), Vec::<String>::new());
}

#[test]
fn rows_match_their_support() {
    let readers = [
        "candor/src/commands/tools/dd",
        "candor/src/commands/tools/dd.rs",
        "copy/src",
        "dd/src/convert.rs",
        "dd/src/lines.rs",
        "dd/src/meaning.rs",
        "dd/src/options.rs",
        "dd/src/symbols.rs",
    ];
    let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), &readers);
    let claims = TABLE.rows().map(|row| Claim { name: row.name, support: row.support });
    let broken = evidence::broken_promises(claims, &sources, |claim, with| {
        let operand = TABLE.find(claim.name).map(|row| format!("{}={}", row.name, row.example));
        let copy = match operand.filter(|_| with) {
            Some(operand) => copying(&[&operand]),
            None => Options::default(),
        };
        Ok(Outcome { settings: format!("{copy:#?}"), ..Outcome::default() })
    });
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_word_changes_the_copy() {
    for (operand, words) in [("conv", CONVERSIONS), ("iflag", FLAGS), ("oflag", FLAGS)] {
        for word in words.iter().map(|choice| choice.word) {
            if (operand, word) == ("oflag", "fullblock") {
                continue;
            }
            let options = copying(&[&format!("{operand}={word}")]);
            assert_ne!(options, Options::default(), "{operand}={word}");
            assert!(help().contains(word), "{word}");
        }
    }
}

#[test]
fn one_size_goes_before_two() {
    let options = copying(&["bs=4", "ibs=2", "obs=8"]);
    assert_eq!((options.input_block, options.output_block, options.block), (4, 4, Some(4)));
    let options = copying(&["ibs=2", "obs=8k"]);
    assert_eq!((options.input_block, options.output_block, options.block), (2, 8192, None));
}

#[test]
fn distances_are_of_blocks_or_bytes() {
    let options = copying(&["skip=3", "oseek=5B", "count=7", "iflag=count_bytes"]);
    assert_eq!(options.skip, Distance { number: 3, in_bytes: false });
    assert_eq!(options.seek, Distance { number: 5, in_bytes: true });
    assert_eq!(options.count, Some(Distance { number: 7, in_bytes: true }));
    let options = copying(&["bs=1kB", "skip=1KiB", "seek=2k", "count=1MB"]);
    assert_eq!(
        (options.input_block, options.skip.in_bytes, options.seek.in_bytes),
        (1000, true, false)
    );
    assert_eq!(options.count, Some(Distance { number: 1_000_000, in_bytes: true }));
}

#[test]
fn records_need_a_size() {
    assert_eq!(copying(&["conv=block,unblock"]).records, None);
    assert_eq!(copying(&["conv=ascii", "cbs=8"]).records, Some(Records::Unblock));
    assert_eq!(copying(&["conv=ibm", "cbs=8"]).records, Some(Records::Block));
}

#[test]
fn mistakes_have_the_words_that_scripts_know() {
    for (operands, sentence, names_help) in [
        (&["foo=1"][..], "unrecognized operand 'foo=1'", true),
        (&["foo"], "unrecognized operand 'foo'", true),
        (&["-x"], "invalid option -- 'x'", true),
        (&["--foo"], "unrecognized option '--foo'", true),
        (&["--help=1"], "option '--help' doesn't allow an argument", true),
        (&["bs=0"], "invalid number: '0'", false),
        (&["bs=1Z"], "invalid number: '1Z': Value too large for defined data type", false),
        (
            &["bs=9223372036854775807"],
            "invalid number: '9223372036854775807': Value too large for defined data type",
            false,
        ),
        (&["conv=sync,"], "invalid conversion: ''", true),
        (&["iflag=foo"], "invalid input flag: 'foo'", true),
        (&["oflag=fullblock"], "invalid output flag: 'fullblock'", true),
        (&["status=foo"], "invalid status level: 'foo'", true),
        (&["conv=ascii,ibm"], "cannot combine any two of {ascii,ebcdic,ibm}", false),
        (&["conv=ascii,block", "cbs=4"], "cannot combine block and unblock", false),
        (&["conv=lcase,ucase,excl,nocreat"], "cannot combine lcase and ucase", false),
        (&["conv=excl,nocreat"], "cannot combine excl and nocreat", false),
        (&["oflag=direct,nocache"], "cannot combine direct and nocache", false),
        (
            &["bs=0x1"],
            "warning: '0x' is a zero multiplier; use '00x' if that is intended; \
             invalid number: '0x1'",
            false,
        ),
    ] {
        assert_eq!(refused(operands), (sentence.to_owned(), names_help), "{operands:?}");
    }
}

#[test]
fn options_stand_anywhere_before_two_dashes() {
    assert_eq!(reading(&["if=a", "--hel"]), Ok(Request::Help));
    assert_eq!(reading(&["--v"]), Ok(Request::Version));
    assert_eq!(reading(&["--", "if=a"]), reading(&["if=a"]));
    assert_eq!(refused(&["--", "--help"]).0, "unrecognized operand '--help'");
}

#[test]
fn names_of_files_are_bytes() {
    use std::os::unix::ffi::OsStringExt;
    let name = OsString::from_vec(b"a\xff=b".to_vec());
    let mut word = OsString::from("of=");
    word.push(&name);
    let Ok(Request::Copy(options)) = read(&["dd".into(), word]) else { panic!("it is a copy") };
    assert_eq!(options.output, Some(name));
}

#[test]
fn appending_to_a_truncated_file_warns() {
    let warnings = |operands: &[&str]| match reading(operands) {
        Ok(Request::Copy(options)) => options.warnings.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(warnings(&["oflag=append"]), 1);
    assert_eq!(warnings(&["oflag=append", "conv=notrunc"]), 0);
}
