//! Times of each operation as CSV, a file per phase and operation, from the log of the phase.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};

use candor_md_workbench::output::{Timed, latency_line, timed};
use candor_md_workbench::plan::{Lowered, Part, log_file};
use candor_plan::path_of;

use crate::commands::foreign::operations::Line;

/// Writes the files and removes the logs. The error is a sentence.
pub fn write(lowered: &Lowered) -> Result<(), String> {
    let output = &lowered.setup.asked.output;
    let Some(prefix) = &output.latency_prefix else { return Ok(()) };
    for bench in lowered.phases.iter().filter(|bench| bench.part == Part::Objects) {
        let log = log_file(prefix, bench);
        if path_of(&log).exists() {
            convert(&log, &timed(&lowered.setup, bench, prefix), output.latency_all)
                .map_err(|error| format!("the times of {log} cannot be written: {error}"))?;
        }
    }
    Ok(())
}

fn convert(log: &str, timed: &[Timed], all: bool) -> std::io::Result<()> {
    let mut files = Vec::new();
    for Timed { file, .. } in timed {
        let mut file = candor_files::create(&path_of(file))?;
        file.write_all(b"time,runtime\n")?;
        files.push(file);
    }
    // The operation in progress of each worker, and its begin.
    let mut begun: HashMap<u64, (usize, u64)> = HashMap::new();
    for line in BufReader::new(File::open(path_of(log))?).lines() {
        // A line of an earlier run that was cut off says nothing.
        let Some(line) = Line::read(&line?).filter(|line| all || line.worker_rank == 0) else {
            continue;
        };
        let begins = |of: &Timed| of.calls[0] == line.op_name;
        if let Some(nth) = timed.iter().position(begins).filter(|_| !line.is_finished) {
            begun.insert(line.worker_rank, (nth, line.elapsed_ns));
        }
        let current = begun.get(&line.worker_rank).copied();
        let ends = |(nth, _): &(usize, u64)| timed[*nth].calls[1] == line.op_name;
        if let Some((nth, began_ns)) = current.filter(ends).filter(|_| line.is_finished) {
            let took_ns = line.elapsed_ns.saturating_sub(began_ns);
            files[nth].write_all(latency_line(began_ns, took_ns).as_bytes())?;
            begun.remove(&line.worker_rank);
        }
    }
    files.into_iter().try_for_each(candor_files::Replacement::commit)?;
    fs::remove_file(path_of(log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_from_its_open_to_its_close() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = |name: &str| dir.path().join(name).display().to_string();
        let line = |ns: u64, rank: u64, op: &str, ended: bool| {
            format!(
                "{{\"elapsed_ns\":{ns},\"worker_rank\":{rank},\"entry_name\":\"f\",\
                 \"is_finished\":{ended},\"op_name\":\"{op}\"}}\n"
            )
        };
        let lines = [
            line(1000, 0, "open", false),
            line(1500, 1, "open", false),
            line(2000, 0, "open", true),
            line(2100, 0, "read", false),
            line(2200, 0, "read", true),
            line(3000, 0, "close", false),
            line(4000, 0, "close", true),
            line(4100, 1, "close", true),
            line(5000, 0, "create", false),
            line(6000, 0, "close", true),
            "{\"elapsed".to_owned(),
        ];
        let timed = [("r", ["open", "close"]), ("c", ["create", "close"])]
            .map(|(name, calls)| Timed { file: path(name), calls });
        for (all, read) in [(false, "0.0000010,3.0000e-06\n"), (true, "")] {
            fs::write(path("log"), lines.concat()).expect("written");
            convert(&path("log"), &timed, all).expect("converted");
            let text = fs::read_to_string(path("r")).expect("written");
            let expected = if all {
                "time,runtime\n0.0000010,3.0000e-06\n0.0000015,2.6000e-06\n".to_owned()
            } else {
                format!("time,runtime\n{read}")
            };
            assert_eq!(text, expected);
            let made = fs::read_to_string(path("c")).expect("written");
            assert_eq!(made, "time,runtime\n0.0000050,1.0000e-06\n");
            assert!(!path_of(&path("log")).exists());
        }
    }
}
