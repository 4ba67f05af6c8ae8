//! Results of a command that ran several times, as the repeats of one run.

use candor_record::results::Results;

/// Joins the rounds of one command: the repeats of each follow the repeats of the round before.
pub fn joined(rounds: Vec<Results>) -> Option<Results> {
    let mut rounds = rounds.into_iter();
    let mut all = rounds.next()?;
    for round in rounds {
        let next = all.phases.iter().map(|phase| phase.repeat + 1).max().unwrap_or(0);
        if round.verdict > all.verdict {
            (all.verdict, all.headline) = (round.verdict, round.headline);
        }
        all.phases.extend(round.phases.into_iter().map(|mut phase| {
            phase.repeat += next;
            phase
        }));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use candor_record::Verdict;
    use candor_record::results::PhaseResults;

    use super::*;

    #[test]
    fn rounds_are_repeats() {
        let all = [Verdict::Ok, Verdict::Wrong, Verdict::Caution].map(|verdict| {
            let phase = |name: &str| PhaseResults { name: name.into(), ..PhaseResults::default() };
            let phases = vec![phase("load"), phase("read")];
            Results { verdict: Some(verdict), phases, ..Results::default() }
        });
        let all = joined(all.to_vec()).expect("three rounds");
        let repeats: Vec<(&str, u32)> =
            all.phases.iter().map(|phase| (phase.name.as_str(), phase.repeat)).collect();
        let expected =
            [("load", 0), ("read", 0), ("load", 1), ("read", 1), ("load", 2), ("read", 2)];
        assert_eq!((repeats, all.verdict), (expected.to_vec(), Some(Verdict::Wrong)));
        assert_eq!(joined(Vec::new()), None);
    }
}
