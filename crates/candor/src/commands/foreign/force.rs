//! The environment variable that lets a device be written although it is mounted or in use.

const VARIABLE: &str = "CANDOR_FORCE";

/// True if the user insists.
pub fn is_set() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}
