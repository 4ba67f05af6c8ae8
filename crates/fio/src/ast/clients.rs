//! Clients, which are hosts that run the jobs, and the job files of each.

use candor_front::{Diagnostic, Environment, Refused, Span, Word};

/// Default port of a server.
pub const PORT: u16 = 8765;

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Name or number of the host; empty for all addresses of this one.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Reads fio's form, `[ip:|ip4:|ip6:]HOST[,PORT]`, and `HOST:PORT`.
    ///
    /// # Errors
    /// A socket of the filesystem, or no number of a port.
    pub fn read(text: &str) -> Result<Address, Refused> {
        let refused = |message: String, remedy: &str| Refused::whole(text, message, remedy);
        if text.starts_with("sock:") {
            let message = format!("`{text}` is a socket of the filesystem");
            return Err(refused(message, "servers of candor listen on TCP; name HOST,PORT"));
        }
        let kinds = ["ip:", "ip4:", "ip6:"];
        let rest = kinds.iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text);
        let is_name = |host: &str| !host.contains(':') || host.starts_with('[');
        let parts = rest.split_once(',').or_else(|| rest.rsplit_once(':').filter(|p| is_name(p.0)));
        let (host, port) = parts.map_or((rest, None), |(host, port)| (host, Some(port)));
        let port = port.map_or(Some(PORT), |port| port.parse().ok());
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_word = host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:%".contains(c));
        match port.filter(|_| is_word) {
            Some(port) => Ok(Address { host, port }),
            None => Err(refused(format!("`{text}` is no address"), "write HOST or HOST,PORT")),
        }
    }

    /// The form that an agent is reached by.
    pub fn text(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// One client, or all of a file, with the following job files.
#[derive(Debug)]
struct Named {
    word: Word,
    addresses: Vec<Address>,
    files: Vec<Word>,
}

/// Clients of a command line so far.
#[derive(Debug, Default)]
pub(super) struct Clients {
    named: Vec<Named>,
    /// Job files are the last client's.
    is_last_open: bool,
    /// Job files of all.
    files: Vec<Word>,
}

impl Clients {
    /// Reads `--client`: a host, or an existing file of hosts.
    pub fn add(&mut self, word: &Word, environment: &mut dyn Environment) -> Result<(), Refused> {
        let listed = match word.text.as_str() {
            "" | "-" => None,
            path => environment.file(path).ok(),
        };
        self.is_last_open = listed.is_none();
        let addresses = match &listed {
            Some(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                text.split_whitespace().map(Address::read).collect::<Result<_, _>>()?
            }
            None => vec![Address::read(&word.text)?],
        };
        if addresses.iter().any(|address| address.host.is_empty()) || addresses.is_empty() {
            let message = format!("`{}` names no host", word.text);
            return Err(Refused::whole(&word.text, message, "name a host, or a file of hosts"));
        }
        let known = self.named.iter().flat_map(|named| &named.addresses).chain(&addresses);
        let times = |address: &Address| known.clone().filter(|known| *known == address).count();
        if let Some(twice) = addresses.iter().find(|address| times(address) > 1) {
            let message = format!("client {} is named twice", twice.text());
            return Err(Refused::whole(&word.text, message, "an agent has one run at a time"));
        }
        self.named.push(Named { word: word.clone(), addresses, files: Vec::new() });
        Ok(())
    }

    /// Another option ends the job files of a client.
    pub fn close(&mut self) {
        self.is_last_open = false;
    }

    /// Adds a job file.
    pub fn file(&mut self, file: Word) {
        match self.named.last_mut().filter(|_| self.is_last_open) {
            Some(named) => named.files.push(file),
            None => self.files.push(file),
        }
    }

    /// The clients, and the job files that all of them have.
    pub fn end(self, wrong: &mut Vec<Diagnostic>) -> (Vec<Client>, Vec<Word>) {
        let of = |named: &Named| -> Vec<Word> {
            named.files.iter().chain(&self.files).cloned().collect()
        };
        let Some(first) = self.named.first().map(of) else { return (Vec::new(), self.files) };
        let is_same = |files: &[Word]| {
            let texts = |files: &[Word]| files.iter().map(|f| f.text.clone()).collect::<Vec<_>>();
            texts(files) == texts(&first)
        };
        for named in &self.named {
            let (host, at, files) = (&named.word.text, named.word.at, of(named));
            let (message, remedy) = match files.as_slice() {
                [] => (
                    format!("client {host} has no job file"),
                    format!("name it after --client={host}, or after a file of hosts"),
                ),
                files if !is_same(files) => (
                    format!("client {host} has other job files than the client before it"),
                    "give all clients the same, or start fio once for each".to_owned(),
                ),
                _ => continue,
            };
            wrong.push(Diagnostic::new(at, "client", host, message).remedy(remedy));
        }
        let clients = self.named.into_iter().flat_map(|Named { word, addresses, .. }| {
            addresses.into_iter().map(move |address| Client { address, at: word.at })
        });
        (clients.collect(), first)
    }
}

/// A host that runs the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Address of the server.
    pub address: Address,
    /// Words that name the client.
    pub at: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_all_forms() {
        for (text, expected) in [
            ("node1", "node1:8765"),
            ("node1,4444", "node1:4444"),
            ("ip4:10.0.0.1,1", "10.0.0.1:1"),
            ("10.0.0.1:4730", "10.0.0.1:4730"),
            ("ip6:::1,4444", "[::1]:4444"),
            ("fe80::2", "[fe80::2]:8765"),
            ("[fe80::2]:7", "[fe80::2]:7"),
            (",4444", ":4444"),
        ] {
            let read = Address::read(text).map(|address| address.text());
            assert_eq!(read.ok().as_deref(), Some(expected), "{text}");
        }
        for text in ["sock:/tmp/x", "a,b", "a,70000", "a b", "$(x)"] {
            assert!(Address::read(text).is_err(), "{text}");
        }
    }
}
