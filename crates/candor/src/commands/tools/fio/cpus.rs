//! The host's CPUs: how idle they are while jobs run, and whether their clocks agree.

use candor_engine::clock::check::{Reading, disagreements};
use candor_engine::clock::tsc_is_trusted;
use candor_engine::host::idle::IdleWatch;
use candor_fio::flags::IdleKind;
use candor_fio::job::Idleness;
use candor_fio::output::idleness;

use super::{WRONG, printed};
use crate::screen;

/// Readings of each CPU's clock.
const READINGS: u32 = 100_000;

/// Watches how idle the CPUs are, if that is asked for.
pub struct Watch(Option<(IdleKind, IdleWatch)>);

impl Watch {
    /// From now on.
    ///
    /// # Errors
    /// A CPU that cannot be watched, in a sentence.
    pub fn start(kind: Option<IdleKind>) -> Result<Watch, String> {
        let Some(kind) = kind else { return Ok(Watch(None)) };
        let watch = IdleWatch::calibrated().map_err(|error| error.to_string())?;
        watch.start();
        Ok(Watch(Some((kind, watch))))
    }

    /// Ends the watch, and gives what was seen.
    pub fn stop(self) -> Option<Idleness> {
        let (kind, watch) = self.0?;
        let seen = watch.stop();
        let per_cpu = (kind == IdleKind::PerCpu)
            .then(|| seen.cpus.iter().map(|(cpu, share)| (*cpu, share * 100.0)).collect());
        Some(Idleness {
            system: seen.system() * 100.0,
            per_cpu,
            unit_mean_us: seen.unit.mean_us,
            unit_stddev_us: seen.unit.stddev_us,
        })
    }
}

/// Finds out how long the work takes that shows how idle CPUs are.
///
/// # Errors
/// A CPU that cannot be watched, in a sentence.
pub fn calibration() -> Result<String, String> {
    let unit = IdleWatch::calibrated().map_err(|error| error.to_string())?.unit();
    Ok(idleness::calibration(unit.mean_us, unit.stddev_us))
}

/// Compares the clocks of the CPUs, and gives the exit code.
pub fn clock_test() -> u8 {
    let (cpus, wrong) = match disagreements(READINGS) {
        Ok(found) => found,
        Err(error) => {
            screen::error(&format!("the clocks cannot be compared: {error}"));
            return WRONG;
        }
    };
    let reliable = if tsc_is_trusted() { "yes" } else { "no" };
    let mut text = format!("cs: reliable_tsc: {reliable}\ncs: Testing {cpus} CPUs\n");
    wrong.iter().for_each(|pair| text.push_str(&mismatch(pair)));
    text += &match wrong.len() {
        0 => "cs: Pass!\n".to_owned(),
        count => format!("cs: Failed: {count}\n"),
    };
    printed(&text).max(if wrong.is_empty() { 0 } else { WRONG })
}

fn mismatch(pair: &[Reading; 2]) -> String {
    let difference = pair[0].tick - pair[1].tick;
    let line = |Reading { ticket, cpu, tick }: Reading| {
        format!("\t CPU{cpu:3}: TSC={tick}, SEQ={ticket}\n")
    };
    let lines: String = pair.iter().copied().map(line).collect();
    format!("cs: CPU clock mismatch (diff={difference}):\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_names_both_readings() {
        let early = Reading { ticket: 7, cpu: 0, tick: 120 };
        let late = Reading { ticket: 8, cpu: 11, tick: 100 };
        assert_eq!(
            mismatch(&[early, late]),
            "cs: CPU clock mismatch (diff=20):\n\t CPU  0: TSC=120, SEQ=7\n\
             \t CPU 11: TSC=100, SEQ=8\n"
        );
    }
}
