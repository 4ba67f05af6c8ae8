//! Hosts of workloads on file systems. With several systems, each workload has a group of threads
//! per host, and hosts that share a file system divide its files.

use candor_plan::entries::HostPart;

use super::Workload;
use crate::lower::{Request, Systems};
use crate::values::matches;

/// A host that has work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    /// Label of the host.
    pub label: String,
    /// Number of the host's system; `None` if this host runs all jobs.
    pub system: Option<u32>,
}

/// All hosts that can have work.
#[derive(Clone, Debug)]
pub struct Seats(Vec<Seat>);

impl Default for Seats {
    /// This host runs all jobs.
    fn default() -> Seats {
        Seats(vec![Seat { label: "localhost".into(), system: None }])
    }
}

impl Seats {
    /// Hosts of all definitions if they have several systems.
    pub fn of(request: &Request<'_>) -> Seats {
        let systems = Systems::of(request.file, request.host);
        let hosts = request.file.hosts.iter();
        if systems.is_empty() {
            let first = hosts.map(|host| host.label.clone()).next();
            return first
                .map_or_else(Seats::default, |label| Seats(vec![Seat { label, system: None }]));
        }
        let seat = |label: &String| Seat {
            label: label.clone(),
            system: systems.number(request.file, label),
        };
        Seats(hosts.map(|host| seat(&host.label)).collect())
    }

    /// True if several systems have trees.
    pub fn are_systems(&self) -> bool {
        self.0.iter().any(|seat| seat.system.is_some())
    }

    /// Hosts of a workload.
    ///
    /// # Errors
    /// The workload names an undefined host.
    pub fn of_workload(&self, workload: &Workload<'_>) -> Result<Vec<Seat>, String> {
        if !self.are_systems() {
            return Ok(self.0.clone());
        }
        let wanted = &workload.fwd.hosts;
        let found: Vec<Seat> = self
            .0
            .iter()
            .filter(|seat| {
                wanted.is_empty() || wanted.iter().any(|name| matches(name, &seat.label))
            })
            .cloned()
            .collect();
        if found.is_empty() {
            Err(format!(
                "fwd={} runs on host {}, which is not defined; define it with hd=",
                workload.name,
                wanted.join(", ")
            ))
        } else {
            Ok(found)
        }
    }
}

/// Share of a host in a file system; `None` if this host runs all jobs.
pub fn part(users: &[Seat], seat: &Seat) -> Option<HostPart> {
    seat.system?;
    let number = users.iter().position(|user| user == seat)?;
    Some(HostPart { number: number as u32, of: users.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::super::group::groups;
    use super::super::{FileSystem, Values};
    use super::*;
    use crate::definitions::fsd::Fsd;
    use crate::definitions::fwd::{FileOperation, Fwd};

    fn seats() -> Seats {
        Seats(
            [("a", 0), ("b", 1), ("c", 2)]
                .map(|(label, number)| Seat { label: label.into(), system: Some(number) })
                .to_vec(),
        )
    }

    /// Labels, shares and threads of a workload's groups.
    fn of(shared: bool, fwd: Fwd) -> Result<Vec<(String, HostPart, u32)>, Vec<String>> {
        let fsd = Fsd { shared, ..Fsd::default() };
        let systems = [FileSystem { name: "fsd1", fsd: &fsd }];
        let fwd = Fwd { fsds: vec!["fsd1".into()], ..fwd };
        let workloads = [Workload { name: "w", fwd: &fwd }];
        let groups = groups(&systems, &workloads, &[], &Values::default(), &seats())?;
        Ok(groups
            .iter()
            .map(|group| {
                let part = group.part.expect("a part");
                (group.seat.label.clone(), part, group.threads)
            })
            .collect())
    }

    #[test]
    fn hosts_that_share_a_file_system_have_parts_of_it() {
        let part = |number, of| HostPart { number, of };
        let all = of(true, Fwd { threads: 6, ..Fwd::default() });
        let expected = [("a", 0), ("b", 1), ("c", 2)].map(|(l, n)| (l.to_owned(), part(n, 3), 2));
        assert_eq!(all, Ok(expected.to_vec()));
        let one = of(false, Fwd { threads: 6, hosts: vec!["b".into()], ..Fwd::default() });
        assert_eq!(one, Ok(vec![("b".into(), part(0, 1), 6)]));
    }

    #[test]
    fn several_hosts_have_one_file_system_only_where_it_is_shared() {
        let told = |shared, fwd| of(shared, fwd).expect_err("refused").join("; ");
        let both = vec!["a".to_owned(), "c".to_owned()];
        let wrong = told(false, Fwd { hosts: both, ..Fwd::default() });
        assert!(wrong.contains("fsd=fsd1 is used by hosts a, c; add shared=yes"), "{wrong}");
        let wrong = told(true, Fwd { operation: FileOperation::Mkdir, ..Fwd::default() });
        assert!(wrong.contains("operation=mkdir and rmdir of fsd=fsd1 are for one host"));
        let wrong = told(true, Fwd { hosts: vec!["x".into()], ..Fwd::default() });
        assert!(wrong.contains("fwd=w runs on host x, which is not defined"), "{wrong}");
    }
}
