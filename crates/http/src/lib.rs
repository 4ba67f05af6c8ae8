//! HTTP/1.1 requests over connections that a caller owns, with a time stamp at each step.
//!
//! | module | content |
//! | --- | --- |
//! | `endpoint` | scheme, host and port of a server |
//! | `settings`, `problem` | settings of all connections; reasons to refuse them |
//! | `transport` | state that all clients share: addresses, certificates |
//! | `addresses` | name look-ups, and the age of their results |
//! | `client` | slots, events and limits of one worker |
//! | `connection` | one slot: send the request, receive the answer |
//! | `link` | the slot's connection: connect, proxy, TLS handshake |
//! | `socket`, `tcp_info` | the kernel's side of a connection |
//! | `tls`, `session` | certificates; encryption of one connection |
//! | `request`, `cursor`, `buffers` | one request of a slot, and the next byte to send |
//! | `answer` | the answer: status, headers, body, times, peer, error |
//! | `parser`, `head`, `chunks` | answers from bytes, without clock and socket |

mod addresses;
mod answer;
mod buffers;
mod chunks;
mod client;
mod connection;
mod cursor;
mod endpoint;
mod head;
mod link;
mod parser;
mod problem;
mod request;
mod session;
mod settings;
mod socket;
mod tcp_info;
mod tls;
mod transport;

pub use crate::answer::{Answer, Fault, FaultKind, Moments};
pub use crate::buffers::{Buffers, NoBuffers};
pub use crate::client::{Client, Connected};
pub use crate::connection::ConnectionStats;
pub use crate::endpoint::{Endpoint, Scheme};
pub use crate::parser::{Direct, Parser};
pub use crate::problem::Problem;
pub use crate::request::{Into, Method, Piece, Request};
pub use crate::settings::{FixedAddress, Settings};
pub use crate::tcp_info::TcpInfo;
pub use crate::transport::Transport;
