//! The lines that say that files are laid out, one per job and before the run, as fio has them.

use std::collections::HashMap;

use candor_dialects::fio::job::FioJob;
use candor_dialects::fio::write;
use candor_plan::Plan;
use candor_record::{Event, PrepareStep};

/// A consumer of events that gathers what is laid out for a job.
#[derive(Debug, Default)]
pub struct Laying {
    /// Names of the jobs that use a file first, by its path.
    users: HashMap<String, String>,
    current: Option<Laid>,
    /// The file of the last event.
    file: String,
}

#[derive(Debug)]
struct Laid {
    job: String,
    files: u32,
    bytes: u64,
}

impl Laying {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan, jobs: &[FioJob]) -> Laying {
        let targets = plan.targets_by_name();
        let mut users = HashMap::new();
        for job in jobs {
            let planned = &plan.phases[job.phase].jobs[job.job];
            for target in planned.targets.iter().filter_map(|name| targets.get(name.as_str())) {
                for path in candor_engine::files::paths(target) {
                    let path = path.display().to_string();
                    users.entry(path).or_insert_with(|| job.name.clone());
                }
            }
        }
        Laying { users, ..Laying::default() }
    }

    /// Something happened; the line that is complete with it.
    pub fn on(&mut self, event: &Event) -> Option<String> {
        let Event::Preparing { step: PrepareStep::LayOut, what, bytes_total, .. } = event else {
            self.file.clear();
            return self.current.take().map(Laid::line);
        };
        if self.file == *what {
            return None;
        }
        self.file.clone_from(what);
        let job = self.users.get(what).cloned().unwrap_or_else(|| what.clone());
        if let Some(current) = self.current.as_mut().filter(|current| current.job == job) {
            current.files += 1;
            current.bytes += bytes_total;
            return None;
        }
        let done = self.current.replace(Laid { job, files: 1, bytes: *bytes_total });
        done.map(Laid::line)
    }
}

impl Laid {
    fn line(self) -> String {
        write::laying_out(&self.job, self.files, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_one_line_however_many_files_it_has() {
        let users = [("/x/a.0.0", "a"), ("/x/a.0.1", "a"), ("/x/b", "b")];
        let users = users.map(|(path, job)| (path.to_owned(), job.to_owned())).into();
        let mut laying = Laying { users, ..Laying::default() };
        let mut on = |step, what: &str, bytes_done| {
            laying.on(&Event::Preparing {
                phase: "p".into(),
                step,
                what: what.into(),
                bytes_done,
                bytes_total: 3 << 20,
            })
        };
        assert_eq!(on(PrepareStep::LayOut, "/x/a.0.0", 0), None);
        assert_eq!(on(PrepareStep::LayOut, "/x/a.0.0", 3 << 20), None);
        assert_eq!(on(PrepareStep::LayOut, "/x/a.0.1", 0), None);
        let line = on(PrepareStep::LayOut, "/x/b", 0);
        assert_eq!(line.as_deref(), Some("a: Laying out IO files (2 files / total 6MiB)\n"));
        let line = on(PrepareStep::Evict, "/x/b", 0);
        assert_eq!(line.as_deref(), Some("b: Laying out IO file (1 file / 3MiB)\n"));
        assert_eq!(on(PrepareStep::Evict, "/x/b", 0), None);
    }
}
