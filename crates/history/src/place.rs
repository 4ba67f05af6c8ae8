//! Directory of the history.

use std::ffi::OsString;
use std::path::PathBuf;

/// Variable that names the directory, or is `off`.
pub const VARIABLE: &str = "CANDOR_HISTORY";

/// Place of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory, which may not be there yet.
    At(PathBuf),
    /// The user wants none.
    Off,
    /// No variable says where the user's files are.
    Nowhere,
}

/// The place that these variables name: that of [`VARIABLE`], else `candor/history` below
/// `XDG_STATE_HOME`, else below `HOME/.local/state`.
pub fn place(variable: impl Fn(&str) -> Option<OsString>) -> Place {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    match given(VARIABLE) {
        Some(off) if off == "off" => return Place::Off,
        // A path that cannot be made absolute is told when it is used.
        Some(dir) => return Place::At(std::path::absolute(&dir).unwrap_or(dir.into())),
        None => {}
    }
    let state = given("XDG_STATE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    match state.or_else(|| Some(PathBuf::from(given("HOME")?).join(".local/state"))) {
        Some(state) => Place::At(state.join("candor/history")),
        None => Place::Nowhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_place() {
        let place_of = |variables: &[(&str, &str)]| {
            place(|name| Some(variables.iter().find(|(of, _)| *of == name)?.1.into()))
        };
        let at = |path: &str| Place::At(path.into());
        let home = ("HOME", "/home/x");
        assert_eq!(place_of(&[home]), at("/home/x/.local/state/candor/history"));
        let state = ("XDG_STATE_HOME", "/state");
        assert_eq!(place_of(&[home, state]), at("/state/candor/history"));
        assert_eq!(
            place_of(&[home, ("XDG_STATE_HOME", "relative")]),
            at("/home/x/.local/state/candor/history"),
            "the standard says that relative ones are to be ignored"
        );
        assert_eq!(place_of(&[home, state, (VARIABLE, "/here")]), at("/here"));
        assert_eq!(place_of(&[home, (VARIABLE, "off")]), Place::Off);
        assert_eq!(place_of(&[home, (VARIABLE, "")]), place_of(&[home]));
        assert_eq!(place_of(&[]), Place::Nowhere);
    }
}
