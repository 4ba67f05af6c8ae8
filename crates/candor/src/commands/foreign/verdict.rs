//! Where candor's own words go: `CANDOR_VERDICT=off|stderr|FILE`.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use candor_front::session::VerdictIn;
use candor_plan::PathText;

use super::launch;
use crate::screen;

/// Where the verdict goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Among the results: a key of the JSON, a block of the text.
    WithResults,
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
            None => Verdict::WithResults,
            Some(value) if value == "off" => Verdict::Off,
            Some(value) if value == "stderr" => Verdict::Stderr,
            Some(file) => Verdict::File(file.into()),
        }
    }

    /// Claims the file before anything runs. The error is a sentence.
    pub fn claim(&self) -> Result<(), String> {
        let Verdict::File(path) = self else { return Ok(()) };
        let shown = path.text();
        candor_files::prepare(path).map_err(|error| format!("CANDOR_VERDICT={shown}: {error}"))
    }

    /// Results of this process that have the verdict among them. Text in a file or a pipe is for
    /// programs and holds the tool's lines only. Open MPI gives its ranks a pseudo terminal and
    /// copies it into the user's file, so text of a launched process is for programs, too.
    pub fn among_results(&self) -> VerdictIn {
        self.among(std::io::stdout().is_terminal() && !launch::is_launched())
    }

    fn among(&self, is_terminal: bool) -> VerdictIn {
        match self {
            Verdict::WithResults if is_terminal => VerdictIn::Terminal,
            Verdict::WithResults => VerdictIn::Documents,
            Verdict::Off | Verdict::Stderr | Verdict::File(_) => VerdictIn::Nothing,
        }
    }

    /// Writes the verdict where it does not stand among the results. The error is a sentence.
    pub fn deliver(&self, text: &str) -> Result<(), String> {
        match self {
            Verdict::WithResults | Verdict::Off => {}
            Verdict::Stderr => screen::tell(text),
            Verdict::File(path) => candor_files::replace(path, text)
                .map_err(|error| format!("{} cannot be written: {error}", path.text()))?,
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
        assert_eq!(Verdict::from(None), Verdict::WithResults);
        assert_eq!(
            (of(""), of("off"), of("stderr")),
            (Verdict::WithResults, Verdict::Off, Verdict::Stderr)
        );
        assert_eq!(of("/tmp/verdict"), Verdict::File("/tmp/verdict".into()));
    }

    #[test]
    fn text_has_a_verdict_on_a_terminal_only() {
        assert_eq!(Verdict::WithResults.among(true), VerdictIn::Terminal);
        assert_eq!(Verdict::WithResults.among(false), VerdictIn::Documents);
        for elsewhere in [Verdict::Off, Verdict::Stderr, Verdict::File("v".into())] {
            assert_eq!(elsewhere.among(true), VerdictIn::Nothing);
            assert_eq!(elsewhere.among(false), VerdictIn::Nothing);
        }
    }
}
