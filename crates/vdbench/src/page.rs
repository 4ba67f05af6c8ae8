//! Description of the tool.

use candor_front::{About, Coverage, ValueKind};

use super::definitions::Defined;
use super::definitions::fsd::Fsd;
use super::definitions::fwd::Fwd;
use super::definitions::general::General;
use super::definitions::host::Host;
use super::definitions::rd::Rd;
use super::definitions::replay::ReplayGroup;
use super::definitions::sd::Sd;
use super::definitions::wd::Wd;
use super::options::TABLE;

/// Description of vdbench.
pub const ABOUT: About = About {
    name: "vdbench",
    summary: "Run vdbench's parameter files, with its files of results and exit codes",
    example: "candor vdbench -f parameters",
    help,
    page,
    coverage,
};

fn help() -> String {
    let mut text = String::from(
        "vdbench -f FILE… [options] [key=value…] [+ rd parameters…]\n\
         vdbench parseflat -i FLATFILE [-o CSV] [-c COLUMN…] [-f COLUMN=VALUE…] [-a]\n\
         vdbench compare OLD NEW\n\n",
    );
    for row in TABLE.rows() {
        let form = ValueKind::form(&row.kind);
        text += &format!("  -{:<4} {form:<18} {}\n", row.name, row.help);
    }
    text + "\n`candor options vdbench` lists the parameters of files.\n"
}

/// Number of parameters that work.
fn coverage() -> Coverage {
    let tables = [
        TABLE.coverage(),
        General::TABLE.coverage(),
        Host::TABLE.coverage(),
        ReplayGroup::TABLE.coverage(),
        Sd::TABLE.coverage(),
        Wd::TABLE.coverage(),
        Fsd::TABLE.coverage(),
        Fwd::TABLE.coverage(),
        Rd::TABLE.coverage(),
    ];
    tables.into_iter().sum()
}

/// Parameters with their support.
fn page() -> String {
    let tables = [
        TABLE.matrix(),
        General::TABLE.matrix(),
        Host::TABLE.matrix(),
        ReplayGroup::TABLE.matrix(),
        Sd::TABLE.matrix(),
        Wd::TABLE.matrix(),
        Fsd::TABLE.matrix(),
        Fwd::TABLE.matrix(),
        Rd::TABLE.matrix(),
    ];
    format!("{}{}", include_str!("page.md.in"), tables.join("\n"))
}
