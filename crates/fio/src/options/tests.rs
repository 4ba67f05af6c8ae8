//! Checks of the table against the code.

mod surroundings;

use std::collections::BTreeSet;

use candor_plan::blocks::Access;
use proptest::prelude::*;

use super::{Kind, Row, TABLE, defaults};
use crate::job::FioJob;
use crate::lower::tests::{Nowhere, lowered_on};
use candor_front::Support;
use candor_front::evidence::{self, Claim, Outcome, Sources};

#[test]
fn names_are_unique_and_lead_to_their_rows() {
    let all: Vec<_> = TABLE.names().collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!(all.len(), distinct.len(), "{:?}", doubled(&all));
    for row in TABLE.rows() {
        for name in row.names() {
            assert_eq!(TABLE.find(name).map(|row| row.name), Some(row.name));
        }
        assert!(row.parent.is_empty() || TABLE.find(row.parent).is_some(), "{}: parent", row.name);
        assert!(!row.help.is_empty() && !row.help.ends_with('.'), "{}: help", row.name);
    }
}

fn doubled(all: &[&'static str]) -> Vec<&'static str> {
    all.iter()
        .filter(|name| all.iter().filter(|other| other == name).count() > 1)
        .copied()
        .collect()
}

#[test]
fn defaults_say_what_holds_anyway() {
    for row in TABLE.rows().filter(|row| !row.default.is_empty()) {
        let mut options = defaults();
        row.apply(&mut options, Some(row.default))
            .unwrap_or_else(|refused| panic!("{}: {refused:?}", row.name));
        assert_eq!(options, defaults(), "{}={}", row.name, row.default);
    }
}

/// A job with the example of an option, after another job if the option refers to one.
fn job(row: &Row, with: bool) -> String {
    let mut text = match row.name {
        "wait_for" | "stonewall" | "new_group" => "[first]\nrw=read\nsize=1m\n[second]\n",
        _ => "[second]\n",
    }
    .to_owned();
    let others = surroundings::of(row);
    let given = |name: &str| row.name == name || others.contains(&format!("{name}="));
    for (name, value) in [("rw", "read"), ("size", "1m")] {
        if !given(name) {
            text.push_str(&format!("{name}={value}\n"));
        }
    }
    for word in others.split_whitespace() {
        text.push_str(&format!("{word}\n"));
    }
    if with {
        text.push_str(&format!("{}={}\n", row.name, row.example));
    }
    text
}

/// Offsets, times and kinds that make each replay option visible.
const TRACE: &str = "fio version 3 iolog
0 /tmp/full add
1 /tmp/full open
2 /tmp/full read 6000 512
9 /tmp/full write 0 512
";

fn host() -> Nowhere {
    use crate::trace::samples;
    use candor_front::Found;
    Nowhere::default()
        .with_trace("/tmp/x.log", TRACE)
        .with_trace("/tmp/x.bin", samples::block_trace(&[10, 30]))
        .with_trace("/tmp/y.bin", samples::block_trace(&[20, 40]))
        .with("/tmp", Found::Directory)
        .with("/tmp/full", Found::File(1 << 20))
        .with("first.0.0", Found::File(1 << 20))
        .with("second.0.0", Found::File(1 << 20))
        .with("/dev/nosuchdevice", Found::Device(Some(1 << 30)))
        .with("/dev/zoned", Found::Device(Some(1 << 30)))
}

/// Lowers the example of a row, with or without the option.
fn outcome(row: &'static Row, with: bool) -> Result<Outcome, String> {
    let engine = surroundings::of(row).contains("ioengine=") && !row.engines.is_empty();
    let lowered = lowered_on(&job(row, with), &host()).map_err(|diagnostics| {
        // An engine that is refused also refuses its options.
        let own = if engine { row.name } else { "" };
        format!("{own} {}", diagnostics.join("\n"))
    })?;
    // Options as written always differ.
    let jobs = lowered.jobs.iter().map(|job| FioJob { options: None, ..job.clone() });
    let (plan, jobs): (_, Vec<_>) = (&lowered.plan, jobs.collect());
    let blocks = plan.phases.iter().flat_map(|phase| &phase.jobs).filter_map(|job| job.blocks());
    let steps = blocks.map(|blocks| match &blocks.access {
        Access::Trace(file) => file.trace.as_ref().map(|trace| trace.steps().to_vec()),
        _ => None,
    });
    let steps: Vec<_> = steps.collect();
    Ok(Outcome {
        effects: format!(
            "{:?} {:?} {:?} {steps:?}",
            lowered.mounted_write, lowered.merged, lowered.secrets
        ),
        notes: lowered.notes.clone(),
        settings: format!("{:#?}", (plan, jobs)),
    })
}

/// Sources that run a plan or write fio's output.
const READERS: &[&str] = &[
    "blocks/src",
    "bytes/src",
    "candor/src/commands/tools/fio.rs",
    "candor/src/commands/tools/fio",
    "compute/src",
    "fio/src/output.rs",
    "fio/src/output",
    "engine/src",
    "entries/src",
    "memory/src",
    "plan/src/blocks.rs",
    "plan/src/verify.rs",
    "run/src",
    "s3/src",
];

#[test]
fn every_option_does_what_its_row_states() {
    let examples = TABLE.rows().filter(|row| row.example.is_empty());
    assert_eq!(examples.map(|row| row.name).collect::<Vec<_>>(), [""; 0], "without an example");
    let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), READERS);
    let claims = TABLE.rows().map(|row| Claim { name: row.name, support: row.support });
    let broken = evidence::broken_promises(claims, &sources, |claim, with| {
        outcome(TABLE.find(claim.name).expect("a row"), with)
    });
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn choices_have_words() {
    for row in TABLE.rows() {
        if let Kind::Choice(choices) = row.kind {
            assert!(choices.len() > 1, "{}", row.name);
        }
    }
}

/// A value of an option: its example, its default, none, or an unusual one.
fn value_of(row: &&Row, choice: u8) -> String {
    let odd = ["0", "-1", "18446744073709551615", "1%", ",,", "4k-:", "\u{b5}/", "4z", "1e9"];
    match choice {
        0..=5 => format!("{}={}", row.name, row.example),
        6 => format!("{}={}", row.name, row.default),
        7 => row.name.to_owned(),
        _ => format!("{}={}", row.name, odd[usize::from(choice) % odd.len()]),
    }
}

proptest! {
    /// Any combination of options is lowered, or refused with a sentence.
    #[test]
    fn any_options_together_are_lowered_or_refused(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..20), 0..16),
        walled in any::<bool>(),
    ) {
        let all: Vec<_> = TABLE.rows().collect();
        let mut text = String::from("[global]\nsize=1m\n[a]\nrw=write\n");
        for (nth, (index, choice)) in picks.iter().enumerate() {
            if walled && nth == picks.len() / 2 {
                text.push_str("[b]\nstonewall\n");
            }
            text.push_str(&value_of(index.get(all.as_slice()), *choice));
            text.push('\n');
        }
        match lowered_on(&text, &host()) {
            Ok(lowered) => prop_assert!(!lowered.plan.phases.is_empty()),
            Err(diagnostics) => {
                for error in diagnostics {
                    prop_assert!(error.starts_with("job.fio:") && error.len() > 20, "{error:?}");
                }
            }
        }
    }

    /// Supported options together give a plan.
    #[test]
    fn options_that_are_done_alone_are_done_together(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let mut all: Vec<_> = TABLE.rows().filter(|row| row.support == Support::Exact).collect();
        all.retain(|row| surroundings::is_alone(row));
        let mut text = String::from("[first]\nsize=1m\n[b]\nsize=1m\n");
        for index in &picks {
            text.push_str(&value_of(index.get(all.as_slice()), 0));
            text.push('\n');
        }
        if let Err(diagnostics) = lowered_on(&text, &host()) {
            for error in diagnostics {
                prop_assert!(!error.contains("is not done"), "{text}\n{error:?}");
            }
        }
    }
}
