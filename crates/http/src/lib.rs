//! HTTP/1.1 requests over connections that a caller owns, with a time stamp at each step.
//!
//! | module | content |
//! | --- | --- |
//! | `request` | one request of a slot: method, target, headers, body |
//! | `answer` | the answer: status, headers, body, times, peer, error |

mod answer;
mod request;

pub use crate::answer::{Answer, Fault, FaultKind, Moments};
pub use crate::request::{Into, Method, Piece, Request};
