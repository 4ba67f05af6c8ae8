//! The lines before the run: one per job, the version, how many start.

use super::VERSION;
use super::number::{Step, short};
use crate::job::{FioJob, Format, Output};

/// Lines before the run; empty without normal output.
pub fn preamble(jobs: &[FioJob], output: &Output) -> String {
    if !output.formats.is_empty() && !output.formats.contains(&Format::Normal) {
        return String::new();
    }
    let mut text = String::new();
    for job in jobs {
        match job.clone {
            0 => {
                text += &job.shape.remarks;
                text += &first_of_section(job);
            }
            1 => text += "...\n",
            _ => {}
        }
    }
    if output.clients.is_empty() {
        text += &format!("{VERSION}\n");
    }
    let threads = jobs.iter().filter(|job| job.shape.thread).count();
    let processes = jobs.len() - threads;
    let mut parts = Vec::new();
    if threads > 0 {
        parts.push(format!("{threads} thread{}", if threads > 1 { "s" } else { "" }));
    }
    if processes > 0 {
        parts.push(format!("{processes} process{}", if processes > 1 { "es" } else { "" }));
    }
    text += &format!("Starting {}\n", parts.join(" and "));
    let instead = jobs.iter().filter_map(|job| job.shape.instead.as_deref());
    text + &instead.collect::<String>()
}

/// A line per job whose engine cannot reach its depth, as in fio.
pub fn capped(jobs: &[FioJob]) -> String {
    let capped = jobs.iter().filter(|job| job.shape.depth_capped);
    capped.map(|_| CAPPED).collect()
}

const CAPPED: &str = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth \
    will be capped at 1\n";

/// A line such as `x: (g=0): rw=read, bs=(R) 4096B-4096B, …, ioengine=psync, iodepth=1`. A job that
/// does no I/O has none.
fn first_of_section(job: &FioJob) -> String {
    let shape = &job.shape;
    if shape.instead.is_some() {
        return String::new();
    }
    let digits = job.reporting.significant_figures;
    let range = |(least, most): (u64, u64)| {
        let size = |bytes| short(bytes, digits, Step::Binary, "B");
        format!("{}-{}", size(least), size(most))
    };
    let sizes = &shape.sizes;
    let (read, write, trim) = (range(sizes.read), range(sizes.write), range(sizes.trim));
    let sizes = if shape.sizes_by_order {
        format!("(R) {read}, (W) {write}, bs_is_seq_rand")
    } else {
        format!("(R) {read}, (W) {write}, (T) {trim}")
    };
    format!(
        "{}: (g={}): rw={}, bs={sizes}, ioengine={}, iodepth={}\n",
        job.name, job.group_id, shape.rw, shape.engine, shape.depth
    )
}

/// The line about the layout of files before the run.
pub fn laying_out(job: &str, files: u32, bytes: u64) -> String {
    let (many, total) = if files > 1 { ("s", "total ") } else { ("", "") };
    let mib = bytes >> 20;
    format!("{job}: Laying out IO file{many} ({files} file{many} / {total}{mib}MiB)\n")
}
