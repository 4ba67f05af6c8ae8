//! Blocks that are not what was written, as notes of the report.

use candor_record::{Measurement, Note};

/// A note for each job that found some.
pub fn notes(measurements: &[Measurement]) -> Vec<Note> {
    measurements.iter().filter_map(note).collect()
}

fn note(measurement: &Measurement) -> Option<Note> {
    let stats = measurement.verify.as_ref()?;
    let found = Some(stats.mismatches()).filter(|found| *found > 0)?;
    let why = stats.first.first().map_or_else(String::new, |first| {
        format!("the first, in `{}` at offset {}: {}", first.path, first.offset, first.detail)
    });
    Some(Note {
        asked: format!("`{}` verifies what it reads", measurement.job),
        did: format!("{found} of {} blocks are not what was written", stats.blocks),
        why,
        place: None,
    })
}

#[cfg(test)]
mod tests {
    use candor_record::VerifyStats;

    use super::*;

    #[test]
    fn only_wrong_blocks_are_noted() {
        let measured = |stale| Measurement {
            verify: Some(VerifyStats { blocks: 9, stale, ..VerifyStats::default() }),
            ..Measurement::default()
        };
        let notes = notes(&[measured(2), measured(0), Measurement::default()]);
        let did: Vec<&str> = notes.iter().map(|note| note.did.as_str()).collect();
        assert_eq!(did, ["2 of 9 blocks are not what was written"]);
    }
}
