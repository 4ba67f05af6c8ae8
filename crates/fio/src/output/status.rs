//! The line that shows how far a run has come.

use candor_plan::units::{Direction, PerDirection};

use super::number::Units;
use crate::job::Reporting;

/// Values in the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Jobs that run.
    pub running: u32,
    /// Files that they have open.
    pub open_files: u32,
    /// A letter per job, in order: `P` not started, `I` preparing, `/` in the ramp, `r` `R` `w` `W`
    /// `m` `M` `d` `D` reading, writing, both and trimming (upper case sequential, lower case
    /// random), `F` flushing, `V` verifying, `E` ended, `_` removed, `X` removed with an error.
    pub letters: Vec<char>,
    /// Progress in percent; absent if unknown.
    pub percent: Option<f64>,
    /// Bytes per second since the last line.
    pub bytes_per_s: PerDirection<f64>,
    /// Operations per second since the last line.
    pub ops_per_s: PerDirection<f64>,
    /// Remaining seconds; absent if unknown.
    pub left_s: Option<u64>,
    /// The directions that any job goes in.
    pub directions: PerDirection<bool>,
}

impl Status {
    /// The letter of a running job with this value of `rw`.
    pub fn letter(rw: &str) -> char {
        match rw {
            "randread" => 'r',
            "write" => 'W',
            "randwrite" => 'w',
            "rw" | "readwrite" => 'M',
            "randrw" => 'm',
            "trim" => 'D',
            "randtrim" => 'd',
            "trimwrite" => 'W',
            "randtrimwrite" => 'w',
            _ => 'R',
        }
    }

    /// The line, without a line end:
    /// `Jobs: 1 (f=1): [r(1)][50.0%][r=3.9MiB/s][r=1000 IOPS][eta 00m:05s]`.
    pub fn line(&self, reporting: &Reporting) -> String {
        let units = Units::of(reporting);
        let percent = self.percent.map_or("-.-".into(), |p| format!("{:.1}", p.clamp(0.0, 100.0)));
        let each = |show: &dyn Fn(Direction) -> String| {
            let shown = Direction::ALL.into_iter().filter(|op| *self.directions.of(*op));
            let word = |op| match op {
                Direction::Read => "r",
                Direction::Write => "w",
                Direction::Trim => "t",
            };
            shown.map(|op| format!("{}={}", word(op), show(op))).collect::<Vec<_>>().join(",")
        };
        format!(
            "Jobs: {} (f={}): [{}][{percent}%][{}][{} IOPS][eta {}]",
            self.running,
            self.open_files,
            runs(&self.letters),
            each(&|op| units.rate(*self.bytes_per_s.of(op))),
            each(&|op| units.count(*self.ops_per_s.of(op))),
            self.left_s.map_or("--".into(), duration),
        )
    }
}

/// Letters with the lengths of their runs: `R(10),W(10)`.
fn runs(letters: &[char]) -> String {
    let runs = letters.chunk_by(|a, b| a == b);
    runs.map(|run| format!("{}({})", run[0], run.len())).collect::<Vec<_>>().join(",")
}

/// A time such as `01h:02m:03s`; hours and days only if nonzero.
fn duration(seconds: u64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let mut text = String::new();
    if hours >= 24 {
        text += &format!("{:02}d:", hours / 24);
    }
    if hours > 0 {
        text += &format!("{:02}h:", hours % 24);
    }
    text + &format!("{:02}m:{:02}s", minutes % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_fios() {
        let status = Status {
            running: 20,
            open_files: 20,
            letters: [vec!['R'; 10], vec!['W'; 10]].concat(),
            percent: Some(4.0),
            bytes_per_s: PerDirection {
                read: 20.5 * 1048576.0,
                write: 23.5 * 1048576.0,
                trim: 0.0,
            },
            ops_per_s: PerDirection { read: 82.0, write: 94.0, trim: 0.0 },
            left_s: Some(57 * 60 + 36),
            directions: PerDirection { read: true, write: true, trim: false },
        };
        assert_eq!(
            status.line(&Reporting::default()),
            "Jobs: 20 (f=20): [R(10),W(10)][4.0%][r=20.5MiB/s,w=23.5MiB/s][r=82,w=94 IOPS]\
             [eta 57m:36s]"
        );
        let unknown = Status {
            letters: vec!['r', '_', 'r'],
            directions: PerDirection { read: true, ..PerDirection::default() },
            ..Status::default()
        };
        assert_eq!(
            unknown.line(&Reporting::default()),
            "Jobs: 0 (f=0): [r(1),_(1),r(1)][-.-%][r=0B/s][r=0 IOPS][eta --]"
        );
    }

    #[test]
    fn long_waits_have_hours_and_days() {
        assert_eq!(duration(3_723), "01h:02m:03s");
        assert_eq!(duration(90_061), "01d:01h:01m:01s");
        assert_eq!(duration(86_400), "01d:00h:00m:00s");
    }
}
