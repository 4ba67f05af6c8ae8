use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Kind of noise.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Normal,
    /// Heavy tails.
    Laplace,
    /// Skewed, as latencies are.
    Skewed,
    /// Neighbours resemble each other: first-order autoregression.
    Correlated(f64),
    /// One run in ten is far off.
    Outliers,
}

struct Source(Xoshiro256PlusPlus);

impl Source {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn noise(&mut self, kind: Kind, before: f64) -> f64 {
        match kind {
            Kind::Normal => self.normal(),
            Kind::Laplace => {
                let (sign, size) = (self.uniform() - 0.5, self.uniform());
                -size.ln() * sign.signum() / std::f64::consts::SQRT_2
            }
            Kind::Skewed => (0.5 * self.normal()).exp() * 2.0,
            Kind::Correlated(c) => c * before + (1.0 - c * c).sqrt() * self.normal(),
            Kind::Outliers if self.uniform() < 0.1 => 15.0 * (self.uniform() - 0.5),
            Kind::Outliers => self.normal(),
        }
    }

    /// Values around 1000, with noise of the share `share`.
    fn series(&mut self, kind: Kind, length: usize, share: f64) -> Vec<f64> {
        let mut noise = self.noise(kind, 0.0);
        (0..length)
            .map(|_| {
                noise = self.noise(kind, noise);
                1000.0 * (share * noise).exp()
            })
            .collect()
    }
}

/// The last `after` values are lower by the share `lower`.
struct Fall {
    after: usize,
    lower: f64,
}

const NO_FALL: Fall = Fall { after: 0, lower: 0.0 };

/// Share of series in which a change is found.
fn found(kind: Kind, length: usize, fall: &Fall) -> f64 {
    let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(length as u64));
    let rounds = 400;
    let hits = (0..rounds).filter(|_| {
        let mut values = source.series(kind, length, 0.02);
        values[length - fall.after..].iter_mut().for_each(|value| *value *= 1.0 - fall.lower);
        !levels(&values).changes.is_empty()
    });
    hits.count() as f64 / f64::from(rounds)
}

#[test]
fn noise_alone_is_rarely_a_change() {
    for kind in [Kind::Normal, Kind::Laplace, Kind::Skewed, Kind::Outliers] {
        for length in [8, 10, 20, 50, 120] {
            let share = found(kind, length, &NO_FALL);
            assert!(share <= 0.02, "{kind:?}, {length} values: {share}");
        }
    }
    for length in [10, 20, 50, 120] {
        let share = found(Kind::Correlated(0.3), length, &NO_FALL);
        assert!(share <= 0.10, "neighbours alike, {length} values: {share}");
    }
}

/// Buckets are as wide as the buckets of the histogram that percentiles come from.
#[test]
fn values_that_alternate_between_two_buckets_are_no_change() {
    let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(9));
    for length in [8, 16, 20, 50] {
        for share in [0.003, 0.006, 0.01] {
            let found = (0..300).filter(|_| {
                let edge = source.uniform();
                let values = source.series(Kind::Normal, length, share);
                let buckets = values
                    .into_iter()
                    .map(|value| (((value / 1000.0).ln() / 0.012 + edge).round() * 0.012).exp());
                !levels(&buckets.collect::<Vec<_>>()).changes.is_empty()
            });
            let found = found.count();
            assert!(found <= 9, "{length} values with noise of {share}: {found} of 300");
        }
    }
}

#[test]
fn a_change_beyond_the_noise_is_found() {
    for kind in [Kind::Normal, Kind::Laplace, Kind::Skewed, Kind::Outliers] {
        let share = found(kind, 100, &Fall { after: 50, lower: 0.03 });
        assert!(share >= 0.8, "{kind:?}: 3 % in 100 runs, with noise of 2 %: {share}");
        let share = found(kind, 16, &Fall { after: 8, lower: 0.10 });
        assert!(share >= 0.9, "{kind:?}: 10 % in 16 runs: {share}");
    }
    let share = found(Kind::Normal, 30, &Fall { after: 3, lower: 0.30 });
    assert!(share >= 0.4, "30 % in the last three of 30 runs: {share}");
}

/// IOPS of 16 runs of 1.5 s on the disk of a virtual machine (random reads of 4 KiB, depth 4). A
/// control group allowed 2000 reads per second in the first eight runs, and less in the others.
const TENTH: [f64; 16] = [
    2013.3, 2016.8, 2067.3, 2130.6, 2010.3, 2080.6, 2083.9, 2031.3, // 2000
    1809.2, 1808.5, 1809.8, 1808.8, 1868.5, 1903.3, 1912.7, 1881.3, // 1800
];
const THREE_PERCENT: [f64; 16] = [
    2073.8, 2118.6, 2072.0, 2096.6, 2079.3, 2108.6, 2090.6, 2093.2, // 2000
    2062.0, 1948.0, 2035.2, 1944.6, 1984.5, 2022.0, 1950.3, 2017.3, // 1940
];
/// The same without a limit in any run.
const FREE: [f64; 16] = [
    35066.9, 34013.6, 33801.9, 35697.8, 35857.9, 36589.0, 37206.2, 35178.6, 35976.0, 38970.3,
    35855.3, 32878.3, 40432.7, 35876.3, 34838.6, 35227.4,
];

#[test]
fn real_runs_change_where_their_limit_did() {
    let none: [usize; 0] = [];
    assert_eq!(levels(&TENTH).changes, [8]);
    assert_eq!(levels(&THREE_PERCENT).changes, [9], "the first run of the other eight was fast");
    for unchanged in [&FREE[..], &TENTH[..8], &THREE_PERCENT[..8], &THREE_PERCENT[8..]] {
        assert_eq!(levels(unchanged).changes, none, "{unchanged:?}");
    }
}

/// Values that alternate by `share` around levels, each with its number of runs.
fn steps(share: f64, levels: &[(usize, f64)]) -> Vec<f64> {
    let values = levels.iter().flat_map(|(runs, level)| std::iter::repeat_n(*level, *runs));
    let wave = [1.0, -0.5, 0.3, -1.0, 0.7, -0.3];
    values.enumerate().map(|(at, level)| level * (1.0 + share * wave[at % 6])).collect()
}

fn changes(values: &[f64]) -> Vec<usize> {
    levels(values).changes
}

#[test]
fn changes_begin_where_the_level_does() {
    let none: [usize; 0] = [];
    assert_eq!(changes(&steps(0.01, &[(20, 100.0), (20, 88.0)])), [20]);
    assert_eq!(changes(&steps(0.01, &[(20, 100.0), (15, 88.0), (25, 100.0)])), [20, 35], "a dip");
    assert_eq!(changes(&steps(0.01, &[(30, 100.0), (4, 80.0)])), [30], "the last four");
    assert_eq!(
        changes(&steps(0.01, &[(30, 100.0), (1, 30.0), (9, 100.0)])),
        none,
        "one run far off"
    );
    assert_eq!(changes(&steps(0.0, &[(10, 100.0), (10, 97.0)])), [10], "held by a rate");
    let dip = [(10, 100.0), (6, 90.0), (10, 100.0)];
    assert_eq!(changes(&steps(0.0, &dip)), [10, 16], "held lower for six runs");
    assert_eq!(changes(&steps(0.0, &[(10, 100.0), (10, 99.5)])), none, "too small to matter");
    assert_eq!(changes(&steps(0.0, &[(4, 100.0), (3, 50.0)])), none, "too few to tell");
    assert_eq!(levels(&[]), Levels::default());
}

#[test]
fn the_noise_is_that_of_the_values() {
    let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(5));
    let mut values = source.series(Kind::Normal, 200, 0.05);
    values[100..].iter_mut().for_each(|value| *value *= 3.0);
    let noise = levels(&values).noise_share.expect("enough values");
    assert!((0.035..0.075).contains(&noise), "{noise}");
}

proptest::proptest! {
    #[test]
    fn levels_of_any_values_are_apart(
        values in proptest::collection::vec(1e-9f64..1e15, 0..80),
    ) {
        let changes = levels(&values).changes;
        let ends: Vec<usize> =
            std::iter::once(0).chain(changes).chain([values.len()]).collect();
        proptest::prop_assert!(
            ends.len() == 2 || ends.windows(2).all(|part| part[1] >= part[0] + RUNS_MIN)
        );
    }
}
