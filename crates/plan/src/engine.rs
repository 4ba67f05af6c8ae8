//! Ways to issue I/O, what each can do, and their details.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::units::Direction;
use crate::{Bytes, Nanos};

/// A way to issue I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// `pread` and `pwrite`: one operation at a time.
    #[default]
    Psync,
    /// `lseek` where the position is another one, then `read` or `write`.
    Sync,
    /// `readv` and `writev`: operations handed over together that follow each other in one file
    /// become one call.
    Vsync,
    /// `preadv2` and `pwritev2` with flags: one operation at a time.
    Pvsync,
    /// The kernel's aio; truly asynchronous only with direct I/O.
    Libaio,
    /// `pread` and `pwrite` in threads of its own, as many as operations in flight.
    Threads,
    /// io_uring.
    IoUring,
    /// Loads and stores on a mapping, `msync` for durability.
    Mmap,
    /// `splice` and `vmsplice` through a pipe: one operation at a time.
    Splice,
    /// `fallocate`: a read reserves blocks and keeps the size, a write reserves them and makes the
    /// file longer, a trim gives them back. No byte moves.
    Fallocate,
    /// `ftruncate` to the offset of each write. No byte moves.
    Ftruncate,
    /// Burns CPU instead of issuing I/O.
    Cpu,
    /// Runs a program instead of issuing I/O: the first operation starts it, each further one looks
    /// after it for a while.
    Program,
    /// Completes at once: measures candor itself.
    Null,
}

impl Engine {
    /// Every engine, in the order of the documentation.
    pub const ALL: [Engine; 14] = [
        Engine::Psync,
        Engine::Sync,
        Engine::Vsync,
        Engine::Pvsync,
        Engine::Libaio,
        Engine::Threads,
        Engine::IoUring,
        Engine::Mmap,
        Engine::Splice,
        Engine::Fallocate,
        Engine::Ftruncate,
        Engine::Cpu,
        Engine::Program,
        Engine::Null,
    ];

    /// The name used in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Psync => "psync",
            Engine::Sync => "sync",
            Engine::Vsync => "vsync",
            Engine::Pvsync => "pvsync",
            Engine::Libaio => "libaio",
            Engine::Threads => "threads",
            Engine::IoUring => "io_uring",
            Engine::Mmap => "mmap",
            Engine::Splice => "splice",
            Engine::Fallocate => "fallocate",
            Engine::Ftruncate => "ftruncate",
            Engine::Cpu => "cpu",
            Engine::Program => "program",
            Engine::Null => "null",
        }
    }

    /// True where one worker can have more than one operation in flight.
    pub fn is_async(self) -> bool {
        matches!(self, Engine::Libaio | Engine::Threads | Engine::IoUring | Engine::Null)
    }

    /// True where a depth above one changes what is issued: because operations are in flight side
    /// by side, or because those that are neighbours become one call.
    pub fn takes_many(self) -> bool {
        self.is_async() || self == Engine::Vsync
    }

    /// False where there is nothing to open.
    pub fn uses_targets(self) -> bool {
        !matches!(self, Engine::Null | Engine::Cpu | Engine::Program)
    }

    /// True where bytes go to or come from the target.
    pub fn moves_bytes(self) -> bool {
        self.uses_targets() && !matches!(self, Engine::Fallocate | Engine::Ftruncate)
    }

    /// True where calls can carry the flags of [`Rwf`].
    pub fn has_call_flags(self) -> bool {
        matches!(self, Engine::Pvsync | Engine::Libaio | Engine::IoUring)
    }

    /// True where each operation can have a priority of its own.
    pub fn has_priorities(self) -> bool {
        matches!(self, Engine::Libaio | Engine::IoUring)
    }
}

/// Details of the io_uring engine. Absent switches mean: use it where the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Uring {
    /// A kernel thread takes submissions, so that submitting needs no system call.
    pub sqpoll: bool,
    /// CPU of that thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sqpoll_cpu: Option<u32>,
    /// Completions are polled for instead of awaited; needs direct I/O and poll queues.
    pub iopoll: bool,
    /// Buffers registered with the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_buffers: Option<bool>,
    /// Files registered with the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_files: Option<bool>,
    /// Completion work runs only when the worker asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_taskrun: Option<bool>,
    /// Every n-th operation goes to a kernel thread at once, without trying to start it in the
    /// submitting call; 0 means none does.
    #[serde(skip_serializing_if = "is_zero")]
    pub force_async_every: u32,
    /// Operations name their buffers by vectors (`readv`, `writev`), which excludes registered
    /// buffers.
    #[serde(skip_serializing_if = "is_false")]
    pub vectored: bool,
    /// Issue no-ops instead of I/O: measures the ring itself.
    pub nop: bool,
}

/// Flags of each call, for the engines whose calls can carry them: pvsync, libaio and io_uring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rwf {
    /// `RWF_HIPRI`: poll for the completion.
    pub hipri: bool,
    /// Share of the calls that get it, in percent; absent means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hipri_percent: Option<u8>,
    /// `RWF_NOWAIT`: fail instead of waiting.
    pub nowait: bool,
    /// `RWF_DSYNC`: each write is durable when it returns.
    pub dsync: bool,
    /// `RWF_DONTCACHE`: buffered, but dropped from the cache afterwards.
    pub dontcache: bool,
    /// `RWF_ATOMIC`: each write is torn by no power cut; needs a device that can.
    #[serde(skip_serializing_if = "is_false")]
    pub atomic: bool,
}

/// Details of the mmap engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mmap {
    /// After each operation, its pages are written back (`msync`) and dropped from the mapping
    /// (`MADV_DONTNEED`).
    pub drop: bool,
}

/// What the cpu engine does in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Burn {
    /// How long one operation takes.
    pub chunk: Nanos,
    /// Sort numbers instead of spinning, which takes more power.
    pub sort: bool,
}

impl Default for Burn {
    fn default() -> Self {
        Burn { chunk: Nanos(50_000_000), sort: false }
    }
}

/// What the program engine runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    /// Its name, looked for along `PATH` where it has no slash, and its arguments.
    pub command: Vec<String>,
    /// File that gets its standard output, overwritten; absent passes it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// The same for its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<PathBuf>,
    /// How long it has to end once it was asked to (SIGTERM), before it is killed.
    pub grace: Nanos,
    /// The job ends with it; else it lasts as long as the job is to last.
    pub until_end: bool,
    /// Where it cannot be started, the job does nothing instead of failing, and the reason goes
    /// where its standard error would have gone.
    pub optional: bool,
}

impl Default for Program {
    fn default() -> Self {
        let grace = Nanos::from_secs(1);
        Program {
            command: Vec::new(),
            output: None,
            errors: None,
            grace,
            until_end: false,
            optional: false,
        }
    }
}

/// How operations on a file keep off those of other workers and jobs of the phase, where these lock
/// it as well: for engines that do one operation per call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// Not at all.
    #[default]
    None,
    /// One operation at a time.
    Exclusive,
    /// Many reads at a time, or one other operation.
    ReadWrite,
}

/// Class of an I/O priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// None of its own: follows from the CPU's niceness.
    #[default]
    None,
    /// Before all others.
    Realtime,
    /// As others, within eight levels.
    BestEffort,
    /// When nobody else wants the device.
    Idle,
}

/// An I/O priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IoPriority {
    /// Its class.
    pub class: PriorityClass,
    /// Level within the class, 0 the highest and 7 the lowest.
    pub level: u8,
    /// Hint for the device (a command duration limit), 0 for none.
    #[serde(skip_serializing_if = "is_zero_16")]
    pub hint: u16,
}

impl IoPriority {
    /// Number of levels.
    pub const LEVELS: u8 = 8;
    /// Greatest hint.
    pub const HINT_MAX: u16 = 1023;

    /// The kernel's form: class, hint and level in 16 bits.
    pub fn bits(self) -> u16 {
        let class = match self.class {
            PriorityClass::None => 0,
            PriorityClass::Realtime => 1,
            PriorityClass::BestEffort => 2,
            PriorityClass::Idle => 3,
        };
        class << 13 | (self.hint & IoPriority::HINT_MAX) << 3 | u16::from(self.level & 7)
    }

    /// The other way round.
    pub fn from_bits(bits: u16) -> IoPriority {
        let class = match bits >> 13 {
            1 => PriorityClass::Realtime,
            2 => PriorityClass::BestEffort,
            3 => PriorityClass::Idle,
            _ => PriorityClass::None,
        };
        let hint = bits >> 3 & IoPriority::HINT_MAX;
        IoPriority { class, level: (bits & 7) as u8, hint }
    }
}

/// A share of the operations that have a priority of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// Of reads or of writes.
    pub op: Direction,
    /// Only of operations of that length; absent means of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// How many of them, in percent.
    pub percent: u8,
    /// Their priority.
    pub priority: IoPriority,
}

/// Where the buffers lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// What kind of memory.
    pub kind: MemoryKind,
    /// From huge pages, or not at all. ([`crate::blocks::Hints::huge_pages`] takes others where
    /// there are none.)
    pub huge: bool,
    /// A file that backs them, for private and shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Each buffer begins that many bytes behind a page boundary.
    pub offset: Bytes,
    /// Memory that each worker pins (`mlock`) beside its buffers while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Bytes>,
}

/// What kind of memory holds the buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// A private mapping.
    #[default]
    Private,
    /// A shared mapping.
    Shared,
    /// A System V segment (`shmget`).
    Shm,
}

/// True for what need not be written down.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_zero_16(value: &u16) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_plans() {
        for engine in Engine::ALL {
            let json = serde_json::to_string(&engine).expect("a word");
            assert_eq!(json, format!("\"{}\"", engine.name()));
        }
    }

    #[test]
    fn priorities_as_the_kernel_packs_them() {
        let of = |class, level, hint| IoPriority { class, level, hint }.bits();
        assert_eq!(of(PriorityClass::None, 0, 0), 0);
        assert_eq!(of(PriorityClass::Realtime, 0, 0), 0x2000);
        assert_eq!(of(PriorityClass::BestEffort, 7, 0), 0x4007);
        assert_eq!(of(PriorityClass::Idle, 0, 2), 0x6010);
    }
}
