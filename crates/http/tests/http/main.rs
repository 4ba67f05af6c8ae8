//! Requests to scripted servers.

mod faults;
mod info;
mod mixed;
mod plain;
mod proxies;
mod requests;
mod server;
mod tls;
