//! The surroundings of a command line.

/// Everything that words may refer to outside themselves, so that reading can be tested without a
/// host.
pub trait Environment {
    /// The bytes of a file; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read.
    fn file(&mut self, path: &str) -> std::io::Result<Vec<u8>>;

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
}
