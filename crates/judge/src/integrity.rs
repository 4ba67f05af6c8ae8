//! Data that is not what was written outweighs what can be said about a rate.

use candor_record::{PhaseJudgement, PhaseRecord, Verdict};

/// Makes the verdict and the headline of a phase say so where blocks were wrong.
pub fn weigh(record: &PhaseRecord, judged: &mut PhaseJudgement) {
    let verified = record.measurements.iter().filter_map(|m| m.verify.as_ref());
    let (wrong, checked) = verified.fold((0u64, 0u64), |(wrong, checked), stats| {
        (wrong.saturating_add(stats.mismatches()), checked.saturating_add(stats.blocks))
    });
    if wrong > 0 {
        judged.verdict = Verdict::Corrupt;
        judged.headline =
            format!("Corrupt data: {wrong} of {checked} blocks read are not what was written.");
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Measurement, VerifyStats};

    use super::*;

    fn weighed(verdict: Verdict, stale: u64) -> PhaseJudgement {
        let verify = Some(VerifyStats { blocks: 9, stale, ..VerifyStats::default() });
        let measurements = vec![Measurement { verify, ..Measurement::default() }];
        let record = PhaseRecord { measurements, ..PhaseRecord::default() };
        let headline = "Believable.".into();
        let mut judged = PhaseJudgement { verdict, headline, ..PhaseJudgement::default() };
        weigh(&record, &mut judged);
        judged
    }

    #[test]
    fn wrong_blocks_are_in_the_verdict() {
        let wrong = weighed(Verdict::Believable, 2);
        assert_eq!(wrong.verdict, Verdict::Corrupt);
        assert!(wrong.headline.starts_with("Corrupt data: 2 of 9 blocks"), "{}", wrong.headline);
        let right = weighed(Verdict::Believable, 0);
        assert_eq!((right.verdict, right.headline.as_str()), (Verdict::Believable, "Believable."));
        assert_eq!(weighed(Verdict::MeasuresElse, 1).verdict, Verdict::Corrupt);
    }
}
