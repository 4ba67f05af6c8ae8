//! Student's t distribution.

/// Probability of a value at least as far from zero as `t`, on either side, with `freedom` degrees
/// of freedom. Infinite degrees make it the normal distribution.
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    // Above, both distributions agree in all digits that matter.
    let freedom = freedom.min(1e6);
    beta_share(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The value that is exceeded on either side with the probability `probability`.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > probability && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > probability { low = middle } else { high = middle }
    }
    high
}

/// The regularised incomplete beta function.
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let front = front.exp();
    // The fraction converges fast below the mean of the distribution.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const STEPS_MAX: u32 = 10_000;
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..STEPS_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            result *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    result
}

fn away_from_zero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

/// The logarithm of the gamma function of a positive number, by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    // From 10 on, the series is exact to 14 digits.
    let steps = (10.0 - x).ceil().max(0.0);
    let below: f64 = (0..steps as u32).map(|step| (x + f64::from(step)).ln()).sum();
    let x = x + steps;
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0
            - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square) / square)
            / square)
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        let known = [
            (0.05, 1.0, 12.7062),
            (0.05, 4.0, 2.7764),
            (0.05, 31.0, 2.0395),
            (0.05, 60.0, 2.0003),
            (0.05, 1000.0, 1.9623),
            (0.01, 1.0, 63.6567),
            (0.01, 4.0, 4.6041),
            (0.01, 30.0, 2.75),
            (0.002, 4.0, 7.1732),
            (0.05, 1e9, 1.96),
            (0.01, f64::INFINITY, 2.5758),
        ];
        for (probability, freedom, t) in known {
            let found = quantile(probability, freedom);
            assert!((found - t).abs() < 1e-3, "{probability} {freedom}: {found} for {t}");
            assert!((two_sided(t, freedom) - probability).abs() < 1e-4);
        }
        assert_eq!((two_sided(0.0, 3.0), two_sided(1e9, 3.0) < 1e-20), (1.0, true));
    }

    #[test]
    fn the_gamma_function_is_a_factorial() {
        for (x, factorial) in [(1.0, 1.0_f64), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(x) - factorial.ln()).abs() < 1e-11, "{x}");
        }
        let half = std::f64::consts::PI.sqrt().ln();
        assert!((ln_gamma(0.5) - half).abs() < 1e-12);
    }
    proptest! {
        #[test]
        fn a_quantile_has_its_probability(
            probability in 0.001..0.5_f64,
            freedom in 1.0..200.0_f64,
        ) {
            let found = two_sided(quantile(probability, freedom), freedom);
            prop_assert!((found - probability).abs() < 1e-9, "{found}");
        }
    }
}
