//! The process of a run on an agent's host: a node of the tree, its own host, and the links to the
//! agents that it leads.
//!
//! Messages from above come through its standard input, those upwards go to its standard output.
//! The end of its input ends the run.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use candor_record::Note;

use crate::allow::Allowed;
use crate::caller::Log;
use crate::clock::now_ns;
use crate::host::Host;
use crate::identity::Identity;
use crate::link::{Arrived, Links};
use crate::message::{FromAgent, ToAgent};
use crate::network::Arrival;
use crate::node::{Effect, Node};
use crate::wire::{self, WireError};

/// Longest time between two looks at who is silent.
const TICK: Duration = Duration::from_millis(50);

enum Input {
    Above(Box<ToAgent>),
    /// The end of the input, or what makes no sense in it.
    AboveGone(Option<String>),
    Here(Box<FromAgent>),
    Below(Arrived),
}

/// Serves a run until its input ends; `log` gets what is refused. The reason, where that was no
/// orderly end.
///
/// # Errors
/// The kernel's: no thread, no descriptor, a pipe that breaks.
pub fn serve(
    allowed: Allowed,
    identity: Identity,
    input: impl Read + Send + 'static,
    output: impl Write,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<Option<String>> {
    let log: Log = Arc::new(log);
    let (sender, inputs) = mpsc::channel();
    let here = sender.clone();
    // This end takes everything until it is dropped.
    let answer = Arc::new(move |message| drop(here.send(Input::Here(Box::new(message)))));
    let mut session = Session {
        node: Node::agent(now_ns()),
        host: Host::new(allowed, now_ns, answer, log)?,
        links: None,
        identity,
        sender: sender.clone(),
        output,
        is_over: false,
    };
    thread::Builder::new().name("candor/above".into()).spawn(move || read(input, &sender))?;
    let mut why = None;
    while !session.is_over {
        let mut effects = Vec::new();
        let node = &mut session.node;
        match inputs.recv_timeout(TICK) {
            Ok(Input::Above(message)) => node.take_from_above(now_ns(), *message, &mut effects),
            Ok(Input::AboveGone(reason)) => {
                why = reason;
                session.is_over = true;
            }
            Ok(Input::Here(message)) => match *message {
                // Nobody knows of this host yet: the end of its process tells.
                FromAgent::Lost(failures) if !node.has_place() => {
                    why = failures.into_iter().next().map(|failure| failure.why);
                    session.is_over = true;
                }
                FromAgent::Lost(failures) => {
                    let why = failures.first().map_or("", |failure| &failure.why);
                    node.child_lost(0, why, &mut effects);
                }
                message => node.take_from_child(now_ns(), 0, message, &mut effects),
            },
            Ok(Input::Below(Arrived { child, arrival, .. })) => match arrival {
                Arrival::Message(message) => {
                    node.take_from_child(now_ns(), child, *message, &mut effects);
                }
                Arrival::Broken(why) => node.child_lost(child, &why, &mut effects),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => session.is_over = true,
        }
        node.tick(now_ns(), &mut effects);
        if let Some(error) = effects.into_iter().find_map(|effect| session.apply(effect).err()) {
            (why, session.is_over) = (Some(error.to_string()), true);
        }
    }
    // Those below see that their calls end, and clean up meanwhile.
    session.links = None;
    session.host.end();
    Ok(why)
}

struct Session<W> {
    node: Node,
    host: Host,
    /// Links to agents below; none as long as this one leads nobody.
    links: Option<Links>,
    identity: Identity,
    sender: Sender<Input>,
    output: W,
    is_over: bool,
}

impl<W: Write> Session<W> {
    fn apply(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Up(message) => {
                let body = encoded(message, wire::encode)?;
                match wire::write(&mut self.output, &body) {
                    // Nobody listens any more; the end of the input follows.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_over = true,
                    written => written?,
                }
            }
            Effect::Down(0, message) => self.host.take(message),
            Effect::Down(child, message) => {
                self.links.iter().for_each(|links| links.send(child, message.clone()));
            }
            Effect::Connect(child, address, wait_ms) => {
                if self.links.is_none() {
                    let sender = self.sender.clone();
                    let take = move |arrived| drop(sender.send(Input::Below(arrived)));
                    self.links = Some(Links::new(self.identity.clone(), take)?);
                }
                self.links.iter().for_each(|links| links.connect(child, &address, wait_ms));
            }
            Effect::Close(child) => self.links.iter().for_each(|links| links.close(child)),
            Effect::Orphaned => self.is_over = true,
        }
        Ok(())
    }
}

/// A message as bytes. Of results that are too long for one, what each host sampled is left out:
/// counts and latencies are whole without it.
fn encoded(
    mut message: FromAgent,
    encode: impl Fn(&FromAgent) -> Result<Bytes, WireError>,
) -> io::Result<Bytes> {
    let encoded = encode(&message);
    let (Err(WireError::Long { length, most }), FromAgent::Reply { reply, .. }) =
        (&encoded, &mut message)
    else {
        return encoded.map_err(io::Error::other);
    };
    for host in &mut reply.hosts {
        host.during.clear();
        host.measurements.iter_mut().for_each(|of| of.samples.clear());
    }
    reply.notes.push(Note {
        asked: "counters of each interval of each host".into(),
        did: "those of some hosts are left out".into(),
        why: format!("results of {length} bytes are longer than a message, {most} bytes"),
        place: None,
    });
    encode(&message).map_err(io::Error::other)
}

/// Reads messages until the input ends.
fn read(mut input: impl Read, sender: &Sender<Input>) {
    let gone = loop {
        match wire::read(&mut input) {
            Ok(Some(body)) => match wire::decode(&body) {
                Ok(message) => {
                    if sender.send(Input::Above(message)).is_err() {
                        return;
                    }
                }
                Err(error) => break Some(error.to_string()),
            },
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    // The session may have ended by itself.
    let _ = sender.send(Input::AboveGone(gone));
}

#[cfg(test)]
mod tests {
    use candor_record::{HostRecord, Measurement, Sample, Snapshot};

    use super::*;
    use crate::message::Reply;

    #[test]
    fn results_that_are_too_long_come_without_the_samples_of_hosts() {
        let samples = vec![Sample::default(); 500];
        let measurement = Measurement { workers: 7, samples, ..Measurement::default() };
        let host = HostRecord {
            during: vec![Snapshot::default(); 500],
            measurements: vec![measurement.clone()],
            ..HostRecord::default()
        };
        let (hosts, measurements) = (vec![host; 3], vec![measurement]);
        let reply = Reply { hosts, measurements, ..Reply::default() };
        let short = |most: usize| {
            let encode = move |message: &FromAgent| {
                let bytes = wire::encode(message)?;
                let length = serde_json::to_vec(message).map_err(WireError::Document)?.len();
                if length > most { Err(WireError::Long { length, most }) } else { Ok(bytes) }
            };
            let bytes = encoded(FromAgent::Reply { id: 1, reply: reply.clone() }, encode);
            bytes.map(|bytes| match wire::decode(&bytes).expect("a message") {
                FromAgent::Reply { reply, .. } => reply,
                other => panic!("{other:?}"),
            })
        };
        let whole = short(usize::MAX).expect("it is short enough");
        assert_eq!((whole.hosts[2].during.len(), whole.notes.len()), (500, 0));
        let less = short(64 << 10).expect("it is short without samples");
        assert_eq!((less.hosts.len(), less.hosts[2].during.len(), less.notes.len()), (3, 0, 1));
        assert_eq!((less.hosts[2].measurements[0].workers, less.measurements[0].workers), (7, 7));
        assert_eq!(less.measurements[0].samples.len(), 500);
        assert!(short(100).expect_err("it is too long").to_string().contains("more than 100"));
    }
}
