//! Groups of threads: one for each workload, file system, operation and host of a run.

use candor_plan::entries::HostPart;

use super::seats::{self, Seat, Seats};
use super::{FileSystem, Values, Workload};
use crate::definitions::fwd::{FileOperation, Fwd};
use crate::values::matches;

/// Threads of one workload that do one operation on one file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'a> {
    /// Name of the workload.
    pub fwd: &'a str,
    /// The workload.
    pub workload: &'a Fwd,
    /// Number of the file system among the definitions.
    pub fsd: usize,
    /// Number of the destination file system of copy or move.
    pub target: Option<usize>,
    /// The operation.
    pub operation: FileOperation,
    /// Share of reads among reads and writes, in percent.
    pub read_percent: Option<f64>,
    /// Threads.
    pub threads: u32,
    /// Share of all operations of the run, in percent.
    pub share: f64,
    /// The host.
    pub seat: Seat,
    /// The host's share of the files; `None` if this host runs all jobs.
    pub part: Option<HostPart>,
    /// Other hosts have groups of the workload, too.
    pub is_one_of_several: bool,
}

impl Group<'_> {
    /// Name of the job.
    pub fn name(&self, systems: &[FileSystem<'_>]) -> String {
        let name = format!("{} {} {}", self.fwd, systems[self.fsd].name, self.operation.word());
        if self.is_one_of_several { format!("{name} from {}", self.seat.label) } else { name }
    }
}

/// Groups of a run's workloads; `asked` are operations of the run that override theirs.
///
/// # Errors
/// Returns sentences about contradictions.
pub fn groups<'a>(
    systems: &[FileSystem<'_>],
    workloads: &[Workload<'a>],
    asked: &[FileOperation],
    values: &Values,
    seats: &Seats,
) -> Result<Vec<Group<'a>>, Vec<String>> {
    let (mut groups, mut wrong) = (Vec::new(), Vec::new());
    for workload in workloads {
        match seats
            .of_workload(workload)
            .and_then(|seats| of_workload(systems, workload, asked, values, &seats))
        {
            Ok(more) => groups.extend(more),
            Err(sentence) => wrong.push(sentence),
        }
    }
    if let Err(sentence) = share_the_rest(&mut groups) {
        wrong.push(sentence);
    }
    wrong.extend(misshared(&groups, systems));
    for at in 0..groups.len() {
        let users = users(&groups, groups[at].fsd);
        groups[at].part = seats::part(&users, &groups[at].seat);
    }
    if wrong.is_empty() { Ok(groups) } else { Err(wrong) }
}

/// Groups of one workload; a share of 0 is not set.
fn of_workload<'a>(
    systems: &[FileSystem<'_>],
    workload: &Workload<'a>,
    asked: &[FileOperation],
    values: &Values,
    seats: &[Seat],
) -> Result<Vec<Group<'a>>, String> {
    let (name, fwd) = (workload.name, workload.fwd);
    let of_run = values.operation.map_or_else(|| asked.to_vec(), |operation| vec![operation]);
    let operations = if of_run.is_empty() { vec![fwd.operation] } else { of_run };
    let read_percent = values.read_percent.or(fwd.read_percent);
    check(name, fwd, &operations, read_percent)?;
    let fsds = fsds(systems, name, &fwd.fsds)?;
    let target = match &fwd.target {
        Some(target) => Some(system(systems, name, target)?),
        None => None,
    };
    let threads = values.threads.unwrap_or(fwd.threads);
    let parts = (fsds.len() * operations.len() * seats.len()) as u32;
    let each = |(fsd, seat): (usize, &Seat)| {
        let group = |operation: &FileOperation| Group {
            fwd: name,
            workload: fwd,
            fsd,
            target: target.filter(|_| goes_over(*operation)),
            operation: *operation,
            read_percent,
            threads: (threads / parts).max(1),
            share: fwd.skew.unwrap_or(0.0) / f64::from(parts),
            seat: seat.clone(),
            part: None,
            is_one_of_several: seats.len() > 1,
        };
        operations.iter().map(group).collect::<Vec<_>>()
    };
    let both = fsds.into_iter().flat_map(|fsd| seats.iter().map(move |seat| (fsd, seat)));
    Ok(both.flat_map(each).collect())
}

/// True for operations that bring a file to another file system.
pub fn goes_over(operation: FileOperation) -> bool {
    matches!(operation, FileOperation::Copy | FileOperation::Move)
}

/// Checks a workload by vdbench's rules.
fn check(
    name: &str,
    fwd: &Fwd,
    operations: &[FileOperation],
    read_percent: Option<f64>,
) -> Result<(), String> {
    use FileOperation::{Read, Write};
    let io = fwd.file_io;
    let goes = operations.iter().any(|operation| goes_over(*operation));
    let is_own = fwd.read_percent.is_some();
    let sentence = match read_percent {
        Some(_) if io.delete_first => "fileio=(sequential,delete) and rdpct= exclude each other",
        // A share of the run turns any operation into reads and writes, in any order.
        Some(_) if is_own && !io.random => {
            "rdpct= is for random places; add fileio=random, or remove rdpct="
        }
        Some(_)
            if operations.len() > 1
                || goes
                || is_own
                    && !operations.iter().all(|operation| matches!(operation, Read | Write)) =>
        {
            "rdpct= takes operation=read or operation=write, and one of them"
        }
        _ if io.shared && fwd.file_select.random => {
            "fileio=(random,shared) and fileselect=random exclude each other"
        }
        _ if goes && fwd.target.is_none() => "copy and move need target=, the file system to go to",
        _ if !goes && fwd.target.is_some() => "target= is for operation=copy and operation=move",
        _ => return Ok(()),
    };
    Err(format!("fwd={name}: {sentence}"))
}

/// File systems of a name or wildcard.
fn fsds(systems: &[FileSystem<'_>], fwd: &str, names: &[String]) -> Result<Vec<usize>, String> {
    if names.is_empty() {
        return Err(format!("fwd={fwd} names no file system; add fsd="));
    }
    let mut found = Vec::new();
    for name in names {
        let more: Vec<usize> =
            (0..systems.len()).filter(|at| matches(name, systems[*at].name)).collect();
        if more.is_empty() {
            return Err(format!("fwd={fwd}: there is no fsd={name}"));
        }
        found.extend(more);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn system(systems: &[FileSystem<'_>], fwd: &str, name: &str) -> Result<usize, String> {
    let found = systems.iter().position(|system| system.name == name);
    found.ok_or_else(|| format!("fwd={fwd}: there is no fsd={name} to go to"))
}

/// Divides the rest equally among groups without skew.
fn share_the_rest(groups: &mut [Group<'_>]) -> Result<(), String> {
    let given: f64 = groups.iter().map(|group| group.share).sum();
    let without = groups.iter().filter(|group| group.share == 0.0).count();
    let rest = if without == 0 { 0.0 } else { (100.0 - given) / without as f64 };
    groups.iter_mut().filter(|group| group.share == 0.0).for_each(|group| group.share = rest);
    let total: f64 = groups.iter().map(|group| group.share).sum();
    let is_whole = (total - 100.0).abs() < 0.0001 && groups.iter().all(|group| group.share > 0.0);
    if groups.is_empty() || is_whole {
        Ok(())
    } else {
        Err(format!("skew= of all workloads must be 100 together, not {given}"))
    }
}

/// Hosts that work on a file system, each once.
pub fn users(groups: &[Group<'_>], fsd: usize) -> Vec<Seat> {
    let mut users: Vec<Seat> = Vec::new();
    for group in groups.iter().filter(|group| group.fsd == fsd || group.target == Some(fsd)) {
        if !users.contains(&group.seat) {
            users.push(group.seat.clone());
        }
    }
    users
}

/// Sentences about file systems that several hosts must not share.
fn misshared(groups: &[Group<'_>], systems: &[FileSystem<'_>]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (fsd, system) in systems.iter().enumerate() {
        let users = users(groups, fsd);
        let [_, _, ..] = &users[..] else { continue };
        let labels: Vec<&str> = users.iter().map(|seat| seat.label.as_str()).collect();
        let (name, labels) = (system.name, labels.join(", "));
        if !system.fsd.shared {
            wrong.push(format!(
                "fsd={name} is used by hosts {labels}; add shared=yes to it where they share its \
                 directory, or host= to its workloads, so that one host has it"
            ));
        }
        let of_directories = |group: &&Group<'_>| {
            matches!(group.operation, FileOperation::Mkdir | FileOperation::Rmdir)
        };
        if groups.iter().filter(|group| group.fsd == fsd).any(|group| of_directories(&group)) {
            wrong.push(format!(
                "operation=mkdir and rmdir of fsd={name} are for one host, for directories lie in \
                 one another, and {labels} use it; add host= to the workload"
            ));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::fsd::Fsd;
    use crate::definitions::fwd::FileIo;

    fn systems<'a>(fsd: &'a Fsd, names: &[&'a str]) -> Vec<FileSystem<'a>> {
        names.iter().map(|name| FileSystem { name, fsd }).collect()
    }

    fn fwd(fsds: &[&str], threads: u32) -> Fwd {
        Fwd { fsds: fsds.iter().map(|name| (*name).into()).collect(), threads, ..Fwd::default() }
    }

    #[test]
    fn threads_are_divided_among_file_systems_and_operations() {
        let fsd = Fsd::default();
        let systems = systems(&fsd, &["fsd1", "fsd2", "other"]);
        let of = fwd(&["fsd*"], 9);
        let workloads = [Workload { name: "fwd1", fwd: &of }];
        let asked = [FileOperation::Read, FileOperation::Getattr];
        let groups = groups(&systems, &workloads, &asked, &Values::default(), &Seats::default())
            .expect("groups");
        let seen: Vec<_> =
            groups.iter().map(|g| (g.fsd, g.operation, g.threads, g.share)).collect();
        let each = |fsd, operation| (fsd, operation, 2, 25.0);
        let expected = [0, 1].map(|fsd| asked.map(|operation| each(fsd, operation))).concat();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_share_without_a_number_is_what_the_others_leave() {
        let fsd = Fsd::default();
        let systems = systems(&fsd, &["fsd1"]);
        let shares = |skews: &[Option<f64>]| {
            let fwds: Vec<Fwd> =
                skews.iter().map(|skew| Fwd { skew: *skew, ..fwd(&["fsd1"], 1) }).collect();
            let workloads: Vec<_> = fwds.iter().map(|fwd| Workload { name: "f", fwd }).collect();
            let groups = groups(&systems, &workloads, &[], &Values::default(), &Seats::default());
            groups.map(|groups| groups.iter().map(|group| group.share).collect::<Vec<_>>())
        };
        assert_eq!(shares(&[None, None]), Ok(vec![50.0, 50.0]));
        assert_eq!(shares(&[Some(60.0), None, None]), Ok(vec![60.0, 20.0, 20.0]));
        assert!(shares(&[Some(60.0), Some(30.0)]).is_err());
        assert!(shares(&[Some(100.0), None]).is_err());
    }

    #[test]
    fn words_that_exclude_each_other_have_a_sentence() {
        let fsd = Fsd::default();
        let systems = systems(&fsd, &["fsd1"]);
        let random = FileIo { random: true, ..FileIo::default() };
        let base = || fwd(&["fsd1"], 1);
        let select = |random| crate::definitions::fwd::FileSelect { random, ..Default::default() };
        let cases = [
            (Fwd { read_percent: Some(50.0), ..base() }, "random places"),
            (
                Fwd {
                    read_percent: Some(50.0),
                    file_io: FileIo { delete_first: true, ..FileIo::default() },
                    ..base()
                },
                "exclude each other",
            ),
            (
                Fwd {
                    read_percent: Some(50.0),
                    file_io: random,
                    operation: FileOperation::Getattr,
                    ..base()
                },
                "operation=read",
            ),
            (
                Fwd {
                    file_io: FileIo { shared: true, ..random },
                    file_select: select(true),
                    ..base()
                },
                "exclude each other",
            ),
            (Fwd { operation: FileOperation::Copy, ..base() }, "target="),
            (Fwd { target: Some("fsd1".into()), ..base() }, "target="),
            (fwd(&["nosuch"], 1), "no fsd=nosuch"),
            (fwd(&[], 1), "names no file system"),
        ];
        for (fwd, part) in cases {
            let workloads = [Workload { name: "w", fwd: &fwd }];
            let wrong = groups(&systems, &workloads, &[], &Values::default(), &Seats::default());
            let wrong = wrong.expect_err(part);
            assert!(wrong[0].contains(part) && wrong[0].contains("fwd=w"), "{wrong:?}");
        }
    }
}
