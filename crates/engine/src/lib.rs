//! Plan in, measurements out: the only crate of candor with a hot loop.
