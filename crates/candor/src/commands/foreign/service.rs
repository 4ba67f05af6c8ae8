//! Services of other tools, which are agents of candor: they speak its own protocol, have the key
//! of this user, a password or a token, and serve the paths that they were started with; where
//! none is named, all that this user may touch, but devices in use.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use candor_fleet::{Allowed, Listening, ServeOptions};
use candor_plan::PathText;

use crate::commands::agent;
use crate::hosts::Keys;

/// The variable with the paths that a service serves, with colons between them.
pub const ALLOW: &str = "CANDOR_ALLOW";

/// Set for a service in the background.
const DETACHED: &str = "CANDOR_SERVICE_DETACHED";

/// Longest wait for a service in the background to fail.
const EARLY: Duration = Duration::from_millis(300);

/// A service of a tool.
#[derive(Debug)]
pub struct Service<'a> {
    /// The tool's name.
    pub tool: &'static str,
    /// Address at which coordinators reach it.
    pub listen: SocketAddr,
    /// Paths that it serves, beside those of [`ALLOW`].
    pub paths: Vec<PathBuf>,
    /// Where its keys come from.
    pub keys: &'a Keys,
    /// The service goes on in the background.
    pub in_background: bool,
}

/// A service that goes on in the background.
#[derive(Debug)]
pub struct Detached {
    /// The number of its process.
    pub process: u32,
    /// The file with its log.
    pub log: PathBuf,
}

impl Service<'_> {
    /// Serves until it is told to quit; in the background, the process that goes on.
    ///
    /// # Errors
    /// No keys, no path, no port, in a sentence.
    pub fn serve(mut self) -> Result<Option<Detached>, String> {
        let source = self.keys.source()?;
        let identity = source.identity()?;
        let allowed = std::env::var_os(ALLOW).unwrap_or_default();
        let allowed = std::env::split_paths(&allowed).filter(|path| !path.as_os_str().is_empty());
        self.paths.extend(allowed);
        if let Some(gone) = self.paths.iter().find(|path| !path.exists()) {
            return Err(format!("a service cannot serve `{}`: it does not exist", gone.text()));
        }
        if self.in_background && std::env::var_os(DETACHED).is_none() {
            return self.detach().map(Some);
        }
        if std::env::var_os(DETACHED).is_some() {
            // It has no terminal then whose end would be its own.
            let _ = rustix::process::setsid();
        }
        let session = agent::session_words(&self.paths, self.keys);
        let allowed = Allowed { paths: self.paths.clone(), ..Allowed::default() };
        let allowed = agent::reaching(allowed);
        let options = ServeOptions { session, allowed, once: false, user_key: source.user_key() };
        let served = Listening::on(self.listen)
            .and_then(|listening| candor_fleet::serve(listening, &identity, options, agent::log));
        served.map(|()| None).map_err(|error| error.to_string())
    }

    /// Starts the same command line once more in the background.
    fn detach(&self) -> Result<Detached, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        // Services of several users have one directory for their logs.
        let user = rustix::process::getuid().as_raw();
        let name = format!("candor-service-{user}-{}.log", self.listen.port());
        let log = std::env::temp_dir().join(name);
        let file =
            candor_files::stream(&log).map_err(|error| format!("{}: {error}", log.text()))?;
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let mut command = Command::new(program);
        // Called as the tool, the name is gone with the path of the program.
        if words.first().is_none_or(|word| word != self.tool) {
            command.arg(self.tool);
        }
        command.args(words).env(DETACHED, "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        // A port that is taken is told at once.
        std::thread::sleep(EARLY);
        match child.try_wait() {
            Ok(None) => Ok(Detached { process: child.id(), log }),
            _ => Err(told(&log)),
        }
    }
}

fn told(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default().trim().to_owned()
}
