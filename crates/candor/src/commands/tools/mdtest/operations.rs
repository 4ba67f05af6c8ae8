//! Times of each operation as CSV, a file per phase and task, from the log of the phase.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};

use candor_files::Replacement;
use candor_mdtest::output;
use candor_mdtest::plan::{Lowered, log_file};
use candor_mdtest::setup::Test;
use candor_plan::path_of;

use crate::commands::foreign::operations::Line;

/// An item in progress: its name, its begin, its end so far.
struct Item {
    name: String,
    began_ns: u64,
    ended_ns: u64,
}

/// Writes the files and removes the logs. The error is a sentence.
pub fn write(lowered: &Lowered) -> Result<(), String> {
    let asked = &lowered.setup.asked;
    let Some(prefix) = &asked.output.per_op_prefix else { return Ok(()) };
    let bytes = |test| match test {
        Test::FileRead => asked.data.read_bytes,
        Test::FileStat => 1,
        _ => asked.data.write_bytes,
    };
    for test in [Test::FileCreate, Test::FileStat, Test::FileRead, Test::FileRemove] {
        let log = log_file(prefix, test);
        if path_of(&log).exists() {
            convert(&log, prefix, (test, bytes(test).max(1)))
                .map_err(|error| format!("the times of {log} cannot be written: {error}"))?;
        }
    }
    Ok(())
}

fn convert(log: &str, prefix: &str, (test, bytes): (Test, u64)) -> std::io::Result<()> {
    let mut files: BTreeMap<u64, (Replacement, Option<Item>)> = BTreeMap::new();
    for line in BufReader::new(File::open(path_of(log))?).lines() {
        // A line of an earlier run that was cut off says nothing.
        let Some(line) = Line::read(&line?) else { continue };
        let (file, item) = match files.entry(line.worker_rank) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(free) => {
                let name = format!("{prefix}-{}-{:05}.csv", test.name(), line.worker_rank);
                let mut file = candor_files::create(&path_of(&name))?;
                file.write_all(b"time,runtime,tp\n")?;
                free.insert((file, None))
            }
        };
        let is_same = item.as_ref().is_some_and(|item| item.name == line.entry_name);
        if !is_same {
            put(file, item.as_ref(), bytes)?;
            let (began_ns, ended_ns) = (line.elapsed_ns, line.elapsed_ns);
            *item = Some(Item { name: line.entry_name, began_ns, ended_ns });
        }
        if let Some(item) = item.as_mut().filter(|_| line.is_finished) {
            item.ended_ns = line.elapsed_ns;
        }
    }
    for (mut file, item) in files.into_values() {
        put(&mut file, item.as_ref(), bytes)?;
        file.commit()?;
    }
    fs::remove_file(path_of(log))
}

/// A line: begin and time of the item in s, and bytes, or items, per second.
fn put(file: &mut impl Write, item: Option<&Item>, bytes: u64) -> std::io::Result<()> {
    let Some(&Item { began_ns, ended_ns, .. }) = item else { return Ok(()) };
    let [at, time] = [began_ns, ended_ns.saturating_sub(began_ns)].map(|ns| ns as f64 / 1e9);
    let rate = if time > 0.0 { bytes as f64 / time } else { 0.0 };
    let [at, time] = [at, time].map(|value| output::exponent(value, 8));
    writeln!(file, "{at},{time},{}", output::exponent(rate, 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_an_item_are_one_line() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let prefix = dir.path().join("p").display().to_string();
        let log = log_file(&prefix, Test::FileCreate);
        let line = |ns: u64, rank: u64, name: &str, ended: bool| {
            format!(
                "{{\"elapsed_ns\":{ns},\"worker_rank\":{rank},\"entry_name\":\"{name}\",\
                 \"is_finished\":{ended},\"op_name\":\"create\"}}\n"
            )
        };
        let lines = [
            line(1000, 0, "a", false),
            line(2000, 1, "x", false),
            line(3000, 0, "a", true),
            line(4000, 0, "a", false),
            line(6000, 0, "a", true),
            line(7000, 0, "b", false),
            line(8000, 0, "b", true),
            line(9000, 1, "x", true),
        ];
        fs::write(&log, lines.concat()).expect("written");
        convert(&log, &prefix, (Test::FileCreate, 1)).expect("converted");
        let read = |rank: u32| {
            fs::read_to_string(format!("{prefix}-File creation-{rank:05}.csv")).expect("written")
        };
        assert_eq!(
            read(0),
            "time,runtime,tp\n1.00000000e-06,5.00000000e-06,2.000000e+05\n\
             7.00000000e-06,1.00000000e-06,1.000000e+06\n"
        );
        assert_eq!(read(1).lines().count(), 2);
        assert!(!path_of(&log).exists());
    }
}
