//! Processes: grouping, ending, where they run, as whom, what they run beside.

use candor_front::choices;

choices! {
    /// `exit_what`.
    pub enum ExitWhat {
        #[default]
        Group = "the jobs of the group": "group",
        Stonewall = "the running jobs; waiting jobs continue": "stonewall",
        All = "everything": "all",
    }
}

choices! {
    /// `cpus_allowed_policy`.
    pub enum CpuPolicy {
        #[default]
        Shared = "all clones may use all of them": "shared",
        Split = "each clone gets one of them": "split",
    }
}

/// Groups and ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `thread`.
    pub thread: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `exitall`.
    pub exit_all: bool,
    /// `exit_what`.
    pub exit_what: ExitWhat,
    /// `exitall_on_error`.
    pub exit_all_on_error: bool,
    /// `exec_prerun`.
    pub before: Option<String>,
    /// `exec_postrun`.
    pub after: Option<String>,
}

/// `numa_mem_policy`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MemoryPolicy {
    /// As the kernel does it.
    #[default]
    Default,
    /// Where the thread runs.
    Local,
    /// This node first.
    Prefer(u32),
    /// These nodes only.
    Bind(Vec<u32>),
    /// These nodes in turns.
    Interleave(Vec<u32>),
}

/// Where and as whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// `cpus_allowed` or `cpumask`; empty is all.
    pub cpus: Vec<u32>,
    /// `cpus_allowed_policy`.
    pub policy: CpuPolicy,
    /// `numa_cpu_nodes`; empty is all.
    pub nodes: Vec<u32>,
    /// `numa_mem_policy`.
    pub memory: MemoryPolicy,
    /// `nice`.
    pub nice: i64,
    /// `prio`.
    pub priority: Option<u64>,
    /// `prioclass`.
    pub priority_class: Option<u64>,
    /// `priohint`.
    pub priority_hint: Option<u64>,
    /// `uid`.
    pub uid: Option<u64>,
    /// `gid`.
    pub gid: Option<u64>,
    /// `cgroup`.
    pub cgroup: Option<String>,
    /// `cgroup_weight`.
    pub cgroup_weight: Option<u64>,
    /// `cgroup_nodelete`.
    pub cgroup_keep: bool,
}

choices! {
    /// `mem`, without its file.
    pub enum MemoryKind {
        #[default]
        Malloc = "ordinary memory": "malloc",
        Shm = "System V shared memory": "shm",
        ShmHuge = "System V shared memory of huge pages": "shmhuge",
        Mmap = "a private mapping, of a file where one is named": "mmap",
        MmapShared = "a shared mapping": "mmapshared",
        MmapHuge = "a mapping of huge pages": "mmaphuge",
        Cuda = "memory of a GPU": "cudamalloc",
    }
}

/// Memory of the buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// `mem`.
    pub kind: MemoryKind,
    /// The file behind `mem=mmap:FILE`.
    pub file: Option<String>,
    /// `iomem_align`.
    pub align: u64,
    /// `lockmem`.
    pub lock: u64,
}
