//! The seam between a tree of nodes and whatever carries its messages: sockets or a simulation.

use crate::message::{FromAgent, ToAgent};

/// Something that came from a child.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A message.
    Message(Box<FromAgent>),
    /// The link broke, or could not be opened.
    Broken(Broken),
}

/// A link that broke, or could not be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// The reason, in a sentence.
    pub why: String,
    /// The agent has another run, which will end.
    pub is_busy: bool,
}

impl From<String> for Broken {
    fn from(why: String) -> Broken {
        Broken { why, is_busy: false }
    }
}

impl From<&str> for Broken {
    fn from(why: &str) -> Broken {
        Broken::from(why.to_owned())
    }
}

/// Links to the children of the root, and the clock of this end.
pub trait Network {
    /// The monotonic clock, in ns.
    fn now_ns(&self) -> u64;

    /// Opens a link, to an agent that may only be there so many ms later; what goes wrong arrives
    /// then.
    fn connect(&mut self, child: usize, address: &str, wait_ms: u64);

    /// Sends a message over a link.
    fn send(&mut self, child: usize, message: ToAgent);

    /// Closes a link.
    fn close(&mut self, child: usize);

    /// The next thing that arrives, at that moment at the latest.
    fn next(&mut self, until_ns: u64) -> Option<(usize, Arrival)>;
}
