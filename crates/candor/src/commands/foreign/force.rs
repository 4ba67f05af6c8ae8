//! The environment variable that lets a device be written although it is mounted or in use.

const VARIABLE: &str = "CANDOR_FORCE";

/// Remedy for a device in use.
pub const REMEDY: &str = "release it first, or insist with CANDOR_FORCE=1 in the environment";

/// True if the user insists.
pub fn is_set() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}
