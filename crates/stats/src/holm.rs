//! Correction of probabilities for the number of tests.

/// Corrects probabilities by Holm's method: if every test below a limit counts as a change, the
/// probability that one of these is a false change stays below the limit.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        least = least.max(p_values[at] * (p_values.len() - rank) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_example_of_the_textbook_is_corrected() {
        let of = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(of.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{of:?}");
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn corrected_probabilities_keep_their_order(
            p_values in prop::collection::vec(0.0..=1.0_f64, 0..20),
        ) {
            let corrected = holm(&p_values);
            for (p, of) in p_values.iter().zip(&corrected) {
                prop_assert!(of >= p && *of <= 1.0);
                let smaller = p_values.iter().zip(&corrected).filter(|(other, _)| *other <= p);
                prop_assert!(smaller.map(|(_, of)| *of).all(|other| other <= *of));
            }
        }
    }
}
