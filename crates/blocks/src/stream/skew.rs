//! Skewed distributions over a space.

use candor_plan::blocks::Zone;
use candor_plan::units::Extent;

use candor_engine::random::Random;

/// Ranks `0..n` drawn with weight (rank + 1)^-theta, in constant time and memory
/// (rejection-inversion by Hörmann and Derflinger, 1996).
#[derive(Clone, Debug)]
pub struct Zipf {
    n: f64,
    theta: f64,
    area_low: f64,
    area_high: f64,
    shortcut: f64,
}

impl Zipf {
    /// Distribution of `n` ranks, with exponent `theta` above 0.
    pub fn new(n: u64, theta: f64) -> Zipf {
        let mut zipf =
            Zipf { n: n.max(1) as f64, theta, area_low: 0.0, area_high: 0.0, shortcut: 0.0 };
        zipf.area_low = zipf.area(1.5) - 1.0;
        zipf.area_high = zipf.area(zipf.n + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.area(2.5) - 2f64.powf(-theta));
        zipf
    }

    /// Integral of x^-theta, up to a constant.
    fn area(&self, x: f64) -> f64 {
        let exponent = 1.0 - self.theta;
        if exponent.abs() < 1e-9 { x.ln() } else { (x.powf(exponent) - 1.0) / exponent }
    }

    fn inverse(&self, area: f64) -> f64 {
        let exponent = 1.0 - self.theta;
        if exponent.abs() < 1e-9 {
            area.exp()
        } else {
            (1.0 + area * exponent).max(0.0).powf(1.0 / exponent)
        }
    }

    /// Draws a rank; 0 is the most popular.
    pub fn rank(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.area_high + random.unit() * (self.area_low - self.area_high);
            let x = self.inverse(area);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.shortcut || area >= self.area(k + 0.5) - k.powf(-self.theta) {
                return k as u64 - 1;
            }
        }
    }
}

/// Normal distribution around a point of `[0, 1)`.
#[derive(Clone, Debug)]
pub struct Normal {
    deviation: f64,
    center: f64,
}

impl Normal {
    /// Distribution with that standard deviation and center, as shares of the whole.
    pub fn new(deviation: f64, center: f64) -> Normal {
        Normal { deviation, center }
    }

    /// Draws a point of `[0, 1)`; points outside are drawn again, a few times.
    pub fn unit(&self, random: &mut Random) -> f64 {
        const TRIES: u32 = 64;
        for _ in 0..TRIES {
            let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
            let standard = radius * (std::f64::consts::TAU * random.unit()).cos();
            let place = self.center + standard * self.deviation;
            if (0.0..1.0).contains(&place) {
                return place;
            }
        }
        random.unit()
    }
}

/// Bands of the space with weights.
#[derive(Clone, Debug)]
pub struct Bands(Vec<Band>);

#[derive(Clone, Copy, Debug)]
struct Band {
    /// Sum of the weights up to and including this band, in 0..=1.
    weight_to: f64,
    start: f64,
    length: f64,
}

impl Bands {
    /// Bands made from shares of accesses and parts of a space of `length` bytes. Zones beyond its
    /// end are dropped; the others keep their proportions.
    pub fn zoned(zones: &[Zone], length: u64) -> Bands {
        let share = |size: Extent| match size {
            Extent::Percent(percent) => percent / 100.0,
            Extent::Bytes(bytes) => bytes.0 as f64 / length.max(1) as f64,
        };
        let (mut weight_to, mut start) = (0.0, 0.0);
        let mut bands = Vec::new();
        for zone in zones.iter().filter(|zone| zone.access_percent >= 0.0) {
            if start >= 1.0 - 1e-9 {
                break;
            }
            weight_to += zone.access_percent;
            let length = share(zone.size).min(1.0 - start);
            bands.push(Band { weight_to, start, length });
            start += length;
        }
        bands.iter_mut().for_each(|band| band.weight_to /= weight_to);
        Bands(bands)
    }

    /// One band with `hit` percent of the accesses; the whole space has the rest.
    pub fn hot(hit: f64, start: f64, length: f64) -> Bands {
        Bands(vec![
            Band { weight_to: hit / 100.0, start: start / 100.0, length: length / 100.0 },
            Band { weight_to: 1.0, start: 0.0, length: 1.0 },
        ])
    }

    /// Draws a point of `[0, 1)`.
    pub fn unit(&self, random: &mut Random) -> f64 {
        let draw = random.unit();
        let band = self.0.iter().find(|band| draw < band.weight_to).or(self.0.last());
        band.map_or(0.0, |band| (band.start + band.length * random.unit()).min(1.0 - 1e-12))
    }
}
