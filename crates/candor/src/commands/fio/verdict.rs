//! Where candor's own words go: `CANDOR_VERDICT=off|stderr|FILE`.

use std::ffi::OsString;
use std::path::PathBuf;

use candor_dialects::fio::output;
use candor_record::Report;

use crate::screen;

/// Where the verdict goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Beside fio's output: a key of the JSON, a block after the text.
    Beside,
    /// Nowhere.
    Off,
    /// To stderr.
    Stderr,
    /// To a file.
    File(PathBuf),
}

impl Verdict {
    /// As the environment says.
    pub fn chosen() -> Verdict {
        Verdict::from(std::env::var_os("CANDOR_VERDICT"))
    }

    fn from(value: Option<OsString>) -> Verdict {
        match value.filter(|value| !value.is_empty()) {
            None => Verdict::Beside,
            Some(value) if value == "off" => Verdict::Off,
            Some(value) if value == "stderr" => Verdict::Stderr,
            Some(file) => Verdict::File(file.into()),
        }
    }

    /// Tells it where it is not beside fio's output.
    pub fn deliver(&self, report: &Report) -> Result<(), String> {
        match self {
            Verdict::Beside | Verdict::Off => {}
            Verdict::Stderr => screen::tell(&output::verdict(report)),
            Verdict::File(path) => std::fs::write(path, output::verdict(report))
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        let of = |value: &str| Verdict::from(Some(value.into()));
        assert_eq!(Verdict::from(None), Verdict::Beside);
        assert_eq!(
            (of(""), of("off"), of("stderr")),
            (Verdict::Beside, Verdict::Off, Verdict::Stderr)
        );
        assert_eq!(of("/tmp/verdict"), Verdict::File("/tmp/verdict".into()));
    }
}
