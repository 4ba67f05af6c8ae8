//! The process of a run on an agent's host: a node of the tree, its own host, and the links to the
//! agents that it leads.
//!
//! Messages from above come through its standard input, those upwards go to its standard output.
//! The end of its input ends the run. The thread that reads answers signs of life by itself, and a
//! thread of its own writes: neither waits for the workers, the disk or a long message.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
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
use crate::priority;
use crate::wire::{self, WireError};

/// Longest time between two looks at who is silent.
const TICK: Duration = Duration::from_millis(50);
/// Messages upwards that wait; beyond them, events of intervals are left out.
const UP_MAX: usize = 1024;

enum Input {
    Above(Box<ToAgent>),
    /// The end of the input, or what makes no sense in it.
    AboveGone(Option<String>),
    Here(Box<FromAgent>),
    Below(Arrived),
}

/// The keys of a run's process, once it leads other agents.
pub type MakeIdentity = Box<dyn FnOnce() -> Result<Identity, String>>;

/// Serves a run until its input ends; `log` gets what is refused. The reason, where that was no
/// orderly end.
///
/// # Errors
/// The kernel's: no thread, no descriptor, a pipe that breaks.
pub fn serve(
    allowed: Allowed,
    identity: MakeIdentity,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<Option<String>> {
    let log: Log = Arc::new(log);
    let (sender, inputs) = mpsc::channel();
    let here = sender.clone();
    // This end takes everything until it is dropped.
    let answer = Arc::new(move |message| drop(here.send(Input::Here(Box::new(message)))));
    // Workers have the usual priority: they start before this thread raises its own.
    let host = Host::new(allowed, now_ns, answer, log)?;
    priority::raise();
    let up = Up::start(output, sender.clone())?;
    let mut session = Session {
        node: Node::agent(now_ns()),
        host,
        links: None,
        identity: Some(identity),
        sender: sender.clone(),
        up: up.clone(),
        is_over: false,
    };
    let above = move || read(input, &sender, &up);
    thread::Builder::new().name("candor/above".into()).spawn(above)?;
    let mut why = None;
    while !session.is_over {
        let mut effects = Vec::new();
        match inputs.recv_timeout(TICK) {
            Ok(input) => why = session.take(input, &mut effects).or(why),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => session.is_over = true,
        }
        session.node.tick(now_ns(), &mut effects);
        if let Some(error) = effects.into_iter().find_map(|effect| session.apply(effect).err()) {
            (why, session.is_over) = (Some(error.to_string()), true);
        }
    }
    // Those below see that their calls end, and clean up meanwhile.
    session.links = None;
    session.host.end();
    Ok(why)
}

/// The way upwards: a thread writes, so that a slow link keeps nothing else waiting.
#[derive(Clone)]
struct Up {
    bodies: Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
}

impl Up {
    fn start(mut output: impl Write + Send + 'static, failed: Sender<Input>) -> io::Result<Up> {
        let (bodies, received) = mpsc::channel::<Bytes>();
        let waiting = Arc::<AtomicUsize>::default();
        let left = waiting.clone();
        let write = move || {
            priority::raise();
            for body in received {
                let written = wire::write(&mut output, &body);
                left.fetch_sub(1, Relaxed);
                if let Err(error) = written {
                    // Without a reader the end of the input follows, which may be here already.
                    let is_gone = error.kind() == io::ErrorKind::BrokenPipe;
                    let why = (!is_gone).then(|| error.to_string());
                    let _ = failed.send(Input::AboveGone(why));
                    return;
                }
            }
        };
        thread::Builder::new().name("candor/up".into()).spawn(write)?;
        Ok(Up { bodies, waiting })
    }

    fn send(&self, body: Bytes) {
        self.waiting.fetch_add(1, Relaxed);
        // A thread that has ended has told so.
        let _ = self.bodies.send(body);
    }

    /// True where the reader is too slow for events.
    fn is_full(&self) -> bool {
        self.waiting.load(Relaxed) >= UP_MAX
    }
}

struct Session {
    node: Node,
    host: Host,
    /// Links to agents below; none as long as this one leads nobody.
    links: Option<Links>,
    identity: Option<MakeIdentity>,
    sender: Sender<Input>,
    up: Up,
    is_over: bool,
}

impl Session {
    /// Takes a message; the reason where it ends the run.
    fn take(&mut self, input: Input, effects: &mut Vec<Effect>) -> Option<String> {
        let node = &mut self.node;
        match input {
            Input::Above(message) => node.take_from_above(now_ns(), *message, effects),
            Input::AboveGone(reason) => {
                self.is_over = true;
                return reason;
            }
            Input::Here(message) => match *message {
                // The coordinator does not know this host yet: the end of its process tells.
                FromAgent::Lost(failures) if !node.has_place() => {
                    self.is_over = true;
                    return failures.into_iter().next().map(|failure| failure.why);
                }
                FromAgent::Lost(failures) => {
                    let why = failures.first().map_or("", |failure| &failure.why);
                    node.child_lost(now_ns(), 0, &why.into(), effects);
                }
                message => node.take_from_child(now_ns(), 0, message, effects),
            },
            Input::Below(Arrived { child, arrival, .. }) => match arrival {
                Arrival::Message(message) => {
                    node.take_from_child(now_ns(), child, *message, effects);
                }
                Arrival::Broken(broken) => node.child_lost(now_ns(), child, &broken, effects),
            },
        }
        None
    }

    fn apply(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Up(FromAgent::Event(_)) if self.up.is_full() => {}
            Effect::Up(message) => self.up.send(encoded(message, wire::encode)?),
            Effect::Down(0, message) => self.host.take(message),
            Effect::Down(child, message) => {
                self.links.iter().for_each(|links| links.send(child, message.clone()));
            }
            Effect::Connect(child, address, wait_ms) => {
                if self.links.is_none() {
                    let sender = self.sender.clone();
                    let take = move |arrived| drop(sender.send(Input::Below(arrived)));
                    let identity = self.identity.take().map_or(Err(String::new()), |make| make());
                    self.links = Some(Links::new(identity.map_err(io::Error::other)?, take)?);
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
        did: "values of some hosts are left out".into(),
        why: format!("results of {length} bytes are longer than a message, {most} bytes"),
        place: None,
    });
    encode(&message).map_err(io::Error::other)
}

/// Reads messages until the input ends, and answers signs of life.
fn read(mut input: impl Read, sender: &Sender<Input>, up: &Up) {
    priority::raise();
    let gone = loop {
        match wire::read(&mut input) {
            Ok(Some(body)) => match wire::decode(&body) {
                Ok(message) => {
                    let message: Box<ToAgent> = message;
                    if let ToAgent::Ping { sent_ns } = *message {
                        let pong = FromAgent::Pong { sent_ns, received_ns: now_ns() };
                        wire::encode(&pong).into_iter().for_each(|body| up.send(body));
                    }
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
                let length = serde_json::to_vec(message).expect("JSON").len();
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
