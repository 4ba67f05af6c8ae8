//! s3proxy, a second opinion: another implementation, in Java.

use std::process::Command;

use super::Server;
use super::server::{Start, directory, missing, tool, unique};
use crate::support::Scratch;

/// File of the program; `xtask/src/setup/servers.rs` fetches it.
const JAR: &str = "s3proxy-4.1.0-jar-with-dependencies.jar";

impl Server {
    /// Starts s3proxy over an empty directory; a sentence where it or Java is missing.
    pub fn s3proxy(scratch: &Scratch) -> Result<Server, String> {
        let jar = tool(JAR)?;
        if Command::new("java").arg("-version").output().is_err() {
            return Err(missing("java"));
        }
        let data = directory(scratch, "s3proxy");
        let properties = format!(
            "s3proxy.endpoint=http://127.0.0.1:0\n\
             s3proxy.authorization=aws-v4\n\
             s3proxy.identity={}\n\
             s3proxy.credential={}\n\
             jclouds.provider=filesystem-nio2\n\
             jclouds.filesystem.basedir={}\n",
            Server::ACCESS_KEY,
            Server::SECRET_KEY,
            data.display(),
        );
        let properties = scratch.file(&unique("s3proxy.conf"), &properties);
        let mut command = Command::new("java");
        // A short life does not repay the second compiler and parallel collection of garbage.
        command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar"]);
        command.arg(jar).args(["--properties", &properties]);
        let start = Start { name: "s3proxy", command, ports: 1, data, certificate: None };
        Ok(Server::start(scratch, start))
    }
}
