//! Requests to scripted servers.

mod plain;
mod server;
