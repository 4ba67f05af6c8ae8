//! The tools whose command lines candor accepts. A tool is a crate with its options, lowering and
//! output, a module here with its command, and a line in [`TOOLS`].

mod dd;
mod elbencho;
mod fio;
mod ior;
mod md_workbench;
mod mdtest;
mod vdbench;

use std::ffi::OsString;
use std::path::Path;

use super::foreign::Tool;
use super::watch::iostat;

/// All tools, in the order of the README.
pub const TOOLS: &[&Tool] = &[
    &fio::TOOL,
    &elbencho::TOOL,
    &ior::TOOL,
    &mdtest::TOOL,
    &md_workbench::TOOL,
    &vdbench::TOOL,
    &dd::TOOL,
    &iostat::TOOL,
];

/// The tool that candor is called as, without the path.
pub fn called_as(program: &OsString) -> Option<&'static Tool> {
    let name = Path::new(program).file_name()?;
    TOOLS.iter().copied().find(|tool| name == tool.name)
}

/// The tool of a command of candor.
pub fn of_command(name: &OsString) -> Option<&'static Tool> {
    find(name.to_str()?).filter(|tool| tool.command.is_some())
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
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
