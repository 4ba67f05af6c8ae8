//! Settings that all connections share.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use smart_default::SmartDefault;

use crate::endpoint::Endpoint;

/// Address of a host that is not looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedAddress {
    /// Name of the host.
    pub host: String,
    /// One of its addresses.
    pub address: IpAddr,
}

/// Settings of a transport.
#[derive(Clone, Debug, SmartDefault)]
pub struct Settings {
    /// Servers; connections are dealt over them in turn.
    pub endpoints: Vec<Endpoint>,
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM file of certificate authorities, in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Plain HTTP proxy. Servers with TLS are reached through `CONNECT`.
    pub proxy: Option<Endpoint>,
    /// Addresses that replace the look-up of their hosts.
    pub resolve: Vec<FixedAddress>,
    /// Limit of a connect to one address, and of the steps up to readiness after it.
    #[default(Duration::from_secs(5))]
    pub connect_timeout: Duration,
    /// Limit of a request without progress.
    #[default(Duration::from_secs(300))]
    pub answer_timeout: Duration,
    /// Use a connection for several requests. Otherwise each request has a new connection and the
    /// header `Connection: close`.
    #[default = true]
    pub keep_alive: bool,
    /// Size of the kernel's send buffer; `None` for automatic sizes.
    pub send_buffer_bytes: Option<usize>,
    /// Size of the kernel's receive buffer; `None` for automatic sizes.
    pub receive_buffer_bytes: Option<usize>,
    /// Set `TCP_QUICKACK` before each read.
    pub quick_ack: bool,
}
