//! candor: a storage benchmark that tells you whether to believe it.
fn main() {}
