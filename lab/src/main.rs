//! `cargo run -p candor-lab`: boots the lab by hand and shows what its cases said.

use std::path::PathBuf;
use std::process::ExitCode;

use candor_lab::{Lab, LabError};

const USAGE: &str = "\
usage: cargo run -p candor-lab -- [OPTION…] [CASE…]

Boots a Debian kernel in QEMU with many kinds of disks, runs the cases of lab/guest/cases
(all of them without CASE) and prints what they said.

  --candor FILE           the program to try [default: target/debug/candor]
  --kernel-package FILE   another kernel: a linux-image package of Debian
  --out FOLDER            keep what the cases wrote there
  --console               print what the machine's console showed
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(LabError::Failed(why)) => {
            eprintln!("lab: {why}");
            ExitCode::FAILURE
        }
        Err(missing @ LabError::Missing(_)) => {
            eprintln!("lab: {missing}; `cargo run -p xtask -- setup` installs what can be");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, LabError> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let mut lab = Lab {
        candor: target.join("debug/candor"),
        kernel_package: None,
        cases: Vec::new(),
        cache: target.join("lab"),
        machines: 1,
    };
    let (mut out, mut console) = (None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value =
            || words.next().map(PathBuf::from).ok_or(LabError::Failed(format!("{word} of what?")));
        match word.as_str() {
            "--candor" => lab.candor = value()?,
            "--kernel-package" => lab.kernel_package = Some(value()?),
            "--out" => out = Some(value()?),
            "--console" => console = true,
            option if option.starts_with('-') => {
                eprint!("{USAGE}");
                return Ok(ExitCode::from(2));
            }
            _ => lab.cases.push(word),
        }
    }
    let results = lab.boot()?;
    if console {
        println!("{}", results.console);
    }
    let mut failed = 0;
    for name in results.names() {
        let Some(case) = results.case(&name) else { continue };
        println!("== {name}: status {}, {} s\n{}", case.status, case.seconds, case.said);
        failed += usize::from(case.status != 0);
    }
    if let Some(out) = out {
        results.keep(&out)?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
