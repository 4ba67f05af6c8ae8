//! Chores of the repository: `tidy`, `counts`, `setup`, `quick`, `test`, `dist`.

mod dist;
mod setup;
mod suite;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run -p xtask -- COMMAND

  tidy    check the house rules; prints one line per breach
  counts  print what the fronts and the style cost, and the goals
          [counts NAME: list the positions of one count of xtask/ceilings.toml]
  setup   install what the tests need (Debian and its kin, as root), or say what is missing
  quick   format, house rules; lints and unit tests of packages that differ from a commit
          [quick COMMIT, default HEAD~1]
  test    setup, format, lints, licences, house rules and all tests; ends with a count
  dist    build the binaries to hand out, check them, and make archives, packages, images,
          sources and checksums in target/dist/out [dist BINARY: of one that is built already]
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let done = match command.as_str() {
        "tidy" => tidy::command(&root()),
        "counts" => tidy::counts::command(&root(), std::env::args().nth(2).as_deref()),
        "setup" => setup::command(&root()),
        "quick" => suite::quick(&root(), std::env::args().nth(2).as_deref()),
        "test" => suite::command(&root()),
        "dist" => dist::command(&root(), std::env::args().nth(2).as_deref()),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The repository: the folder above this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}
