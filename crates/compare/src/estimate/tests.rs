//! Changes of simulated runs, whose truth is known.

use proptest::prelude::*;

use super::*;

/// Random numbers of a normal distribution, the same in every run of the tests.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        // SplitMix64: any seed is as good as another.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }
}

/// How runs of the same work vary.
#[derive(Clone, Copy)]
struct World {
    /// Standard deviation of an interval about its run's mean.
    within: f64,
    /// Correlation of an interval with the next.
    correlation: f64,
    /// Drift over a run, as a share, to either side.
    drift: f64,
    /// Standard deviation of a run's mean.
    between: f64,
    intervals: usize,
}

impl World {
    fn run(&self, mean: f64, noise: &mut Noise) -> Vec<f64> {
        let offset = 1.0 + self.between * noise.normal();
        let drift = self.drift * (2.0 * noise.uniform() - 1.0);
        let fresh = (1.0 - self.correlation * self.correlation).sqrt();
        let mut state = noise.normal();
        let mut interval = |nth: usize| {
            state = self.correlation * state + fresh * noise.normal();
            let along = nth as f64 / self.intervals as f64 - 0.5;
            mean * offset * (1.0 + drift * along + self.within * state)
        };
        (0..self.intervals).map(&mut interval).collect()
    }

    fn side(&self, mean: f64, repeats: usize, noise: &mut Noise) -> Side {
        let intervals: Vec<Vec<f64>> = (0..repeats).map(|_| self.run(mean, noise)).collect();
        let values = intervals.iter().map(|of| super::mean(of)).collect();
        Side { values, intervals, ..Side::default() }
    }
}

const QUIET: World =
    World { within: 0.01, correlation: 0.0, drift: 0.0, between: 0.003, intervals: 30 };

/// Share of 400 comparisons of four figures that call a change, where the other side is so much
/// less.
fn called(world: World, repeats: usize, less: f64) -> f64 {
    let mut noise = Noise(7);
    let one = |noise: &mut Noise| {
        let p_value = |noise: &mut Noise| {
            let sides =
                [1000.0, 1000.0 * (1.0 - less)].map(|mean| world.side(mean, repeats, noise));
            let found = change(FigureKind::OpsPerS, &sides[0], &sides[1]).expect("positive values");
            found.p_value.expect("a basis")
        };
        let p_values = [(); 4].map(|()| p_value(noise));
        candor_stats::holm(&p_values).iter().any(|p| *p < 1.0 - CONFIDENCE)
    };
    (0..400).filter(|_| one(&mut noise)).count() as f64 / 400.0
}

#[test]
fn the_same_work_is_rarely_called_changed() {
    // The acceptance is two of 40 pairs, one in twenty.
    let worlds = [
        ("quiet", QUIET),
        ("correlated", World { within: 0.05, correlation: 0.7, between: 0.0, ..QUIET }),
        ("short", World { within: 0.1, intervals: 4, ..QUIET }),
        ("drifting", World { drift: 0.2, ..QUIET }),
        ("as far apart as assumed", World { between: 0.01, ..QUIET }),
    ];
    for (name, world) in worlds {
        for repeats in [1, 2] {
            let share = called(world, repeats, 0.0);
            assert!(share < 0.03, "{name}, {repeats} of each: {share}");
        }
    }
    // Noise as slow as a run is long shows little of itself within one.
    let slow = World { within: 0.05, correlation: 0.95, between: 0.0, ..QUIET };
    let share = called(slow, 1, 0.0);
    assert!(share < 0.1, "slow noise: {share}");
    // Repeats show how far runs are apart, however far that is.
    for between in [0.001, 0.01, 0.1] {
        for repeats in [3, 5, 10] {
            let share = called(World { between, ..QUIET }, repeats, 0.0);
            assert!(share < 0.02, "{between} apart, {repeats} of each: {share}");
        }
    }
}

#[test]
fn one_run_alone_hides_how_far_runs_are_apart() {
    // The assumption that the method rests on without repeats: where it is broken, it fails.
    let apart = World { between: 0.1, ..QUIET };
    assert!(called(apart, 1, 0.0) > 0.3);
}

#[test]
fn changes_are_found_by_as_much_evidence_as_they_need() {
    for (repeats, less) in [(1, 0.15), (5, 0.03), (10, 0.01)] {
        let share = called(QUIET, repeats, less);
        assert!(share > 0.99, "{repeats} of each, {less} less: {share}");
    }
    let share = called(QUIET, 1, 0.03);
    assert!(share < 0.1, "three percent are less than what one run of each can show: {share}");
}

#[test]
fn a_rate_of_the_plan_is_known_without_repeats() {
    let side = |value: f64| Side {
        values: vec![value],
        intervals: vec![vec![value * 0.5, value * 1.5]],
        is_held: true,
        ..Side::default()
    };
    let found = change(FigureKind::OpsPerS, &side(2000.0), &side(1940.0)).expect("a change");
    assert_eq!(found.basis, Basis::Rate);
    let interval = found.interval.expect("an interval");
    assert!(interval.low > -0.045 && interval.high < -0.015, "{interval:?}");
    let same = change(FigureKind::OpsPerS, &side(2000.0), &side(1992.0)).expect("a change");
    assert!(same.p_value.expect("a basis") > 0.05);
}

#[test]
fn what_rests_on_nothing_says_why() {
    let side = |intervals: usize| Side {
        values: vec![10.0],
        intervals: vec![vec![10.0; intervals]],
        ..Side::default()
    };
    let why = |side: &Side| match change(FigureKind::OpsPerS, side, side).expect("a change") {
        Change { basis: Basis::Nothing { why }, interval: None, p_value: None, .. } => why,
        change => panic!("{change:?}"),
    };
    assert!(why(&side(1)).contains("too few repeats and intervals"));
    assert!(why(&Side { is_idle: true, ..side(9) }).contains("below saturation"));
    assert!(why(&Side { is_starved: true, ..side(9) }).contains("waited for CPUs"));
    let nothing = Side { values: vec![0.0], ..Side::default() };
    assert!(change(FigureKind::OpsPerS, &nothing, &side(9)).is_none());
}

#[test]
fn a_side_that_ran_once_is_set_beside_the_spread_of_the_other() {
    let side = |values: &[f64]| Side { values: values.to_vec(), ..Side::default() };
    let baseline = side(&[100.0, 101.0, 99.0, 100.5, 99.5]);
    let near = change(FigureKind::LatencyMean, &baseline, &side(&[101.5])).expect("a change");
    assert_eq!(near.basis, Basis::Repeats { baseline: 5, run: 1 });
    assert!(near.p_value.expect("a basis") > 0.01);
    let far = change(FigureKind::LatencyMean, &baseline, &side(&[120.0])).expect("a change");
    assert!(far.p_value.expect("a basis") < 0.001);
}

fn sides() -> impl Strategy<Value = Side> {
    let values = prop::collection::vec(1e-3..1e9_f64, 1..6);
    let intervals = prop::collection::vec(prop::collection::vec(0.0..1e9_f64, 0..9), 1..6);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (values, intervals, flags).prop_map(|(values, mut intervals, (held, idle, starved))| {
        intervals.resize(values.len(), Vec::new());
        Side { values, intervals, is_held: held, is_idle: idle, is_starved: starved }
    })
}

proptest! {
    #[test]
    fn an_interval_holds_its_change_and_turns_with_it(one in sides(), other in sides()) {
        let kind = FigureKind::LatencyPercentile(99.0);
        let there = change(kind, &one, &other).expect("positive values");
        let back = change(kind, &other, &one).expect("positive values");
        if let Some(of) = there.interval {
            prop_assert!(of.low <= there.share && there.share <= of.high, "{there:?}");
            let is_excluded = of.low > 0.0 || of.high < 0.0;
            let is_small = there.p_value.expect("with an interval") < 1.0 - CONFIDENCE;
            let is_edge = of.low.abs().min(of.high.abs()) < 1e-9;
            prop_assert!(is_excluded == is_small || is_edge, "{there:?}");
        }
        let turned = |of: Option<f64>, with: Option<f64>| match (of, with) {
            (Some(of), Some(with)) => (of - with).abs() < 1e-6,
            (of, with) => of.is_none() == with.is_none(),
        };
        prop_assert!(turned(there.p_value, back.p_value), "{there:?} {back:?}");
    }
}
