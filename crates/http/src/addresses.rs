//! Addresses of the servers: looked up, kept, looked up again.
//!
//! The first look-up of a host blocks its caller. Later look-ups run on their own thread, and
//! connections use the known addresses until it ends.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::{Fault, FaultKind};
use crate::endpoint::Endpoint;

/// Age at which addresses are looked up again.
const LIFE: Duration = Duration::from_secs(30);
/// Time for which a failed first look-up is not repeated.
const FAILURE_LIFE: Duration = Duration::from_secs(1);

/// Addresses of one host.
pub struct Addresses {
    host: String,
    port: u16,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// In the resolver's order; empty before the first success.
    list: Vec<SocketAddr>,
    looked_up: Option<Instant>,
    failure: Option<Fault>,
    is_running: bool,
}

/// One address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The address.
    pub address: SocketAddr,
    /// Number of the host's addresses.
    pub of: usize,
    /// The call looked the host up.
    pub looked_up: bool,
}

impl Addresses {
    /// Addresses of an endpoint's host, not looked up yet.
    pub fn new(endpoint: &Endpoint) -> Arc<Addresses> {
        let (host, port) = (endpoint.host.clone(), endpoint.port);
        Arc::new(Addresses { host, port, known: Mutex::default() })
    }

    /// Address number `number`, modulo the number of addresses.
    pub fn choose(self: &Arc<Addresses>, number: u64) -> Result<Choice, Fault> {
        let mut known = self.lock();
        let mut looked_up = false;
        if known.list.is_empty() {
            self.look_up_first(&mut known)?;
            looked_up = true;
        } else if known.looked_up.is_none_or(|at| at.elapsed() >= LIFE) && !known.is_running {
            known.is_running = self.look_up_again();
        }
        let of = known.list.len();
        Ok(Choice { address: known.list[(number % of as u64) as usize], of, looked_up })
    }

    /// Marks the addresses as old, after a connect error.
    pub fn expire(&self) {
        self.lock().looked_up = None;
    }

    /// All addresses.
    pub fn all(&self) -> Result<Vec<SocketAddr>, Fault> {
        let mut known = self.lock();
        if known.list.is_empty() {
            self.look_up_first(&mut known)?;
        }
        Ok(known.list.clone())
    }

    fn look_up_first(&self, known: &mut Known) -> Result<(), Fault> {
        if let Some(failure) = &known.failure
            && known.looked_up.is_some_and(|at| at.elapsed() < FAILURE_LIFE)
        {
            return Err(failure.clone());
        }
        let found = look_up(&self.host, self.port);
        known.looked_up = Some(Instant::now());
        known.failure = found.as_ref().err().cloned();
        known.list = found?;
        Ok(())
    }

    /// Starts a look-up on its own thread. False if no thread could be started.
    fn look_up_again(self: &Arc<Addresses>) -> bool {
        let addresses = Arc::clone(self);
        let thread = thread::Builder::new().name("look-up".to_owned());
        let started = thread.spawn(move || {
            let found = look_up(&addresses.host, addresses.port);
            let mut known = addresses.lock();
            known.is_running = false;
            known.looked_up = Some(Instant::now());
            // A resolver that fails now leaves the known addresses in use.
            if let Ok(list) = found {
                known.list = list;
            }
        });
        started.is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Addresses of all families, each once.
fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, Fault> {
    let found = (host, port).to_socket_addrs().map_err(|error| Fault {
        kind: FaultKind::Lookup,
        errno: error.raw_os_error(),
        message: format!("the name \"{host}\" has no address: {error}"),
    })?;
    let mut list = Vec::new();
    for address in found {
        if !list.contains(&address) {
            list.push(address);
        }
    }
    if list.is_empty() {
        let message = format!("the name \"{host}\" has no address");
        return Err(Fault::new(FaultKind::Lookup, message));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_dealt_in_turn() {
        let addresses = Addresses::new(&"http://127.0.0.1:9000".parse().unwrap());
        let mut list = addresses.all().unwrap();
        list.push("127.0.0.2:9000".parse().unwrap());
        addresses.lock().list = list.clone();
        for number in 0..4 {
            let choice = addresses.choose(number).unwrap();
            assert_eq!((choice.address, choice.of), (list[number as usize % 2], 2));
        }
    }

    #[test]
    fn a_name_without_an_address_is_a_fault_that_names_it() {
        let addresses = Addresses::new(&"http://bad..name".parse().unwrap());
        let fault = addresses.choose(0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Lookup);
        assert!(fault.message.contains("\"bad..name\""), "{fault:?}");
        assert_eq!(addresses.all().unwrap_err(), fault);
    }

    #[test]
    fn old_addresses_are_looked_up_again_on_another_thread() {
        let addresses = Addresses::new(&"http://127.0.0.1:9000".parse().unwrap());
        assert!(addresses.choose(0).unwrap().looked_up);
        let old = "127.0.0.9:9000".parse().unwrap();
        addresses.lock().list = vec![old];
        addresses.expire();
        assert_eq!(addresses.choose(0).unwrap().address, old);
        while addresses.lock().is_running {
            thread::yield_now();
        }
        assert_eq!(addresses.choose(0).unwrap().address, "127.0.0.1:9000".parse().unwrap());
    }
}
