//! Which phase of a plan it is that runs, when phases may be equal and may repeat.

use candor_plan::Phase;

/// The place in a plan of a phase that runs now; `ran` are the places of those that ran before,
/// in order. The last one goes on until it has had its repeats; then the next equal one follows,
/// over the end of the plan if it repeats.
pub fn next(phases: &[Phase], ran: &[usize], phase: &Phase) -> Option<usize> {
    let is_it = |index: &usize| phases.get(*index) == Some(phase);
    let Some(&last) = ran.last() else { return (0..phases.len()).find(is_it) };
    let in_a_row = ran.iter().rev().take_while(|index| **index == last).count();
    if is_it(&last) && !in_a_row.is_multiple_of(phase.repeats.max(1) as usize) {
        return Some(last);
    }
    (last + 1..phases.len()).chain(0..=last).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, repeats: u32) -> Phase {
        Phase { name: name.into(), repeats, ..Phase::default() }
    }

    /// The places of all phases of a plan that runs twice.
    fn places(phases: &[Phase]) -> Vec<usize> {
        let mut ran = Vec::new();
        for phase in phases.iter().chain(phases) {
            for _ in 0..phase.repeats {
                ran.push(next(phases, &ran, phase).expect("it is of the plan"));
            }
        }
        ran
    }

    #[test]
    fn equal_phases_are_told_apart() {
        let (a, b) = (phase("a", 1), phase("b", 1));
        assert_eq!(places(&[a.clone(), a.clone()]), [0, 1, 0, 1]);
        assert_eq!(places(&[a.clone(), b.clone(), a.clone()]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(places(std::slice::from_ref(&a)), [0, 0]);
        let twice = phase("a", 2);
        assert_eq!(places(&[twice.clone(), twice]), [0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(next(&[a], &[0], &b), None);
    }
}
