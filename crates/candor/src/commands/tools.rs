//! The tools whose command lines candor accepts. A tool is a crate with options, lowering, output
//! and sessions, and a line in [`TOOLS`]. A tool that does more than run a plan has a module here.

mod dd;
mod elbencho;
mod fio;
mod vdbench;
mod warp;

use std::ffi::OsString;
use std::path::Path;

use candor_ior::Ior;
use candor_md_workbench::MdWorkbench;
use candor_mdtest::Mdtest;

use super::foreign::tool::Entry;
use super::foreign::{Tool, ranked};
use super::watch::iostat;

/// All tools, in the order of the README.
pub const TOOLS: &[&Tool] = &[
    &fio::TOOL,
    &elbencho::TOOL,
    &ranked::tool::<Ior>(),
    &ranked::tool::<Mdtest>(),
    &ranked::tool::<MdWorkbench>(),
    &vdbench::TOOL,
    &warp::TOOL,
    &dd::TOOL,
    &iostat::TOOL,
];

/// The tool that candor is called as, without the path.
pub fn called_as(program: &OsString) -> Option<&'static Tool> {
    let name = Path::new(program).file_name()?;
    TOOLS.iter().copied().find(|tool| name == tool.name())
}

/// The tool of a command of candor.
pub fn of_command(name: &OsString) -> Option<&'static Tool> {
    find(name.to_str()?).filter(|tool| tool.entry != Entry::Absent)
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name() == name)
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
            ("/opt/warp", Some("warp")),
            ("candor", None),
            ("/fio/candor", None),
            ("fio2", None),
            ("", None),
        ] {
            assert_eq!(called_as(&program.into()).map(Tool::name), called, "{program}");
        }
    }
}
