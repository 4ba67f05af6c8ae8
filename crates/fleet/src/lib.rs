//! Many hosts that run one plan together.
//!
//! A coordinator leads a tree of agents. Each agent serves one run at a time, in a process of its
//! own, which is a [`node::Node`] of the tree with a [`candor_run::Local`] below it. Everything
//! that decides is without sockets and clocks ([`node`], [`coordinator`]); [`link`] and [`server`]
//! carry its messages, and a simulation does so in tests.

mod allow;
mod caller;
mod client;
mod clock;
mod coordinator;
mod fleet;
#[cfg(test)]
mod fuzz;
mod guest;
mod host;
mod identity;
mod link;
mod log;
mod message;
mod network;
mod node;
mod priority;
mod probe;
mod reason;
mod rendezvous;
mod samples;
mod secret;
mod server;
mod session;
#[cfg(test)]
mod simulation;
mod wire;

pub use allow::{Allowed, Reach};
pub use fleet::{Fleet, FleetOptions};
pub use identity::Identity;
pub use link::{Chore, PORT, RUN_VARIABLE, tell, with_port};
pub use message::PROTOCOL;
pub use rendezvous::{Met, meet};
pub use secret::{KeyError, UserKey, new_token};
pub use server::{Listening, Options as ServeOptions, ServeError, SessionCommand, serve};
pub use session::serve as serve_run;
