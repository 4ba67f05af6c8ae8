//! The tools whose languages candor speaks.

use std::ffi::OsString;
use std::path::Path;

use candor_dialects::kit::Coverage;

use super::{dd, elbencho, fio, ior, md_workbench, mdtest, vdbench, watch};

/// A tool whose language candor speaks.
pub struct Tool {
    /// Name: that of a link to candor, and of `candor options NAME`.
    pub name: &'static str,
    /// Does what a command line says, the program's name first, and gives the exit code.
    pub main: fn(&[OsString]) -> u8,
    /// Engines and options, and what candor makes of them, as Markdown.
    pub matrix: fn() -> String,
    /// How many of its options have an effect.
    pub coverage: fn() -> Coverage,
}

/// All of them.
pub const TOOLS: &[Tool] = &[
    Tool { name: "dd", main: dd::main, matrix: dd::matrix, coverage: dd::coverage },
    Tool {
        name: "elbencho",
        main: elbencho::main,
        matrix: elbencho::matrix,
        coverage: elbencho::coverage,
    },
    Tool { name: "fio", main: fio::main, matrix: fio::matrix, coverage: fio::coverage },
    Tool { name: "ior", main: ior::main, matrix: ior::matrix, coverage: ior::coverage },
    Tool {
        name: "iostat",
        main: watch::iostat::main,
        matrix: watch::iostat::matrix,
        coverage: watch::iostat::coverage,
    },
    Tool {
        name: "md-workbench",
        main: md_workbench::main,
        matrix: md_workbench::matrix,
        coverage: md_workbench::coverage,
    },
    Tool { name: "mdtest", main: mdtest::main, matrix: mdtest::matrix, coverage: mdtest::coverage },
    Tool {
        name: "vdbench",
        main: vdbench::main,
        matrix: vdbench::matrix,
        coverage: vdbench::coverage,
    },
];

/// The tool that candor is called as, however long the path to it.
pub fn called_as(program: &OsString) -> Option<&'static Tool> {
    let name = Path::new(program).file_name()?;
    TOOLS.iter().find(|tool| name == tool.name)
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_called_by_name_whatever_the_path() {
        for (program, called) in [
            ("fio", Some("fio")),
            ("/usr/local/bin/fio", Some("fio")),
            ("./fio", Some("fio")),
            ("/usr/bin/iostat", Some("iostat")),
            ("/bin/dd", Some("dd")),
            ("/opt/elbencho", Some("elbencho")),
            ("/opt/mdtest", Some("mdtest")),
            ("./md-workbench", Some("md-workbench")),
            ("/opt/ior/bin/ior", Some("ior")),
            ("./vdbench", Some("vdbench")),
            ("candor", None),
            ("/fio/candor", None),
            ("fio2", None),
            ("", None),
        ] {
            assert_eq!(called_as(&program.into()).map(|tool| tool.name), called, "{program}");
        }
    }
}
