//! `-t`: short tests without a parameter file.

use std::io;

use super::Options;
use candor_front::{Environment, Refused};

/// File name of a built-in test.
pub(super) const NAME: &str = "built-in test";

/// A built-in test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// Reads and writes at a rate.
    Mixed,
    /// The same with `o_sync`.
    Durable,
    /// Writes as fast as possible.
    Writes,
    /// A file system.
    Files,
}

/// Reads the letter after `-t`.
pub(super) fn chosen(options: &mut Options, text: &str) -> Result<(), Refused> {
    options.builtin = Some(match text {
        // candor always fills a short or missing lun.
        "" | "d" => Builtin::Mixed,
        "1" => Builtin::Durable,
        "2" => Builtin::Writes,
        "f" => Builtin::Files,
        _ => {
            let message = format!("`-t{text}` is no built-in test");
            return Err(Refused::whole(text, message, "use -t, -t1, -t2 or -tf"));
        }
    });
    Ok(())
}

impl Builtin {
    /// The parameter file of the test.
    pub(super) fn text(self, environment: &dyn Environment) -> String {
        let directory = environment.variable("TMPDIR").filter(|directory| !directory.is_empty());
        let directory = directory.unwrap_or_else(|| "/tmp".to_owned());
        let lun = format!("{}/quick_vdbench_test", directory.trim_end_matches('/'));
        let (flags, readpct, rate) = match self {
            Builtin::Files => {
                return format!(
                    "fsd=fsd1,anchor={lun}.dir,depth=1,width=1,files=100,size=128k\n\
                     fwd=default,fsd=fsd1,xfersize=4k,fileio=random,fileselect=random,threads=8,\
                     stopafter=100\n\
                     fwd=fwd1,operation=read\nfwd=fwd2,operation=write\n\
                     rd=rd1,fwd=fwd*,fwdrate=100,format=yes,elapsed=5,interval=1\n"
                );
            }
            Builtin::Mixed => ("", 50, "100"),
            Builtin::Durable => (",openflags=o_sync", 50, "100"),
            Builtin::Writes => ("", 0, "max"),
        };
        format!(
            "sd=sd1,lun={lun},size=40m{flags}\n\
             wd=wd1,sd=sd1,xfersize=1k,readpct={readpct}\n\
             rd=rd1,wd=wd1,iorate={rate},elapsed=5,interval=1\n"
        )
    }
}

/// An environment with the text of a built-in test as a file.
pub(super) struct WithBuiltin<'a> {
    pub environment: &'a mut dyn Environment,
    pub text: Option<String>,
}

impl Environment for WithBuiltin<'_> {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        match &self.text {
            Some(text) if path == NAME => Ok(text.clone().into_bytes()),
            _ => self.environment.file(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment.variable(name)
    }
}
