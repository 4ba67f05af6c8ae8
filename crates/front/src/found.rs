//! Things at the paths that a command line names.

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory,
    /// A regular file, with its length in bytes.
    File(u64),
    /// A block device or a device that takes its commands, with its size in bytes where known.
    Device(Option<u64>),
    /// Another character device.
    Character,
    /// Something else, such as a pipe or a link to nothing.
    Other,
}

impl Found {
    /// The size in bytes, where it is known.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Found::File(bytes) => Some(bytes),
            Found::Device(bytes) => bytes,
            Found::Nothing | Found::Character | Found::Directory | Found::Other => None,
        }
    }
}

/// The zones of a zoned device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zoned {
    /// Bytes from the start of a zone to the start of the next.
    pub zone_bytes: u64,
    /// Zones that may be open at a time; absent where there is no limit.
    pub open_max: Option<u32>,
}
