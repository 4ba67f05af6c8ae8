use std::ffi::OsString;

use super::*;
use candor_front::evidence::{Surroundings, sentences};

fn reading(line: &str) -> Reading {
    let words = ["md-workbench"].into_iter().chain(line.split_whitespace());
    let argv: Vec<OsString> = words.map(OsString::from).collect();
    read(&argv, &mut Surroundings::default())
}

fn good(line: &str) -> Options {
    let reading = reading(line);
    assert_eq!(sentences(&reading.errors, &reading.texts), Vec::<String>::new(), "{line}");
    reading.options
}

#[test]
fn values_stand_behind_their_letter_or_an_equals_sign() {
    for line in ["-P 10", "-P10", "-P=10", "--precreate-per-set=10", "--precreate-per-set 10"] {
        assert_eq!(good(line).objects.precreate, 10, "{line}");
    }
    let all = good("--ranks 4 -123 -t 0.5 -T=0 -D 2 -I=20 -S 1k -o /x -w5 -WXq");
    assert!(all.run.precreate && all.run.benchmark && all.run.cleanup && all.run.wear_out);
    assert_eq!((all.ranks, all.run.waiting, all.run.stonewall_s), (4, 0.5, 5));
    assert_eq!((all.objects.sets, all.objects.steps, all.data.size), (2, 20, 1024));
    assert!(all.data.verify_read && all.output.quiet && !all.run.adaptive);
    assert_eq!(all.objects.prefix, "/x");
    let none = good("");
    assert_eq!((none.objects, none.data), (ObjectOptions::default(), DataOptions::default()));
    assert_eq!(good("--incompressible-data").data.packet, Packet::Incompressible);
}

#[test]
fn mistakes_are_sentences_with_places() {
    for (line, part) in [
        ("-P x", "precreate-per-set: `x` is no whole number"),
        ("-D 0", "0 is out of range; give 1 to"),
        ("-t fast", "`fast` is no factor"),
        ("-t -1", "`-1` is no factor"),
        ("-t nan", "`nan` is no factor"),
        ("-P", "precreate-per-set needs a value behind -P"),
        ("--precreate 4", "there is no option `precreate`"),
        ("-4", "there is no option `4`"),
        ("-a HDF5", "the back end HDF5 is not done"),
        ("--process-reports", "latencies are not kept by process"),
        ("--allocateBufferOnGPU", "GPU"),
        ("out", "`out` is no option"),
    ] {
        let reading = reading(line);
        let error = reading.errors.first().unwrap_or_else(|| panic!("{line} is accepted"));
        let error = error.describe(&reading.texts);
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn help_has_every_option() {
    let help = help();
    for row in TABLE.rows() {
        let name = match row.name.len() {
            1 => format!("  -{}", row.name),
            _ => format!("--{}", row.name),
        };
        assert!(help.contains(&name), "{name}: {help}");
    }
    assert_eq!(reading("-h").instead, Some(Instead::Help));
}
