//! Things at the paths that a command line names.

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory,
    /// A regular file of so many bytes.
    File(u64),
    /// A block device of so many bytes.
    Device(u64),
    /// Something that has no bytes to work on.
    Other,
}
