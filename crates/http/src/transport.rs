//! State that all clients share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::addresses::Addresses;
use crate::answer::Fault;
use crate::endpoint::{Endpoint, Scheme};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::tls;

/// Longest time limit, which the clock can represent.
const LONGEST_LIMIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Settings, addresses and TLS configuration of all connections.
pub struct Transport {
    settings: Settings,
    servers: Vec<Server>,
}

/// An endpoint, prepared for connections.
pub struct Server {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Addresses to connect to: the proxy's, if one is set.
    pub addresses: Arc<Addresses>,
    /// Start of the URLs that a plain proxy needs.
    pub absolute: Option<String>,
    /// TLS, if the endpoint has it.
    pub tls: Option<Tls>,
}

/// TLS of an endpoint.
pub struct Tls {
    /// Configuration.
    pub config: Arc<ClientConfig>,
    /// Name in the server's certificate.
    pub name: ServerName<'static>,
}

impl Transport {
    /// Checks the settings and reads certificates. Names are looked up later.
    pub fn new(mut settings: Settings) -> Result<Arc<Transport>, Problem> {
        if settings.endpoints.is_empty() {
            return Err(Problem::NoEndpoint);
        }
        if let Some(proxy) = settings.proxy.as_ref().filter(|proxy| proxy.scheme != Scheme::Http) {
            return Err(Problem::Proxy { proxy: proxy.to_string() });
        }
        let has_tls = settings.endpoints.iter().any(|endpoint| endpoint.scheme == Scheme::Https);
        let config = if has_tls {
            Some(tls::config(settings.ca_file.as_deref(), settings.insecure)?)
        } else {
            None
        };
        let resolve = &settings.resolve;
        let proxy = settings.proxy.as_ref().map(|proxy| Addresses::new(proxy, resolve));
        let mut servers = Vec::new();
        for endpoint in &settings.endpoints {
            let addresses = proxy.clone().unwrap_or_else(|| Addresses::new(endpoint, resolve));
            let tls = match (endpoint.scheme, &config) {
                (Scheme::Https, Some(config)) => Some(endpoint_tls(endpoint, config)?),
                _ => None,
            };
            let needs_url = settings.proxy.is_some() && tls.is_none();
            let absolute = needs_url.then(|| endpoint.to_string());
            servers.push(Server { endpoint: endpoint.clone(), addresses, absolute, tls });
        }
        settings.connect_timeout = settings.connect_timeout.min(LONGEST_LIMIT);
        settings.answer_timeout = settings.answer_timeout.min(LONGEST_LIMIT);
        Ok(Arc::new(Transport { settings, servers }))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Addresses of each endpoint, in the order of the endpoints: the proxy's, if one is set.
    /// Blocks if a name has not been looked up.
    pub fn peers(&self) -> Vec<Result<Vec<SocketAddr>, Fault>> {
        self.servers.iter().map(|server| server.addresses.all()).collect()
    }

    /// The server of connection number `number`: endpoints in turn.
    pub(crate) fn server(&self, number: u64) -> &Server {
        &self.servers[(number % self.servers.len() as u64) as usize]
    }

    /// Number of the address that connection number `number` uses, before the modulo.
    pub(crate) fn address_number(&self, number: u64) -> u64 {
        number / self.servers.len() as u64
    }
}

fn endpoint_tls(endpoint: &Endpoint, config: &Arc<ClientConfig>) -> Result<Tls, Problem> {
    let name = ServerName::try_from(endpoint.host.clone()).map_err(|_| Problem::Endpoint {
        text: endpoint.to_string(),
        rule: format!("\"{}\" is not a name that a certificate can have", endpoint.host),
    })?;
    Ok(Tls { config: Arc::clone(config), name })
}
