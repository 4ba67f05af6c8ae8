//! Processes of one job that MPI's launchers start: which of them this one is.
//!
//! Nothing of MPI is spoken; a launcher tells each process by variables of the environment. One
//! launcher may run inside another's allocation and leave the outer one's variables as they are, so
//! the order in which they are asked counts.

use super::Environment;

/// A place among the processes that a launcher has started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Name of the launcher, as users know it.
    pub by: &'static str,
    /// Variable that has the rank, in each process that belongs to it.
    pub variable: &'static str,
    /// Number of this process among all, from 0.
    pub rank: u32,
    /// Number of processes.
    pub size: u32,
    /// Number of processes on this host, where that is told.
    pub size_here: Option<u32>,
    /// Number of this process among those on this host, where that is told.
    pub rank_here: Option<u32>,
}

impl Launched {
    /// True where all processes are on this host, as far as that is known.
    pub fn is_on_one_host(&self) -> bool {
        self.size_here.is_none_or(|here| here == self.size)
    }
}

/// Variables of a launcher.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    /// The first that is set counts.
    size: &'static [&'static str],
    size_here: Here,
    /// A variable without which the others are those of an allocation, not of a process.
    needs: Option<&'static str>,
}

/// Where the number of processes on this host stands.
enum Here {
    /// In a variable.
    Variable(&'static str),
    /// With Slurm: at the host's number in the list of all hosts.
    Slurm,
}

#[rustfmt::skip]
const LAUNCHERS: &[Launcher] = &[
    Launcher { name: "mpirun", rank: "OMPI_COMM_WORLD_RANK", size: &["OMPI_COMM_WORLD_SIZE"],
        size_here: Here::Variable("OMPI_COMM_WORLD_LOCAL_SIZE"), needs: None },
    // With MPICH's own launcher; under srun with PMI-2 the local number is Slurm's.
    Launcher { name: "mpiexec", rank: "PMI_RANK", size: &["PMI_SIZE"],
        size_here: Here::Variable("MPI_LOCALNRANKS"), needs: Some("MPI_LOCALNRANKS") },
    Launcher { name: "mpiexec", rank: "PMI_ID", size: &["PMI_SIZE", "MPI_LOCALNRANKS"],
        size_here: Here::Variable("MPI_LOCALNRANKS"), needs: Some("PMI_PORT") },
    Launcher { name: "srun", rank: "PMI_RANK", size: &["PMI_SIZE"],
        size_here: Here::Slurm, needs: None },
    Launcher { name: "srun", rank: "PMIX_RANK", size: &["SLURM_STEP_NUM_TASKS"],
        size_here: Here::Slurm, needs: None },
    // A script of a batch job has a process number, too, and no step.
    Launcher { name: "srun", rank: "SLURM_PROCID", size: &["SLURM_STEP_NUM_TASKS"],
        size_here: Here::Slurm, needs: Some("SLURM_STEP_ID") },
];

/// Variables with the number of a process among those on its host, in the order in which launchers
/// are asked.
const HERE: [&str; 3] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"];

/// The place of this process among those of its launcher; none where no launcher is known.
pub fn detect(environment: &dyn Environment) -> Option<Launched> {
    let number = |name: &str| environment.variable(name)?.trim().parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|launcher| {
        if launcher.needs.is_some_and(|needed| environment.variable(needed).is_none()) {
            return None;
        }
        let rank = number(launcher.rank)?;
        let size = launcher.size.iter().find_map(|name| number(name))?;
        let size_here = match launcher.size_here {
            Here::Variable(name) => number(name),
            Here::Slurm => Some(of_slurm(environment, size)),
        };
        let rank_here = HERE.iter().find_map(|name| number(name));
        let (by, variable) = (launcher.name, launcher.rank);
        let launched = Launched { by, variable, rank, size, size_here, rank_here };
        (rank < size).then_some(launched)
    })
}

/// Number of processes of a step of Slurm on this host: one may have more of them than another.
fn of_slurm(environment: &dyn Environment, size: u32) -> u32 {
    let number = |name: &str| environment.variable(name)?.trim().parse::<u32>().ok();
    let listed = || {
        let counts = environment.variable("SLURM_STEP_TASKS_PER_NODE")?;
        counts_of_slurm(&counts).nth(number("SLURM_NODEID")? as usize)
    };
    match number("SLURM_STEP_NUM_NODES").or(number("SLURM_NNODES")) {
        Some(nodes @ 2..) => listed().unwrap_or(size / nodes),
        _ => size,
    }
}

/// The numbers in a list of Slurm, in which `3(x2),1` are three numbers.
fn counts_of_slurm(list: &str) -> impl Iterator<Item = u32> + '_ {
    list.split(',').flat_map(|part| {
        let (count, times) = part.split_once("(x").unwrap_or((part, "1)"));
        let times = times.strip_suffix(')').and_then(|times| times.parse().ok()).unwrap_or(0);
        count.trim().parse().into_iter().flat_map(move |count| std::iter::repeat_n(count, times))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Surroundings;

    fn detected(variables: &[(&str, &str)]) -> Option<Launched> {
        detect(&Surroundings { variables, ..Surroundings::default() })
    }

    fn of(variables: &[(&str, &str)]) -> Option<(&'static str, u32, u32, bool)> {
        let of = detected(variables)?;
        Some((of.by, of.rank, of.size, of.is_on_one_host()))
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        let open_mpi = [
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
            ("PMIX_RANK", "3"),
        ];
        assert_eq!(of(&open_mpi), Some(("mpirun", 3, 4, true)));
        let hydra = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")];
        assert_eq!(of(&hydra), Some(("mpiexec", 1, 4, false)));
        let port = [("PMI_PORT", "h:1"), ("PMI_ID", "1"), ("MPI_LOCALNRANKS", "4")];
        assert_eq!(of(&port), Some(("mpiexec", 1, 4, true)));
        let step = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_NNODES", "1")];
        for rank in ["SLURM_PROCID", "PMIX_RANK"] {
            let variables = [&step[..], &[(rank, "2")]].concat();
            assert_eq!(of(&variables), Some(("srun", 2, 4, true)), "{rank}");
        }
        let two_nodes = [&step[..2], &[("SLURM_PROCID", "2"), ("SLURM_NNODES", "2")]].concat();
        assert_eq!(of(&two_nodes), Some(("srun", 2, 4, false)));
    }

    #[test]
    fn hosts_of_slurm_may_have_different_numbers() {
        for (list, node, here) in [
            ("2(x2)", "1", 2),
            ("3,1", "0", 3),
            ("3,1", "1", 1),
            ("2(x3),1", "3", 1),
            // What cannot be read is taken for equal parts.
            ("2(x3),1", "4", 2),
            ("many", "0", 2),
        ] {
            let variables = [
                ("SLURM_STEP_ID", "0"),
                ("SLURM_PROCID", "2"),
                ("SLURM_STEP_NUM_TASKS", "4"),
                ("SLURM_STEP_NUM_NODES", "2"),
                ("SLURM_STEP_TASKS_PER_NODE", list),
                ("SLURM_NODEID", node),
            ];
            let detected = detected(&variables).expect("a process of srun");
            assert_eq!(detected.size_here, Some(here), "{list} {node}");
        }
    }

    #[test]
    fn an_allocation_is_no_process() {
        let script = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(of(&script), None);
        assert_eq!(of(&[]), None);
        // Within an allocation of Slurm each process of MPICH's launcher has Slurm's number 0.
        let within = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "1"),
            ("PMI_RANK", "3"),
            ("PMI_SIZE", "4"),
            ("MPI_LOCALNRANKS", "4"),
        ];
        assert_eq!(of(&within), Some(("mpiexec", 3, 4, true)));
        assert_eq!(of(&[("OMPI_COMM_WORLD_RANK", "x"), ("OMPI_COMM_WORLD_SIZE", "4")]), None);
    }
}
