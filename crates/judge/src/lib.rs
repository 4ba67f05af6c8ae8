//! Facts and measurements in, findings out: pure functions, one rule per file.
