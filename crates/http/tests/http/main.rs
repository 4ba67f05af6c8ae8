//! Requests to scripted servers.

mod faults;
mod info;
mod plain;
mod proxies;
mod requests;
mod server;
mod tls;
