//! S3 servers, a Python client, and a proxy that injects faults between client and server.
//!
//! | file | content |
//! | --- | --- |
//! | `server.rs` | a server process: start, readiness, ports, end |
//! | `versitygw.rs` | versitygw and its options; three of them over one directory |
//! | `s3proxy.rs` | s3proxy |
//! | `boto.rs` | scripts with boto3 |
//! | `runs.rs` | runs of candor on plans of objects |
//! | `proxy.rs` | the proxy: connections, recorded requests, delivery of faults |
//! | `fault.rs` | the faults, and their answers |
//! | `wire.rs` | messages of HTTP/1.1 |
//!
//! `cargo run -p xtask -- setup` installs the servers and boto3. A test skips where one is missing.

mod boto;
mod fault;
mod proxy;
pub mod runs;
mod s3proxy;
mod server;
mod versitygw;
mod wire;

pub use boto::boto;
pub use fault::Fault;
pub use proxy::{FaultProxy, Request};
pub use server::Server;
pub use versitygw::{Fleet, Limits, Options};
