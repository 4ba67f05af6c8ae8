//! Fleet: many hosts that run one plan together.
//!
//! A coordinator leads a tree of agents. Each agent serves one run at a time, in a separate
//! process: a `node::Node` of the tree with a [`candor_run::Local`] below it. Code that decides has
//! no socket and no clock (`node`, `coordinator`); `link` and `server` carry its messages, and a
//! simulation does so in tests, with 10,000 agents. [`Fleet`] is a [`candor_run::Runner`], so a run
//! does not depend on the number of hosts.
//!
//! ```text
//! host 1:  candor agent                       serve(…)
//! host 2:  candor agent                       serve(…)
//! user:    candor run --hosts host1,host2 …   Fleet::join(&identity, &options, &channels)
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `node`, `coordinator`, `message`, `network` | state machines and messages, without I/O |
//! | `session`, `host` | the process of a run; the host below a node |
//! | `server`, `link`, `wire`, `reason` | gRPC over mutual TLS; reasons of broken links |
//! | `identity`, `secret`, `allow` | keys; the files that an agent serves |
//! | `rendezvous` | processes of an MPI or Slurm launcher find each other |

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
