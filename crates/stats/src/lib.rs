//! Statistics on slices of numbers: pure functions that know no report, no unit and no threshold of
//! a rule.
//!
//! - Location and spread: [`mean`], [`median`], [`quantile`], [`deviation`], [`Summary`].
//! - Series in time: [`Line`] (least squares), [`windows`], [`step_down`] (one fall of the level),
//!   [`levels`] (change points between runs), [`is_steady`] (SNIA's criterion).
//! - Certainty: [`student`] (Student's t distribution), [`holm`] (correction for several tests).
//! - Sweeps: [`knee`], [`dip`].
//!
//! ```
//! use candor_stats::{Summary, knee};
//!
//! let repeats = Summary::of(&[9.0, 10.0, 11.0]).unwrap();
//! assert_eq!((repeats.mean, repeats.deviation), (10.0, 1.0));
//! assert!((repeats.interval_95() - 2.484).abs() < 1e-3);
//! // The second rate is at least 95 % of the best rate.
//! assert_eq!(knee(&[50.0, 96.0, 100.0], 0.95), Some(1));
//! ```

mod change_points;
mod holm;
mod knee;
mod line;
mod location;
mod spread;
mod step;
pub mod student;

pub use change_points::{Levels, levels};
pub use holm::holm;
pub use knee::{dip, knee};
pub use line::{Line, is_steady, slope};
pub use location::{geometric_mean, mean, median, quantile, windows};
pub use spread::{Summary, deviation, deviation_max, relative_deviation, relative_variance};
pub use step::{Step, step_down};
