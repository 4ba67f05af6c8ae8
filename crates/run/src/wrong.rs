//! Data that is not what was written outweighs what can be said about a rate.

use candor_record::{Note, PhaseReport, Verdict, VerifyStats};

/// Makes the verdict on a phase say so if blocks were wrong; a note for each job that found some.
pub fn weigh(report: &mut PhaseReport) -> Vec<Note> {
    let verified = report.measurements.iter().filter_map(|measurement| {
        let stats = measurement.verify.as_ref()?;
        Some((measurement.job.as_str(), stats, mismatches(stats)))
    });
    let (mut wrong, mut checked, mut notes) = (0u64, 0u64, Vec::new());
    for (job, stats, found) in verified {
        wrong = wrong.saturating_add(found);
        checked = checked.saturating_add(stats.blocks);
        if found > 0 {
            notes.push(note(job, stats, found));
        }
    }
    if wrong > 0 {
        report.verdict = report.verdict.max(Verdict::WithRemarks);
        report.headline = format!("{wrong} of {checked} blocks read are not what was written.");
    }
    notes
}

fn mismatches(stats: &VerifyStats) -> u64 {
    let kinds = [stats.flipped, stats.torn, stats.misdirected, stats.stale, stats.foreign];
    kinds.into_iter().fold(0, u64::saturating_add)
}

fn note(job: &str, stats: &VerifyStats, found: u64) -> Note {
    let why = stats.first.first().map_or_else(String::new, |first| {
        format!("the first, in `{}` at offset {}, {}", first.path, first.offset, first.detail)
    });
    Note {
        asked: format!("`{job}` verifies what it reads"),
        did: format!("{found} of {} blocks are not what was written", stats.blocks),
        why,
        place: None,
    }
}

#[cfg(test)]
mod tests {
    use candor_record::Measurement;

    use super::*;

    fn report(stale: u64) -> PhaseReport {
        let verify = Some(VerifyStats { blocks: 9, stale, ..VerifyStats::default() });
        let measurements = vec![Measurement { verify, ..Measurement::default() }];
        PhaseReport { measurements, headline: "Believable.".into(), ..PhaseReport::default() }
    }

    #[test]
    fn wrong_blocks_are_in_the_verdict() {
        let mut wrong = report(2);
        assert_eq!(weigh(&mut wrong).len(), 1);
        assert_eq!(wrong.verdict, Verdict::WithRemarks);
        assert!(wrong.headline.starts_with("2 of 9 blocks"), "{}", wrong.headline);
        let mut right = report(0);
        assert!(weigh(&mut right).is_empty());
        assert_eq!((right.verdict, right.headline.as_str()), (Verdict::Believable, "Believable."));
        let mut worse = PhaseReport { verdict: Verdict::MeasuresElse, ..report(1) };
        weigh(&mut worse);
        assert_eq!(worse.verdict, Verdict::MeasuresElse);
    }
}
