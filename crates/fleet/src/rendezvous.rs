//! A meeting of the processes that a launcher has started: each brings a text and gets all.
//!
//! The launcher itself carries them where it speaks PMI or PMIx; else they are files in the
//! directory of the job, which its hosts share.

mod pmi;
mod pmix;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for the others, where they meet by files.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The variable with a directory that all hosts share, for launchers without a way of their own.
const DIRECTORY: &str = "CANDOR_RENDEZVOUS";

/// Texts of all processes, by rank, and the way by which they came.
pub struct Met {
    /// One text of each rank.
    pub texts: Vec<String>,
    /// Files of all, which the first process removes when it drops this.
    _files: Files,
}

/// Gives a text to all processes of the launcher, and takes theirs.
///
/// # Errors
/// Somebody does not come, or there is no way to meet, in a sentence.
pub fn meet(rank: u32, size: u32, text: &str) -> Result<Met, String> {
    if std::env::var_os("PMI_FD").is_some() {
        let texts = pmi::exchange(rank, size, text).map_err(|why| format!("PMI: {why}"))?;
        return Ok(Met { texts, _files: Files::default() });
    }
    if std::env::var_os("PMIX_NAMESPACE").is_some() {
        match pmix::exchange(size, text) {
            Ok(texts) => return Ok(Met { texts, _files: Files::default() }),
            // Without its library there is still the directory.
            Err(pmix::Failed::NoLibrary) => {}
            Err(pmix::Failed::Refused(why)) => return Err(format!("PMIx: {why}")),
        }
    }
    by_files(rank, size, text)
}

/// Files that are removed with their owner.
#[derive(Default)]
struct Files(Vec<PathBuf>);

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.0 {
            // One that is gone is gone.
            let _ = fs::remove_file(path);
        }
    }
}

/// The name that all processes of this job know, and no other job.
fn job() -> Result<String, String> {
    let known = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let of = |names: &[&str]| names.iter().filter_map(known).collect::<Vec<_>>().join("-");
    let job = match of(&["SLURM_JOB_ID", "SLURM_STEP_ID"]) {
        name if !name.is_empty() => name,
        _ => of(&["PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID"]),
    };
    let plain: String =
        job.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if plain.is_empty() {
        Err("the launcher gives its job no name by which its processes could meet".into())
    } else {
        Ok(plain)
    }
}

fn by_files(rank: u32, size: u32, text: &str) -> Result<Met, String> {
    let directory = std::env::var_os(DIRECTORY).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let job = job()?;
    let name = |rank: u32| directory.join(format!(".candor-rendezvous-{job}-{rank}"));
    let (own, new) = (name(rank), directory.join(format!(".candor-rendezvous-{job}-{rank}.new")));
    let failed = |why: std::io::Error| format!("cannot write `{}`: {why}", own.display());
    let mut options = File::options();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
    // Readers see a whole text or none.
    file.write_all(text.as_bytes()).and_then(|()| fs::rename(&new, &own)).map_err(failed)?;
    // Whoever brings nothing has nothing to do with the others; the first removes the files of all,
    // once it needs these no more: until then somebody may still read them.
    let all = if rank == 0 { (0..size).map(name).collect() } else { Vec::new() };
    let files = Files(all);
    if text.is_empty() {
        return Ok(Met { texts: Vec::new(), _files: files });
    }
    let began = Instant::now();
    let mut texts = Vec::new();
    for other in 0..size {
        texts.push(loop {
            match fs::read_to_string(name(other)) {
                Ok(text) => break text,
                Err(_) if began.elapsed() < WAIT_MAX => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(why) => {
                    return Err(format!(
                        "rank {other} did not come to `{}` within {} s: {why}; name a directory \
                         that all hosts share in {DIRECTORY}",
                        directory.display(),
                        WAIT_MAX.as_secs()
                    ));
                }
            }
        });
    }
    Ok(Met { texts, _files: files })
}
