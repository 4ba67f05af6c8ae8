//! Data that is not what was written outweighs what can be said about a rate.

use candor_derive::summary;
use candor_record::{PhaseJudgement, PhaseRecord, Verdict};

/// Makes the verdict and the headline of a phase say so where blocks were wrong.
pub fn weigh(record: &PhaseRecord, judged: &mut PhaseJudgement) {
    if let Some(sentence) = summary::corruption([record]) {
        judged.verdict = Verdict::Corrupt;
        judged.headline = sentence;
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
        let headline = "4 reads/s".into();
        let mut judged = PhaseJudgement { verdict, headline, ..PhaseJudgement::default() };
        weigh(&record, &mut judged);
        judged
    }

    #[test]
    fn wrong_blocks_are_in_the_verdict() {
        let wrong = weighed(Verdict::Ok, 2);
        assert_eq!(wrong.verdict, Verdict::Corrupt);
        assert!(wrong.headline.starts_with("Corrupt data: 2 of 9 blocks"), "{}", wrong.headline);
        let right = weighed(Verdict::Ok, 0);
        assert_eq!((right.verdict, right.headline.as_str()), (Verdict::Ok, "4 reads/s"));
        assert_eq!(weighed(Verdict::Wrong, 1).verdict, Verdict::Corrupt);
    }
}
