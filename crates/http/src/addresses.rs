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
use crate::settings::FixedAddress;

/// Age at which addresses are looked up again.
const LIFE: Duration = Duration::from_secs(30);
/// Age at which addresses are looked up again after a failed look-up or connect.
const FAILURE_LIFE: Duration = Duration::from_secs(1);

/// Addresses of one host.
pub struct Addresses {
    host: String,
    port: u16,
    /// Addresses that replace the look-up, if any.
    fixed: Vec<SocketAddr>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// In the resolver's order; empty before the first success.
    list: Vec<SocketAddr>,
    looked_up: Option<Instant>,
    failure: Option<Fault>,
    is_running: bool,
    is_doubtful: bool,
}

impl Known {
    fn is_old(&self) -> bool {
        let life = if self.is_doubtful { FAILURE_LIFE } else { LIFE };
        self.looked_up.is_none_or(|at| at.elapsed() >= life)
    }
}

/// One address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The address.
    pub address: SocketAddr,
    /// The call looked the host up.
    pub looked_up: bool,
}

impl Addresses {
    /// Addresses of an endpoint's host, not looked up yet.
    pub fn new(endpoint: &Endpoint, resolve: &[FixedAddress]) -> Arc<Addresses> {
        let (host, port) = (endpoint.host.clone(), endpoint.port);
        let own = resolve.iter().filter(|fixed| fixed.host.eq_ignore_ascii_case(&host));
        let fixed = own.map(|fixed| SocketAddr::new(fixed.address, port)).collect();
        Arc::new(Addresses { host, port, fixed, known: Mutex::default() })
    }

    /// Address number `number`, modulo the number of addresses.
    pub fn choose(self: &Arc<Addresses>, number: u64) -> Result<Choice, Fault> {
        let mut known = self.lock();
        let mut looked_up = false;
        if known.list.is_empty() {
            self.look_up_first(&mut known)?;
            looked_up = true;
        } else if known.is_old() && !known.is_running {
            known.is_running = self.look_up_again();
        }
        let index = (number % known.list.len() as u64) as usize;
        Ok(Choice { address: known.list[index], looked_up })
    }

    /// Marks the addresses as doubtful, after a connect error.
    pub fn doubt(&self) {
        self.lock().is_doubtful = true;
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
        let found = self.look_up();
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
            let found = addresses.look_up();
            let mut known = addresses.lock();
            known.is_running = false;
            known.is_doubtful = false;
            known.looked_up = Some(Instant::now());
            // A resolver that fails now leaves the known addresses in use.
            if let Ok(list) = found {
                known.list = list;
            }
        });
        started.is_ok()
    }

    /// Addresses of all families, each once.
    fn look_up(&self) -> Result<Vec<SocketAddr>, Fault> {
        if !self.fixed.is_empty() {
            return Ok(self.fixed.clone());
        }
        let host = &self.host;
        let found = (host.as_str(), self.port).to_socket_addrs().map_err(|error| Fault {
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

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses_of(url: &str) -> Arc<Addresses> {
        Addresses::new(&url.parse().unwrap(), &[])
    }

    #[test]
    fn fixed_addresses_are_dealt_in_turn() {
        let fixed = ["10.0.0.1", "10.0.0.2", "::1"].map(|address| FixedAddress {
            host: "Store".to_owned(),
            address: address.parse().unwrap(),
        });
        let other = FixedAddress { host: "other".to_owned(), ..fixed[0].clone() };
        let resolve: Vec<_> = fixed.into_iter().chain([other]).collect();
        let addresses = Addresses::new(&"http://store:9000".parse().unwrap(), &resolve);
        let expected = ["10.0.0.1:9000", "10.0.0.2:9000", "[::1]:9000"];
        for number in 0..6 {
            let choice = addresses.choose(number).unwrap();
            assert_eq!(choice.address, expected[number as usize % 3].parse().unwrap());
            assert_eq!(choice.looked_up, number == 0);
        }
    }

    #[test]
    fn a_name_without_an_address_is_a_fault_that_names_it() {
        let addresses = addresses_of("http://bad..name");
        let fault = addresses.choose(0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Lookup);
        assert!(fault.message.contains("\"bad..name\""), "{fault:?}");
        assert_eq!(addresses.all().unwrap_err(), fault);
    }

    #[test]
    fn old_addresses_are_looked_up_again_on_another_thread() {
        let addresses = addresses_of("http://127.0.0.1:9000");
        assert!(addresses.choose(0).unwrap().looked_up);
        let old = "127.0.0.9:9000".parse().unwrap();
        addresses.lock().list = vec![old];
        addresses.doubt();
        addresses.lock().looked_up = None;
        assert_eq!(addresses.choose(0).unwrap().address, old);
        while addresses.lock().is_running {
            thread::yield_now();
        }
        assert_eq!(addresses.choose(0).unwrap().address, "127.0.0.1:9000".parse().unwrap());
    }
}
