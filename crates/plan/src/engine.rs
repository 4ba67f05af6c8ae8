//! Ways to issue reads, writes and trims: names, capabilities and options of each engine.

mod commands;
mod options;
mod ring;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;

use crate::Bytes;
use crate::omit::is_default;
use crate::units::Direction;

use options::engine_options;

pub use commands::{Carries, NvmeWrite, Protection, ScsiWrite, Sg, UringCmd};
pub use ring::{RingOptions, Uring};

/// A way to issue reads, writes and trims, with its own options.
///
/// In a plan, an engine is a word (`engine = "io_uring"`), or a table of one word where options
/// differ from the defaults (`engine = { io_uring = { sqpoll = true } }`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(into = "EngineText")]
#[schemars(from = "EngineText")]
pub enum Engine {
    /// `pread` and `pwrite`: one operation at a time.
    #[default]
    Psync,
    /// `lseek` where the position is another one, then `read` or `write`.
    Sync,
    /// `readv` and `writev`: operations submitted together that follow each other in one file
    /// become one call.
    Vsync,
    /// `preadv2` and `pwritev2` with flags: one operation at a time.
    Pvsync(Pvsync),
    /// The kernel's aio; truly asynchronous only with direct I/O.
    Libaio(Libaio),
    /// `pread` and `pwrite` in separate threads, one per operation in flight.
    Threads,
    /// io_uring.
    IoUring(Uring),
    /// Loads and stores on a mapping, `msync` for durability.
    Mmap(Mmap),
    /// `splice` and `vmsplice` through a pipe: one operation at a time.
    Splice,
    /// `fallocate`: a read reserves blocks and keeps the size, a write reserves them and makes the
    /// file longer, a trim gives them back. No byte moves.
    Fallocate,
    /// `ftruncate` to the offset of each write. No byte moves.
    Ftruncate,
    /// Loads and stores on fresh memory: the first use of each page is a page fault. No target is
    /// opened.
    PageFault,
    /// NVMe commands to a generic device (`/dev/ng0n1`) by io_uring, past the block layer.
    UringCmd(UringCmd),
    /// SCSI commands to a disk or to its generic device (`/dev/sg0`) by `SG_IO`, past the block
    /// layer.
    Sg(Sg),
    /// HTTP requests on objects of the work's bucket. No target is opened: its `file_name`, or its
    /// name if it has none, is the object's key.
    Http(Http),
    /// Completes at once: measures candor itself.
    Null,
}

/// Names and capabilities of an engine: its row.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    /// One worker can have more than one operation in flight.
    is_async: bool,
    /// Targets are opened.
    uses_targets: bool,
    /// Bytes go to or come from the target.
    moves_bytes: bool,
    /// Commands go past the page cache and past the block layer.
    is_passthrough: bool,
}

impl Row {
    const fn of(name: &'static str) -> Row {
        let is_passthrough = false;
        Row { name, is_async: false, uses_targets: true, moves_bytes: true, is_passthrough }
    }

    const fn many(self) -> Row {
        Row { is_async: true, ..self }
    }

    const fn without_bytes(self) -> Row {
        Row { moves_bytes: false, ..self }
    }

    const fn without_targets(self) -> Row {
        Row { uses_targets: false, ..self }
    }

    const fn past_block_layer(self) -> Row {
        Row { is_passthrough: true, ..self }
    }
}

/// The rows of all engines, a line each: variant, its default options, row. The compiler misses a
/// variant without one, and all lists of engines come from here.
macro_rules! rows {
    ($($variant:pat, $default:expr => $row:expr;)*) => {
        /// Every engine with its default options, in the order of the documentation.
        pub const ALL: [Engine; [$(stringify!($variant)),*].len()] = [$($default),*];

        const NAMES: [&str; Engine::ALL.len()] = [$($row.name),*];

        const fn row(&self) -> Row {
            match self {
                $($variant => $row,)*
            }
        }
    };
}

impl Engine {
    /// pvsync without flags.
    pub const PVSYNC: Engine = Engine::Pvsync(Pvsync::DEFAULT);
    /// libaio without flags.
    pub const LIBAIO: Engine = Engine::Libaio(Libaio::DEFAULT);
    /// io_uring with its default options.
    pub const IO_URING: Engine = Engine::IoUring(Uring::DEFAULT);
    /// mmap with its default options.
    pub const MMAP: Engine = Engine::Mmap(Mmap::DEFAULT);
    /// io_uring_cmd with its default options.
    pub const IO_URING_CMD: Engine = Engine::UringCmd(UringCmd::DEFAULT);
    /// sg with its default options.
    pub const SG: Engine = Engine::Sg(Sg::DEFAULT);
    /// http with its default options.
    pub const HTTP: Engine = Engine::Http(Http::DEFAULT);

    rows! {
        Engine::Psync, Engine::Psync => Row::of("psync");
        Engine::Sync, Engine::Sync => Row::of("sync");
        Engine::Vsync, Engine::Vsync => Row::of("vsync");
        Engine::Pvsync(_), Engine::PVSYNC => Row::of("pvsync");
        Engine::Libaio(_), Engine::LIBAIO => Row::of("libaio").many();
        Engine::Threads, Engine::Threads => Row::of("threads").many();
        Engine::IoUring(_), Engine::IO_URING => Row::of("io_uring").many();
        Engine::Mmap(_), Engine::MMAP => Row::of("mmap");
        Engine::Splice, Engine::Splice => Row::of("splice");
        Engine::Fallocate, Engine::Fallocate => Row::of("fallocate").without_bytes();
        Engine::Ftruncate, Engine::Ftruncate => Row::of("ftruncate").without_bytes();
        Engine::PageFault, Engine::PageFault =>
            Row::of("page_fault").without_bytes().without_targets();
        Engine::UringCmd(_), Engine::IO_URING_CMD =>
            Row::of("io_uring_cmd").many().past_block_layer();
        Engine::Sg(_), Engine::SG => Row::of("sg").past_block_layer();
        Engine::Http(_), Engine::HTTP => Row::of("http").many().without_targets();
        Engine::Null, Engine::Null => Row::of("null").many().without_bytes().without_targets();
    }

    /// The engine of that name, with its default options.
    pub fn by_name(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// The name used in plans and reports.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// True for the same engine, whatever the options of the two.
    pub fn is_kind_of(&self, other: Engine) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(&other)
    }

    /// True where one worker can have more than one operation in flight.
    pub fn is_async(&self) -> bool {
        self.row().is_async
    }

    /// True where a depth above one changes what is issued: because operations are in flight side
    /// by side, or because those that are neighbours become one call.
    pub fn takes_many(&self) -> bool {
        self.is_async() || *self == Engine::Vsync
    }

    /// False where there is no file to open: objects, candor or the ring itself is measured.
    pub fn uses_targets(&self) -> bool {
        self.row().uses_targets && !self.is_nop()
    }

    /// True where bytes go to or come from the target.
    pub fn moves_bytes(&self) -> bool {
        self.row().moves_bytes && !self.is_nop()
    }

    /// False where writes take no bytes from the host: they say what to do with blocks.
    pub fn writes_bytes(&self) -> bool {
        match self {
            Engine::UringCmd(options) => options.write == NvmeWrite::Write,
            Engine::Sg(options) => options.write.carries() != Carries::Nothing,
            _ => true,
        }
    }

    /// True where a target holds what was written to it, so that it can be read back.
    pub fn stores_writes(&self) -> bool {
        match self {
            Engine::Sg(options) => options.write.stores(),
            _ => self.writes_bytes(),
        }
    }

    /// True where commands go to the device past the page cache and past the block layer.
    pub fn is_passthrough(&self) -> bool {
        self.row().is_passthrough
    }

    /// True for io_uring that issues no-ops.
    pub fn is_nop(&self) -> bool {
        self.uring().is_some_and(|uring| uring.nop)
    }

    /// The options of io_uring, where that is the engine.
    pub fn uring(&self) -> Option<&Uring> {
        match self {
            Engine::IoUring(uring) => Some(uring),
            _ => None,
        }
    }

    /// Flags of each call; none for engines whose calls have no flags.
    pub fn call_flags(&self) -> Option<CallFlags> {
        match self {
            Engine::Pvsync(pvsync) => Some(pvsync.flags),
            Engine::Libaio(libaio) => Some(libaio.flags),
            Engine::IoUring(uring) => Some(uring.flags),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn call_flags_mut(&mut self) -> Option<&mut CallFlags> {
        match self {
            Engine::Pvsync(pvsync) => Some(&mut pvsync.flags),
            Engine::Libaio(libaio) => Some(&mut libaio.flags),
            Engine::IoUring(uring) => Some(&mut uring.flags),
            _ => None,
        }
    }

    /// True where each call polls for its completion, so that a busy CPU says nothing.
    pub fn polls(&self) -> bool {
        match self {
            Engine::Pvsync(pvsync) => pvsync.hipri,
            Engine::IoUring(uring) => uring.iopoll,
            Engine::UringCmd(options) => options.iopoll,
            _ => false,
        }
    }

    /// True if each operation can have its own priority.
    pub fn has_priorities(&self) -> bool {
        matches!(self, Engine::Libaio(_) | Engine::IoUring(_))
    }
}

/// An engine as plans spell it.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum EngineText {
    Word(&'static str),
    Options(EngineTable),
}

/// The table of one word, for engines that have options.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EngineTable {
    Pvsync(Pvsync),
    Libaio(Libaio),
    IoUring(Uring),
    Mmap(Mmap),
    #[serde(rename = "io_uring_cmd")]
    UringCmd(UringCmd),
    Sg(Sg),
    Http(Http),
}

impl From<Engine> for EngineText {
    fn from(engine: Engine) -> EngineText {
        let plain = Engine::by_name(engine.name()) == Some(engine);
        match engine {
            _ if plain => EngineText::Word(engine.name()),
            Engine::Pvsync(options) => EngineText::Options(EngineTable::Pvsync(options)),
            Engine::Libaio(options) => EngineText::Options(EngineTable::Libaio(options)),
            Engine::IoUring(options) => EngineText::Options(EngineTable::IoUring(options)),
            Engine::Mmap(options) => EngineText::Options(EngineTable::Mmap(options)),
            Engine::UringCmd(options) => EngineText::Options(EngineTable::UringCmd(options)),
            Engine::Sg(options) => EngineText::Options(EngineTable::Sg(options)),
            Engine::Http(options) => EngineText::Options(EngineTable::Http(options)),
            _ => EngineText::Word(engine.name()),
        }
    }
}

impl From<EngineTable> for Engine {
    fn from(table: EngineTable) -> Engine {
        match table {
            EngineTable::Pvsync(options) => Engine::Pvsync(options),
            EngineTable::Libaio(options) => Engine::Libaio(options),
            EngineTable::IoUring(options) => Engine::IoUring(options),
            EngineTable::Mmap(options) => Engine::Mmap(options),
            EngineTable::UringCmd(options) => Engine::UringCmd(options),
            EngineTable::Sg(options) => Engine::Sg(options),
            EngineTable::Http(options) => Engine::Http(options),
        }
    }
}

impl<'de> Deserialize<'de> for Engine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Engine, D::Error> {
        struct WordOrTable;
        impl<'de> Visitor<'de> for WordOrTable {
            type Value = Engine;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of an engine, or a table of one engine with its options")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Engine, E> {
                Engine::by_name(word).ok_or_else(|| E::unknown_variant(word, &Engine::NAMES))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Engine, A::Error> {
                let table = EngineTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(table.into())
            }
        }
        deserializer.deserialize_any(WordOrTable)
    }
}

engine_options! {
    /// Options of the pvsync engine.
    Pvsync {
        /// `RWF_HIPRI`: poll for the completion.
        #[serde(skip_serializing_if = "is_default")]
        hipri: bool = false,
        /// Share of the calls that get it, in percent; absent means all.
        hipri_percent: Option<u8> = None,
        /// Flags of each call.
        #[serde(skip_serializing_if = "is_default")]
        flags: CallFlags = CallFlags::DEFAULT,
    }
}

engine_options! {
    /// Options of the libaio engine.
    Libaio {
        /// Operations name their buffers by vectors (`preadv`, `pwritev`).
        #[serde(skip_serializing_if = "is_default")]
        vectored: bool = false,
        /// Flags of each call.
        #[serde(skip_serializing_if = "is_default")]
        flags: CallFlags = CallFlags::DEFAULT,
    }
}

engine_options! {
    /// Flags of each call (`RWF_…`).
    CallFlags {
        /// `RWF_NOWAIT`: fail instead of waiting.
        #[serde(skip_serializing_if = "is_default")]
        nowait: bool = false,
        /// `RWF_DSYNC`: each write is durable when it returns.
        #[serde(skip_serializing_if = "is_default")]
        dsync: bool = false,
        /// `RWF_DONTCACHE`: buffered, but dropped from the cache afterwards.
        #[serde(skip_serializing_if = "is_default")]
        dontcache: bool = false,
        /// `RWF_ATOMIC`: each write is torn by no power cut; needs a device that can.
        #[serde(skip_serializing_if = "is_default")]
        atomic: bool = false,
    }
}

engine_options! {
    /// Options of the mmap engine.
    Mmap {
        /// After each operation, its pages are written back (`msync`) and dropped from the mapping
        /// (`MADV_DONTNEED`).
        drop: bool = false,
    }
}

engine_options! {
    /// Options of the http engine.
    Http {
        /// Objects that hold the blocks of a target.
        #[serde(skip_serializing_if = "is_default")]
        object_mode: ObjectMode = ObjectMode::Block,
        /// Read a missing object as zeros, instead of an error.
        #[serde(skip_serializing_if = "is_default")]
        holes: bool = false,
    }
}

/// Objects that hold the blocks of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ObjectMode {
    /// An object per block, with the key `NAME_OFFSET_LENGTH`.
    #[default]
    Block,
    /// An object per target: reads are ranges of it, a write replaces all of it.
    Range,
}

/// Lock around each operation on a file, against other workers and jobs that lock it as well. For
/// engines that do one operation per call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// No lock.
    #[default]
    None,
    /// One operation at a time, within the phase of this run.
    Exclusive,
    /// Many reads at a time, or one other operation.
    ReadWrite,
    /// A POSIX lock of the kernel (`fcntl`) over the bytes of each operation, which other processes
    /// and hosts see as well: shared for reads, exclusive for others.
    PosixRange,
    /// The same over the whole file.
    PosixFile,
}

impl Lock {
    /// True for locks of the kernel, which other processes see.
    pub fn is_posix(self) -> bool {
        matches!(self, Lock::PosixRange | Lock::PosixFile)
    }
}

/// Class of an I/O priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum PriorityClass {
    /// No I/O class: the niceness of the CPU determines it.
    #[default]
    None,
    /// Before all others.
    Realtime,
    /// Best effort, with eight levels.
    BestEffort,
    /// Idle: only if no other process uses the device.
    Idle,
}

/// An I/O priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct IoPriority {
    /// Class.
    pub class: PriorityClass,
    /// Level within the class, 0 the highest and 7 the lowest.
    pub level: u8,
    /// Hint for the device (a command duration limit), 0 for none.
    #[serde(skip_serializing_if = "is_default")]
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

/// A share of the operations with its own priority.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// Of reads or of writes.
    pub op: Direction,
    /// Only of operations of that length; absent means of all.
    pub size: Option<Bytes>,
    /// How many of them, in percent.
    pub percent: u8,
    /// Their priority.
    pub priority: IoPriority,
}

/// Memory that holds the buffers.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Buffers {
    /// Kind of memory.
    pub kind: MemoryKind,
    /// Use huge pages or fail (`hints.huge_pages` falls back to other pages).
    pub huge: bool,
    /// A file that backs them, for private and shared memory.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub file: Option<PathBuf>,
    /// Each buffer begins N bytes after a page boundary.
    pub offset: Bytes,
    /// Additional memory that each worker pins (`mlock`) while it runs.
    pub lock: Option<Bytes>,
}

/// Kind of memory that holds the buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_plans() {
        for (engine, name) in Engine::ALL.into_iter().zip(Engine::NAMES) {
            let json = serde_json::to_string(&engine).expect("a word");
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Engine>(&json).expect("an engine"), engine);
        }
    }

    #[test]
    fn an_engine_has_its_own_options_and_no_others() {
        let ring = Engine::IoUring(Uring { sqpoll: true, ..Uring::DEFAULT });
        let read: Engine =
            serde_json::from_str(r#"{"io_uring": {"sqpoll": true}}"#).expect("io_uring");
        assert_eq!(read, ring);
        assert_eq!(
            serde_json::to_string(&ring).expect("a table"),
            r#"{"io_uring":{"sqpoll":true}}"#
        );
        for wrong in [r#"{"mmap": {"sqpoll": true}}"#, r#"{"psync": {}}"#, r#""posix""#, "{}", "3"]
        {
            assert!(serde_json::from_str::<Engine>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn priorities_as_the_kernel_packs_them() {
        for (class, level, hint, bits) in [
            (PriorityClass::None, 0, 0, 0),
            (PriorityClass::Realtime, 0, 0, 0x2000),
            (PriorityClass::BestEffort, 7, 0, 0x4007),
            (PriorityClass::Idle, 0, 2, 0x6010),
        ] {
            assert_eq!(IoPriority { class, level, hint }.bits(), bits);
        }
    }
}
