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

    /// Values around 1000, with noise of that share.
    fn series(&mut self, kind: Kind, length: usize, share: f64) -> Vec<f64> {
        let mut noise = self.noise(kind, 0.0);
        let mut value = || {
            noise = self.noise(kind, noise);
            1000.0 * (share * noise).exp()
        };
        (0..length).map(|_| value()).collect()
    }
}

#[test]
fn probe() {
    for kind in [Kind::Normal, Kind::Laplace, Kind::Skewed, Kind::Correlated(0.3), Kind::Correlated(0.6), Kind::Outliers] {
        for length in [8, 10, 15, 20, 30, 50, 100, 300] {
            let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(1));
            let rounds = 4000 ;
            let alarms = (0..rounds).filter(|_| !levels(&source.series(kind, length, 0.02)).changes.is_empty()).count();
            let mut found = vec![];
            for (shift, after) in [(0.03, length/2), (0.10, length/2), (0.10, 3), (0.10, 5)] {
                let mut n = 0;
                for _ in 0..500 {
                    let mut s = source.series(kind, length, 0.02);
                    for v in &mut s[length-after..] { *v *= 1.0 - shift; }
                    n += usize::from(!levels(&s).changes.is_empty());
                }
                found.push(n as f64 / 5.0);
            }
            println!("{kind:?} {length}: {:.2} % {found:?}", alarms as f64 / rounds as f64 * 100.0);
        }
    }
}
