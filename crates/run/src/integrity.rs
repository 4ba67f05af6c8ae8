//! Blocks that are not what was written, as notes of the report.

use candor_record::{Measurement, MismatchKind, Note};

/// A note for each job that found some.
pub fn notes(measurements: &[Measurement]) -> Vec<Note> {
    measurements.iter().filter_map(note).collect()
}

fn note(measurement: &Measurement) -> Option<Note> {
    let stats = measurement.verify.as_ref()?;
    let found = Some(stats.mismatches()).filter(|found| *found > 0)?;
    // The details have words that scripts count in the lines of other tools, one for each block.
    let why = stats.first.first().map_or_else(String::new, |first| {
        let what = described(first.kind);
        format!("the first, in `{}` at offset {}: {what}", first.path, first.offset)
    });
    Some(Note {
        asked: format!("`{}` verifies what it reads", measurement.job),
        did: format!("{found} of {} blocks are not what was written", stats.blocks),
        why,
        place: None,
    })
}

/// A kind of mismatch, in words.
fn described(kind: MismatchKind) -> &'static str {
    match kind {
        MismatchKind::Flipped => "its bytes differ from those written",
        MismatchKind::Torn => "its sectors come from several writes",
        MismatchKind::Misdirected => "it is the block of another offset or file",
        MismatchKind::Stale => "it is the block of an earlier write",
        MismatchKind::Foreign => "it has no valid header",
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Mismatch, VerifyStats};

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

    #[test]
    fn a_note_has_no_words_that_scripts_count() {
        let detail = "sha256: verify failed; Expected CRC: 1; Received CRC: 2".to_owned();
        let first = vec![Mismatch { path: "f".into(), offset: 8, detail, ..Mismatch::default() }];
        let verify = Some(VerifyStats { blocks: 9, flipped: 1, first, ..VerifyStats::default() });
        let notes = notes(&[Measurement { verify, ..Measurement::default() }]);
        assert_eq!(
            notes[0].why,
            "the first, in `f` at offset 8: its bytes differ from those written"
        );
    }
}
